//! What the server counts, and whom it tells.

use crate::http::Http;
use crate::named::many;
use crate::peer::Peer;
use crate::polling;
use crate::server::{Running, command, file};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use std::collections::BTreeMap;
use std::process::Stdio;

const ADMIN: &str = "an-admin-credential-of-tests";

/// Names with their labels, and values.
type Samples = BTreeMap<String, f64>;

fn metrics(http: &mut Http, headers: &str) -> (u16, String) {
    http.send("GET /metrics", headers);
    http.answer().unwrap()
}

/// One number; 0, if it is not there.
pub(crate) fn metric(http: &mut Http, name: &str) -> f64 {
    read(&metrics(http, "").1).get(name).copied().unwrap_or_default()
}

/// Reads the text as a collector does: each family has its help and type before its samples, and no sample comes twice.
fn read(text: &str) -> Samples {
    let mut samples = Samples::new();
    let (mut helped, mut typed) = (String::new(), String::new());
    for line in text.lines() {
        let words: Vec<_> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", name, help] => {
                assert!(help.ends_with('.'), "{line}");
                helped = name.into();
            }
            ["#", "TYPE", name, kind] => {
                assert_eq!(helped, name, "{line}");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                typed = name.into();
            }
            _ => {
                let (name, value) = line.rsplit_once(' ').unwrap();
                let bare = name.split('{').next().unwrap();
                assert!(
                    ["", "_bucket", "_sum", "_count"].iter().any(|end| format!("{typed}{end}") == bare),
                    "{line}"
                );
                assert!(samples.insert(name.into(), value.parse().unwrap()).is_none(), "{line}");
            }
        }
    }
    samples
}

#[test]
fn what_happens_is_counted() {
    let rules = r#"{"rules": {"open": {".read": true, ".write": true}}}"#;
    let limits = r#"{"limits": {"/open/a": {"writes": {"address": {"perSecond": 0.001, "burst": 1}}}}}"#;
    let (rules, limits) = (file("metrics-rules", rules), file("metrics-limits", limits));
    let data = format!("{}/hostile-metrics-data", env!("CARGO_TARGET_TMPDIR"));
    drop(std::fs::remove_dir_all(&data));
    let mut dev = std::process::Command::new(env!("CARGO_BIN_EXE_hearth"));
    dev.env_clear().args(["dev", "--port", "0", "--data", &data, "--rules", &rules, "--limits", &limits]);
    let server = Running::of(dev.stderr(Stdio::null()));
    let mut http = Http::connect(&server.address);
    let (status, text) = metrics(&mut http, "");
    assert_eq!(status, 200, "{text}");
    let before = read(&text);
    let ok = r#"{"s":"ok","d":""}"#;
    let mut peer = Peer::connect(&server.address);
    assert_eq!(peer.ask(r#""a":"p","b":{"p":"/open/a","d":1}"#), ok);
    assert!(peer.ask(r#""a":"p","b":{"p":"/open/a","d":2}"#).starts_with(r#"{"s":"unavailable""#));
    assert_eq!(peer.ask(r#""a":"p","b":{"p":"/open/b","d":2}"#), ok);
    assert!(peer.ask(r#""a":"p","b":{"p":"/closed","d":1}"#).starts_with(r#"{"s":"permission_denied""#));
    assert!(peer.ask(r#""a":"g","b":{"p":"/closed","q":{}}"#).starts_with(r#"{"s":"permission_denied""#));
    assert!(peer.ask(r#""a":"q","b":{"p":"/closed","h":""}"#).starts_with(r#"{"s":"permission_denied""#));
    assert!(
        peer.ask(r#""a":"q","b":{"p":"/open","q":{"i":"x","l":1,"vf":"l"},"t":1,"h":""}"#)
            .contains(r#""s":"ok""#)
    );
    assert_eq!(peer.ask(r#""a":"q","b":{"p":"/open/b","h":""}"#), r#"{"s":"ok","d":{}}"#);
    assert_eq!(http.ask("GET /closed.json?ns=hostile", "").0, 401);
    assert_eq!(http.ask("PUT /closed.json?ns=hostile", "1").0, 401);
    let mut stream = Http::connect(&server.address);
    stream.send("GET /open/b.json?ns=hostile", "Accept: text/event-stream\r\n");
    assert!(stream.read_until("\"data\":2}\n").is_some());
    let after = read(&metrics(&mut http, "").1);
    let grown = |name: &str| after[name] - before.get(name).copied().unwrap_or_default();
    for (report, name, expected) in [
        ("R101", r#"hearth_limit_refused_total{places="/open/a",measure="writes",per="address"}"#, 1.0),
        ("R101", "hearth_limit_buckets", 1.0),
        ("-", r#"hearth_commits_total{namespace="hostile"}"#, 2.0),
        ("-", r#"hearth_denied_writes_total{namespace="hostile"}"#, 2.0),
        ("-", r#"hearth_denied_reads_total{namespace="hostile"}"#, 3.0),
        // Each write once, each read and listen once, and a stream before it begins as well.
        ("-", r#"hearth_verdicts_total{namespace="hostile"}"#, 11.0),
        ("-", r#"hearth_rule_steps_total{namespace="hostile"}"#, 6.0),
        ("-", r#"hearth_index_misses_total{namespace="hostile"}"#, 1.0),
        ("-", r#"hearth_listeners{namespace="hostile"}"#, 3.0),
        ("-", r#"hearth_connections{transport="websocket"}"#, 1.0),
        ("-", r#"hearth_connections{transport="event_stream"}"#, 1.0),
        ("-", r#"hearth_connections_total{transport="websocket"}"#, 1.0),
        ("-", r#"hearth_sessions{namespace="hostile",transport="websocket"}"#, 1.0),
        ("-", r#"hearth_sessions{namespace="hostile",transport="event_stream"}"#, 1.0),
        ("-", r#"hearth_sessions{namespace="hostile",transport="long_polling"}"#, 0.0),
        ("-", r#"hearth_sessions_total{namespace="hostile",transport="event_stream"}"#, 1.0),
    ] {
        assert_eq!(grown(name), expected, "{report} {name}");
    }
    for name in [
        "hearth_sync_seconds_count",
        "hearth_sync_seconds_sum",
        "hearth_received_bytes_total",
        "hearth_sent_bytes_total",
    ] {
        assert!(0.0 < grown(name), "{name}");
    }
    assert_eq!(after[r#"hearth_sync_seconds_bucket{le="+Inf"}"#], after["hearth_sync_seconds_count"]);
    drop(peer);
    drop(stream);
    // Who has gone is not counted any more.
    for name in [
        r#"hearth_listeners{namespace="hostile"}"#,
        r#"hearth_sessions{namespace="hostile",transport="websocket"}"#,
        r#"hearth_sessions{namespace="hostile",transport="event_stream"}"#,
    ] {
        while 0.0 < metric(&mut http, name) {
            std::thread::yield_now();
        }
    }
    assert_eq!(metric(&mut http, r#"hearth_sessions_total{namespace="hostile",transport="websocket"}"#), 1.0);
}

/// Exchanges something with the server; how many bytes of messages and bodies went there and came back.
type Exchange = fn(&str) -> (usize, usize);

#[test]
fn what_clients_say_and_are_told_is_counted_for_their_database() {
    let server = Running::start();
    let mut http = Http::connect(&server.address);
    let exchanges: [(&str, Exchange); 10] = [
        ("a write", |address| {
            let (_, told) = Http::connect(address).ask("PUT /a.json?ns=hostile", "[1, 2, 3]");
            (9, told.len())
        }),
        ("a write that is told nothing", |address| {
            Http::connect(address).ask("PUT /many.json?ns=hostile&print=silent", &many());
            (many().len(), 0)
        }),
        ("a read", |address| (0, Http::connect(address).ask("GET /a.json?ns=hostile", "").1.len())),
        ("a long read", |address| {
            let (status, told) = Http::connect(address).ask("GET /many.json?ns=hostile", "");
            assert_eq!((status, told.len()), (200, many().len()));
            (0, told.len())
        }),
        ("a read that is compressed", |address| {
            let mut http = Http::connect(address);
            http.send("GET /many.json?ns=hostile", "Accept-Encoding: gzip\r\nConnection: close\r\n");
            while http.read_byte().is_some() {}
            (0, many().len())
        }),
        ("a look at what would be told", |address| {
            let mut http = Http::connect(address);
            http.send("HEAD /a.json?ns=hostile", "Connection: close\r\n");
            while http.read_byte().is_some() {}
            (0, 0)
        }),
        ("another database", |address| {
            Http::connect(address).ask("PUT /a.json?ns=other", "[1, 2, 3]");
            (0, 0)
        }),
        ("an event stream", |address| {
            let mut http = Http::connect(address);
            http.send("GET /a.json?ns=hostile", "Accept: text/event-stream\r\n");
            http.read_until("event: put\n").unwrap();
            let rest = http.read_until("\n\n").unwrap();
            (0, "event: put\n".len() + rest.len())
        }),
        ("messages", |address| {
            let mut peer = Peer::connect(address);
            peer.ask(r#""a":"p","b":{"p":"/b","d":"é"}"#);
            peer.ask(r#""a":"q","b":{"p":"/b","h":""}"#);
            // More than a mebibyte, as it is taken.
            assert!(many().len() < peer.ask(r#""a":"g","b":{"p":"/many","q":{}}"#).len());
            (peer.said, peer.told)
        }),
        ("messages by long polling", |address| {
            let mut http = Http::connect(address);
            let (ticket, told) = polling::start_and_told(&mut http);
            let said = [
                r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/c","d":2}}}"#,
                r#"{"t":"d","d":{"r":2,"a":"g","b":{"p":"/many","q":{}}}}"#,
            ];
            let first = polling::messages(&polling::say(&mut http, &ticket, 0, said[0])).len();
            let long = URL_SAFE.encode(said[1]).replace('=', ".");
            let target = format!("GET /.lp?{ticket}&ser=3&seg0=1&ts0=1&d0={long}");
            http.send(&target, "Connection: close\r\n");
            http.read_until(r#","d":{"k0":0,"#).unwrap();
            while http.read_byte().is_some() {}
            let frame = r#"{"t":"d","d":{"r":2,"b":{"s":"ok","d":}}}"#.len();
            (said.concat().len(), told.len() + first + frame + many().len())
        }),
    ];
    let count = |http: &mut Http| {
        ["received", "sent"]
            .map(|way| metric(http, &format!("hearth_payload_{way}_bytes_total{{namespace=\"hostile\"}}")))
    };
    for (what, exchange) in exchanges {
        let before = count(&mut http);
        let (said, told) = exchange(&server.address);
        let after = count(&mut http);
        let grown = [0, 1].map(|way| after[way] - before[way]);
        assert_eq!(
            grown.map(|bytes| bytes.to_string()),
            [said, told].map(|bytes| bytes.to_string()),
            "{what}"
        );
    }
}

#[test]
fn each_number_is_in_the_documentation_and_each_of_that_is_there() {
    let server = Running::start();
    let (_, text) = metrics(&mut Http::connect(&server.address), "");
    let mut told: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let page = include_str!("../../../docs/modes.md");
    let mut said: Vec<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `hearth_"))
        .map(|line| &line[..line.find(['`', '{']).unwrap()])
        .map(|name| format!("hearth_{name}"))
        .collect();
    told.sort_unstable();
    said.sort_unstable();
    assert_eq!(told, said);
}

#[test]
fn databases_beyond_a_hundred_are_counted_as_one() {
    let server = Running::start();
    let mut http = Http::connect(&server.address);
    for number in 0..103 {
        assert_eq!(http.ask(&format!("PUT /a.json?ns=n{number}"), "1").0, 200);
    }
    let samples = read(&metrics(&mut http, "").1);
    let of = |name: &str| samples.get(&format!("hearth_commits_total{{namespace=\"{name}\"}}")).copied();
    for (name, expected) in [("n0", Some(1.0)), ("n99", Some(1.0)), ("n100", None), ("(others)", Some(3.0))] {
        assert_eq!(of(name), expected, "{name}");
    }
}

#[test]
fn metrics_are_for_admins_and_for_programs_of_a_developer() {
    let mut serve = command("serve");
    serve.args(["--namespace", "hostile"]).env("HEARTH_ADMIN_CREDENTIAL", ADMIN);
    let serve = Running::of(serve.stderr(Stdio::null()));
    let dev = Running::start();
    for (server, headers, expected) in [
        (&serve, String::new(), 401),
        (&serve, "Authorization: Bearer something-else-of-tests\r\n".into(), 401),
        (&serve, "Authorization: Basic eDp5\r\n".into(), 401),
        (&serve, format!("Authorization: Bearer {ADMIN}\r\n"), 200),
        (&dev, String::new(), 200),
        (&dev, "Authorization: Bearer owner\r\n".into(), 200),
        // A page of somebody else may not use a server without rules at all.
        (&dev, "Origin: https://example.com\r\n".into(), 403),
    ] {
        let mut http = Http::connect(&server.address);
        assert_eq!(metrics(&mut http, &headers).0, expected, "{headers}");
    }
}
