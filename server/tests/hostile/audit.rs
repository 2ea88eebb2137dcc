//! Bulk reads by strangers are told of, and rules that let everybody in can be refused.

use crate::http::Http;
use crate::metrics::metric;
use crate::peer::Peer;
use crate::server::{Running, command, file};
use std::process::{Command, Stdio};

/// Somebody called ada, by a token that nobody has signed.
const ADA: &str = "eyJhbGciOiAibm9uZSJ9.eyJzdWIiOiAiYWRhIn0.";

const BULK_READS: &str = r#"hearth_bulk_reads_total{namespace="hostile"}"#;

/// How somebody reads.
#[derive(Clone, Copy, Debug)]
enum Way {
    Get,
    Stream,
    SocketGet,
    Listen,
}

#[derive(Clone, Copy, Debug)]
enum Who {
    Nobody,
    Ada,
    Admin,
}

fn read(server: &Running, who: Who, way: Way, at: &str) {
    let (path, query) =
        at.split_once('?').map_or((at, String::new()), |(path, query)| (path, format!("&{query}")));
    let token = match who {
        Who::Nobody => String::new(),
        Who::Ada => format!("&auth={ADA}"),
        Who::Admin => "&access_token=owner".into(),
    };
    match way {
        Way::Get => {
            let (status, _) =
                Http::connect(&server.address).ask(&format!("GET {path}.json?ns=hostile{token}{query}"), "");
            assert_eq!(status, 200, "{at}");
        }
        Way::Stream => {
            let mut http = Http::connect(&server.address);
            http.send(&format!("GET {path}.json?ns=hostile{token}{query}"), "Accept: text/event-stream\r\n");
            assert!(http.read_until("\n\n").is_some(), "{at}");
        }
        Way::SocketGet | Way::Listen => {
            let mut peer = Peer::connect(&server.address);
            let credential = match who {
                Who::Nobody => None,
                Who::Ada => Some(ADA),
                Who::Admin => Some("owner"),
            };
            if let Some(credential) = credential {
                assert!(
                    peer.ask(&format!(r#""a":"auth","b":{{"cred":"{credential}"}}"#))
                        .starts_with(r#"{"s":"ok""#)
                );
            }
            let fields = if matches!(way, Way::Listen) {
                format!(r#""a":"q","b":{{"p":"{path}","h":""}}"#)
            } else {
                format!(r#""a":"g","b":{{"p":"{path}","q":{{}}}}"#)
            };
            assert!(peer.ask(&fields).starts_with(r#"{"s":"ok""#), "{at}");
        }
    }
}

#[test]
fn bulk_reads_of_strangers_are_told_once_and_all_counted() {
    let mut server = Running::of(command("dev").stderr(Stdio::piped()));
    let said = server.said();
    let mut http = Http::connect(&server.address);
    let many: Vec<_> = (0..12_000).map(|number| format!("\"k{number}\":1")).collect();
    let few: Vec<_> = (0..9_000).map(|number| format!("\"k{number}\":1")).collect();
    let large = format!("\"{}\"", "x".repeat(2_000_000));
    for (at, body) in [
        ("/large", large.clone()),
        ("/many", format!("{{{}}}", many.join(","))),
        ("/few", format!("{{{}}}", few.join(","))),
        ("/a%C2%85b", large.clone()),
    ] {
        assert_eq!(http.ask(&format!("PUT {at}.json?ns=hostile&print=silent"), &body).0, 204, "{at}");
    }
    for (report, who, way, at, expected) in [
        ("R097", Who::Nobody, Way::Get, "/large", 1.0),
        ("R097", Who::Nobody, Way::Get, "/large", 1.0),
        ("R097", Who::Nobody, Way::Get, "/many", 1.0),
        ("R097", Who::Nobody, Way::Get, "/a%C2%85b", 1.0),
        ("R097", Who::Nobody, Way::SocketGet, "/large", 1.0),
        ("R097", Who::Nobody, Way::SocketGet, "/", 1.0),
        ("R097", Who::Nobody, Way::Listen, "/many", 1.0),
        ("R097", Who::Nobody, Way::Listen, "/large", 1.0),
        ("R097", Who::Nobody, Way::Stream, "/large", 1.0),
        ("R097", Who::Nobody, Way::Stream, "/many", 1.0),
        ("R097", Who::Nobody, Way::Get, "/few", 0.0),
        ("R097", Who::Nobody, Way::SocketGet, "/few", 0.0),
        ("R097", Who::Nobody, Way::Listen, "/few", 0.0),
        ("R097", Who::Nobody, Way::Stream, "/few", 0.0),
        ("R097", Who::Nobody, Way::Get, "/many?shallow=true", 0.0),
        ("R097", Who::Nobody, Way::Get, "/many?orderBy=%22$key%22&limitToLast=10", 0.0),
        ("R097", Who::Nobody, Way::Get, "/many?orderBy=%22$key%22&limitToLast=11000", 1.0),
        ("R097", Who::Ada, Way::Get, "/large", 0.0),
        ("R097", Who::Ada, Way::SocketGet, "/many", 0.0),
        ("R097", Who::Ada, Way::Listen, "/many", 0.0),
        ("R097", Who::Ada, Way::Stream, "/many", 0.0),
        ("R097", Who::Admin, Way::Get, "/many", 0.0),
        ("R097", Who::Admin, Way::Listen, "/large", 0.0),
    ] {
        let before = metric(&mut http, BULK_READS);
        read(&server, who, way, at);
        assert_eq!(metric(&mut http, BULK_READS) - before, expected, "{report} {who:?} {way:?} {at}");
    }
    server.signal("TERM");
    let told: Vec<_> =
        said.filter_map(|line| line.split_once("bulk read: ").map(|(_, told)| told.to_owned())).collect();
    let stranger = "somebody at 127.0.0.1 who has not signed in was given";
    let expected = [
        format!("{stranger} 2000 kB of `/large` in database `hostile`"),
        format!("{stranger} 157 kB of `/many` in database `hostile` (1 more before)"),
        format!("{stranger} 2000 kB of `/a\\u{{85}}b` in database `hostile`"),
        format!("{stranger} 4210 kB of `/` in database `hostile` (1 more before)"),
    ];
    assert_eq!(told, expected, "R097");
}

const ADMIN: &str = "an-admin-credential-of-tests";
const FINE: &str = r#"{"rules": {"notes": {"$uid": {
    ".read": "auth.uid === $uid", ".write": "auth.uid === $uid", ".validate": "newData.isString()"}}}}"#;

fn serve(more: &[&str]) -> Command {
    let mut serve = Command::new(env!("CARGO_BIN_EXE_hearth"));
    serve.env_clear().args(["serve", "--port", "0", "--namespace", "hostile"]).args(more);
    serve.env("HEARTH_ADMIN_CREDENTIAL", ADMIN);
    serve
}

/// Asks as an admin.
fn ask(server: &Running, start: &str, body: &str) -> (u16, String) {
    let mut http = Http::connect(&server.address);
    http.send(start, &format!("Content-Length: {}\r\nAuthorization: Bearer {ADMIN}\r\n", body.len()));
    http.send_bytes(body.as_bytes());
    http.answer().unwrap()
}

#[test]
fn rules_that_let_everybody_in_can_be_refused() {
    let name = "refused-rules.json";
    for (report, rules, refused) in [
        ("R097", r#"{"rules": {".read": true}}"#, "anybody on the internet can read the whole database"),
        (
            "R097",
            r#"{"rules": {".write": true, ".validate": "newData.hasChildren()"}}"#,
            "anybody on the internet can write the whole database",
        ),
        ("R097", r#"{"rules": {".read": "auth != null"}}"#, "everybody who can sign up"),
        (
            "R097",
            r#"{"rules": {"a": {".write": "auth.uid == 'x'"}}}"#,
            "what is written here is not validated",
        ),
        ("R097", r#"{"rules": {".read": "now < 1600000000000"}}"#, "until a fixed time"),
    ] {
        let path = file(name, rules);
        let output = serve(&["--memory", "--refuse-open-rules", "--rules", &path]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{report} {rules}: {said}");
        assert!(
            said.contains("`--refuse-open-rules` refuses the rules") && said.contains(refused),
            "{report} {rules}: {said}"
        );
        // Without it they hold, and with it nothing makes them hold.
        drop(Running::of(serve(&["--memory", "--rules", &path]).stderr(Stdio::null())));
        file(name, FINE);
        let mut server =
            Running::of(serve(&["--memory", "--refuse-open-rules", "--rules", &path]).stderr(Stdio::piped()));
        let mut said = server.said();
        for (start, body, expected) in [
            ("PUT /.settings/rules.json?ns=hostile", rules, 400),
            ("PUT /.settings/rules.json?ns=hostile&dryRun=true", rules, 400),
            ("PUT /.settings/rules.json?ns=hostile", FINE, 200),
            ("DELETE /.settings/rules.json?ns=hostile", "", 200),
        ] {
            let (status, text) = ask(&server, start, body);
            assert_eq!(status, expected, "{report} {start} {body}: {text}");
            assert!(status == 200 || text.contains(refused), "{report} {start} {body}: {text}");
        }
        file(name, rules);
        server.signal("HUP");
        assert!(said.any(|line| {
            line.contains("the rules stay as they were, since `--refuse-open-rules` refuses those")
        }));
        assert_eq!(
            Http::connect(&server.address).ask("GET /a.json?ns=hostile", "").0,
            401,
            "{report} {rules}"
        );
    }
}

#[test]
fn stored_rules_that_let_everybody_in_are_refused_at_the_start() {
    let data = format!("{}/hostile-refused-data", env!("CARGO_TARGET_TMPDIR"));
    drop(std::fs::remove_dir_all(&data));
    let open = r#"{"rules": {".read": true}}"#;
    for (more, rules, expected) in [
        (&[][..], Some(open), 0),
        (&["--refuse-open-rules"], None, 2),
        (&[], Some(FINE), 0),
        (&["--refuse-open-rules"], Some(FINE), 0),
    ] {
        let arguments: Vec<_> = ["--data", &data].iter().chain(more).copied().collect();
        if expected == 2 {
            let output = serve(&arguments).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(
                said.contains("refuses the rules that are stored with database `hostile`"),
                "R097 {said}"
            );
            assert!(said.contains("anybody on the internet can read the whole database"), "R097 {said}");
            continue;
        }
        let mut server = Running::of(serve(&arguments).stderr(Stdio::piped()));
        let (status, text) = ask(&server, "PUT /.settings/rules.json?ns=hostile", rules.unwrap());
        assert_eq!(status, 200, "{text}");
        let mut said = server.said();
        server.signal("TERM");
        assert!(said.any(|line| line.contains("ended in order")));
    }
}
