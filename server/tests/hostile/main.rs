//! Clients that mean harm, over a bare socket against the real binary: each time the server stays within so much memory,
//! answers somebody else meanwhile, and says or does what it is documented to.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]
#![expect(clippy::print_stdout, reason = "the figures are shown with --nocapture")]

mod audit;
mod connections;
mod http;
mod limits;
mod long;
mod metrics;
mod named;
mod peer;
mod polling;
mod requests;
mod room;
mod server;

use peer::{Peer, framed_after};
use server::Running;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Lets somebody do harm to a server for development, and asks somebody else.
fn check(what: &str, resident_mb_max: usize, harm: impl FnOnce(&mut Peer, &Running)) {
    check_on(&Running::start(), what, resident_mb_max, harm);
}

/// Lets somebody do harm, and asks somebody else all the while. `resident_mb_max` bounds the most memory that the server
/// ever had: half again to twice what was measured on two cores, because allocators keep more on machines with more of
/// them, and less than what it takes without the bound. The server alone has 9 MB; what may have 50 adds next to nothing.
fn check_on(server: &Running, what: &str, resident_mb_max: usize, harm: impl FnOnce(&mut Peer, &Running)) {
    let mut other = Peer::connect(&server.address);
    let mut peer = Peer::connect(&server.address);
    let is_over = AtomicBool::new(false);
    let answered = thread::scope(|scope| {
        let asking = scope.spawn(|| ask_until(&mut other, &is_over));
        // However it ends, nobody is to ask for ever.
        let _over = Over(&is_over);
        harm(&mut peer, server);
        is_over.store(true, Ordering::SeqCst);
        asking.join().unwrap()
    });
    let resident_mb = server.resident_most_mb();
    println!("{what}: {resident_mb} MB; {answered} answers to somebody else");
    assert!(
        resident_mb <= resident_mb_max,
        "{what}: {resident_mb} MB; at most {resident_mb_max} are in order"
    );
    drop(peer);
}

/// Writes and reads as long as somebody does harm, and once more: whoever did it is still there. How often.
fn ask_until(other: &mut Peer, is_over: &AtomicBool) -> usize {
    for asked in 1.. {
        let is_last = is_over.load(Ordering::SeqCst);
        let put = format!(r#""a":"p","b":{{"p":"/other","d":{asked}}}"#);
        assert_eq!(other.ask(&put), r#"{"s":"ok","d":""}"#);
        let got = other.ask(r#""a":"g","b":{"p":"/other","q":{}}"#);
        assert_eq!(got, format!(r#"{{"s":"ok","d":{asked}}}"#));
        if is_last {
            return asked;
        }
        thread::sleep(Duration::from_millis(5));
    }
    unreachable!("numbers do not end")
}

/// Says that it is over when it is dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A put of that text.
fn put(at: &str, text: &str) -> String {
    format!(r#""a":"p","b":{{"p":"{at}","d":"{text}"}}"#)
}

#[test]
fn who_asks_for_much_and_reads_nothing_is_not_queued_for() {
    check("gets of a large node", 120, |peer, server| {
        let mut writer = Peer::connect(&server.address);
        assert_eq!(writer.ask(&put("/big", &"x".repeat(10_000_000))), r#"{"s":"ok","d":""}"#);
        let get = r#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/big","q":{}}}}"#;
        let sent = peer.send_until_it_stops(get, 100_000, Duration::from_secs(2));
        assert!(sent < 100_000, "the socket is read though nobody reads the answers");
        // What it would have to be told changes meanwhile.
        for _ in 0..10 {
            assert_eq!(writer.ask(&put("/big", &"y".repeat(10_000_000))), r#"{"s":"ok","d":""}"#);
        }
    });
    check("listens to a large node", 100, |peer, server| {
        let mut writer = Peer::connect(&server.address);
        for number in 0..200 {
            peer.send(&format!(r#"{{"t":"d","d":{{"r":{number},"a":"q","b":{{"p":"/big","h":""}}}}}}"#));
        }
        for _ in 0..20 {
            assert_eq!(writer.ask(&put("/big", &"y".repeat(5_000_000))), r#"{"s":"ok","d":""}"#);
            assert_eq!(writer.ask(&put("/big", "")), r#"{"s":"ok","d":""}"#);
        }
    });
}

/// Far more than may be unanswered at once, and in the end nothing but answers is left to wake the connection.
#[test]
fn who_asks_for_more_than_there_is_room_for_is_read_again_when_there_is() {
    check("reads sent ahead", 60, |peer, _| {
        let asked: Vec<u8> = (1..=8_000)
            .flat_map(|number| {
                let get = format!(r#"{{"t":"d","d":{{"r":{number},"a":"g","b":{{"p":"/a","q":{{}}}}}}}}"#);
                framed_after(0x81, get.as_bytes())
            })
            .collect();
        for _ in 0..3 {
            assert!(peer.try_send_bytes(&asked));
            (0..8_000).for_each(|_| assert_eq!(peer.answer(), r#"{"s":"ok","d":null}"#));
        }
    });
}

#[test]
fn who_reads_a_byte_now_and_then_is_not_queued_for() {
    check("a reader of single bytes", 100, |peer, server| {
        let mut writer = Peer::connect(&server.address);
        for number in 0..200 {
            peer.send(&format!(r#"{{"t":"d","d":{{"r":{number},"a":"q","b":{{"p":"/big","h":""}}}}}}"#));
        }
        for text in ["y", "z"].repeat(20) {
            assert_eq!(writer.ask(&put("/big", &text.repeat(5_000_000))), r#"{"s":"ok","d":""}"#);
            assert!(peer.read_byte(), "it takes something, and is not sent away");
        }
    });
}

#[test]
fn who_writes_and_writes_is_answered_or_not_read() {
    check("writes whose answers nobody reads", 50, |peer, _| {
        let put = r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#;
        let sent = peer.send_until_it_stops(put, 3_000_000, Duration::from_secs(2));
        assert!(sent < 3_000_000, "the socket is read though nobody reads the answers");
    });
    check("writes at ever new places", 250, |peer, _| {
        for chunk in 0..100 {
            let put = |own: usize| format!(r#""a":"p","b":{{"p":"/p/{chunk}/{own}","d":{own}}}"#);
            (0..1_000).for_each(|own| peer.send_request(&put(own)));
            (0..1_000).for_each(|_| assert_eq!(peer.answer(), r#"{"s":"ok","d":""}"#));
        }
    });
}

#[test]
fn who_holds_on_to_what_is_gone_keeps_little_of_it_alive() {
    check("trees of old", 300, |peer, server| {
        let mut writer = Peer::connect(&server.address);
        let leaves = |of: usize| {
            let leaves: Vec<_> = (0..100_000).map(|key| format!(r#""{key:x}":{of}"#)).collect();
            format!(r#""a":"p","b":{{"p":"/big","d":{{{}}}}}"#, leaves.join(","))
        };
        for number in 0..10 {
            peer.send(&format!(r#"{{"t":"d","d":{{"r":{number},"a":"q","b":{{"p":"/big","h":""}}}}}}"#));
        }
        (0..40).for_each(|of| assert_eq!(writer.ask(&leaves(of)), r#"{"s":"ok","d":""}"#));
    });
}

#[test]
fn frames_of_one_byte_cost_one_byte_and_more_than_may_be_sent_is_not_announced() {
    check("a message in parts of one byte", 50, |peer, _| {
        let text = r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#;
        let text = format!("{}{text}", " ".repeat(4_000 - text.len()));
        for _ in 0..5 {
            peer.send("4000");
            text.split_inclusive(|_| true).for_each(|part| peer.send(part));
            assert_eq!(peer.answer(), r#"{"s":"ok","d":""}"#);
        }
    });
    check("a message in frames of one byte", 50, |peer, _| {
        let text = r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#;
        let text = format!("{}{text}", " ".repeat(100_000 - text.len()));
        for _ in 0..3 {
            let frame = |(at, byte): (usize, u8)| {
                let is_last = if at + 1 == text.len() { 0x80 } else { 0 };
                framed_after(is_last | u8::from(at == 0), &[byte])
            };
            let frames: Vec<u8> = text.bytes().enumerate().flat_map(frame).collect();
            assert!(peer.try_send_bytes(&frames));
            assert_eq!(peer.answer(), r#"{"s":"ok","d":""}"#);
        }
    });
    check("a million parts", 50, |peer, _| {
        peer.send("999999");
        assert_eq!(peer.read(), None, "it is closed");
    });
    check("parts above all that is received", 60, |peer, _| {
        peer.send("4000");
        let part = "x".repeat(1_000_000);
        for _ in 0..70 {
            if !peer.try_send(part.as_bytes()) {
                break;
            }
        }
        assert_eq!(peer.read(), None, "it is closed");
    });
}

#[test]
fn a_connection_listens_to_so_many_places() {
    check("a hundred thousand listens", 200, |peer, _| {
        let listen = |number: usize| format!(r#""a":"q","b":{{"p":"/p/{number}","h":""}}"#);
        for chunk in 0..200 {
            (0..500).for_each(|own| peer.send_request(&listen(chunk * 500 + own)));
            (0..500).for_each(|_| assert_eq!(peer.answer(), r#"{"s":"ok","d":{}}"#));
        }
        let refused =
            r#"{"s":"too_big","d":"a connection can listen to 100000 places, and this would be more"}"#;
        assert_eq!(peer.ask(&listen(100_000)), refused);
        assert_eq!(peer.ask(&listen(0)), r#"{"s":"ok","d":{}}"#);
    });
    check("queries spelled at length", 60, |peer, _| {
        let spaces = " ".repeat(500_000);
        let mut answers = Vec::new();
        for tag in 1..=40 {
            let body = format!(r#"{{"p":"/a","q":{{"l":1,{spaces}"vf":"l"}},"t":{tag},"h":""}}"#);
            answers.push(peer.ask(&format!(r#""a":"q","b":{body}"#)));
        }
        let refused = r#"{"s":"too_big","d":"the queries that a connection listens to can have 16 MiB of text, and this would be more"}"#;
        let (first, rest) = answers.split_at(33);
        assert!(first.iter().all(|answer| answer == r#"{"s":"ok","d":{}}"#), "{first:?}");
        assert!(rest.iter().all(|answer| answer == refused), "{rest:?}");
    });
}

#[test]
fn a_connection_arms_so_much() {
    check("arming without end", 50, |peer, _| {
        let arm = |at: usize| format!(r#""a":"o","b":{{"p":"/p/{at}","d":1}}"#);
        for at in 0..1_000 {
            assert_eq!(peer.ask(&arm(at)), r#"{"s":"ok","d":""}"#);
        }
        let refused = r#"{"s":"too_big","d":"a session can arm writes at 1000 places for its disconnect, and this would be more"}"#;
        (1_000..20_000).for_each(|at| assert_eq!(peer.ask(&arm(at)), refused));
    });
    check("arming much", 50, |peer, _| {
        let arm = |at: usize| format!(r#""a":"o","b":{{"p":"/p/{at}","d":"{}"}}"#, "x".repeat(500_000));
        assert_eq!(peer.ask(&arm(0)), r#"{"s":"ok","d":""}"#);
        assert_eq!(peer.ask(&arm(1)), r#"{"s":"ok","d":""}"#);
        let refused = r#"{"s":"too_big","d":"a session can arm 1024 KiB of writes for its disconnect, and this would be more"}"#;
        (2..50).for_each(|at| assert_eq!(peer.ask(&arm(at)), refused));
    });
}

#[test]
fn values_that_would_take_much_memory_are_refused() {
    let too_many = r#"{"s":"write_too_big","d":"the value has more than 2000000 nodes, leaves and objects together; write it in parts"}"#;
    let set = |value: &str| format!(r#""a":"p","b":{{"p":"/a","d":{value}}}"#);
    check("an array of ones", 200, |peer, _| {
        assert_eq!(peer.ask(&set(&format!("[{}1]", "1,".repeat(8_000_000)))), too_many);
    });
    check("short keys", 350, |peer, _| {
        let keys: Vec<String> = (0..1_500_000).map(|key| format!(r#""{key:x}":0"#)).collect();
        assert_eq!(peer.ask(&set(&format!("{{{}}}", keys.join(",")))), r#"{"s":"ok","d":""}"#);
    });
    check("objects within objects", 350, |peer, _| {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(30), "}".repeat(30));
        let many = vec![deep; 85_000].join(",");
        let answer = peer.ask(&set(&format!("[{many}]")));
        assert!(answer.starts_with(too_many.trim_end_matches(r#""}"#)), "{answer}");
    });
    let update = |action: &str, at: &str, below: &str, places: usize| {
        let places: Vec<String> = (0..places).map(|key| format!(r#""{key:x}{below}":0"#)).collect();
        format!(r#""a":"{action}","b":{{"p":"{at}","d":{{{}}}}}"#, places.join(","))
    };
    check("an update of short keys", 650, |peer, _| {
        assert_eq!(peer.ask(&update("m", "/a", "", 1_450_000)), r#"{"s":"ok","d":""}"#);
    });
    check("an update of deep places", 150, |peer, _| {
        let answer = peer.ask(&update("m", "/a", &"/a".repeat(30), 225_000));
        assert!(answer.starts_with(too_many.trim_end_matches(r#""}"#)), "{answer}");
    });
    check("an update deep down", 350, |peer, _| {
        let refused = r#"{"s":"write_too_big","d":"the paths of the update have 43500000 keys together, counted from the root; at most 4000000 are allowed: write it in parts"}"#;
        assert_eq!(peer.ask(&update("m", &"/a".repeat(29), "", 1_450_000)), refused);
    });
    check("an armed update", 650, |peer, _| {
        let refused = r#"{"s":"too_big","d":"a session can arm writes at 1000 places for its disconnect, and this would be more"}"#;
        assert_eq!(peer.ask(&update("om", "/a", "", 1_450_000)), refused);
        assert_eq!(peer.ask(&update("om", "/a", &"/a".repeat(29), 60_000)), refused);
    });
    check("arrays within arrays", 60, |peer, _| {
        let answer = peer.ask(&set(&"[".repeat(10_000_000)));
        assert!(answer.starts_with(r#"{"s":"invalid","#), "{answer}");
    });
    check("a message above all that is kept", 60, |peer, _| {
        let text = "x".repeat(20_000_000);
        let refused = r#"{"s":"write_too_big","d":"Data to write exceeds the maximum size that can be modified with a single request."}"#;
        assert_eq!(peer.ask(&put("/a", &text)), refused);
    });
}

#[test]
fn what_is_no_text_ends_the_connection_or_is_answered() {
    let not_utf8 = b"{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"p\",\"b\":{\"p\":\"/a\",\"d\":\"\xff\"}}}";
    for (what, code) in [("as a text", 0x1), ("as bytes", 0x2)] {
        check(what, 50, |peer, _| {
            peer.send_frame(code, not_utf8);
            assert_eq!(peer.answer(), r#"{"s":"invalid","d":"the message is not UTF-8"}"#);
        });
    }
    check("no JSON", 50, |peer, _| {
        peer.send("no JSON");
        assert_eq!(peer.read(), None, "it is closed");
    });
}

/// For every field of every request that should be a number, an object, a text or a flag: something else.
#[test]
fn fields_of_another_kind_are_answered_and_the_connection_goes_on() {
    check("fields", 50, |peer, _| {
        for (action, body) in [
            ("s", r#"{"c":"x"}"#),
            ("q", r#"{"p":1,"h":""}"#),
            ("q", r#"{"p":"a","h":1}"#),
            ("q", r#"{"p":"a","q":"x","t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"l":1},"t":"1","h":""}"#),
            ("q", r#"{"p":"a","q":{"l":1},"t":1.5,"h":""}"#),
            ("q", r#"{"p":"a","q":{"l":"1"},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"l":-1},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"l":1,"vf":1},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"i":1,"sp":1},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"sp":{}},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"sp":1,"sn":1},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"sp":1,"sin":"x"},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"ep":[]},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"ep":1,"en":1},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","q":{"ep":1,"ein":"x"},"t":1,"h":""}"#),
            ("q", r#"{"p":"a","h":"","ch":"x"}"#),
            ("n", r#"{"p":1}"#),
            ("n", r#"{"p":"a","q":{"l":1},"t":"1"}"#),
            ("g", r#"{"p":1,"q":{}}"#),
            ("g", r#"{"p":"a","q":"x"}"#),
            ("p", r#"{"p":1,"d":1}"#),
            ("p", r#"{"p":"a","d":1,"h":1}"#),
            ("p", r#"{"p":"a/.priority","d":true}"#),
            ("m", r#"{"p":1,"d":{}}"#),
            ("m", r#"{"p":"a","d":1}"#),
            ("o", r#"{"p":1,"d":1}"#),
            ("om", r#"{"p":1,"d":{}}"#),
            ("om", r#"{"p":"a","d":"x"}"#),
            ("oc", r#"{"p":1,"d":null}"#),
            ("auth", r#"{"cred":1}"#),
            ("gauth", r#"{"cred":1}"#),
            ("gauth", r#"{"cred":"x","noauth":"x"}"#),
            ("gauth", r#"{"cred":"x","authvar":1}"#),
            ("appcheck", r#"{"token":1}"#),
        ] {
            let answer = peer.ask(&format!(r#""a":"{action}","b":{body}"#));
            let is_ignored = matches!(action, "s" | "appcheck");
            let expected = if is_ignored { r#"{"s":"# } else { r#"{"s":"invalid","# };
            assert!(answer.starts_with(expected), "{action} {body}: {answer}");
        }
    });
    check("fields around them", 50, |_, server| {
        let closed = None;
        let invalid = Some(r#""b":{"s":"invalid","#);
        for (text, expected) in [
            (r#"{"t":"d","d":{"r":"1","a":"p","b":{"p":"/a","d":1}}}"#, closed),
            (r#"{"t":"d","d":{"r":1,"a":1,"b":{"p":"/a","d":1}}}"#, invalid),
            (r#"{"t":"d","d":{"r":1,"a":"p","b":1}}"#, invalid),
            (r#"{"t":1,"d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#, closed),
            (r#"{"t":"d","d":1}"#, closed),
            (r#"{"t":"c","d":1}"#, closed),
            ("[]", closed),
        ] {
            let mut peer = Peer::connect(&server.address);
            peer.send(text);
            let answer = peer.read();
            match expected {
                Some(expected) => assert!(answer.unwrap().contains(expected), "{text}"),
                None => assert_eq!(answer, None, "{text}: it is closed"),
            }
        }
    });
}
