//! What can be done to a server by requests over HTTP and by event streams.

use crate::http::Http;
use crate::peer::Peer;
use crate::{check, put};

#[test]
fn who_reads_no_answers_is_not_queued_for() {
    check("an event stream without a reader", 150, |_, server| {
        let mut writer = Peer::connect(&server.address);
        let mut stream = Http::connect(&server.address);
        stream.send("GET /big.json?ns=hostile", "Accept: text/event-stream\r\n");
        assert!(stream.read_until("data: {\"path\":\"/\",\"data\":null}").is_some());
        for text in ["y", "z"].repeat(10) {
            assert_eq!(writer.ask(&put("/big", &text.repeat(10_000_000))), r#"{"s":"ok","d":""}"#);
        }
    });
    check("requests sent ahead", 80, |_, server| {
        let mut writer = Peer::connect(&server.address);
        assert_eq!(writer.ask(&put("/big", &"x".repeat(10_000_000))), r#"{"s":"ok","d":""}"#);
        let mut http = Http::connect(&server.address);
        for _ in 0..1_000 {
            http.send("GET /big.json?ns=hostile", "");
        }
    });
}

#[test]
fn what_does_not_come_costs_nothing() {
    check("heads without an end", 50, |_, server| {
        let begun: Vec<Http> = (0..500)
            .map(|_| {
                let mut http = Http::connect(&server.address);
                http.send_bytes(b"GET /a.json?ns=hostile HTTP/1.1\r\nHost: ");
                http
            })
            .collect();
        // They are closed when they have taken 15 s.
        for mut http in begun {
            assert_eq!(http.read_until("\r\n\r\n"), None);
        }
    });
    check("bodies that do not come", 50, |_, server| {
        let mut begun = Vec::new();
        for _ in 0..500 {
            let mut http = Http::connect(&server.address);
            http.send("PUT /a.json?ns=hostile", "Content-Length: 200000000\r\n");
            http.send_bytes(b"\"");
            begun.push(http);
        }
    });
}

/// Without TLS there is one parser in front of strangers.
#[test]
fn nobody_speaks_http_2_without_tls() {
    check("HTTP/2 without TLS", 50, |_, server| {
        for (what, said, expected) in [
            ("from the first byte", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0", None),
            (
                "as an upgrade",
                "GET /a.json?ns=hostile HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n\
                 Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
                Some("HTTP/1.1 200 OK"),
            ),
        ] {
            let mut http = Http::connect(&server.address);
            http.send_bytes(said.as_bytes());
            let head = http.read_until("\r\n\r\n");
            let status = head.as_deref().and_then(|head| head.lines().next());
            assert_eq!(status, expected, "{what}");
        }
    });
}

#[test]
fn heads_and_bodies_have_an_end() {
    check("a head of 100 MB", 50, |_, server| {
        let mut http = Http::connect(&server.address);
        http.send_bytes(b"GET /a.json?ns=hostile HTTP/1.1\r\nX: ");
        let is_cut = (0..100).any(|_| !http.try_send_bytes(&[b'x'; 1_000_000]));
        assert!(is_cut, "the head is read to its end");
    });
    check("a thousand headers", 50, |_, server| {
        let mut http = Http::connect(&server.address);
        http.send("GET /a.json?ns=hostile", &"X: x\r\n".repeat(1_000));
        assert_eq!(http.answer().map(|(status, _)| status), Some(431));
    });
    check("a long address", 50, |_, server| {
        let mut http = Http::connect(&server.address);
        http.send(&format!("GET /{}.json?ns=hostile", "a".repeat(100_000)), "");
        assert_eq!(http.answer().map(|(status, _)| status), Some(414));
    });
    check("a body of a terabyte", 50, |_, server| {
        let mut http = Http::connect(&server.address);
        http.send("PUT /a.json?ns=hostile", "Content-Length: 1000000000000\r\n");
        assert_eq!(http.answer().map(|(status, _)| status), Some(413));
    });
}

/// 270 MB: more than REST answers, and more than clients of the socket can receive.
#[test]
fn more_than_can_be_received_is_refused_and_said() {
    check("reads of 270 MB", 850, |peer, server| {
        let mut http = Http::connect(&server.address);
        let piece = format!("\"{}\"", "x".repeat(10_000_000));
        for number in 0..27 {
            let (status, _) = http.ask(&format!("PUT /big/{number}.json?ns=hostile&print=silent"), &piece);
            assert_eq!(status, 204);
        }
        let too_big = r#"{"s":"too_big","d":"The data requested exceeds the maximum size that can be accessed with a single request."}"#;
        assert_eq!(peer.ask(r#""a":"g","b":{"p":"/big","q":{}}"#), too_big);
        assert_eq!(peer.ask(r#""a":"q","b":{"p":"/big","h":""}"#), r#"{"s":"ok","d":{}}"#);
        assert_eq!(peer.read().unwrap(), r#"{"t":"d","d":{"a":"c","b":{"p":"big"}}}"#);
        assert_eq!(peer.ask(r#""a":"q","b":{"p":"/big/1/a","h":""}"#), r#"{"s":"ok","d":{}}"#);
        let (status, text) = http.ask("GET /big.json?ns=hostile", "");
        assert_eq!(status, 400, "{text}");
        assert!(text.contains("Data requested exceeds the maximum size"), "{text}");
    });
}
