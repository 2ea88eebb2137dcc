//! How a read ran, told with `explain=true`.

use crate::client::Ask;
use crate::server::Running;
use serde_json::{Value, json};

const ADMIN: &str = "an-admin-credential-of-tests";

fn get(path: &str, query: &[(&str, &str)]) -> Ask {
    let ask = Ask::new("GET", path).with_query("ns", "explained").with_query("explain", "true");
    query.iter().fold(ask, |ask, (name, value)| ask.with_query(name, value))
}

fn with_header(mut ask: Ask, name: &str, value: &str) -> Ask {
    ask.headers.push((name.into(), value.into()));
    ask
}

fn sent(server: &Running, ask: &Ask) -> (u16, String) {
    let answer = ask.send(&server.address).expect("the server answers");
    (answer.status, answer.text().expect("the body is text"))
}

/// Stores rules and some plants.
fn prepare(server: &Running) {
    let rules = json!({"rules": {
        "plants": {".read": "auth === null", ".indexOn": ["days"]},
        "beds": {"$bed": {".read": true, "rows": {}}},
        "shed": {".read": "auth.uid === 'amy'"},
    }});
    let plants =
        json!({"bean": {"days": 60}, "kale": {"days": 55}, "radish": {"days": 25}, "tomato": {"days": 80}});
    for (path, body) in
        [("/.settings/rules.json", rules), ("/plants.json", plants), ("/shed.json", json!("key"))]
    {
        let put = Ask::new("PUT", path).with_query("ns", "explained").by_owner().with_body(&body);
        assert_eq!(sent(server, &put).0, 200, "{path}");
    }
}

#[test]
fn a_read_is_explained_as_it_ran() {
    let server = Running::start();
    prepare(&server);
    let (allowed, not_asked) = (json!({"verdict": "allowed", "steps": 3}), json!({"verdict": "not asked"}));
    let not_needed = json!({"state": "not needed"});
    let declared = json!({"state": "declared", "on": "days", "at": "/plants"});
    let missing =
        json!({"state": "missing", "on": "kg", "at": "/plants", "add": r#"".indexOn": ["days", "kg"]"#});
    let error = "Index not defined, add \".indexOn\": \"kg\", for path \"/plants\", to the rules";
    let denied = "Permission denied";
    let override_of = |uid: &str| format!("{{\"uid\":\"{uid}\"}}");
    let as_bob = override_of("bob");
    for (ask, expected) in [
        (
            get("/plants.json", &[]),
            json!({"path": "/plants", "status": 200, "index": not_needed, "rules": allowed,
                "visited": 4, "sorted": 0, "returned": 4}),
        ),
        (
            get("/plants/bean/days.json", &[]),
            json!({"path": "/plants/bean/days", "status": 200, "index": not_needed, "rules": allowed,
                "visited": 1, "sorted": 0, "returned": 1}),
        ),
        (
            get("/plants.json", &[("shallow", "true"), ("limitToFirst", "3")]),
            json!({"path": "/plants", "query": {"shallow": true, "limitToFirst": 3}, "status": 200,
                "index": not_needed, "rules": allowed, "visited": 3, "sorted": 0, "returned": 3}),
        ),
        (
            get("/plants.json", &[("orderBy", "\"$key\""), ("startAt", "\"kale\"")]),
            json!({"path": "/plants", "query": {"orderBy": "$key", "startAt": "kale"}, "status": 200,
                "index": not_needed, "rules": allowed, "visited": 3, "sorted": 0, "returned": 3}),
        ),
        (
            get("/plants.json", &[("orderBy", "\"days\""), ("endAt", "55")]).by_owner(),
            json!({"path": "/plants", "query": {"orderBy": "days", "endAt": 55}, "status": 200,
                "index": declared, "rules": not_asked, "visited": 4, "sorted": 4, "returned": 2}),
        ),
        (
            get("/plants.json", &[("orderBy", "\"kg\""), ("limitToLast", "1")]),
            json!({"path": "/plants", "query": {"orderBy": "kg", "limitToLast": 1}, "status": 400, "error": error,
                "index": missing, "rules": allowed, "visited": 0, "sorted": 0, "returned": 0}),
        ),
        (
            get("/beds/b1/rows.json", &[("orderBy", "\"$value\"")]),
            json!({"path": "/beds/b1/rows", "query": {"orderBy": "$value"}, "status": 400,
                "error": "Index not defined, add \".indexOn\": \".value\", for path \"/beds/b1/rows\", to the rules",
                "index": {"state": "missing", "on": ".value", "at": "/beds/$bed/rows", "add": r#"".indexOn": ".value""#},
                "rules": {"verdict": "allowed", "steps": 1}, "visited": 0, "sorted": 0, "returned": 0}),
        ),
        (
            get("/shed.json", &[("auth_variable_override", &as_bob)]).by_owner(),
            json!({"path": "/shed", "status": 401, "error": denied, "index": not_needed,
                "rules": {"verdict": "denied", "steps": 4, "reasons": "<any>"},
                "visited": 0, "sorted": 0, "returned": 0}),
        ),
    ] {
        let (status, text) = sent(&server, &ask);
        let mut found: Value = serde_json::from_str(&text).expect("it is JSON");
        let took = found["microseconds"].take();
        for step in ["rules", "find", "spell", "total"] {
            assert!(took[step].is_u64(), "{step} of {ask:?}: {text}");
        }
        let bytes = found["bytes"].take();
        let members = found.as_object_mut().expect("it is an object");
        members.retain(|name, _| !["microseconds", "bytes"].contains(&name.as_str()));
        if let Some(reasons) = found["rules"].get_mut("reasons") {
            assert!(reasons.to_string().contains("auth.uid === 'amy'"), "{text}");
            *reasons = "<any>".into();
        }
        assert_eq!((status, &found), (200, &expected), "{ask:?}");
        // What it says of the answer is so.
        let mut plain = ask.clone();
        plain.query.retain(|(name, _)| name != "explain");
        let (status, text) = sent(&server, &plain);
        assert_eq!(u64::from(status), expected["status"], "{plain:?}: {text}");
        let length = if status == 200 { text.len() } else { 0 };
        assert_eq!(bytes, length, "{plain:?}: {text}");
    }
}

#[test]
fn children_are_sorted_once_and_again_where_much_has_changed() {
    let server = Running::start();
    prepare(&server);
    let plants = |days: fn(usize) -> usize| {
        let plant = |number| (format!("p{number:03}"), json!({"days": days(number)}));
        Value::Object((0..200).map(plant).collect())
    };
    let put = |path: &str, body: &Value| {
        let put = Ask::new("PUT", path).with_query("ns", "explained").by_owner().with_body(body);
        assert_eq!(sent(&server, &put).0, 200, "{path}");
    };
    let last = [("orderBy", "\"days\""), ("limitToLast", "2")];
    for (what, path, body, sorted, expected) in [
        ("the first time", "/plants.json", plants(|number| number), 200, ["p198", "p199"]),
        ("again", "/shed.json", json!("key"), 0, ["p198", "p199"]),
        ("one has grown", "/plants/p007/days.json", json!(1_000), 0, ["p007", "p199"]),
        ("one is gone", "/plants/p199.json", json!(null), 0, ["p007", "p198"]),
        ("all are others", "/plants.json", plants(|number| 200 - number), 200, ["p000", "p001"]),
    ] {
        put(path, &body);
        let (_, text) = sent(&server, &get("/plants.json", &last).by_owner());
        let found: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!((&found["sorted"], &found["returned"]), (&json!(sorted), &json!(2)), "{what}: {text}");
        let mut plain = get("/plants.json", &last).by_owner();
        plain.query.retain(|(name, _)| name != "explain");
        let found: Value = serde_json::from_str(&sent(&server, &plain).1).expect("it is JSON");
        let keys: Vec<_> = found.as_object().expect("it is an object").keys().collect();
        assert_eq!(keys, expected, "{what}");
    }
}

#[test]
fn what_cannot_be_explained_is_refused_by_its_name() {
    let server = Running::start();
    prepare(&server);
    let of = |method: &str, path: &str| {
        Ask { method: method.into(), path: path.into(), ..get("", &[]) }.by_owner()
    };
    for (ask, status, expected) in [
        (of("PUT", "/plants.json").with_body(&json!(1)), 400, "explain is not supported for PUT"),
        (of("PATCH", "/plants.json").with_body(&json!({"a": 1})), 400, "explain is not supported for PATCH"),
        (of("DELETE", "/plants.json"), 400, "explain is not supported for DELETE"),
        (
            with_header(of("GET", "/plants.json"), "Accept", "text/event-stream"),
            400,
            "explain is not supported for event streams",
        ),
        (
            with_header(of("GET", "/plants.json"), "X-Firebase-ETag", "true"),
            400,
            "explain is not supported for a request with X-Firebase-ETag or If-None-Match",
        ),
        (of("GET", "/plants.json").with_query("callback", "f"), 400, "a request with callback"),
        (of("GET", "/plants.json").with_query("download", "f"), 400, "a request with download"),
        (of("GET", "/plants.json").with_query("print", "silent"), 400, "a request with print=silent"),
        (of("GET", "/plants/.priority.json"), 400, "explain is not supported for priorities"),
        (of("GET", "/.settings/rules.json"), 400, "explain is not supported for .settings"),
        (of("GET", "/.inspect/databases.json"), 400, "explain is not supported for .inspect"),
        (
            of("GET", "/plants.json").with_query("explain", "true"),
            400,
            "explain must not be defined more than once",
        ),
        (of("GET", "/plants.json").with_query("startAt", "1"), 400, "orderBy must be defined"),
        (
            Ask::new("GET", "/plants.json").with_query("ns", "explained").with_query("explain", "yes"),
            400,
            "explain must be true or false",
        ),
    ] {
        let (found, text) = sent(&server, &ask);
        assert_eq!(found, status, "{ask:?}: {text}");
        assert!(text.contains(expected), "{ask:?}: {text}");
    }
    let silent = Ask::new("GET", "/plants.json").with_query("ns", "explained").with_query("explain", "false");
    assert!(sent(&server, &silent).1.starts_with("{\"bean\""));
}

#[test]
fn only_admins_and_who_sits_at_a_developers_machine_are_told() {
    let rules = format!("{}/explained-rules.json", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&rules, r#"{"rules": {".read": true}}"#).expect("it is written");
    let mut serve = Running::command("serve");
    serve.args(["--namespace", "explained", "--rules", &rules]).env("HEARTH_ADMIN_CREDENTIAL", ADMIN);
    let serve = Running::of(&mut serve);
    let dev = Running::start();
    let by_admin = || with_header(get("/a.json", &[]), "Authorization", &format!("Bearer {ADMIN}"));
    for (server, ask, expected) in [
        (&dev, get("/a.json", &[]), 200),
        (&dev, get("/a.json", &[]).by_owner(), 200),
        // A page of somebody else.
        (&dev, with_header(get("/a.json", &[]), "Origin", "https://example.com"), 403),
        (&serve, get("/a.json", &[]), 401),
        (&serve, by_admin(), 200),
        (&serve, by_admin().with_query("auth_variable_override", "null"), 200),
    ] {
        let (status, text) = sent(server, &ask);
        assert_eq!(status, expected, "{ask:?}: {text}");
        assert_eq!(text.contains("microseconds"), expected == 200, "{ask:?}: {text}");
        assert_eq!(text.contains("Permission denied"), expected == 401, "{ask:?}: {text}");
    }
}
