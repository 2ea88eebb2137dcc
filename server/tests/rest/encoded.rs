//! Answers and bodies that travel compressed.

use crate::client::{Answer, Ask};
use crate::server::Running;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::{Read, Write};

const MIB: usize = 1024 * 1024;

fn send(server: &Running, ask: &Ask) -> Answer {
    ask.send(&server.address).expect("the server answers")
}

fn with(mut ask: Ask, name: &str, value: &str) -> Ask {
    ask.headers.push((name.into(), value.into()));
    ask
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

/// A list of so many sentences, of which each is another one.
fn sentences(count: usize) -> Value {
    (0..count).map(|number| json!(format!("sentence {number} of {count}"))).collect()
}

/// What a body was before it was encoded.
fn decoded(coding: Option<&str>, body: Vec<u8>) -> Vec<u8> {
    let mut text = Vec::new();
    match coding {
        None => text = body,
        Some("gzip") => {
            MultiGzDecoder::new(&body[..]).read_to_end(&mut text).expect("it is gzip and whole");
        }
        Some("zstd") => text = zstd::decode_all(&body[..]).expect("it is zstd and whole"),
        Some(coding) => panic!("nobody asked for {coding}"),
    }
    text
}

#[test]
fn answers_travel_as_their_clients_wish() {
    let server = Running::start();
    for (name, count) in [("small", 10), ("page", 200), ("long", 30_000)] {
        let put = Ask::new("PUT", &format!("/{name}.json")).with_body(&sentences(count));
        assert_eq!(send(&server, &put.with_query("print", "silent")).status, 204, "{name}");
    }
    for (method, path, query, wish, expected) in [
        ("GET", "/page.json", "", None, None),
        ("GET", "/page.json", "", Some("gzip"), Some("gzip")),
        ("GET", "/page.json", "", Some("gzip, deflate, br"), Some("gzip")),
        ("GET", "/page.json", "", Some("gzip, zstd"), Some("zstd")),
        ("GET", "/page.json", "", Some("zstd;q=0.1, gzip;q=0.2"), Some("gzip")),
        ("GET", "/page.json", "", Some("gzip;q=0"), None),
        ("GET", "/page.json", "", Some("br"), None),
        ("GET", "/page.json", "callback", Some("gzip"), Some("gzip")),
        ("GET", "/page.json", "print", Some("gzip"), Some("gzip")),
        ("GET", "/small.json", "", Some("gzip"), None),
        ("GET", "/nothing.json", "", Some("gzip"), None),
        ("GET", "/page/0/x$.json", "", Some("gzip"), None),
        ("GET", "/long.json", "", None, None),
        ("GET", "/long.json", "", Some("gzip"), Some("gzip")),
        ("GET", "/long.json", "", Some("zstd"), Some("zstd")),
        ("HEAD", "/long.json", "", Some("gzip"), Some("gzip")),
        ("HEAD", "/page.json", "", Some("zstd"), Some("zstd")),
        ("HEAD", "/page.json", "", None, None),
    ] {
        let mut plain = with(Ask::new("GET", path), "X-Firebase-ETag", "true");
        match query {
            "" => {}
            "callback" => plain = plain.with_query("callback", "f"),
            "print" => plain = plain.with_query("print", "pretty"),
            query => panic!("{query}"),
        }
        let mut ask = plain.clone();
        ask.method = method.into();
        if let Some(wish) = wish {
            ask = with(ask, "Accept-Encoding", wish);
        }
        let (plain, found) = (send(&server, &plain), send(&server, &ask));
        let header = |name: &str| found.headers.get(name).map(String::as_str);
        let coding = header("content-encoding").map(ToOwned::to_owned);
        assert_eq!(coding.as_deref(), expected, "{ask:?}");
        for name in ["etag", "content-type", "cache-control", "access-control-allow-origin", "vary"] {
            assert_eq!(header(name), plain.headers.get(name).map(String::as_str), "{name} of {ask:?}");
        }
        let (status, plain_status) = (found.status, plain.status);
        assert_eq!(status, plain_status, "{ask:?}");
        let length = header("content-length").map(ToOwned::to_owned);
        let (body, text) = (found.bytes().expect("the body comes"), plain.bytes().expect("the body comes"));
        // Whoever gets an answer as it is encoded is not told how long it is.
        assert_eq!(length.is_some(), expected.is_none(), "{ask:?}");
        if method == "HEAD" {
            assert!(body.is_empty(), "{ask:?}");
            continue;
        }
        assert!(expected.is_none() || body.len() < text.len() / 2, "{ask:?}: {}", body.len());
        assert!(decoded(expected, body) == text, "{ask:?}");
    }
    let vary = |path| send(&server, &Ask::new("GET", path)).headers.get("vary").cloned();
    assert_eq!(vary("/page.json").as_deref(), Some("Accept-Encoding"));
    assert_eq!(vary("/small.json"), None);
}

#[test]
fn events_are_never_held_back_by_an_encoder() {
    let server = Running::start();
    let put = Ask::new("PUT", "/page.json").with_body(&sentences(200));
    assert_eq!(send(&server, &put).status, 200);
    let ask = with(Ask::new("GET", "/page.json"), "Accept", "text/event-stream");
    let mut stream = send(&server, &with(ask, "Accept-Encoding", "gzip, zstd"));
    assert_eq!(stream.headers.get("content-encoding"), None);
    assert_eq!(stream.next_event().expect("it comes").data["data"], sentences(200));
}

#[test]
fn bodies_may_be_compressed_and_count_as_what_they_become() {
    let server = Running::start();
    let text = sentences(30_000).to_string();
    let whole = gzip(text.as_bytes());
    let long = gzip(sentences(60_000).to_string().as_bytes());
    // Short, so that all of it has been read when it is refused.
    let page = gzip(sentences(200).to_string().as_bytes());
    let cut = page[..page.len() - 9].to_vec();
    let mut changed = page.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 0xff;
    let (first, second) = text.as_bytes().split_at(1000);
    let members = [gzip(first), gzip(second)].concat();
    let bomb = gzip(&vec![b' '; 257 * MIB]);
    assert!(bomb.len() < 2 * MIB);
    let kept = "[\"sentence 0 of 30000\",";
    let damaged = "{\n  \"error\" : \"the body is not gzip, or it is damaged or not whole";
    let coding = "{\n  \"error\" : \"the Content-Encoding of a body must be gzip";
    for (row, path, coding, body, status, begin) in [
        ("gzip", "/a.json", "gzip", whole.clone(), 200, kept),
        ("another spelling", "/a.json", "X-GZIP", whole, 200, kept),
        ("longer than a mebibyte", "/a.json", "gzip", long, 200, "[\"sentence 0 of 60000\","),
        ("none, by name", "/a.json", "identity", text.into_bytes(), 200, kept),
        ("in two parts", "/a.json", "identity, gzip", members, 200, kept),
        ("small", "/a.json", "gzip", gzip(b"{\"x\":1}"), 200, "{\"x\":1}"),
        ("cut", "/a.json", "gzip", cut, 400, damaged),
        ("changed", "/a.json", "gzip", changed, 400, "{\n  \"error\""),
        ("no gzip", "/a.json", "gzip", b"{\"x\":1}".to_vec(), 400, damaged),
        ("nothing", "/a.json", "gzip", Vec::new(), 400, "{\n  \"error\""),
        ("nothing in gzip", "/a.json", "gzip", gzip(b""), 400, "{\n  \"error\" : \"Error: No data supplied."),
        ("another one", "/a.json", "zstd", page.clone(), 415, coding),
        ("twice", "/a.json", "gzip, gzip", gzip(&page), 415, coding),
        ("a bomb", "/a.json", "gzip", bomb.clone(), 413, "{\n  \"error\" : \"Payload is too large"),
        ("a bomb of a setting", "/.settings/defaultWriteSizeLimit.json", "gzip", bomb, 413, "{"),
        ("a setting", "/.settings/defaultWriteSizeLimit.json", "gzip", gzip(b"\"small\""), 200, "{"),
    ] {
        let mut ask = with(Ask::new("PUT", path).by_owner(), "Content-Encoding", coding);
        ask.body = Some(body);
        let answer = send(&server, &ask);
        let (found, text) = (answer.status, answer.bytes().expect("the body comes"));
        let text = String::from_utf8_lossy(&text[..text.len().min(200)]).into_owned();
        assert_eq!(found, status, "{row}: {text}");
        assert!(text.starts_with(begin), "{row}: {text}");
    }
}
