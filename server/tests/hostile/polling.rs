//! What can be done to a server by long polling.

use crate::check;
use crate::http::Http;
use crate::peer::Peer;
use crate::put;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use std::time::Instant;

const START: &str = "GET /.lp?start=t&ser=1&cb=7&v=5&ns=hostile";

/// Begins a session; the parameters by which it is asked for.
pub(crate) fn start(http: &mut Http) -> String {
    start_and_told(http).0
}

/// As [`start`], with the messages that are told then.
pub(crate) fn start_and_told(http: &mut Http) -> (String, String) {
    let (status, script) = http.ask(START, "");
    assert_eq!(status, 200, "{script}");
    let call = script.lines().find_map(|line| line.strip_prefix(r#"pLPCommand("start","#)).unwrap();
    let (id, password) = call.trim_end_matches(");").split_once(',').unwrap();
    let ticket = format!("id={}&pw={}", id.trim_matches('"'), password.trim_matches('"'));
    (ticket, messages(&script).to_owned())
}

/// The messages in a script, with the commas between them.
pub(crate) fn messages(script: &str) -> &str {
    let call = script.lines().find_map(|line| line.strip_prefix("pRTLPCB(")).unwrap();
    call.split_once('[').unwrap().1.strip_suffix("]);").unwrap()
}

/// Says something, and gives what is told meanwhile. Nothing else may be under way.
pub(crate) fn say(http: &mut Http, ticket: &str, number: usize, text: &str) -> String {
    let data = URL_SAFE.encode(text).replace('=', ".");
    let (status, script) =
        http.ask(&format!("GET /.lp?{ticket}&ser={}&seg0={number}&ts0=1&d0={data}", number + 2), "");
    assert_eq!(status, 200, "{script}");
    script
}

#[test]
fn a_message_that_never_ends_is_not_kept() {
    check("segments without end", 70, |_, server| {
        let mut first = Http::connect(&server.address);
        let second = Http::connect(&server.address);
        let ticket = start(&mut first);
        let data = "A".repeat(4_096);
        let poll = |number: usize| {
            let segments =
                (0..15).map(|own| format!("&seg{own}={}&ts{own}=1000000&d{own}={data}", number * 15 + own));
            format!("GET /.lp?{ticket}&ser=2{}", segments.collect::<String>())
        };
        first.send(&poll(0), "");
        let (mut held, mut free) = (first, second);
        // 64 MB are received to be refused: at most 1 457 requests. Each lets the one before it go; which of two was first
        // is not sure.
        for number in 1..1_500 {
            free.send(&poll(number), "");
            while !held.is_answered() {
                std::mem::swap(&mut held, &mut free);
                std::thread::yield_now();
            }
            let (status, text) = held.answer().unwrap();
            if status == 400 {
                assert_eq!(text, "a message has more than 67108864 bytes; it is not received to its end\n");
                return;
            }
            std::mem::swap(&mut held, &mut free);
        }
        panic!("the session goes on");
    });
    check("segments behind a gap", 50, |_, server| {
        let mut http = Http::connect(&server.address);
        let ticket = start(&mut http);
        let (status, text) = http.ask(&format!("GET /.lp?{ticket}&ser=2&seg0=200&ts0=1&d0=AAAA"), "");
        assert_eq!(status, 400);
        assert_eq!(text, "segment 200 has come, but 0 has not; at most 128 may be ahead\n");
    });
    check("a message in a million segments", 50, |_, server| {
        let mut http = Http::connect(&server.address);
        let ticket = start(&mut http);
        http.send(&format!("GET /.lp?{ticket}&ser=2&seg0=0&ts0=18446744073709551615&d0=AAAA"), "");
        let (status, _) = Http::connect(&server.address).ask("GET /other.json?ns=hostile", "");
        assert_eq!(status, 200);
    });
}

#[test]
fn sessions_that_are_opened_and_left_are_counted() {
    check("sessions opened and left", 350, |_, server| {
        let mut http = Http::connect(&server.address);
        let begun = Instant::now();
        let refused = (0..60_000).find_map(|number| {
            let (status, text) = http.ask(START, "");
            (status != 200).then_some((number, status, text))
        });
        println!("{refused:?} after {:?}", begun.elapsed());
        let (_, status, text) = refused.expect("there is an end to them");
        assert_eq!((status, text.as_str()), (503, "no session can begin now\n"));
    });
}

#[test]
fn who_fetches_nothing_is_not_queued_for() {
    check("a poll that is never fetched", 150, |_, server| {
        let mut writer = Peer::connect(&server.address);
        let mut http = Http::connect(&server.address);
        let ticket = start(&mut http);
        // {"t":"d","d":{"r":1,"a":"q","b":{"p":"/big","h":""}}}
        let listen = "eyJ0IjoiZCIsImQiOnsiciI6MSwiYSI6InEiLCJiIjp7InAiOiIvYmlnIiwiaCI6IiJ9fX0.";
        let (_, script) = http.ask(&format!("GET /.lp?{ticket}&ser=2&seg0=0&ts0=1&d0={listen}"), "");
        assert!(script.contains(r#""s":"ok""#), "{script}");
        http.send(&format!("GET /.lp?{ticket}&ser=3"), "");
        for text in ["y", "z"].repeat(10) {
            assert_eq!(writer.ask(&put("/big", &text.repeat(10_000_000))), r#"{"s":"ok","d":""}"#);
        }
    });
}
