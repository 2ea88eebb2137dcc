//! What the cases do not say.

use crate::client::Ask;
use crate::server::Running;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One request of a table: what is asked, and status and start of the body that are expected.
fn check(server: &Running, ask: &Ask, status: u16, body: &str) {
    let answer = ask.send(&server.address).expect("the server answers");
    let found = answer.status;
    assert_eq!(answer.headers.get("access-control-allow-origin").map(String::as_str), Some("*"), "{ask:?}");
    let text = answer.text().expect("the body is text");
    assert_eq!(found, status, "{ask:?}: {text}");
    assert!(text.starts_with(body), "{ask:?}: {text}");
}

fn ask(method: &str, path: &str) -> Ask {
    Ask::new(method, path)
}

fn with_header(mut ask: Ask, name: &str, value: &str) -> Ask {
    ask.headers.push((name.into(), value.into()));
    ask
}

fn with_text(mut ask: Ask, text: &str) -> Ask {
    ask.body = Some(text.into());
    ask
}

#[test]
fn a_method_that_there_is_not_is_answered_with_those_that_there_are() {
    let server = Running::start();
    let (data, one) = ("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", "GET, HEAD, PUT, DELETE, OPTIONS");
    for (method, meant, path, allow) in [
        ("TRACE", None, "/a.json", data),
        ("POST", Some("BREW"), "/a.json", data),
        ("POST", None, "/a/.priority.json", one),
        ("PATCH", None, "/a/.priority.json", one),
        ("POST", None, "/.settings/rules.json", one),
        ("POST", None, "/.settings/defaultWriteSizeLimit.json", one),
        ("PUT", None, "/.inspect/coverage.json", "GET, HEAD, DELETE, OPTIONS"),
    ] {
        let mut ask = with_header(with_text(ask(method, path), "1"), "Authorization", "Bearer owner");
        ask.headers.extend(meant.map(|meant| ("X-HTTP-Method-Override".into(), meant.into())));
        let answer = ask.send(&server.address).expect("the server answers");
        let found = (answer.status, answer.headers.get("allow").map(String::as_str));
        assert_eq!(found, (405, Some(allow)), "{method} {meant:?} {path}");
    }
}

#[test]
fn requests_beyond_the_cases() {
    let server = Running::start();
    let error = |text: &str| format!("{{\n  \"error\" : {}", Value::from(text));
    let put = |path: &str, text: &str| with_text(ask("PUT", path), text);
    let deep = format!("{}1{}", "{\"k\":".repeat(33), "}".repeat(33));
    let no_suffix = "404 Not Found: append .json to your request URI to use the REST API.";
    for (request, status, body) in [
        (put("/a.json", "{\"l\":[1,2],\"t\":\"x\"}"), 200, "{\"l\":[1,2],\"t\":\"x\"}".to_owned()),
        (ask("HEAD", "/a.json"), 200, String::new()),
        (ask("OPTIONS", "/a.json"), 204, String::new()),
        (ask("OPTIONS", "/anything"), 204, String::new()),
        (ask("TRACE", "/a.json"), 405, error("TRACE is not supported")),
        (ask("GET", "/a"), 404, error(no_suffix)),
        (ask("PUT", "/a"), 404, error(no_suffix)),
        (ask("GET", "/a.json").with_query("ns", "a/../b"), 403, error("Invalid Firebase database name")),
        (ask("GET", "/a.json").with_query("ns", "other"), 200, "null".into()),
        (ask("GET", "/a.json").with_query("auth", ""), 200, "{".into()),
        (ask("GET", "/a.json").with_query("auth", "x"), 401, error("Could not parse auth token.")),
        (ask("GET", "/a.json").with_query("unheard-of", "1"), 200, "{".into()),
        // As people type it, and as Firebase's own examples for curl have it.
        (
            ask("GET", "/a.json").with_query("orderBy=\"$key\"&endAt=\"l\"&limitToFirst", "1"),
            200,
            "{\"l\":[1,2]}".into(),
        ),
        (ask("GET", "/a.json").with_query("print", "loud"), 400, error("print must be pretty or silent")),
        (
            ask("GET", "/a.json").with_query("orderBy", "\"$key\"").with_query("orderBy", "\"$key\""),
            400,
            error("orderBy must not be defined more than once"),
        ),
        (
            ask("GET", "/a.json").with_query("orderBy", "\"$key\"").with_query("startAt", "{}"),
            400,
            error("Constraint index field must be a JSON primitive"),
        ),
        (
            ask("GET", "/a.json").with_query("orderBy", "\"x\"").with_query("startAt", "1,2"),
            400,
            error("Constraint index field must be a JSON primitive"),
        ),
        (ask("GET", "/a/l.json").with_query("orderBy", "\"$key\""), 200, "[1,2]".into()),
        (
            ask("GET", "/a/l.json").with_query("orderBy", "\"$key\"").with_query("limitToLast", "1"),
            200,
            "{\"1\":2}".into(),
        ),
        (
            ask("GET", "/a/l.json").with_query("orderBy", "\"$key\"").with_query("startAt", "\"5\""),
            200,
            "{}".into(),
        ),
        (ask("GET", "/a/t.json").with_query("orderBy", "\"$key\""), 200, "null".into()),
        (ask("GET", "/a/t.json").with_query("print", "pretty").with_query("x", "y"), 200, "\"x\"".into()),
        (
            ask("GET", "/a.json").with_query("shallow", "true").with_query("startAfter", "l"),
            200,
            "{\"t\":true}".into(),
        ),
        (ask("GET", "/a/t.json").with_query("callback", "f"), 200, "/**/f(\"x\");".into()),
        (
            ask("GET", "/a/t.json").with_query("callback", "alert(1)//"),
            400,
            error("callback must be the name of a function"),
        ),
        (
            put("/b.json", "{\"ok\":1,\n \"a.b\":2}"),
            400,
            error(
                "Invalid data; couldn't parse key beginning at 2:2. Key value can't be empty or contain $ # [ ] / or .",
            ),
        ),
        (put("/b.json", "1 2"), 400, error("Invalid data; couldn't parse JSON object, array, or value.")),
        (put("/b.json", &"[".repeat(100_000)), 400, "{\n  \"error\"".into()),
        (put("/b.json", &deep), 400, "{\n  \"error\"".into()),
        (put("/b.json", "1").with_query("writeSizeLimit", "huge"), 400, "{\n  \"error\"".into()),
        (with_text(ask("PATCH", "/b.json"), "{\"x\":1,\"x/y\":2}"), 400, "{\n  \"error\"".into()),
        (
            with_text(ask("PATCH", "/b.json"), "{\"x/y\":{\".sv\":{\"increment\":2}}}"),
            200,
            "{\"x/y\":2}".into(),
        ),
        (with_text(ask("PATCH", "/b/.priority.json"), "{}"), 405, "{\n  \"error\"".into()),
        (put("/b/.priority.json", "3"), 200, "3".into()),
        (
            ask("GET", "/b.json").with_query("format", "export"),
            200,
            "{\"x\":{\"y\":2},\".priority\":3}".into(),
        ),
        (ask("DELETE", "/b/.priority.json"), 200, "null".into()),
        (ask("GET", "/b.json").with_query("format", "export"), 200, "{\"x\":{\"y\":2}}".into()),
        (with_header(put("/c.json", "1"), "if-match", "*"), 412, "null".into()),
        (with_header(put("/a/t.json", "2"), "if-match", "*"), 200, "2".into()),
        (with_header(put("/a/t.json", "3"), "if-match", "\"null_etag\""), 412, "2".into()),
        (
            with_header(ask("POST", "/a.json"), "if-match", "x"),
            400,
            error("if-match is not supported for POST"),
        ),
    ] {
        let request = if request.query.iter().any(|(name, _)| name == "ns") {
            request
        } else {
            request.with_query("ns", "beyond")
        };
        check(&server, &request, status, &body);
    }
}

#[test]
fn a_large_node_is_answered_whole() {
    let server = Running::start();
    let large: Value = (0..20_000).map(|number| (format!("k{number}"), json!({"n": number}))).collect();
    let put = ask("PUT", "/large.json").with_body(&large);
    assert_eq!(put.send(&server.address).expect("the server answers").status, 200);
    let get = ask("GET", "/large.json").send(&server.address).expect("the server answers");
    let text = get.text().expect("the body is text");
    assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(large));
}

#[test]
fn every_increment_is_told_its_own_sum() {
    let server = Running::start();
    let body = json!({".sv": {"increment": 1}});
    let sums: Vec<u64> = std::thread::scope(|scope| {
        let client = || -> Vec<u64> {
            let add = || ask("PUT", "/n.json").with_body(&body).send(&server.address);
            let sum = || add().and_then(crate::client::Answer::text).expect("the server answers");
            (0..50).map(|_| sum().parse().expect("a sum is a number")).collect()
        };
        let clients: Vec<_> = (0..8).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().expect("it does not panic")).collect()
    });
    let all: BTreeSet<u64> = sums.iter().copied().collect();
    assert_eq!(all, (1..=400).collect());
}
