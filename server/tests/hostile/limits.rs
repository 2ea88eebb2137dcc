//! Limits: what a file of them lets through and what it refuses, over every transport.

use crate::http::Http;
use crate::peer::Peer;
use crate::polling;
use crate::server::{Running, command, file};
use std::process::Stdio;

/// No rate of it gives anything back within a test.
const LIMITS: &str = r#"{
    // As rules are written.
    "limits": {
        "/inbox": {"valueBytes": 100, "writes": {"connection": {"perSecond": 0.001, "burst": 3}}},
        "/rooms/$room/messages/$message": {"writes": {"uid": {"perSecond": 0.001, "burst": 3}}},
        "/bytes": {"bytes": {"connection": {"perSecond": 0.01, "burst": 100}}},
        "/slow": {"writes": {"address": {"perSecond": 0.1, "burst": 1}}},
        "/read": {"reads": {"connection": {"perSecond": 0.001, "burst": 2}}},
    },
}"#;

const OK: &str = r#"{"s":"ok","d":""}"#;

fn server(name: &str, limits: &str) -> Running {
    Running::of(command("dev").args(["--limits", &file(name, limits)]).stderr(Stdio::null()))
}

/// Over REST, on a connection of its own each: the report, what was asked before, what is asked, its body, and the status
/// and part of the answer.
#[test]
fn rest_is_limited_as_the_file_says() {
    let server = server("rest", LIMITS);
    let x = |count: usize| format!("\"{}\"", "x".repeat(count));
    let none = "";
    let inbox = "the limit for `/inbox` is 0.001 writes per second and connection, 3 at once; try again in";
    let full = [("PUT /inbox/a.json", "1"), ("POST /inbox.json", "1"), ("PATCH /inbox.json", r#"{"b": 1}"#)];
    let sixty = x(60);
    for (report, before, start, body, expected, part) in [
        ("R101", &full[..], "PUT /inbox/a.json", "1", 429, inbox),
        ("R101", &full, "PUT /inbox/a/b/.priority.json", "1", 429, inbox),
        ("R101", &full, "POST /inbox.json", "1", 429, inbox),
        ("R101", &full, "PATCH /inbox.json", r#"{"b": 1}"#, 429, inbox),
        ("R101", &full, "PATCH /.json", r#"{"inbox/a": 1, "other": 2}"#, 429, inbox),
        ("R101", &full, "PUT /.json", r#"{"inbox": {"a": 1}}"#, 429, inbox),
        ("R101", &full, "DELETE /inbox/a.json", none, 429, inbox),
        ("R101", &full, "PUT /other.json", "1", 200, "1"),
        ("R101", &full, "GET /inbox.json", none, 200, "1"),
        ("R101", &full[1..], "DELETE /inbox/a.json", none, 200, "null"),
        ("R101", &[], "PUT /inbox/a.json", &x(101), 400, "has 101"),
        ("R101", &[], "PUT /inbox/a.json", &x(100), 200, "x"),
        (
            "R101",
            &[],
            "PATCH /inbox.json",
            r#"{"a": 1, "b": 1, "c": 1, "d": 1}"#,
            400,
            "3 writes at once from one connection",
        ),
        (
            "R101",
            &[],
            "PUT /rooms/a.json",
            r#"{"messages": {"1": 1, "2": 2, "3": 3, "4": 4}}"#,
            400,
            "3 writes at once from one uid",
        ),
        ("R101", &[], "PUT /rooms/a.json", r#"{"messages": {"1": 1, "2": 2}}"#, 200, "messages"),
        // By the address, where there is no uid.
        (
            "R101",
            &[],
            "PUT /rooms/b.json",
            r#"{"messages": {"1": 1, "2": 2}}"#,
            429,
            "/rooms/$room/messages/$message",
        ),
        (
            "R101",
            &[("PUT /bytes.json", &*sixty)],
            "PUT /bytes.json",
            &x(41),
            429,
            "the limit for `/bytes` is 0.01 bytes per second",
        ),
        ("R101", &[("PUT /bytes.json", &*sixty)], "PUT /bytes.json", &x(40), 200, "x"),
        (
            "R101",
            &[("GET /read.json", none); 2],
            "GET /read/a.json",
            none,
            429,
            "the limit for `/read` is 0.001 reads per second",
        ),
        ("R101", &[("GET /read.json", none); 2], "GET /reading.json", none, 200, "null"),
    ] {
        let mut http = Http::connect(&server.address);
        for (start, body) in before {
            let (status, text) = http.ask(&format!("{start}?ns=hostile"), body);
            assert_eq!(status, 200, "{report} {start}: {text}");
        }
        let (status, text) = http.ask(&format!("{start}?ns=hostile"), body);
        assert_eq!(status, expected, "{report} {start} {body}: {text}");
        assert!(text.contains(part), "{report} {start} {body}: {text}");
    }
}

#[test]
fn a_refusal_over_rest_says_when_to_come_back_and_an_admin_is_not_refused() {
    let server = server("retry", LIMITS);
    let mut http = Http::connect(&server.address);
    assert_eq!(http.ask("PUT /slow.json?ns=hostile", "1").0, 200);
    http.send("PUT /slow.json?ns=hostile", "Content-Length: 1\r\nOrigin: http://localhost:1\r\n");
    http.send_bytes(b"1");
    let (status, head, text) = http.answer_with_head().unwrap();
    assert_eq!(status, 429, "{text}");
    let seconds = head.lines().find_map(|line| line.strip_prefix("retry-after: ")).unwrap();
    assert!((1..=10).contains(&seconds.parse::<u32>().unwrap()), "{head}");
    assert!(
        text.starts_with(
            "{\n  \"error\" : \"the limit for `/slow` is 0.1 writes per second and address, 1 at once"
        ),
        "{text}"
    );
    let mut http = Http::connect(&server.address);
    for _ in 0..5 {
        http.send("PUT /slow.json?ns=hostile", "Content-Length: 1\r\nAuthorization: Bearer owner\r\n");
        http.send_bytes(b"1");
        assert_eq!(http.answer().unwrap().0, 200);
    }
}

/// The report, fields of the request, and the answer.
#[test]
fn sockets_are_limited_as_the_file_says() {
    let server = server("socket", LIMITS);
    let mut peer = Peer::connect(&server.address);
    let put = |at: &str| format!(r#""a":"p","b":{{"p":"{at}","d":1}}"#);
    let refused = r#"{"s":"unavailable","d":"the limit for `/inbox` is 0.001 writes per second and connection, 3 at once; try again in"#;
    let too_large = r#"{"s":"write_too_big","d":"the limit for `/inbox` is 100 bytes of keys and values"#;
    let not_read = r#"{"s":"unavailable","d":"the limit for `/read` is 0.001 reads per second and connection, 2 at once"#;
    for (report, fields, expected) in [
        ("R101", format!(r#""a":"p","b":{{"p":"/inbox/a","d":"{}"}}"#, "x".repeat(101)), too_large),
        ("R101", put("/inbox/a"), OK),
        // A transaction.
        ("R101", r#""a":"p","b":{"p":"/inbox/t","d":1,"h":""}"#.into(), OK),
        ("R101", r#""a":"m","b":{"p":"/inbox","d":{"a":1,"b":2}}"#.into(), refused),
        ("R101", r#""a":"o","b":{"p":"/inbox/left","d":1}"#.into(), OK),
        ("R101", put("/inbox/a"), refused),
        ("R101", r#""a":"p","b":{"p":"/inbox/t","d":2,"h":""}"#.into(), refused),
        ("R101", r#""a":"o","b":{"p":"/inbox/left","d":2}"#.into(), refused),
        ("R101", r#""a":"om","b":{"p":"/","d":{"inbox/left":2}}"#.into(), refused),
        ("R101", r#""a":"oc","b":{"p":"/inbox/other","d":null}"#.into(), OK),
        ("R101", put("/other"), OK),
        ("R101", r#""a":"q","b":{"p":"/read","h":""}"#.into(), r#"{"s":"ok","d":{}}"#),
        ("R101", r#""a":"g","b":{"p":"/read","q":{}}"#.into(), r#"{"s":"ok","d":null}"#),
        ("R101", r#""a":"g","b":{"p":"/read/a","q":{}}"#.into(), not_read),
        ("R101", r#""a":"q","b":{"p":"/read/a","h":""}"#.into(), not_read),
    ] {
        let answer = peer.ask(&fields);
        assert!(answer.starts_with(expected), "{report} {fields}: {answer}");
    }
    // What was armed is made, though nothing more could be written.
    drop(peer);
    let mut other = Peer::connect(&server.address);
    let get = r#""a":"g","b":{"p":"/inbox/left","q":{}}"#;
    while other.ask(get) != r#"{"s":"ok","d":1}"# {
        std::thread::yield_now();
    }
}

#[test]
fn a_session_of_long_polling_is_a_connection() {
    let server = server("polling", LIMITS);
    let mut http = Http::connect(&server.address);
    let ticket = polling::start(&mut http);
    for (number, expected) in (0..).zip(["ok", "ok", "ok", "unavailable", "unavailable"]) {
        let text = format!(r#"{{"t":"d","d":{{"r":{number},"a":"p","b":{{"p":"/inbox/a","d":1}}}}}}"#);
        let script = polling::say(&mut http, &ticket, number, &text);
        assert!(script.contains(&format!("\"s\":\"{expected}\"")), "R101 {number}: {script}");
    }
}

#[test]
fn a_file_that_cannot_be_used_starts_nothing_and_changes_nothing() {
    let broken = "{\n  \"limits\": {\"/a\": {\"writes\": {\"uid\": 5}}}\n}";
    for mode in ["dev", "serve"] {
        let mut command = command(mode);
        if mode == "serve" {
            command.args(["--namespace", "hostile"]);
        }
        let output = command.args(["--limits", &file("broken", broken)]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(":2:39: a rate is an object with `perSecond`"), "{said}");
        assert!(said.contains("2 |   \"limits\": {\"/a\": {\"writes\": {\"uid\": 5}}}"), "{said}");
    }
    let rules = file("open.json", r#"{"rules": {".read": true, ".write": true}}"#);
    for (mode, more) in [("dev", &[][..]), ("serve", &["--namespace", "hostile", "--rules", &rules])] {
        let limits = |burst: u32| {
            format!(
                r#"{{"limits": {{"/": {{"writes": {{"connection": {{"perSecond": 0.001, "burst": {burst}}}}}}}}}}}"#
            )
        };
        let name = format!("reload-{mode}");
        let path = file(&name, &limits(2));
        let mut server =
            Running::of(command(mode).args(["--limits", &path]).args(more).stderr(Stdio::piped()));
        let mut said = server.said();
        let passing = || {
            let mut http = Http::connect(&server.address);
            (0..9).take_while(|_| http.ask("PUT /a.json?ns=hostile", "1").0 == 200).count()
        };
        assert_eq!(passing(), 2, "{mode}");
        for (text, expected, outcome) in [
            (limits(5), 5, "the limits in `"),
            (broken.to_owned(), 5, "the limits stay as they were"),
            (limits(7), 7, "the limits in `"),
            (r#"{"limits": {}}"#.to_owned(), 9, "the limits in `"),
        ] {
            file(&name, &text);
            if mode == "serve" {
                server.signal("HUP");
            }
            let line = said.find(|line| line.contains(outcome));
            assert!(line.is_some(), "{mode} {text}");
            assert_eq!(passing(), expected, "{mode} {text}");
        }
    }
}

/// Somebody writes without a pause where they may not, and as much where there is a limit; what others ask is answered, and
/// what is refused never gets as far as to be decided.
#[test]
fn floods_of_refused_writes_keep_nobody_waiting() {
    let rules = r#"{"rules": {".read": true, "open": {".write": true}, "closed": {".write": false}}}"#;
    let limits = r#"{"limits": {"/open/inbox": {"writes": {"address": {"perSecond": 1, "burst": 100}}}}}"#;
    let (rules, limits) = (file("flood-rules", rules), file("flood", limits));
    let server =
        Running::of(command("dev").args(["--rules", &rules, "--limits", &limits]).stderr(Stdio::null()));
    let mut other = Peer::connect(&server.address);
    for (at, denied, passed_max) in
        [("/closed/a", "permission_denied", 0), ("/open/inbox/a", "unavailable", 200)]
    {
        let mut flood = Peer::connect(&server.address);
        let mut passed = 0;
        for round in 0..100 {
            let put = format!(r#""a":"p","b":{{"p":"{at}","d":1}}"#);
            (0..100).for_each(|_| flood.send_request(&put));
            // In the midst of what waits, somebody else writes and reads.
            assert_eq!(other.ask(&format!(r#""a":"p","b":{{"p":"/open/other","d":{round}}}"#)), OK);
            assert_eq!(
                other.ask(r#""a":"g","b":{"p":"/open/other","q":{}}"#),
                format!(r#"{{"s":"ok","d":{round}}}"#)
            );
            for _ in 0..100 {
                let answer = flood.answer();
                let is_denied = answer.starts_with(&format!(r#"{{"s":"{denied}""#));
                assert!(is_denied || answer == OK, "{answer}");
                passed += usize::from(!is_denied);
            }
        }
        assert!(passed <= passed_max, "R101 {at}: {passed} of 10 000 have passed");
    }
    assert!(server.resident_most_mb() < 60, "{} MB", server.resident_most_mb());
}
