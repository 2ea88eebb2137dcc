//! Each request has a name, and the log says by it which were slow or failed, once and not as often as a client likes.

use crate::http::Http;
use crate::metrics::metric;
use crate::peer::Peer;
use crate::polling;
use crate::server::{Running, command, file};
use base64::Engine;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use std::process::Stdio;

#[test]
fn each_answer_says_what_its_request_is_called() {
    let server = Running::start();
    let longest = "x".repeat(128);
    let mut made = Vec::new();
    for (start, given, is_kept) in [
        ("GET /a.json", "7f0c3f3e-2b1a-4a6e-9a59-0c4d3f5e6a7b", true),
        ("GET /a.json", &*longest, true),
        ("GET /a.b.json", "refused", true),
        ("OPTIONS /a.json", "preflight", true),
        ("GET /healthz", "health", true),
        ("GET /.ws", "socket", true),
        ("GET /a.json", "", false),
        ("GET /a.json", "a`b", false),
        ("GET /a.json", &*format!("{longest}x"), false),
    ] {
        let mut http = Http::connect(&server.address);
        http.send(start, &format!("X-Request-Id: {given}\r\n"));
        let (_, head, _) = http.answer_with_head().unwrap();
        let ids: Vec<_> = head.lines().filter_map(|line| line.strip_prefix("x-request-id: ")).collect();
        let [id] = ids[..] else { panic!("{start} {given}: {head}") };
        assert_eq!(id == given, is_kept, "{start} {given}: {id}");
        if !is_kept {
            made.push(id.to_owned());
        }
    }
    made.dedup();
    assert_eq!(made.len(), 3, "{made:?} are not told apart");
}

/// Numbers enough that no machine spells them within a millisecond.
pub(crate) fn many() -> String {
    let members: Vec<_> = (0..200_000).map(|number| format!("\"k{number}\":{number}")).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn what_is_slow_is_told_once_and_counted() {
    let mut server = Running::of(command("dev").args(["--log-slower-than", "1"]).stderr(Stdio::piped()));
    let said = server.said();
    let mut http = Http::connect(&server.address);
    assert_eq!(http.ask("PUT /many/here.json?ns=hostile&print=silent", &many()).0, 204);
    let before = metric(&mut http, "hearth_slow_answers_total");
    for (start, id) in [
        ("GET /many/here.json?ns=hostile&auth=&access_token=owner", "first"),
        // One of the same place and depth stands for the others.
        ("GET /many/here.json?ns=hostile", "second"),
        ("GET /many/here.json?ns=hostile&orderBy=%22$value%22&limitToLast=2", "ordered"),
    ] {
        http.send(start, &format!("X-Request-Id: {id}\r\n"));
        assert_eq!(http.answer().unwrap().0, 200);
    }
    assert!(3.0 <= metric(&mut http, "hearth_slow_answers_total") - before);
    server.signal("TERM");
    let told: Vec<_> =
        said.filter_map(|line| line.split_once("slow request: ").map(|(_, told)| told.to_owned())).collect();
    let at = "GET `/many/here.json` in database `hostile`";
    for (expected, times) in [
        (format!("{at}, from 127.0.0.1, id `first`, took "), 1),
        (format!("{at}, orderBy=\"$value\", limitToLast=2, from 127.0.0.1, id `ordered`, took "), 1),
        ("id `second`".into(), 0),
        ("owner".into(), 0),
        ("(1 such requests before)".into(), 1),
    ] {
        let found = told.iter().filter(|line| line.contains(&expected)).count();
        assert_eq!(found, times, "{expected} in {told:#?}");
    }
}

#[test]
fn what_is_slow_over_a_session_is_told_by_its_place_and_no_value() {
    let data = format!("{}/hostile-named-data", env!("CARGO_TARGET_TMPDIR"));
    drop(std::fs::remove_dir_all(&data));
    let mut dev = std::process::Command::new(env!("CARGO_BIN_EXE_hearth"));
    dev.env_clear().args(["dev", "--port", "0", "--data", &data, "--log-slower-than", "1"]);
    let mut server = Running::of(dev.stderr(Stdio::piped()));
    let said = server.said();
    let mut http = Http::connect(&server.address);
    let mut peer = Peer::connect(&server.address);
    let (ok, many) = (r#"{"s":"ok","#, many());
    let token = format!(
        "{}.{}.",
        URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#),
        URL_SAFE_NO_PAD.encode(r#"{"sub":"amy","user_id":"amy","iat":1,"exp":4102444800}"#)
    );
    let before = metric(&mut http, "hearth_slow_answers_total");
    // Large enough to be on the disk before its turn.
    assert!(peer.ask(&format!(r#""a":"p","b":{{"p":"/many/set","d":{many}}}"#)).starts_with(ok));
    assert!(peer.ask(&format!(r#""a":"auth","b":{{"cred":"{token}"}}"#)).starts_with(ok));
    for fields in [
        format!(r#""a":"m","b":{{"p":"/many","d":{{"update/it":{many}}}}}"#),
        r#""a":"g","b":{"p":"/many/set","q":{}}"#.into(),
        // One of the same place and depth stands for the others.
        r#""a":"g","b":{"p":"/many/update","q":{}}"#.into(),
        r#""a":"g","b":{"p":"/many/set","q":{"i":".value","sp":199000,"l":2,"vf":"r"}}"#.into(),
        r#""a":"q","b":{"p":"/many/set","h":""}"#.into(),
        r#""a":"q","b":{"p":"/many/set","q":{"i":"a/b","l":3,"vf":"l"},"t":1,"h":""}"#.into(),
    ] {
        let answer = peer.ask(&fields);
        assert!(answer.starts_with(ok), "{}", &answer[..answer.len().min(200)]);
    }
    let ticket = polling::start(&mut http);
    let get = URL_SAFE.encode(r#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/many/update/it","q":{}}}}"#);
    http.send(&format!("GET /.lp?{ticket}&ser=2&seg0=0&ts0=1&d0={}", get.replace('=', ".")), "");
    http.take_past("]);\n").unwrap();
    let mut http = Http::connect(&server.address);
    assert!(8.0 <= metric(&mut http, "hearth_slow_answers_total") - before);
    server.signal("TERM");
    let told = said.filter_map(|line| line.split_once("slow request: ").map(|(_, told)| told.to_owned()));
    // To sign in may take that long, or not.
    let told: Vec<_> = told.filter(|told| !told.starts_with("auth ")).collect();
    let of = "in database `hostile`";
    for (expected, times) in [
        (format!("set `/many/set` {of}, from 127.0.0.1, session "), 1),
        (format!("update `/many` {of}, from 127.0.0.1, session "), 1),
        (format!("get `/many/set` {of}, from 127.0.0.1, session "), 1),
        ("get `/many/update` ".into(), 0),
        (format!("get `/many/set` {of}, orderBy=\"$value\", limitToLast=2, from 127.0.0.1, session "), 1),
        (format!("listen `/many/set` {of}, from 127.0.0.1, session "), 1),
        (format!("listen `/many/set` {of}, orderBy=\"a/b\", limitToFirst=3, from 127.0.0.1, session "), 1),
        (format!("get `/many/update/it` {of}, from 127.0.0.1, session "), 1),
        // Whoever signed in after the first of them.
        (", uid `amy`, took ".into(), 5),
        ("199000".into(), 0),
        (token, 0),
    ] {
        let found = told.iter().filter(|line| line.contains(&expected)).count();
        assert_eq!(found, times, "{expected} in {told:#?}");
    }
}

#[test]
fn what_is_slow_can_be_left_out() {
    let mut server = Running::of(command("dev").args(["--log-slower-than", "0"]).stderr(Stdio::piped()));
    let said = server.said();
    let mut http = Http::connect(&server.address);
    assert_eq!(http.ask("PUT /many.json?ns=hostile&print=silent", &many()).0, 204);
    let mut peer = Peer::connect(&server.address);
    assert!(peer.ask(r#""a":"g","b":{"p":"/many","q":{}}"#).starts_with(r#"{"s":"ok","#));
    assert_eq!(metric(&mut http, "hearth_slow_answers_total"), 0.0);
    server.signal("TERM");
    assert_eq!(said.filter(|line| line.contains("slow request")).count(), 0);
}

#[test]
fn what_fails_is_told_once() {
    let rules = file("named-rules", r#"{"rules": {".read": true, ".write": true}}"#);
    let mut serve = command("serve");
    serve.args(["--namespace", "hostile", "--rules", &rules, "--max-body-memory", "1"]);
    let mut server = Running::of(serve.stderr(Stdio::piped()));
    let said = server.said();
    for id in ["first", "second"] {
        let mut http = Http::connect(&server.address);
        let body = many();
        http.send(
            "PUT /many.json?ns=hostile",
            &format!("X-Request-Id: {id}\r\nContent-Length: {}\r\n", body.len()),
        );
        http.send_bytes(body.as_bytes());
        assert_eq!(http.answer().unwrap().0, 503);
    }
    server.signal("TERM");
    let told: Vec<_> = said
        .filter_map(|line| line.split_once("failed request: ").map(|(_, told)| told.to_owned()))
        .collect();
    let expected = "PUT `/many.json` in database `hostile`, from 127.0.0.1, id `first`, was answered 503";
    assert_eq!(told, [expected]);
}

#[test]
fn a_missing_index_is_told_once_for_each_place_in_the_rules() {
    let rules =
        r#"{"rules": {".read": true, "rooms": {"$room": {"members": {".indexOn": "age"}, "lobby": {}}}}}"#;
    let rules = file("named-unindexed", rules);
    let mut server = Running::of(command("dev").args(["--rules", &rules]).stderr(Stdio::piped()));
    let said = server.said();
    let mut http = Http::connect(&server.address);
    let mut peer = Peer::connect(&server.address);
    for at in ["rooms/a/members", "rooms/b/members", "rooms/a/lobby", "x/1", "x/2", "y/1"] {
        let start = format!("GET /{at}.json?ns=hostile&orderBy=%22name%22&limitToFirst=1");
        http.send(&start, "X-Request-Id: over-rest\r\n");
        assert_eq!(http.answer().unwrap().0, 400, "{at}");
    }
    for at in ["rooms/c/members", "rooms/c/lobby"] {
        let query = r#""q":{"i":"since","l":1,"vf":"l"},"t":1,"h":"""#;
        let answer = peer.ask(&format!(r#""a":"q","b":{{"p":"/{at}",{query}}}"#));
        assert!(answer.contains(r#""s":"ok""#), "{at}: {answer}");
        assert!(peer.ask(&format!(r#""a":"g","b":{{"p":"/{at}",{query}}}"#)).contains("Index not defined"));
    }
    server.signal("TERM");
    let told: Vec<_> =
        said.filter_map(|line| line.split_once(": add ").map(|(_, told)| told.to_owned())).collect();
    let expected = [
        r#"".indexOn": ["age", "name"] at `/rooms/$room/members`, id `over-rest`"#,
        r#"".indexOn": "name" at `/rooms/$room/lobby`, id `over-rest` (1 such queries before)"#,
        r#"".indexOn": "name" at `/x/1`, id `over-rest`"#,
        r#"".indexOn": "name" at `/y/1`, id `over-rest` (1 such queries before)"#,
        r#"".indexOn": ["age", "since"] at `/rooms/$room/members`"#,
        r#"".indexOn": "since" at `/rooms/$room/lobby` (1 such queries before)"#,
    ];
    assert_eq!(told, expected);
}
