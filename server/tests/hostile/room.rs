//! How much memory there is for what is being received, whatever brings it.

use crate::check_on;
use crate::http::Http;
use crate::peer::{PATIENCE, Peer, framed_after};
use crate::polling::start;
use crate::put;
use crate::server::{Running, command, file};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

const ADMIN: &str = "an-admin-credential-of-tests";
const OPEN: &str = r#"{"rules": {".read": true, ".write": true}}"#;
const OK: &str = r#"{"s":"ok","d":""}"#;
const NO_ROOM: &str = "the server receives too many large requests at once; try again in a moment";
/// Of each, what takes no room.
const FREE: usize = 64 * 1024;

/// A server that has so many MiB for all that is being received.
fn serve(mib: usize) -> Running {
    let rules = file("room-rules", OPEN);
    let mut serve = command("serve");
    serve.args(["--namespace", "hostile", "--rules", &rules, "--max-body-memory", &mib.to_string()]);
    Running::of(serve.env("HEARTH_ADMIN_CREDENTIAL", ADMIN).stderr(Stdio::piped()))
}

fn metric(server: &Running, name: &str) -> usize {
    let mut http = Http::connect(&server.address);
    http.send("GET /metrics", &format!("Authorization: Bearer {ADMIN}\r\n"));
    let (_, text) = http.answer().unwrap();
    text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().parse().unwrap()
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it does not come to that");
        thread::sleep(Duration::from_millis(1));
    }
}

/// How a message comes.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In one frame that says it is longer.
    Frame,
    /// In frames that continue each other.
    Frames,
    /// In Firebase's parts, after their number.
    Parts,
    /// By long polling.
    Segments,
}

/// A message of which something has come.
enum Begun {
    Socket(Peer),
    Polled(Http, Http),
    /// By long polling, and sent away for it.
    Refused(u16, String),
}

const PART: usize = 10_000;
const SEGMENT: usize = 4_096;
const SEGMENTS: usize = 15;

impl Way {
    /// Begins a message, and sends so many bytes of it, or a few more. What the server will not take is not sent.
    fn begin(self, server: &Running, bytes: usize) -> Begun {
        let mut peer = Peer::connect(&server.address);
        let part = "x".repeat(PART);
        match self {
            Self::Frame => {
                peer.announce(62 * 1024 * 1024);
                peer.try_send_bytes("x".repeat(bytes).as_bytes());
            }
            Self::Frames => {
                let sends =
                    |at: &usize| peer.try_send_bytes(&framed_after(u8::from(*at == 0), part.as_bytes()));
                (0..bytes.div_ceil(PART)).take_while(sends).for_each(drop);
            }
            Self::Parts => {
                peer.send("4000");
                (0..bytes.div_ceil(PART)).take_while(|_| peer.try_send(part.as_bytes())).for_each(drop);
            }
            Self::Segments => return Self::begin_polled(server, bytes),
        }
        Begun::Socket(peer)
    }

    fn begin_polled(server: &Running, bytes: usize) -> Begun {
        let mut held = Http::connect(&server.address);
        let mut free = Http::connect(&server.address);
        let ticket = start(&mut held);
        let data = "A".repeat(SEGMENT);
        for number in 0..bytes.div_ceil(SEGMENT * SEGMENTS) {
            let segment = |own| format!("&seg{own}={}&ts{own}=16000&d{own}={data}", number * SEGMENTS + own);
            let segments: String = (0..SEGMENTS).map(segment).collect();
            free.send(&format!("GET /.lp?{ticket}&ser=2{segments}"), "");
            if 0 < number {
                // Each lets the other one go; which of them was first is not sure. The one that is refused goes itself.
                wait_until(|| held.is_answered() || free.is_answered());
                if !held.is_answered() {
                    std::mem::swap(&mut held, &mut free);
                }
                let (status, text) = held.answer().unwrap();
                if status != 200 {
                    return Begun::Refused(status, text);
                }
            }
            std::mem::swap(&mut held, &mut free);
        }
        Begun::Polled(held, free)
    }
}

impl Begun {
    /// How its client is sent away.
    fn refusal(self) -> (u16, String) {
        match self {
            Self::Socket(mut peer) => peer.goodbye().expect("it is told why"),
            Self::Polled(mut held, mut free) => {
                wait_until(|| held.is_answered() || free.is_answered());
                let (status, text) = if held.is_answered() { held.answer() } else { free.answer() }.unwrap();
                (status, text)
            }
            Self::Refused(status, text) => (status, text),
        }
    }
}

const WAYS: [(Way, u16); 4] =
    [(Way::Frame, 1013), (Way::Frames, 1013), (Way::Parts, 1013), (Way::Segments, 503)];

#[test]
fn messages_that_are_not_whole_share_so_much_room() {
    for (way, refused) in WAYS {
        let mut server = serve(1);
        let first = way.begin(&server, 900_000);
        // What was read with the end of a part counts as the part: less than a kilobyte.
        let first_bytes = 900_000 - FREE - 1_024;
        wait_until(|| first_bytes <= metric(&server, "hearth_body_bytes "));
        // A little more than there is room for, so that next to nothing is on its way when it is refused.
        let second = way.begin(&server, 1024 * 1024 - first_bytes + FREE + 2_000);
        let (status, text) = second.refusal();
        assert_eq!((status, text.trim_end()), (refused, NO_ROOM), "{way:?}");
        assert_eq!(metric(&server, "hearth_refused_messages_total "), 1, "{way:?}");
        let told = server.said().find(|line| line.contains("a large message found no room"));
        assert!(told.is_some_and(|line| line.contains("may take 1 MiB")), "{way:?}");
        // Small ones need no room, and when there is some the next one finds it.
        let mut other = Peer::connect(&server.address);
        assert_eq!(other.ask(r#""a":"p","b":{"p":"/a","d":1}"#), OK, "{way:?}");
        drop(first);
        if matches!(way, Way::Segments) {
            // Whoever asks no more is waited for a little.
            continue;
        }
        wait_until(|| metric(&server, "hearth_body_bytes ") == 0);
        assert_eq!(other.ask(&put("/a", &"x".repeat(900_000))), OK, "{way:?}");
        wait_until(|| metric(&server, "hearth_body_bytes ") == 0);
    }
}

#[test]
fn what_is_begun_and_left_takes_no_more_memory_than_there_is_for_it() {
    for (way, _) in WAYS {
        let what = format!("40 messages of 2 MB that are not whole: {way:?}");
        check_on(&serve(16), &what, 60, |_, server| {
            let begun: Vec<_> = (0..40).map(|_| way.begin(server, 2_000_000)).collect();
            drop(begun);
        });
    }
}

#[test]
fn what_is_made_of_a_text_takes_room_too() {
    let nested = "[[[[0]]]],".repeat(300_000);
    // In pieces of a long body, and in a body and a message that are read when they are whole.
    check_on(&serve(32), "bodies of many nodes that are not whole", 140, |_, server| {
        let mut begun = Vec::new();
        for _ in 0..8 {
            let mut http = Http::connect(&server.address);
            http.send("PUT /a.json?ns=hostile&print=silent", "Content-Length: 8000000\r\n");
            http.try_send_bytes(format!("[{nested}").as_bytes());
            begun.push(http);
        }
        wait_until(|| 7 <= metric(server, "hearth_refused_bodies_total "));
    });
    let server = serve(32);
    let whole = |times: usize| format!("[{}0]", "[[[[0]]]],".repeat(times));
    for (times, expected) in [(10_000, 204), (60_000, 503)] {
        let put = "PUT /a.json?ns=hostile&print=silent";
        let (status, text) = Http::connect(&server.address).ask(put, &whole(times));
        assert_eq!(status, expected, "{times}: {text}");
    }
    let mut peer = Peer::connect(&server.address);
    let put = |times: usize| format!(r#""a":"p","b":{{"p":"/a","d":{}}}"#, whole(times));
    assert_eq!(peer.ask(&put(10_000)), OK);
    assert_eq!(peer.ask(&put(60_000)), format!(r#"{{"s":"unavailable","d":"{NO_ROOM}"}}"#));
    assert_eq!(peer.ask(&put(10_000)), OK);
    wait_until(|| metric(&server, "hearth_body_bytes ") == 0);
    // Commas and brackets of a text are none of its nodes, where it is so long that this would matter.
    let text = format!("\"{}\"", ",[{".repeat(2_000_000));
    let put = "PUT /a.json?ns=hostile&print=silent";
    assert_eq!(Http::connect(&server.address).ask(put, &text).0, 204);
}

#[test]
fn what_nobody_takes_by_long_polling_takes_room_too() {
    check_on(&serve(64), "answers of 10 MB to 20 sessions that do not take them", 320, |peer, server| {
        assert_eq!(peer.ask(&put("/big", &"x".repeat(10_000_000))), OK);
        let get = r#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/big","q":{}}}}"#;
        let data = URL_SAFE.encode(get).replace('=', ".");
        let mut begun = Vec::new();
        for _ in 0..20 {
            let mut http = Http::connect(&server.address);
            let ticket = start(&mut http);
            http.send(&format!("GET /.lp?{ticket}&ser=2&seg0=0&ts0=1&d0={data}"), "");
            wait_until(|| http.is_answered());
            begun.push(http);
        }
        // One text, so that it cannot be written piece by piece.
        wait_until(|| 14 <= metric(server, "hearth_refused_messages_total "));
    });
}
