//! How many connections there may be, and whose they are behind a proxy.

use crate::http::Http;
use crate::metrics::metric;
use crate::peer::Peer;
use crate::server::{Running, command, file};
use std::process::Stdio;
use std::time::{Duration, Instant};

const ADMIN: &str = "an-admin-credential-of-tests";
const OPEN: &str = r#"{"rules": {".read": true, ".write": true}}"#;

fn serve(more: &[&str]) -> Running {
    let rules = file("connections-rules", OPEN);
    let mut serve = command("serve");
    serve
        .args(["--namespace", "hostile", "--rules", &rules])
        .args(more)
        .env("HEARTH_ADMIN_CREDENTIAL", ADMIN);
    Running::of(serve.stderr(Stdio::null()))
}

/// Whether a connection is served; the answer, if not.
fn is_let_in(http: &mut Http) -> Result<(), (u16, String)> {
    if http.try_send_bytes(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") {
        match http.answer() {
            Some((200, _)) => Ok(()),
            Some(refused) => Err(refused),
            None => Err((0, String::new())),
        }
    } else {
        Err(http.answer().unwrap_or_default())
    }
}

#[test]
fn there_are_so_many_connections_and_no_more() {
    for (report, options, text, status, of) in [
        ("R101", ["--max-connections", "20"], "this server has too many connections\n", 503, "server"),
        (
            "R101",
            ["--max-connections-per-address", "20"],
            "there are too many connections from this address\n",
            429,
            "address",
        ),
    ] {
        let server = serve(&options);
        let mut idle: Vec<Http> = (0..10).map(|_| Http::connect(&server.address)).collect();
        idle.iter_mut().for_each(|http| assert_eq!(is_let_in(http), Ok(())));
        // What has become a WebSocket is one, too.
        let mut peers: Vec<Peer> = (0..10).map(|_| Peer::connect(&server.address)).collect();
        for _ in 0..2_000 {
            let refused = is_let_in(&mut Http::connect(&server.address));
            // Where the client has spoken too late, the answer is lost.
            assert!(
                refused == Err((status, text.into())) || refused == Err((0, String::new())),
                "{report} {refused:?}"
            );
        }
        // Who says nothing is told all the same.
        assert_eq!(Http::connect(&server.address).answer(), Some((status, text.into())), "{report}");
        for peer in &mut peers {
            assert_eq!(peer.ask(r#""a":"p","b":{"p":"/a","d":1}"#), r#"{"s":"ok","d":""}"#, "{report}");
        }
        let mut first = idle.pop().unwrap();
        first.send("GET /metrics", &format!("Authorization: Bearer {ADMIN}\r\n"));
        let (_, metrics) = first.answer().unwrap();
        let line = format!("hearth_refused_connections_total{{of=\"{of}\"}} 2001\n");
        assert!(metrics.contains(&line), "{report} {metrics}");
        assert!(server.resident_most_mb() < 50, "{} MB", server.resident_most_mb());
        drop(peers.pop());
        while is_let_in(&mut Http::connect(&server.address)).is_err() {
            std::thread::yield_now();
        }
    }
}

#[test]
fn more_connections_than_there_are_descriptors_are_not_promised() {
    let mut serve = command("serve");
    serve.args(["--namespace", "hostile", "--max-connections", "1000000000"]);
    let output = serve.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`--max-connections 1000000000` needs 1000000256 descriptors"), "{said}");
}

/// The report, what the server believes, what the request says, and the address that is counted: the first of a row of
/// requests that nobody else has used up.
#[test]
fn limits_by_address_are_those_of_the_clients_of_a_proxy() {
    let limits = r#"{"limits": {"/": {"writes": {"address": {"perSecond": 0.001, "burst": 2}}}}}"#;
    let limits = file("connections-limits", limits);
    for (report, proxies, rows) in [
        (
            "R101",
            &["--limits", &*limits][..],
            &[("X-Forwarded-For: 203.0.113.1", 2), ("X-Forwarded-For: 203.0.113.2", 0)][..],
        ),
        (
            "R101",
            &["--limits", &limits, "--behind-proxy", "127.0.0.0/8,10.0.0.1"],
            &[
                ("X-Forwarded-For: 203.0.113.1", 2),
                ("X-Forwarded-For: 203.0.113.1", 0),
                ("X-Forwarded-For: 1.1.1.1, 203.0.113.1, 10.0.0.1", 0),
                ("Forwarded: for=203.0.113.1", 0),
                ("X-Forwarded-For: 203.0.113.2", 2),
                ("Forwarded: for=\"[2001:db8::1]:4711\";proto=https", 2),
                ("X-Forwarded-For: 2001:db8::2", 0),
                // The proxy itself, where it says nothing that could be believed.
                ("X-Other: 1", 2),
                ("X-Forwarded-For: 203.0.113.3\r\nForwarded: for=203.0.113.4", 0),
            ],
        ),
    ] {
        let server = serve(proxies);
        for (number, &(header, expected)) in rows.iter().enumerate() {
            // Over both, each the first time.
            let passed = if number % 2 == 0 {
                let mut http = Http::connect(&server.address);
                let ask = |_: &usize| {
                    http.send("PUT /a.json?ns=hostile", &format!("Content-Length: 1\r\n{header}\r\n"));
                    http.send_bytes(b"1");
                    http.answer().unwrap().0 == 200
                };
                (0..5).take_while(ask).count()
            } else {
                let mut peer = Peer::connect_with(&server.address, &format!("{header}\r\n"));
                let put = r#""a":"p","b":{"p":"/a","d":1}"#;
                (0..5).take_while(|_| peer.ask(put) == r#"{"s":"ok","d":""}"#).count()
            };
            assert_eq!(passed, expected, "{report} {proxies:?} {header}");
        }
    }
}

#[test]
fn the_log_of_bulk_reads_names_the_client_of_a_proxy() {
    let rules = file("connections-rules", OPEN);
    let mut serve = command("serve");
    serve.args(["--namespace", "hostile", "--rules", &rules, "--behind-proxy", "127.0.0.1"]);
    let mut server = Running::of(serve.stderr(Stdio::piped()));
    let mut http = Http::connect(&server.address);
    let body = format!("\"{}\"", "x".repeat(2_000_000));
    assert_eq!(http.ask("PUT /a.json?ns=hostile&print=silent", &body).0, 204);
    http.send("GET /a.json?ns=hostile", "X-Forwarded-For: 203.0.113.7\r\n");
    assert_eq!(http.answer().unwrap().0, 200);
    let told = server.said().find(|line| line.contains("bulk read: "));
    assert!(told.is_some_and(|line| line.contains("somebody at 203.0.113.7 who")), "R097");
}

#[test]
fn heads_that_do_not_come_are_counted() {
    let server = Running::start();
    let mut begun: Vec<Http> = (0..5).map(|_| Http::connect(&server.address)).collect();
    begun.iter_mut().for_each(|http| http.send_bytes(b"GET /a.json?ns=hostile HTTP/1.1\r\nHost: "));
    begun.iter_mut().for_each(|http| assert_eq!(http.read_until("\r\n\r\n"), None));
    let mut http = Http::connect(&server.address);
    let asked_from = Instant::now();
    while metric(&mut http, r#"hearth_slow_requests_total{part="head"}"#) < 5.0 {
        assert!(asked_from.elapsed() < Duration::from_secs(30), "they are not counted");
        std::thread::yield_now();
    }
}

#[test]
fn large_bodies_share_so_much_room_and_small_ones_need_none() {
    let server = serve(&["--max-body-memory", "1"]);
    let begin = |bytes: usize, announced: usize| {
        let mut http = Http::connect(&server.address);
        http.send("PUT /a.json?ns=hostile&print=silent", &format!("Content-Length: {announced}\r\n"));
        http.send_bytes(format!("\"{}", "x".repeat(bytes - 1)).as_bytes());
        http
    };
    let bytes_now = || {
        let mut http = Http::connect(&server.address);
        http.send("GET /metrics", &format!("Authorization: Bearer {ADMIN}\r\n"));
        let (_, text) = http.answer().unwrap();
        let of = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().parse().unwrap()
        };
        (of("hearth_body_bytes "), of("hearth_refused_bodies_total "))
    };
    let first = begin(900_000, 2_000_000);
    while bytes_now() != (900_000 - 65_536, 0) {
        std::thread::yield_now();
    }
    let (status, text) = begin(900_000, 900_000).answer().unwrap();
    assert_eq!(status, 503, "R101 {text}");
    assert!(text.contains("receives too many large requests at once"), "R101 {text}");
    assert_eq!(Http::connect(&server.address).ask("PUT /b.json?ns=hostile", "1").0, 200, "R101");
    drop(first);
    while bytes_now() != (0, 1) {
        std::thread::yield_now();
    }
    let body = format!("\"{}\"", "x".repeat(900_000));
    assert_eq!(
        Http::connect(&server.address).ask("PUT /a.json?ns=hostile&print=silent", &body).0,
        204,
        "R101"
    );
}
