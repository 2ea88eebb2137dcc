//! What a developer is told of rules: which parts of them were exercised, and why something is denied.

use crate::client::{Answer, Ask};
use crate::server::Running;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

const RULES: &str = r#"{
  "rules": {
    "notes": {
      "$uid": {
        ".read": "auth != null && auth.uid === $uid",
        ".write": "auth.uid === $uid",
        ".validate": "newData.isString() && newData.val().length < 5"
      }
    }
  }
}
"#;

fn send(server: &Running, ask: &Ask) -> Answer {
    ask.send(&server.address).expect("the server answers")
}

fn ask(method: &str, path: &str) -> Ask {
    Ask::new(method, path).with_query("ns", "ruled")
}

/// Who has an unsigned token with these claims; nobody, without any.
fn by(ask: Ask, claims: &Value) -> Ask {
    let encoded = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let token = format!("{}.{}.", encoded(&json!({"alg": "none"})), encoded(claims));
    if claims.is_null() { ask } else { ask.with_query("auth", &token) }
}

fn store(server: &Running, ns: &str, rules: &str) {
    let mut ask = Ask::new("PUT", "/.settings/rules.json").with_query("ns", ns).by_owner();
    ask.body = Some(rules.into());
    assert_eq!(send(server, &ask).status, 200, "{rules}");
}

fn report(server: &Running, ns: &str) -> Value {
    let answer = send(server, &Ask::new("GET", "/.inspect/coverage.json").with_query("ns", ns));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/json; charset=utf-8");
    serde_json::from_str(&answer.text().expect("it is text")).expect("it is JSON")
}

/// Six requests.
fn exercise(server: &Running) {
    let set = |value: &str| ask("PUT", "/notes/amy.json").with_body(&value.into());
    for (user, request, status) in [
        ("amy", ask("GET", "/notes/amy.json"), 200),
        ("bob", ask("GET", "/notes/amy.json"), 401),
        ("", ask("GET", "/notes/amy.json"), 401),
        ("amy", set("hi"), 200),
        ("amy", set("too long"), 401),
        ("", set("hi"), 401),
    ] {
        let claims = if user.is_empty() { Value::Null } else { json!({"sub": user}) };
        let answer = send(server, &by(request, &claims));
        assert_eq!(answer.status, status, "{user}");
        assert!(!answer.headers.contains_key("x-firebase-auth-debug"), "nobody has asked why");
    }
}

/// An expression of a report, wherever it is inside of others.
fn find<'r>(expressions: &'r Value, text: &str) -> Option<&'r Value> {
    expressions
        .as_array()?
        .iter()
        .find_map(|own| if own["expression"] == text { Some(own) } else { find(&own["children"], text) })
}

#[test]
fn coverage_is_what_a_hand_counts() {
    let server = Running::start();
    store(&server, "ruled", RULES);
    store(&server, "other", RULES);
    exercise(&server);
    let (ruled, other) = (report(&server, "ruled"), report(&server, "other"));
    let [bools, none] = [[(true, 1), (false, 1)].as_slice(), &[]];
    let values = |values: &[(bool, u64)]| {
        Value::from_iter(values.iter().map(|(value, count)| json!({"value": value, "count": count})))
    };
    // The report, the rule and the expression in it, its place, and its counts: true, false, other, error.
    for (id, kind, expression, place, counts, seen) in [
        (
            "R095",
            ".read",
            "auth != null && auth.uid === $uid",
            (5, 19),
            [1, 2, 0, 0],
            values(&[(true, 1), (false, 2)]),
        ),
        ("R095", ".read", "auth != null", (5, 19), [2, 1, 0, 0], values(&[(true, 2), (false, 1)])),
        ("R095", ".read", "auth.uid === $uid", (5, 35), [1, 1, 0, 0], values(bools)),
        (
            "R095",
            ".read",
            "auth.uid",
            (5, 35),
            [0, 0, 2, 0],
            json!([{"value": "amy", "count": 1}, {"value": "bob", "count": 1}]),
        ),
        ("R095", ".write", "auth.uid === $uid", (6, 20), [2, 1, 0, 0], values(&[(true, 2), (false, 1)])),
        (
            "R095",
            ".write",
            "auth.uid",
            (6, 20),
            [0, 0, 3, 0],
            json!([{"value": "amy", "count": 2}, {"value": null, "count": 1}]),
        ),
        ("R095", ".validate", "newData.isString()", (7, 23), [2, 0, 0, 0], values(&[(true, 2)])),
        ("R095", ".validate", "newData.val().length < 5", (7, 45), [1, 1, 0, 0], values(bools)),
        (
            "R095",
            ".validate",
            "newData.val().length",
            (7, 45),
            [0, 0, 2, 0],
            json!([{"value": 2, "count": 1}, {"value": 8, "count": 1}]),
        ),
        ("R095", ".validate", "newData", (7, 23), [0, 0, 2, 0], values(none)),
    ] {
        let row = format!("{id} {kind} {expression}");
        for (namespace, report, counted) in [("ruled", &ruled, true), ("other", &other, false)] {
            assert_eq!(report["namespace"], namespace, "{row}");
            assert_eq!(report["source"], RULES, "{row}");
            let rules = report["rules"].as_array().expect("there are rules");
            let rule = rules.iter().find(|rule| rule["kind"] == kind).expect("it is there");
            assert_eq!(rule["path"], "/notes/$uid", "{row}");
            let own = find(&rule["expressions"], expression).unwrap_or_else(|| panic!("{row} in {rule:#}"));
            let start = &own["start"];
            let offset = usize::try_from(start["offset"].as_u64().expect("a number")).expect("it is small");
            assert!(RULES[offset..].starts_with(expression), "{row}");
            assert_eq!((&start["line"], &start["column"]), (&json!(place.0), &json!(place.1)), "{row}");
            let [truths, falsehoods, others, errors] = if counted { counts } else { [0; 4] };
            let counts = json!({"true": truths, "false": falsehoods, "other": others, "error": errors});
            assert_eq!(own["counts"], counts, "{row} of {namespace}");
            assert_eq!(own["values"], if counted { seen.clone() } else { json!([]) }, "{row} of {namespace}");
        }
    }
    assert_eq!((&ruled["exercised"], &ruled["sides"]), (&json!(11), &json!(12)));
    assert_eq!(other["percent"], 0.0);
}

#[test]
fn coverage_begins_anew_with_other_rules_and_when_it_is_told_to() {
    let server = Running::start();
    let evaluated = || {
        let report = report(&server, "ruled");
        let rules = report["rules"].as_array().expect("there are rules").clone();
        rules.iter().map(|rule| rule["counts"]["true"].as_u64().expect("a count")).sum::<u64>()
    };
    let anew = |path: &str| {
        let answer = send(&server, &ask("DELETE", path));
        assert_eq!((answer.status, answer.text().expect("text").as_str()), (200, r#"{"status":"ok"}"#));
    };
    store(&server, "ruled", RULES);
    exercise(&server);
    let once = evaluated();
    assert_ne!(once, 0);
    exercise(&server);
    assert_eq!(evaluated(), 2 * once);
    // Every file of a suite stores the same rules.
    store(&server, "ruled", RULES);
    exercise(&server);
    assert_eq!(evaluated(), 3 * once);
    anew("/.inspect/coverage.json");
    assert_eq!(evaluated(), 0);
    exercise(&server);
    anew("/.inspect/coverage");
    assert_eq!(evaluated(), 0);
    exercise(&server);
    store(&server, "ruled", &RULES.replace("5", "4"));
    assert_eq!(evaluated(), 0);
}

#[test]
fn coverage_is_shown_as_a_page_and_not_to_everybody() {
    let server = Running::start();
    let missing = send(&server, &ask("GET", "/.inspect/coverage"));
    assert_eq!(missing.status, 404);
    assert!(missing.text().expect("text").contains("no rules"));
    store(&server, "ruled", RULES);
    exercise(&server);
    let page = send(&server, &ask("GET", "/.inspect/coverage"));
    assert_eq!((page.status, page.headers["content-type"].as_str()), (200, "text/html; charset=utf-8"));
    assert!(page.headers["content-security-policy"].starts_with("default-src 'none'"));
    let page = page.text().expect("text");
    for expected in [
        "91.7 %",
        "2\u{a0}×\u{a0}true, 1\u{a0}×\u{a0}false",
        "1\u{a0}×\u{a0}&quot;amy&quot;, 1\u{a0}×\u{a0}&quot;bob&quot;",
        "$uid/<wbr>.read",
    ] {
        assert!(page.contains(expected), "{expected}\nis not in\n{page}");
    }
    let posted =
        send(&server, &ask("POST", "/.inspect/coverage").with_query("x-http-method-override", "DELETE"));
    assert_eq!((posted.status, posted.headers["location"].as_str()), (303, "/.inspect/coverage?ns=ruled"));
    assert_eq!(report(&server, "ruled")["percent"], 0.0);
    for (method, path, header, status) in [
        ("PUT", "/.inspect/coverage.json", ("Accept", "*/*"), 405),
        ("POST", "/.inspect/coverage.json", ("Accept", "*/*"), 405),
        ("GET", "/.inspect/other.json", ("Accept", "*/*"), 404),
        ("GET", "/.inspect/coverage.json", ("Origin", "http://localhost:5173"), 200),
        ("GET", "/.inspect/coverage.json", ("Sec-Fetch-Site", "none"), 200),
    ] {
        let mut ask = ask(method, path);
        ask.headers.push((header.0.into(), header.1.into()));
        assert_eq!(send(&server, &ask).status, status, "{method} {path} {header:?}");
    }
    let foreign = ("Origin", "https://pages.example");
    let file = std::env::temp_dir().join(format!("hearth-coverage-{}.json", std::process::id()));
    std::fs::write(&file, RULES).expect("a file can be written");
    let ruled = Running::with(&["--rules", &file.display().to_string()]);
    let remote = Running::with(&["--allow-remote", "--rules", &file.display().to_string()]);
    for (server, header, status) in
        [(&ruled, ("Accept", "*/*"), 200), (&ruled, foreign, 401), (&remote, ("Accept", "*/*"), 401)]
    {
        for path in ["/.inspect/coverage.json", "/.inspect/coverage"] {
            let mut ask = ask("GET", path);
            ask.headers.push((header.0.into(), header.1.into()));
            assert_eq!(send(server, &ask).status, status, "{path} {header:?}");
        }
    }
    std::fs::remove_file(&file).expect("it is there");
}

#[test]
fn who_asks_why_is_told_in_a_header() {
    const ASKING: &str = r#"{"sub": "bob", "debug": true}"#;
    let explaining = Running::with(&["--explain"]);
    let plain = Running::start();
    let read = || ask("GET", "/notes/amy.json");
    let stream = || {
        let mut ask = read();
        ask.headers.push(("Accept".into(), "text/event-stream".into()));
        ask
    };
    let set = || ask("PUT", "/notes/bob.json").with_body(&json!("é too long"));
    let update = || ask("PATCH", "/notes.json").with_body(&json!({"bob": "hi", "amy": "hi"}));
    let mut conditional = ask("DELETE", "/notes/amy.json");
    conditional.headers.push(("If-Match".into(), "other".into()));
    for server in [&explaining, &plain] {
        store(server, "ruled", RULES);
    }
    for (server, claims, request, expected) in [
        (
            &plain,
            ASKING,
            read(),
            Some(
                "Attempt to read /notes/amy with auth={\"provider\":\"custom\",\"token\":{\"debug\":true,\"sub\":\"bob\"},\"uid\":\"bob\"} \
                 | / | /notes | /notes/amy:.read: \"auth != null && auth.uid === $uid\" | auth = {…} | auth != null = true \
                 | auth.uid = \"bob\" | $uid = \"amy\" | auth.uid === $uid = false | => false \
                 | No .read rule allowed the operation. | Read was denied.",
            ),
        ),
        (&plain, ASKING, stream(), Some("Read was denied.")),
        (&plain, ASKING, conditional, Some("Read was denied.")),
        (&plain, ASKING, set(), Some("Attempt to write \"\\u00e9 too long\" to /notes/bob with auth=")),
        (
            &plain,
            ASKING,
            set(),
            Some("newData.val().length = 10 | newData.val().length < 5 = false | => false"),
        ),
        (&plain, ASKING, set(), Some("/notes/bob:.write: \"auth.uid === $uid\" | auth = ")),
        (&plain, ASKING, update(), Some("Attempt to write \"hi\" to /notes/amy with auth=")),
        (&plain, ASKING, update(), Some("Attempt to write \"hi\" to /notes/bob with auth=")),
        (&plain, ASKING, update(), Some("No .write rule allowed the operation. | Write was denied.")),
        // Who has not asked, and what is allowed.
        (&plain, r#"{"sub": "bob"}"#, read(), None),
        (&plain, r#"{"sub": "bob", "debug": "yes"}"#, read(), None),
        (&plain, "null", read(), None),
        (&plain, r#"{"sub": "amy", "debug": true}"#, read(), None),
        (&explaining, "null", read(), Some("with auth=null | / | /notes | /notes/amy:.read: ")),
        (&explaining, r#"{"sub": "amy"}"#, read(), None),
    ] {
        let shown = format!("{claims} {request:?}");
        let claims = serde_json::from_str(claims).expect("claims are JSON");
        let mut answer = send(server, &by(request, &claims));
        let reasons = answer.headers.remove("x-firebase-auth-debug");
        assert_eq!(answer.status == 200, expected.is_none() && claims["sub"] == "amy", "{shown}");
        match (expected, &reasons) {
            (None, None) => {}
            (Some(expected), Some(reasons)) => {
                let squeezed =
                    reasons.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
                let expected = expected.replace('…', "\\u2026");
                assert!(squeezed.contains(&expected), "{shown}: {expected}\nis not in\n{squeezed}");
            }
            (Some(_), None) | (None, Some(_)) => panic!("{shown}: {reasons:?}"),
        }
        if answer.status == 401 {
            let body = answer.text().expect("the body is text");
            assert_eq!(body, "{\n  \"error\" : \"Permission denied\"\n}\n", "{shown}");
        }
    }
    let mut foreign = read();
    foreign.headers.push(("Origin".into(), "https://pages.example".into()));
    let file = std::env::temp_dir().join(format!("hearth-reasons-{}.json", std::process::id()));
    std::fs::write(&file, RULES).expect("a file can be written");
    let open = Running::with(&["--explain", "--rules", &file.display().to_string()]);
    let remote = Running::with(&["--allow-remote", "--rules", &file.display().to_string()]);
    for (server, request, told) in [
        (&open, read(), true),
        (&open, foreign, false),
        (&remote, by(read(), &serde_json::from_str(ASKING).expect("it is JSON")), false),
    ] {
        let answer = send(server, &request);
        assert_eq!(answer.status, 401, "{request:?}");
        assert_eq!(answer.headers.contains_key("x-firebase-auth-debug"), told, "{request:?}");
    }
    std::fs::remove_file(&file).expect("it is there");
}
