//! Long bodies and answers: their text is never in memory as a whole, and what breaks off leaves nothing.

use crate::check;
use crate::http::Http;
use crate::peer::Peer;
use crate::polling;
use crate::server::Running;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;

/// So much text that says next to nothing.
const SPACES_MB: usize = 120;

#[test]
fn who_sends_much_text_takes_memory_for_what_it_says() {
    check("spaces", 60, |_, server| {
        let mut http = Http::connect(&server.address);
        let spaces = " ".repeat(1_000_000);
        for (start, begin, member, end) in [
            ("PUT /a.json", "{\"b\": [", "null, ", "1]}"),
            ("PATCH /a.json", "{\"c\": 1,", "", "\"d/e\": 2}"),
        ] {
            let length = begin.len() + SPACES_MB * (spaces.len() + member.len()) + end.len();
            http.send(&format!("{start}?print=silent"), &format!("Content-Length: {length}\r\n"));
            http.send_bytes(begin.as_bytes());
            for _ in 0..SPACES_MB {
                http.send_bytes(spaces.as_bytes());
                http.send_bytes(member.as_bytes());
            }
            http.send_bytes(end.as_bytes());
            assert_eq!(http.answer().map(|answer| answer.0), Some(204), "{start}");
        }
        let expected = format!("{{\"b\":{{\"{SPACES_MB}\":1}},\"c\":1,\"d\":{{\"e\":2}}}}");
        assert_eq!(http.ask("GET /a.json", ""), (200, expected));
    });
}

/// How long what [`put_escapes`] writes is as JSON.
const ESCAPES_BYTES: usize = 60_000_000 + 10_000 * "\"k00000\":\"\",".len() + 1;

/// Ten megabytes, of which every byte takes six in an answer.
fn put_escapes(http: &mut Http) {
    let texts: Vec<_> =
        (0..10_000).map(|at| format!("\"k{at:05}\":\"{}\"", "\\u0001".repeat(1_000))).collect();
    let body = format!("{{{}}}", texts.join(","));
    http.send("PUT /a.json?ns=hostile&print=silent", &format!("Content-Length: {}\r\n", body.len()));
    http.send_bytes(body.as_bytes());
    assert_eq!(http.answer().unwrap().0, 204);
}

#[test]
fn who_takes_an_answer_slowly_holds_a_little_of_it() {
    check("answers of 60 MB to 20 clients that do not take them", 110, |_, server| {
        put_escapes(&mut Http::connect(&server.address));
        let mut slow: Vec<_> = (0..20).map(|_| Http::connect(&server.address)).collect();
        for http in &mut slow {
            http.send("GET /a.json?ns=hostile", "");
            http.read_until("{\"k00000\":\"").expect("it begins");
        }
        // One of them takes all of it after all, and a new one, too.
        let rest = ESCAPES_BYTES - "{\"k00000\":\"".len();
        assert!(slow[7].take(rest).ends_with("\\u0001\"}"));
        let (status, text) = Http::connect(&server.address).ask("GET /a.json?ns=hostile&print=pretty", "");
        assert_eq!((status, text.matches("\\u0001").count()), (200, 10_000_000));
    });
}

#[test]
fn who_takes_an_event_slowly_holds_a_little_of_it_and_misses_nothing() {
    check("events of 60 MB to 20 streams that do not take them", 110, |_, server| {
        let mut http = Http::connect(&server.address);
        put_escapes(&mut http);
        let mut slow: Vec<_> = (0..20).map(|_| Http::connect(&server.address)).collect();
        for stream in &mut slow {
            stream.send("GET /a.json?ns=hostile", "Accept: text/event-stream\r\n");
            stream.read_until("{\"k00000\":\"").expect("it begins");
        }
        assert_eq!(http.ask("PUT /a/k00000.json?ns=hostile", "1").0, 200);
        // One of them takes all of it after all, and what came meanwhile.
        slow[7].take_past("{\"path\":\"/k00000\",\"data\":1}").expect("it goes on");
    });
}

#[test]
fn who_takes_keys_slowly_holds_a_little_of_them() {
    check("keys of 22 MB to 20 clients that do not take them", 150, |_, server| {
        let mut http = Http::connect(&server.address);
        let key = |at: usize| format!("\"k{at:0100}\":");
        let members: Vec<_> = (0..200_000).map(|at| key(at) + "1").collect();
        let body = format!("{{{}}}", members.join(","));
        assert_eq!(http.ask("PUT /a.json?ns=hostile&print=silent", &body).0, 204);
        let mut slow: Vec<_> = (0..20).map(|_| Http::connect(&server.address)).collect();
        for (at, stream) in slow.iter_mut().enumerate() {
            let accept = if at % 2 == 0 { "Accept: text/event-stream\r\n" } else { "" };
            stream.send("GET /a.json?ns=hostile&shallow=true", accept);
            stream.read_until(&(key(0) + "true")).expect("it begins");
        }
        // Two of them take all of it after all.
        for stream in &mut slow[6..8] {
            stream.take_past(&(key(199_999) + "true}")).expect("it ends");
        }
    });
}

#[test]
fn who_takes_a_message_slowly_holds_a_little_of_it_and_misses_nothing() {
    check("messages of 60 MB to 20 connections that do not take them", 110, |writer, server| {
        put_escapes(&mut Http::connect(&server.address));
        let mut slow: Vec<_> = (0..20).map(|_| Peer::connect(&server.address)).collect();
        for (at, peer) in slow.iter_mut().enumerate() {
            peer.send_request(match at % 3 {
                0 => r#""a":"q","b":{"p":"/a","h":""}"#,
                1 => r#""a":"q","b":{"p":"/a","h":"","q":{"i":".key"},"t":1}"#,
                _ => r#""a":"g","b":{"p":"/a","q":{}}"#,
            });
            let parts: usize = peer.read_part().unwrap().parse().unwrap();
            assert_eq!(parts, ESCAPES_BYTES.div_ceil(16_384), "parts for {at}");
        }
        // What comes meanwhile comes behind it, and what was begun is of the time when it was asked for.
        for value in 0..100 {
            let put = format!(r#""a":"p","b":{{"p":"/a/k00000","d":{value}}}"#);
            assert_eq!(writer.ask(&put), r#"{"s":"ok","d":""}"#);
        }
        for (at, begin, end) in [
            (6, r#"{"t":"d","d":{"a":"d","b":{"p":"a","d":{"k00000":"\u0001\u0001"#, "}}}}"),
            (7, r#"{"t":"d","d":{"a":"d","b":{"p":"a","d":{"k00000":"\u0001\u0001"#, r#"},"t":1}}}"#),
            (8, r#"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"k00000":"\u0001\u0001"#, "}}}}"),
        ] {
            let text: String =
                (0..ESCAPES_BYTES.div_ceil(16_384)).map(|_| slow[at].read_part().unwrap()).collect();
            assert_eq!(
                text.len(),
                begin.split_once("\\u").unwrap().0.len() + ESCAPES_BYTES - "{\"k00000\":\"".len() + end.len()
                    - 1,
                "{at}"
            );
            assert!(text.starts_with(begin) && text.ends_with(end), "{at}");
        }
        for at in [6, 7] {
            assert!(
                slow[at].read().unwrap().starts_with(r#"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"#),
                "{at}"
            );
            let mut last = String::new();
            while !last.contains("99") {
                last = slow[at].read().unwrap();
                assert!(last.starts_with(r#"{"t":"d","d":{"a":""#) && last.len() < 100, "{at}: {last}");
            }
        }
    });
}

#[test]
fn who_takes_a_script_slowly_holds_a_little_of_it() {
    check("scripts of 60 MB to 20 sessions of long polling that do not take them", 110, |_, server| {
        put_escapes(&mut Http::connect(&server.address));
        let mut slow: Vec<_> = (0..20).map(|_| Http::connect(&server.address)).collect();
        for http in &mut slow {
            let ticket = polling::start(http);
            let data = URL_SAFE.encode(r#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#);
            let data = data.replace('=', ".");
            http.send(&format!("GET /.lp?{ticket}&ser=2&seg0=0&ts0=1&d0={data}"), "");
            http.read_until("{\"k00000\":\"").expect("it begins");
        }
        // One of them takes all of it after all.
        slow[7].take_past("]);\n").expect("it ends");
    });
}

/// Children of an import, and the text of each.
const IMPORTED: usize = 100;
const IMPORTED_TEXT_KB: usize = 200;

/// Something like an import into a place that many listen below.
fn import(http: &mut Http, text: &str) {
    let text = text.repeat(IMPORTED_TEXT_KB * 1_000);
    let members: Vec<_> = (0..IMPORTED).map(|at| format!("\"k{at:03}\":{{\"text\":\"{text}\"}}")).collect();
    let body = format!("{{{}}}", members.join(","));
    http.send("PUT /import.json?print=silent&ns=hostile", &format!("Content-Length: {}\r\n", body.len()));
    http.send_bytes(body.as_bytes());
    assert_eq!(http.answer().unwrap().0, 204);
}

#[test]
fn an_import_is_queued_for_nobody_and_told_to_who_takes_it() {
    for (report, what, imports, resident_mb_max) in [
        ("R085", "one import that a hundred streams are told of", 1, 70),
        ("R085", "ten imports that a hundred streams are told of", 10, 130),
    ] {
        check(what, resident_mb_max, |_, server| {
            let mut streams: Vec<_> = (0..IMPORTED).map(|_| Http::connect(&server.address)).collect();
            for (at, http) in streams.iter_mut().enumerate() {
                let start = format!("GET /import/k{at:03}.json?ns=hostile");
                http.send(&start, "Accept: text/event-stream\r\n");
                http.read_until("event: put").expect(report);
            }
            let mut http = Http::connect(&server.address);
            for number in 0..imports {
                import(&mut http, if number + 1 == imports { "z" } else { ["x", "y"][number % 2] });
            }
            // Nobody has taken anything meanwhile, and everybody is told the last.
            for stream in &mut streams {
                stream.take_past("zzz").expect(report);
            }
        });
    }
}

/// An object of messages that is longer than what is read at once.
fn messages() -> String {
    let message = |at: usize| {
        format!("\"m{at:06}\":{{\"at\":{at},\"text\":\"message number {at}, \\u00e9\\ud83d\\ude00\"}}")
    };
    let messages: Vec<_> = (0..60_000).map(message).collect();
    format!("{{{}}}", messages.join(","))
}

#[test]
fn a_long_body_is_kept_whole_or_not_at_all() {
    let server = Running::start();
    let mut http = Http::connect(&server.address);
    let long = messages();
    assert!(3_000_000 < long.len(), "{}", long.len());
    let spelled = long.replace("\\u00e9", "é").replace("\\ud83d\\ude00", "\u{1F600}");
    assert!(http.ask("PUT /a.json", &long) == (200, spelled.clone()), "what is told is not what was written");
    assert!(http.ask("GET /a.json", "") == (200, spelled.clone()));
    let (status, head, pretty) = {
        http.send("GET /a.json?print=pretty", "");
        http.answer_with_head().unwrap()
    };
    assert!(status == 200 && head.contains("content-type: application/json"), "{head}");
    assert!(pretty.starts_with("{\n  \"m000000\" : {\n    \"at\" : 0,") && pretty.ends_with("\n  }\n}"));
    let (_, script) = http.ask("GET /a.json?callback=f", "");
    assert!(script == format!("/**/f({spelled});"));
    let patch = format!("{{\"b/c\":{long},\"d\":{{\".sv\":\"timestamp\"}}}}");
    assert_eq!(http.ask("PATCH /.json?print=silent", &patch).0, 204);
    assert!(http.ask("GET /b/c.json", "") == (200, spelled.clone()));
    let (status, name) = http.ask("POST /l.json", &long);
    assert_eq!(status, 200, "{name}");
    let name = name.split('"').nth(3).unwrap().to_owned();
    assert!(http.ask(&format!("GET /l/{name}.json"), "") == (200, spelled.clone()));
    // What is wrong at the end is found there, and nothing of it is kept.
    let cut = &long[..long.len() - 1];
    for (method, end, expected) in [
        ("PUT", ",\"m000007\":1}", "key `m000007` stands twice in one object"),
        ("PUT", ",\"a$\":1}", "couldn't parse key beginning at 1:"),
        ("PUT", ",\"a\":tru}", "Reading stopped at line 1, column "),
        ("PUT", "", "Reading stopped at line 1, column "),
        ("PUT", ",\"a\":{\".value\":[1]}}", "`.value` must be true, false, a number"),
        ("PATCH", ",\"m000007/at\":1}", "cannot be written together"),
        ("PATCH", ",\"x/#\":1}", "couldn't parse key beginning at 1:"),
        ("POST", ",\"a\":tru}", "Reading stopped at line 1, column "),
    ] {
        let (status, text) = http.ask(&format!("{method} /a.json"), &format!("{cut}{end}"));
        assert!(status == 400 && text.contains(expected), "{method} {end}: {status} {text}");
    }
    for sent in [cut.len() / 2, cut.len() - 1] {
        let mut other = Http::connect(&server.address);
        other.send("PUT /a.json", &format!("Content-Length: {}\r\n", long.len()));
        other.send_bytes(&long.as_bytes()[..sent]);
        drop(other);
    }
    assert!(http.ask("GET /a.json", "") == (200, spelled));
    assert_eq!(http.ask("GET /.json?shallow=true", "").1.matches("true").count(), 4);
}
