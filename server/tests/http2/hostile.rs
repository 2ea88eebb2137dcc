//! Clients that mean harm: each time the server stays within so much memory, ends what it is documented to, and answers
//! somebody else.

use crate::client::{
    CONTINUATION, Client, DATA, END_HEADERS, END_STREAM, HEADERS, PAYLOAD_BYTES, RST_STREAM,
};
use crate::client::{encrypted, head, is_closed};
use crate::server::{ADMIN, Server};
use crate::{Answer, answer};
use std::io::Write;
use std::thread;

/// Codes of errors (RFC 9113, 7).
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;
const ENHANCE_YOUR_CALM: u32 = 11;

/// Lets somebody do harm, and asks somebody else afterwards. `resident_mb_max` bounds the most memory that the server ever
/// had; that of one that serves nobody has 9 MB.
fn check(what: &str, resident_mb_max: usize, harm: impl FnOnce(&Server)) {
    let server = Server::start(&what.replace(' ', "-"));
    harm(&server);
    assert_eq!(
        Client::connect(&server).ask("PUT /other.json?ns=demo", &[], b"1"),
        answer(200, "1"),
        "{what}"
    );
    let resident_mb = server.resident_most_mb();
    println!("{what}: {resident_mb} MB");
    assert!(
        resident_mb <= resident_mb_max,
        "{what}: {resident_mb} MB; at most {resident_mb_max} are in order"
    );
}

/// What the server has counted by that name.
fn metric(server: &Server, name: &str) -> String {
    let admin = format!("Bearer {ADMIN}");
    let Answer { body, .. } = Client::connect(server).ask("GET /metrics", &[("authorization", &admin)], &[]);
    body.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().into()
}

#[test]
fn there_are_a_hundred_streams_and_no_more() {
    check("streams", 50, |server| {
        let mut client = Client::connect(server);
        let listen = |client: &mut Client| {
            let stream = client.begin("GET /a.json?ns=demo", &[("accept", "text/event-stream")], false);
            let first = client.frame_of(stream);
            (stream, if first.kind == RST_STREAM { Err(first.code()) } else { Ok(()) })
        };
        let open: Vec<u32> = (0..100)
            .map(|_| {
                let (stream, begun) = listen(&mut client);
                assert_eq!(begun, Ok(()));
                stream
            })
            .collect();
        assert_eq!(listen(&mut client).1, Err(REFUSED_STREAM));
        // Who gives up what was answered does nothing wrong.
        for stream in open {
            client.send(RST_STREAM, 0, stream, &CANCEL.to_be_bytes());
            client.settle().unwrap();
            assert_eq!(listen(&mut client).1, Ok(()));
        }
    });
}

#[test]
fn who_gives_up_everything_is_sent_away() {
    check("resets in one go", 50, |server| {
        let mut client = Client::connect(server);
        for _ in 0..10_000 {
            let Ok(stream) = client.try_begin("GET /a.json?ns=demo", &[], false) else { break };
            if client.try_send(RST_STREAM, 0, stream, &CANCEL.to_be_bytes()).is_err() {
                break;
            }
        }
        // What was sent after the end can take the goodbye with it.
        assert!([Some(ENHANCE_YOUR_CALM), None].contains(&client.end()));
    });
    check("resets one by one", 50, |server| {
        let mut client = Client::connect(server);
        let mut give_up = || {
            // The server must have begun with it.
            let stream = client.try_begin("PUT /a.json?ns=demo", &[], true)?;
            client.settle()?;
            client.try_send(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())?;
            client.settle()
        };
        let given_up = (0..200).take_while(|_| give_up().is_ok()).count();
        assert!((100..=110).contains(&given_up), "{given_up}");
    });
}

#[test]
fn heads_have_an_end() {
    check("a head of 400 KB", 50, |server| {
        let mut client = Client::connect(server);
        let head = head("GET /a.json?ns=demo", &[("x", &"x".repeat(400_000))]);
        let stream = client.next_stream();
        let pieces: Vec<&[u8]> = head.chunks(PAYLOAD_BYTES).collect();
        for (number, piece) in pieces.iter().enumerate() {
            let kind = if number == 0 { HEADERS } else { CONTINUATION };
            let end = if number + 1 == pieces.len() { END_HEADERS } else { 0 };
            if client.try_send(kind, end | if number == 0 { END_STREAM } else { 0 }, stream, piece).is_err() {
                break;
            }
        }
        assert!([Some(ENHANCE_YOUR_CALM), None].contains(&client.end()));
    });
    check("a head of 150 KB", 50, |server| {
        let mut client = Client::connect(server);
        // Each is one that the table has, so that it takes one byte.
        let mut head = head("GET /a.json?ns=demo", &[]);
        head.extend([0x90; 4_000]);
        let stream = client.next_stream();
        client.send(HEADERS, END_HEADERS | END_STREAM, stream, &head);
        assert_eq!(client.answer(stream).map(|answer| answer.status), Ok(431));
        assert_eq!(client.ask("GET /healthz", &[], &[]).status, 200);
    });
    check("a head without an end", 50, |server| {
        let mut client = Client::connect(server);
        let stream = client.next_stream();
        client.send(HEADERS, END_STREAM, stream, &head("GET /a.json?ns=demo", &[]));
        let is_cut = (0..1_000_000).any(|_| client.try_send(CONTINUATION, 0, stream, &[]).is_err());
        assert!(is_cut, "it is read to its end");
        assert!([Some(ENHANCE_YOUR_CALM), None].contains(&client.end()));
    });
}

#[test]
fn what_does_not_come_costs_nothing() {
    check("nothing", 50, |server| {
        let mut silent: Vec<_> = (0..50).map(|_| encrypted(server, &["h2"])).collect();
        // They agree on keys and say nothing more, or never begin with a head, or never end one.
        silent.iter_mut().for_each(|stream| stream.conn.complete_io(&mut stream.sock).map(|_| ()).unwrap());
        let mut begun: Vec<Client> = (0..50).map(|_| Client::connect(server)).collect();
        for client in &mut begun[25..] {
            let stream = client.next_stream();
            client.send(HEADERS, END_STREAM, stream, &head("GET /a.json?ns=demo", &[]));
        }
        silent.iter_mut().for_each(|stream| assert!(is_closed(stream)));
        begun.iter_mut().for_each(|client| assert!(client.is_closed()));
        assert_eq!(metric(server, r#"hearth_slow_requests_total{part="head"}"#), "100");
    });
    check("garbage", 50, |server| {
        for text in [
            &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
            &[0; 100],
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxxxxxxxxxx",
        ] {
            let mut stream = encrypted(server, &["h2"]);
            stream.write_all(text).unwrap();
            stream.flush().unwrap();
            assert!(is_closed(&mut stream));
        }
    });
}

/// Takes a minute, as what it looks at does.
#[test]
fn who_neither_sends_nor_takes_is_given_up() {
    check("answers that are not taken", 450, |server| {
        let mut writer = Client::connect(server);
        let text = format!("\"{}\"", "x".repeat(9_000_000));
        for (place, text) in [("long", text.as_str()), ("middle", &text[..200_000])] {
            let text = if text.ends_with('"') { text.to_owned() } else { format!("{text}\"") };
            let stored = writer.ask(&format!("PUT /{place}.json?ns=demo&print=silent"), &[], text.as_bytes());
            assert_eq!(stored, answer(204, ""));
        }
        thread::scope(|scope| {
            for place in ["long", "middle"] {
                scope.spawn(move || {
                    let mut client = Client::with_window(server, Some(0));
                    for _ in 0..100 {
                        client.begin(&format!("GET /{place}.json?ns=demo"), &[], false);
                    }
                    // It answers pings all the while.
                    assert_eq!(client.end(), None, "{place}");
                });
            }
            scope.spawn(move || {
                let mut client = Client::connect(server);
                let stream = client.begin("PUT /a.json?ns=demo", &[], true);
                client.send(DATA, 0, stream, b"\"");
                assert_eq!(client.answer(stream).map(|answer| answer.status), Ok(408));
            });
        });
    });
}
