//! Rules that change while the server runs: stored by an admin, and edited in their file.

use crate::client::{Answer, Ask};
use crate::server::Running;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

const OPEN: &str = "{\"rules\": {\"board\": {\".read\": true, \".write\": true, \".validate\": true}}}";
const CLOSED: &str = "{\"rules\": {\"board\": {\".write\": true, \".validate\": true}}}";

fn send(server: &Running, ask: Ask) -> Answer {
    ask.send(&server.address).expect("the server answers")
}

/// Status and body.
fn told(server: &Running, ask: Ask) -> (u16, String) {
    let answer = send(server, ask);
    (answer.status, answer.text().expect("the body is text"))
}

fn ask(method: &str, path: &str, text: &str) -> Ask {
    let mut ask = Ask::new(method, path).with_query("ns", "ruled");
    ask.body = Some(text.into());
    ask
}

fn rules(method: &str, text: &str) -> Ask {
    ask(method, "/.settings/rules.json", text).by_owner()
}

fn stream(server: &Running, path: &str) -> Answer {
    let mut ask = ask("GET", path, "");
    ask.headers.push(("Accept".into(), "text/event-stream".into()));
    send(server, ask)
}

#[test]
fn rules_are_stored_as_they_came() {
    const TEXT: &str = "{\n  // mine\n  \"rules\": {\".read\": \"auth != null\",},\n}\n";
    let server = Running::start();
    let ok = (200, r#"{"status":"ok"}"#.to_owned());
    let error = |status: u16, text: &str| (status, format!("{{\n  \"error\" : {}\n}}\n", Value::from(text)));
    for (request, expected) in [
        // What holds before anything was stored.
        (
            rules("GET", ""),
            (200, "{\n  \"rules\": {\n    \".read\": true,\n    \".write\": true\n  }\n}\n".into()),
        ),
        (rules("PUT", TEXT).with_query("dryRun", "true"), ok.clone()),
        (ask("GET", "/a.json", ""), (200, "null".into())),
        (rules("PUT", TEXT), ok.clone()),
        (ask("GET", "/a.json", ""), error(401, "Permission denied")),
        (rules("GET", ""), (200, TEXT.into())),
        (ask("GET", "//.settings/rules.json", "").by_owner(), (200, TEXT.into())),
        (
            rules("GET", "").with_query("format", "strict"),
            (200, r#"{"rules":{".read":"auth != null"}}"#.into()),
        ),
        (rules("GET", "").with_query("format", "export"), error(400, "format must be strict")),
        (rules("PUT", TEXT).with_query("print", "silent"), (204, String::new())),
        (rules("HEAD", ""), (200, String::new())),
        // Nothing of this changes them.
        (rules("PUT", ""), error(400, "Error: No data supplied.")),
        (
            rules("PUT", "{\"rules\": {\n  \".read\": \"nobody\"\n}}"),
            error(
                400,
                "2:13: Unknown variable 'nobody'.\n  in /.read\n  help: there are `auth`, `now`, `root`, `data`, \
                    `newData`, `query` and the `$variables` of the path\n",
            ),
        ),
        (
            rules("POST", TEXT),
            error(
                405,
                "POST is not supported for rules: PUT replaces them, DELETE takes back what was stored",
            ),
        ),
        (rules("DELETE", "").with_query("dryRun", "true"), ok.clone()),
        (ask("DELETE", "/.settings/rules.json", ""), error(401, "Permission denied")),
        (ask("GET", "/.settings/other.json", "").by_owner(), (200, "null".into())),
        (ask("PUT", "/.settings/rules.json", OPEN), error(401, "Permission denied")),
        (ask("GET", "/.settings/rules.json", ""), error(401, "Permission denied")),
        (ask("GET", "/.settings/other.json", ""), error(401, "Permission denied")),
        (rules("GET", ""), (200, TEXT.into())),
    ] {
        let shown = format!("{request:?}");
        assert_eq!(told(&server, request), expected, "{shown}");
    }
    // R013: a short error each, with its place, and the process goes on.
    for (text, place) in [
        (r#"{"rules": {"$o": {".validate": "newData.hasChildren(['a','b']"}}}"#, "1:"),
        (r#"{"rules": {".read": ""}}"#, "1:"),
        (r#"1"rules": {}"#, "1:1: "),
        ("{bad", "1:2: "),
    ] {
        let (status, body) = told(&server, rules("PUT", text));
        let said = serde_json::from_str::<Value>(&body)
            .ok()
            .and_then(|body| Some(body["error"].as_str()?.to_owned()));
        let said = said.expect("there is an error");
        assert_eq!(status, 400, "{text}");
        assert!(said.starts_with(place), "{text}: {said}");
        assert!(said.lines().count() < 12, "{said}");
    }
    assert_eq!(told(&server, rules("GET", "")), (200, TEXT.into()));
    // Rules of one database are nothing to another.
    let other = Ask::new("GET", "/a.json").with_query("ns", "other");
    assert_eq!(told(&server, other).0, 200);
}

/// R097: whoever opens a database further than is likely meant is told so, and so is whoever runs the server.
#[test]
fn rules_that_open_a_database_are_warned_of_where_they_are_stored() {
    let mut server = Running::of(Running::command("dev").stderr(Stdio::piped()));
    let mut said = server.said();
    let mut heard = |wanted: &str| said.by_ref().find(|line| line.contains(wanted)).expect("it says so");
    let signed_in = "everybody who can sign up, or sign in anonymously, can";
    let unvalidated = "what is written here is not validated";
    for (text, expected) in [
        (
            r#"{"rules": {".read": true}}"#,
            &["/.read: anybody on the internet can read the whole database"][..],
        ),
        (
            r#"{"rules": {".write": "true"}}"#,
            &["/.write: anybody on the internet can write the whole database", unvalidated],
        ),
        (r#"{"rules": {".read": "auth != null"}}"#, &[signed_in]),
        (r#"{"rules": {".write": "auth.uid !== null"}}"#, &[signed_in, unvalidated]),
        (r#"{"rules": {"$u": {".write": "auth.uid === $u"}}}"#, &[unvalidated]),
        (r#"{"rules": {"$u": {".write": "auth.uid === $u", ".validate": "newData.isString()"}}}"#, &[]),
    ] {
        for is_dry_run in [true, false] {
            let mut ask = rules("PUT", text);
            if is_dry_run {
                ask = ask.with_query("dryRun", "true");
            }
            let answer = send(&server, ask);
            assert_eq!(answer.status, 200, "{text}");
            let found = answer.headers.get("warning").is_some_and(|warning| warning.starts_with("299 - "));
            assert_eq!(found, !expected.is_empty(), "{text}: {:?}", answer.headers);
            assert_eq!(answer.text().expect("the body is text"), r#"{"status":"ok"}"#, "{text}");
        }
        for risk in expected {
            let line = heard(risk);
            assert!(line.starts_with("hearth: warning: the rules of database `ruled`: 1:"), "{line}");
        }
        // Nothing else was said of it.
        assert!(heard("hearth: ").contains("uses its stored rules from now on"), "{text}");
    }
}

#[test]
fn versions_keep_two_who_deploy_from_overwriting_each_other() {
    let server = Running::start();
    let stale = |found: u64, expected: u64| {
        format!("the rules of this database are at version {found}, and not at {expected}")
    };
    let bad = || "if-match must be a version of the rules, as the ETag of an answer says it".to_owned();
    for (method, text, if_match, is_dry_run, status, said, version) in [
        ("GET", "", None, false, 200, None, Some(0)),
        ("PUT", OPEN, Some("\"0\""), true, 200, None, Some(0)),
        ("PUT", OPEN, Some("\"0\""), false, 200, None, Some(1)),
        ("PUT", CLOSED, Some("0"), false, 412, Some(stale(1, 0)), Some(1)),
        ("PUT", CLOSED, Some("0"), true, 412, Some(stale(1, 0)), Some(1)),
        ("DELETE", "", Some("2"), false, 412, Some(stale(1, 2)), Some(1)),
        ("GET", "", None, false, 200, Some(OPEN.to_owned()), Some(1)),
        ("PUT", "{}", Some("1"), false, 400, None, None),
        ("PUT", OPEN, Some("1"), false, 200, None, Some(2)),
        ("PUT", CLOSED, None, false, 200, None, Some(3)),
        ("PUT", OPEN, Some("*"), false, 400, Some(bad()), None),
        ("PUT", OPEN, Some("z6sRbrNLwbHX5fdjpvsTtWgXUFc="), false, 400, Some(bad()), None),
        ("GET", "", Some("3"), false, 400, None, None),
        ("DELETE", "", Some("3"), false, 200, None, Some(4)),
        // There is nothing more to take back.
        ("DELETE", "", None, false, 200, None, Some(4)),
        ("PUT", CLOSED, Some("4"), false, 200, None, Some(5)),
        ("GET", "", None, false, 200, Some(CLOSED.to_owned()), Some(5)),
    ] {
        let shown = format!("{method} {if_match:?} dry {is_dry_run}");
        let mut ask = rules(method, text);
        ask.headers.extend(if_match.map(|tag| ("if-match".into(), tag.into())));
        if is_dry_run {
            ask = ask.with_query("dryRun", "true");
        }
        let answer = send(&server, ask);
        assert_eq!(answer.status, status, "{shown}");
        let tag = version.map(|version: u64| format!("\"{version}\""));
        assert_eq!(answer.headers.get("etag"), tag.as_ref(), "{shown}");
        let body = answer.text().expect("the body is text");
        assert!(said.as_ref().is_none_or(|said| body.contains(said)), "{shown}: {body}");
    }
}

#[test]
fn who_may_not_read_learns_nothing_from_conditions() {
    let server = Running::start();
    let text = r#"{"rules": {"w": {".write": true}, "r": {".read": true}}}"#;
    assert_eq!(told(&server, rules("PUT", text)).0, 200);
    let initial = r#"{"w": {"a": 1}, "r": {"a": {"n": 1}}}"#;
    assert_eq!(told(&server, ask("PUT", "/.json", initial).by_owner()).0, 200);
    let body = r#"{"at": {".sv": "timestamp"}}"#;
    for (method, path, header, is_query, status) in [
        ("PUT", "/w.json", Some(("if-match", "null_etag")), false, 401),
        ("PUT", "/w.json", Some(("if-match", "x")), false, 401),
        ("DELETE", "/w/b.json", Some(("if-match", "x")), false, 401),
        ("PUT", "/w/b.json", Some(("if-match", "null_etag")), false, 200),
        ("GET", "/w.json", Some(("if-none-match", "x")), false, 401),
        ("GET", "/w.json", None, true, 401),
        ("GET", "/r.json", None, true, 400),
        ("PUT", "/r.json", Some(("if-match", "x")), false, 412),
        // What was written is told even to who may not read it.
        ("PUT", "/w/t.json", None, false, 200),
    ] {
        let mut ask = ask(method, path, body);
        ask.headers.extend(header.map(|(name, value)| (name.into(), value.into())));
        if is_query {
            ask = ask.with_query("orderBy", "\"n\"");
        }
        let (found, told) = told(&server, ask);
        assert_eq!(found, status, "{method} {path} {header:?}: {told}");
        let told: Value = serde_json::from_str(&told).expect("the body is JSON");
        match status {
            401 => assert_eq!(told, json!({"error": "Permission denied"}), "{method} {path}"),
            200 => assert!(told["at"].is_number(), "{method} {path}: {told}"),
            _ => {}
        }
    }
}

/// A rules file of this test run.
fn file(name: &str, text: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("rules-{name}.json"));
    fs::write(&file, text).expect("a file can be written");
    file
}

/// As editors write: another file takes the name.
fn replace(file: &PathBuf, text: &str) {
    let other = file.with_extension("new");
    fs::write(&other, text).expect("a file can be written");
    fs::rename(other, file).expect("a file can be renamed");
}

#[test]
fn a_rules_file_that_is_edited_holds_at_once() {
    let file = file("edited", OPEN);
    let name = file.to_str().expect("the name is text");
    let mut server = Running::of(Running::command("dev").args(["--rules", name]).stderr(Stdio::piped()));
    let mut said = server.said();
    let mut heard = |wanted: &str| said.by_ref().find(|line| line.contains(wanted)).expect("it says so");
    // At the start already: the file is open wider than is likely meant.
    assert_eq!(
        heard("warning: "),
        format!("warning: {name}:1:47: /board/.write: anybody on the internet can write here")
    );
    let read = || ask("GET", "/board.json", "");
    let mut listener = stream(&server, "/board.json");
    assert_eq!(listener.next_event().expect("it begins").name, "put");

    // R013: a broken file changes nothing.
    replace(&file, "{\"rules\": {\n  \"board\": {\".read\": tru}\n}}");
    heard("the rules stay as they were, since");
    assert!(heard("error: ").contains(&format!("{name}:2:")), "it says where");
    assert_eq!(told(&server, read()).0, 200);

    // R019: whom the new rules do not let read is told so, within a second, and nothing else any more.
    let edited = Instant::now();
    fs::write(&file, CLOSED).expect("a file can be written");
    assert_eq!(listener.next_event().expect("it is told").name, "cancel");
    assert!(edited.elapsed() < Duration::from_secs(1), "{:?}", edited.elapsed());
    assert!(listener.next_event().is_err(), "the stream has ended");
    heard("warning: ");
    heard("were read again and hold from now on");
    assert_eq!(told(&server, read()).0, 401);
    // Databases that are made later, too.
    let elsewhere = Ask::new("GET", "/board.json").with_query("ns", "elsewhere");
    assert_eq!(told(&server, elsewhere).0, 401);

    // What is stored with a database wins over the file, whatever becomes of that.
    assert_eq!(told(&server, rules("PUT", OPEN)).0, 200);
    assert_eq!(told(&server, read()).0, 200);
    replace(&file, "{\"rules\": {}}");
    // Whoever edits the file is told where it does not decide.
    heard("were read again and hold from now on, but not in databases with stored rules: `ruled`");
    assert_eq!(told(&server, read()).0, 200);
    assert_eq!(told(&server, rules("GET", "")), (200, OPEN.into()));

    // A file that is gone changes nothing, and one that comes back holds.
    fs::remove_file(&file).expect("a file can be removed");
    heard("the rules stay as they were, since");
    replace(&file, OPEN);
    heard("were read again and hold from now on");
    let elsewhere = Ask::new("GET", "/board.json").with_query("ns", "elsewhere");
    assert_eq!(told(&server, elsewhere).0, 200);
}

#[test]
fn in_production_a_signal_has_the_rules_read_again() {
    let file = file("signalled", OPEN);
    let name = file.to_str().expect("the name is text");
    let command = ["--namespace", "ruled", "--rules", name];
    let mut server = Running::of(Running::command("serve").args(command).stderr(Stdio::piped()));
    let mut said = server.said();
    let mut heard = |wanted: &str| assert!(said.by_ref().any(|line| line.contains(wanted)), "{wanted}");
    let read = || ask("GET", "/board.json", "");
    let mut listener = stream(&server, "/board.json");
    assert_eq!(listener.next_event().expect("it begins").name, "put");
    for (text, expected, status) in [
        ("{\"rules\": 1}", "the rules stay as they were, since", 200),
        (CLOSED, "were read again and hold from now on", 401),
        ("", "the rules stay as they were, since", 401),
        (OPEN, "were read again and hold from now on", 200),
    ] {
        replace(&file, text);
        server.signal("HUP");
        heard(expected);
        assert_eq!(told(&server, read()).0, status, "{text}");
    }
    assert_eq!(listener.next_event().expect("it is told").name, "cancel");
}
