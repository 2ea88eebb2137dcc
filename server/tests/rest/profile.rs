//! What is done in a database, as an admin who looks on is told it, and the list of databases.

use crate::client::{Answer, Ask};
use crate::server::Running;
use serde_json::{Value, json};
use std::net::TcpStream;
use tokio_tungstenite::tungstenite::{self, Message};

fn ask(method: &str, path: &str) -> Ask {
    Ask::new(method, path).with_query("ns", "watched")
}

fn told(server: &Running, ask: &Ask) -> (u16, String) {
    let answer = ask.send(&server.address).expect("the server answers");
    (answer.status, answer.text().expect("the body is text"))
}

fn watch(server: &Running) -> Answer {
    let mut ask = ask("GET", "/.settings/profile.json").by_owner();
    ask.headers.push(("Accept".into(), "text/event-stream".into()));
    ask.send(&server.address).expect("the server answers")
}

/// One of every operation over a socket, each after the one before was answered.
fn use_a_socket(server: &Running) {
    let stream = TcpStream::connect(&server.address).expect("it listens");
    let url = format!("ws://{}/.ws?v=5&ns=watched", server.address);
    let (mut socket, _) = tungstenite::client(url, stream).expect("it is a WebSocket");
    for (number, (action, body)) in (1..).zip([
        ("q", json!({"p": "/list", "h": "", "t": 1, "q": {"i": "n", "l": 2, "vf": "l"}})),
        ("q", json!({"p": "/secret", "h": ""})),
        ("q", json!({"p": "/heard", "h": ""})),
        ("p", json!({"p": "/heard/a", "d": 12})),
        ("p", json!({"p": "/secret/a", "d": 12})),
        ("m", json!({"p": "/heard", "d": {"b": 1}})),
        ("p", json!({"p": "/heard/c", "d": 1, "h": ""})),
        ("g", json!({"p": "/heard", "q": {}})),
        ("n", json!({"p": "/heard"})),
        ("o", json!({"p": "/left/a", "d": 1})),
        ("om", json!({"p": "/left", "d": {"b": 1}})),
        ("oc", json!({"p": "/left/none"})),
    ]) {
        let request = json!({"t": "d", "d": {"r": number, "a": action, "b": body}});
        socket.send(Message::text(request.to_string())).expect("it is sent");
        loop {
            let Message::Text(text) = socket.read().expect("it is answered") else { continue };
            let message: Value = serde_json::from_str(&text).expect("it is JSON");
            if message["d"]["r"] == number {
                break;
            }
        }
    }
    socket.close(None).expect("it closes");
    while socket.read().is_ok() {}
}

#[test]
fn who_looks_on_is_told_every_operation_as_the_official_profiler_reads_it() {
    let server = Running::start();
    let rules = json!({"rules": {
        "secret": {}, "list": {".read": true, ".indexOn": "n"},
        "heard": {".read": true, ".write": true}, "left": {".read": true, ".write": true},
    }});
    assert_eq!(told(&server, &ask("PUT", "/.settings/rules.json").by_owner().with_body(&rules)).0, 200);
    for (mut ask, status, text) in [
        (ask("GET", "/.settings/profile.json"), 401, "Permission denied"),
        (ask("GET", "/.settings/profile.json").by_owner(), 400, "profile is a stream: GET with Accept: text"),
        (ask("PUT", "/.settings/profile.json").by_owner(), 405, "profile is a stream"),
    ] {
        ask.body = None;
        let (found, body) = told(&server, &ask);
        assert_eq!((found, body.contains(text)), (status, true), "{body}");
    }
    let mut profile = watch(&server);
    assert_eq!(profile.status, 200);
    let put = ask("PUT", "/heard.json").with_body(&json!({"n": "twelve bytes"}));
    assert_eq!(told(&server, &put).0, 200);
    assert_eq!(told(&server, &ask("GET", "/heard/n.json")).1, "\"twelve bytes\"");
    assert_eq!(told(&server, &ask("GET", "/heard/none.json")).1, "null");
    // Longer than what is handed over as a whole.
    let large = ask("PUT", "/heard/large.json").with_body(&json!("x".repeat(300_000)));
    assert_eq!(told(&server, &large).0, 200);
    assert_eq!(told(&server, &ask("GET", "/heard/large.json")).1.len(), 300_002);
    assert_eq!(told(&server, &ask("DELETE", "/heard/large.json")).0, 200);
    assert_eq!(told(&server, &ask("PATCH", "/heard.json").with_body(&json!({"x": 1}))).0, 200);
    let mut once = ask("PUT", "/heard/once.json").with_body(&json!(1));
    once.headers.push(("if-match".into(), "null_etag".into()));
    assert_eq!(told(&server, &once).0, 200);
    let ordered = ask("GET", "/list.json").with_query("orderBy", "\"n\"").with_query("equalTo", "3");
    assert_eq!(told(&server, &ordered).0, 200);
    assert_eq!(told(&server, &ask("GET", "/secret.json")).0, 401);
    // What makes no sense is nothing that was done, and nor is what is done elsewhere.
    assert_eq!(told(&server, &ask("PUT", "/heard.json")).0, 400);
    assert_eq!(told(&server, &Ask::new("GET", "/heard.json").with_query("ns", "other")).0, 200);
    use_a_socket(&server);
    let mut found: Vec<Value> = Vec::new();
    while found.last().is_none_or(|last| last["name"] != "concurrent-disconnect") {
        let event = profile.next_event().expect("all of it is told");
        if event.name == "log" {
            found.push(event.data);
        }
    }
    let here = json!(["heard"]);
    for expected in [
        json!({"name": "rest-write", "path": here, "bytes": 20, "allowed": true}),
        json!({"name": "rest-read", "path": ["heard", "n"], "bytes": 14, "allowed": true}),
        json!({"name": "rest-read", "path": ["heard", "none"], "bytes": 0, "allowed": true}),
        json!({"name": "rest-read", "path": ["heard", "large"], "bytes": 300_002, "allowed": true}),
        json!({"name": "rest-update", "path": here, "bytes": 7, "allowed": true}),
        json!({"name": "rest-transaction", "path": ["heard", "once"], "bytes": 1, "allowed": true}),
        json!({"name": "rest-read", "path": ["secret"], "bytes": 0, "allowed": false}),
        json!({"name": "concurrent-connect"}),
        json!({"name": "listener-listen", "path": here, "allowed": true, "unIndexed": false}),
        json!({"name": "listener-listen", "path": ["secret"], "bytes": 0, "allowed": false}),
        json!({"name": "realtime-write", "path": ["heard", "a"], "allowed": true}),
        json!({"name": "realtime-write", "path": ["secret", "a"], "allowed": false}),
        json!({"name": "listener-broadcast", "path": ["heard", "a"], "clientsUpdated": 1}),
        json!({"name": "realtime-update", "path": here, "allowed": true}),
        json!({"name": "realtime-transaction", "path": ["heard", "c"], "allowed": true}),
        json!({"name": "realtime-read", "path": here, "allowed": true}),
        json!({"name": "listener-unlisten", "path": here}),
        json!({"name": "on-disconnect-put", "path": ["left", "a"], "allowed": true}),
        json!({"name": "on-disconnect-update", "path": ["left"], "allowed": true}),
        json!({"name": "on-disconnect-cancel", "path": ["left", "none"]}),
        json!({"name": "run-on-disconnect"}),
    ] {
        let fits = |record: &&Value| {
            expected
                .as_object()
                .expect("a row is an object")
                .iter()
                .all(|(name, value)| record[name] == *value)
        };
        let record = found.iter().find(fits).unwrap_or_else(|| panic!("{expected} is not in {found:#?}"));
        assert!(record["timestamp"].is_i64(), "{record}");
    }
    assert!(found.iter().all(|record| record["path"] != json!(["other"])), "{found:#?}");
    // The queries, by which the report finds those without an index.
    let query_of = |name: &str| {
        let is_it = |record: &&Value| record["name"] == name && record["path"] == json!(["list"]);
        found.iter().find(is_it).map(|record| record["querySet"][0].clone()).expect("it was told")
    };
    let rest = query_of("rest-read");
    assert_eq!(
        (&rest["index"], &rest["equality"], &rest["startIndexValue"], &rest["default"]),
        (&json!({"path": ["n"]}), &json!(true), &json!(3.0), &json!(false))
    );
    let socket = query_of("listener-listen");
    assert_eq!(
        (&socket["limit"], &socket["simpleLimit"], &socket["viewFrom"], &socket["range"]),
        (&json!(2), &json!(true), &json!("left"), &json!(false))
    );
}

#[test]
fn databases_are_listed_for_whoever_may_inspect() {
    let server = Running::start();
    assert_eq!(told(&server, &ask("PUT", "/a.json").by_owner().with_body(&json!(1))).0, 200);
    let other = Ask::new("PUT", "/a.json").with_query("ns", "other").by_owner().with_body(&json!(1));
    assert_eq!(told(&server, &other).0, 200);
    // The page of the emulators sends no credential.
    let list = Ask::new("GET", "/.inspect/databases.json").with_query("ns", "any");
    assert_eq!(told(&server, &list), (200, r#"[{"name":"watched"},{"name":"other"}]"#.into()));
    let mut foreign = list.clone();
    foreign.headers.push(("Origin".into(), "https://elsewhere.example".into()));
    assert_ne!(told(&server, &foreign).0, 200);
    assert_eq!(told(&server, &Ask { method: "PUT".into(), ..list }).0, 405);
}

#[test]
fn databases_are_managed_as_tools_ask_for_it() {
    let server = Running::start();
    let at = "/v1beta/projects/demo/locations/-/instances";
    let shown = |name: &str, kind: &str| {
        json!({
            "name": format!("projects/demo/locations/us-central1/instances/{name}"), "project": "projects/demo",
            "databaseUrl": format!("http://{}", server.address), "type": kind, "state": "ACTIVE",
        })
    };
    let manage = |method: &str, path: &str, query: &[(&str, &str)]| {
        let ask = Ask::new(method, &format!("{at}{path}")).by_owner();
        let ask = query.iter().fold(ask, |ask, (name, value)| ask.with_query(name, value));
        let (status, body) = told(&server, &ask);
        (status, serde_json::from_str::<Value>(&body).expect("the answer is JSON"))
    };
    assert_eq!(manage("GET", "", &[]), (200, json!({"instances": []})));
    // It is there when it is used.
    assert_eq!(manage("GET", "/demo", &[]), (200, shown("demo", "DEFAULT_DATABASE")));
    assert_eq!(
        manage("POST", "", &[("databaseId", "two"), ("validateOnly", "true")]),
        (200, shown("two", "USER_DATABASE"))
    );
    assert_eq!(manage("GET", "", &[]), (200, json!({"instances": []})));
    for name in ["two", "demo-default-rtdb"] {
        assert_eq!(manage("POST", "", &[("databaseId", name)]).0, 200);
    }
    let default = shown("demo-default-rtdb", "DEFAULT_DATABASE");
    assert_eq!(
        manage("GET", "", &[("pageSize", "1")]),
        (200, json!({"instances": [shown("two", "USER_DATABASE")], "nextPageToken": "1"}))
    );
    assert_eq!(
        manage("GET", "", &[("pageSize", "1"), ("pageToken", "1")]),
        (200, json!({"instances": [default]}))
    );
    for (method, path, query, status, code) in [
        ("POST", "", &[("databaseId", "two")][..], 409, "ALREADY_EXISTS"),
        ("POST", "", &[("databaseId", "a/b")], 400, "INVALID_ARGUMENT"),
        ("POST", "", &[], 400, "INVALID_ARGUMENT"),
        ("GET", "/a%2Fb", &[], 404, "NOT_FOUND"),
        ("DELETE", "/two", &[], 405, "UNIMPLEMENTED"),
        ("POST", "/two:disable", &[], 405, "UNIMPLEMENTED"),
    ] {
        let (found, body) = manage(method, path, query);
        assert_eq!(
            (found, body["error"]["status"].as_str()),
            (status, Some(code)),
            "{method} {path} {query:?}"
        );
    }
    assert_eq!(told(&server, &Ask::new("GET", at)).0, 401);
    assert_eq!(told(&server, &Ask::new("GET", "/v1beta/projects/demo").by_owner()).0, 404);
}
