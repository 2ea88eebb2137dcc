//! What is HTTP/2's own, against the real binary: how requests come, what ends them, and what clients may do that by 1.1
//! they cannot. What a request says and is answered is looked at in the tests of REST, which run over HTTP/2, too.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]
#![expect(clippy::print_stdout, reason = "the figures are shown with --nocapture")]

mod client;
mod hostile;
mod server;

use client::{Answer, Client, END_STREAM, GOAWAY, HEADERS, encrypted, is_closed};
use server::{ADMIN, Server};
use std::io::{Read, Write};
use std::process::Command;

/// `HTTP_1_1_REQUIRED` (RFC 9113, 7).
const OLDER: u32 = 13;

fn answer(status: u16, body: &str) -> Answer {
    Answer { status, body: body.into() }
}

#[test]
fn requests_are_what_they_are_by_1_1() {
    let server = Server::start("requests");
    let mut client = Client::connect(&server);
    let admin = format!("Bearer {ADMIN}");
    for (start, headers, body, expected) in [
        ("PUT /a.json?ns=demo", &[][..], "1", Ok(answer(200, "1"))),
        // Databases are told by their host.
        ("GET /a.json", &[(":authority", "demo.db.example:8443")], "", Ok(answer(200, "1"))),
        ("GET /a.json", &[(":authority", "other.db.example")], "", Ok(answer(200, "null"))),
        // What stands in both does not count twice.
        (
            "GET /a.json",
            &[(":authority", "demo.db.example"), ("host", "other.db.example")],
            "",
            Ok(answer(200, "1")),
        ),
        ("HEAD /a.json?ns=demo", &[], "", Ok(answer(200, ""))),
        ("HEAD /b.json?ns=demo", &[], "", Ok(answer(200, ""))),
        ("OPTIONS /a.json?ns=demo", &[], "", Ok(answer(204, ""))),
        ("GET /healthz", &[], "", Ok(answer(200, "ok\n"))),
        ("PUT /a.json?ns=demo&print=silent", &[], "2", Ok(answer(204, ""))),
        (
            "GET /a?ns=demo",
            &[],
            "",
            Ok(answer(404, "404 Not Found: append .json to your request URI to use the REST API.")),
        ),
        // What no URL is, and what asks for another protocol, is asked by 1.1.
        ("GET /a.json?orderBy=\"$key\"", &[], "", Err(OLDER)),
        ("GET /.ws?v=5&ns=demo", &[("connection", "upgrade"), ("upgrade", "websocket")], "", Err(OLDER)),
        // And the connection goes on.
        ("GET /a.json?ns=demo", &[("authorization", &admin)], "", Ok(answer(200, "2"))),
    ] {
        let stream = client.begin(start, headers, !body.is_empty());
        if !body.is_empty() {
            client.send(client::DATA, END_STREAM, stream, body.as_bytes());
        }
        let found = client.answer(stream);
        let found = found.map(|found| match (&found.body, start.starts_with("GET /a?")) {
            (body, true) => answer(
                found.status,
                serde_json::from_str::<serde_json::Value>(body).unwrap()["error"].as_str().unwrap(),
            ),
            _ => found,
        });
        assert_eq!(found, expected, "{start} {headers:?}");
    }
}

#[test]
fn curl_asks_again_by_1_1_what_is_no_url() {
    let server = Server::start("curl");
    let pem = format!("{}/http2-curl-certificate.pem", env!("CARGO_TARGET_TMPDIR"));
    let port = server.address.rsplit(':').next().unwrap();
    let ask = |arguments: &[&str], place: &str| {
        let url = format!("https://localhost:{port}{place}");
        let mut curl = Command::new("curl");
        curl.args(["-s", "--cacert", &pem, "-w", " by %{http_version}"]).args(arguments).arg(url);
        String::from_utf8(curl.output().unwrap().stdout).unwrap()
    };
    for (arguments, place, expected) in [
        (&["-X", "PUT", "-d", r#"{"a":1,"b":2}"#][..], "/x.json?ns=demo", r#"{"a":1,"b":2} by 2"#),
        (&[], "/x/a.json?ns=demo", "1 by 2"),
        (&["--http1.1"], "/x/a.json?ns=demo", "1 by 1.1"),
        (&[], r#"/x.json?ns=demo&orderBy="$key"&startAt="b""#, r#"{"b":2} by 1.1"#),
    ] {
        assert_eq!(ask(arguments, place), expected, "{place}");
    }
}

#[test]
fn bodies_and_answers_of_megabytes_pass_side_by_side() {
    let server = Server::start("large");
    let mut client = Client::connect(&server);
    let text = format!("\"{}\"", "x".repeat(3_000_000));
    for place in ["a", "b"] {
        let stored = client.ask(&format!("PUT /{place}.json?ns=demo&print=silent"), &[], text.as_bytes());
        assert_eq!(stored, answer(204, ""));
    }
    let streams =
        ["a", "b", "a"].map(|place| client.begin(&format!("GET /{place}.json?ns=demo"), &[], false));
    for stream in streams {
        let found = client.answer(stream).unwrap();
        assert_eq!((found.status, found.body == text), (200, true));
    }
}

#[test]
fn event_streams_share_a_connection_and_end_when_they_must() {
    let mut server = Server::start("events");
    let token = server.token(4);
    let mut client = Client::connect(&server);
    let accept = [("accept", "text/event-stream")];
    let lasting = client.begin("GET /a.json?ns=demo", &accept, false);
    let expiring = client.begin(&format!("GET /a.json?ns=demo&auth={token}"), &accept, false);
    for stream in [lasting, expiring] {
        client.told_until(stream, "event: put\ndata: {\"path\":\"/\",\"data\":null}\n\n");
    }
    assert_eq!(client.ask("PUT /a.json?ns=demo", &[], b"1"), answer(200, "1"));
    for stream in [lasting, expiring] {
        client.told_until(stream, "event: put\ndata: {\"path\":\"/\",\"data\":1}\n\n");
    }
    client.told_until(expiring, "event: auth_revoked\n");
    // It ends alone.
    while !client.frame_of(expiring).ends() {}
    assert_eq!(client.ask("PUT /a.json?ns=demo", &[], b"2"), answer(200, "2"));
    client.told_until(lasting, "data: {\"path\":\"/\",\"data\":2}\n\n");
    server.terminate();
    assert_eq!(client.end(), Some(0));
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn who_has_agreed_on_something_else_does_not_get_it() {
    let server = Server::start("agreed");
    for (protocols, agreed) in
        [(&["h2", "http/1.1"][..], Some("h2")), (&["http/1.1"], Some("http/1.1")), (&[], None)]
    {
        let mut stream = encrypted(&server, protocols);
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let found = stream.conn.alpn_protocol().map(|name| std::str::from_utf8(name).unwrap());
        assert_eq!(found, agreed);
        assert_eq!(answer.ends_with(b"ok\n"), agreed != Some("h2"), "{agreed:?}");
    }
    // Nor does HTTP/2 come where it was not agreed on.
    let mut stream = encrypted(&server, &[]);
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
    assert!(is_closed(&mut stream));
}

#[test]
fn a_client_that_asks_nothing_more_is_let_go() {
    let server = Server::start("idle");
    let mut client = Client::connect(&server);
    assert_eq!(client.ask("GET /healthz", &[], &[]), answer(200, "ok\n"));
    let goodbye = client.frame().unwrap();
    assert_eq!((goodbye.kind, goodbye.code()), (GOAWAY, 0));
    assert_eq!(client.end(), Some(0));
    // Somebody listens.
    let mut client = Client::connect(&server);
    let stream = client.begin("GET /a.json?ns=demo", &[("accept", "text/event-stream")], false);
    assert_eq!(client.frame_of(stream).kind, HEADERS);
    let keep_alive = client.told_until(stream, "event: keep-alive\n");
    assert!(keep_alive.starts_with("event: put\n"), "{keep_alive}");
}
