//! What an admin says of a database beside its rules, and that it counts.

use crate::client::Ask;
use crate::server::Running;

const SIZE: &str = "defaultWriteSizeLimit";
const TRIGGERS: &str = "strictTriggerValidation";
const OK: &str = "{\"status\":\"ok\"}";
const TOO_BIG: &str = "{\n  \"error\" : \"Data to write exceeds the maximum size that can be modified with a single request.\"\n}\n";

fn told(server: &Running, ask: Ask) -> (u16, String) {
    let answer = ask.send(&server.address).expect("the server answers");
    (answer.status, answer.text().expect("the body is text"))
}

fn ask(method: &str, name: &str, body: &str) -> Ask {
    let mut ask = Ask::new(method, &format!("/.settings/{name}.json")).with_query("ns", "set");
    ask.body = Some(body.into());
    ask
}

fn error(text: &str) -> String {
    format!("{{\n  \"error\" : \"{text}\"\n}}\n")
}

#[test]
fn settings_are_read_and_set_by_admins_and_refused_where_they_make_no_sense() {
    let server = Running::start();
    let sizes =
        "defaultWriteSizeLimit must be \\\"small\\\", \\\"medium\\\", \\\"large\\\" or \\\"unlimited\\\"";
    let unknown = "there is no such setting here: those of a database are rules, defaultWriteSizeLimit, strictTriggerValidation";
    let staged = "rules cannot be staged here: PUT .settings/rules.json puts them in force, and with dryRun=true only checks them";
    let functions = "this server runs no functions, so there is nothing to register a trigger with";
    let method = "POST is not supported for settings: PUT sets one, DELETE takes back what was set";
    for (method, name, body, expected) in [
        ("GET", SIZE, "", (200, "\"large\"".into())),
        ("GET", TRIGGERS, "", (200, "{\"value\":true}".into())),
        ("GET", "other", "", (200, "null".into())),
        ("PUT", SIZE, "\"small\"", (200, OK.into())),
        ("PUT", SIZE, "\"small\"", (200, OK.into())),
        ("GET", SIZE, "", (200, "\"small\"".into())),
        ("PUT", SIZE, "\"unlimited\"", (200, OK.into())),
        ("GET", SIZE, "", (200, "\"unlimited\"".into())),
        ("PUT", SIZE, "\"medium\"", (200, OK.into())),
        ("PUT", SIZE, "\"tiny\"", (400, error(sizes))),
        ("PUT", SIZE, "small", (400, error(sizes))),
        ("PUT", SIZE, "null", (400, error(sizes))),
        ("PUT", SIZE, "", (400, error("Error: No data supplied."))),
        ("GET", SIZE, "", (200, "\"medium\"".into())),
        ("PUT", TRIGGERS, "false", (200, OK.into())),
        ("PUT", TRIGGERS, "\"false\"", (400, error("strictTriggerValidation must be true or false"))),
        ("GET", TRIGGERS, "", (200, "{\"value\":false}".into())),
        ("DELETE", SIZE, "", (200, OK.into())),
        ("GET", SIZE, "", (200, "\"large\"".into())),
        ("PUT", "other", "1", (404, error(unknown))),
        ("POST", SIZE, "1", (405, error(method))),
        ("GET", "rulesets", "", (200, "null".into())),
        ("POST", "rulesets", "{\"rules\":{}}", (404, error(staged))),
        ("PUT", "ruleset_labels", "{\"stable\":\"a\"}", (404, error(staged))),
        ("POST", "functionTriggers", "{\"name\":\"f\"}", (404, error(functions))),
    ] {
        assert_eq!(told(&server, ask(method, name, body).by_owner()), expected, "{method} {name} {body}");
        assert_eq!(
            told(&server, ask(method, name, body)),
            (401, error("Permission denied")),
            "{method} {name}"
        );
    }
    // Of another database nothing was set.
    let other =
        Ask::new("GET", "/.settings/strictTriggerValidation.json").with_query("ns", "unset").by_owner();
    assert_eq!(told(&server, other), (200, "{\"value\":true}".into()));
    let silent = ask("PUT", TRIGGERS, "true").with_query("print", "silent").by_owner();
    assert_eq!(told(&server, silent), (204, String::new()));
}

/// A body of so many numbers of so many digits.
fn numbers(count: usize, digits: usize) -> Vec<u8> {
    format!("[{}]", vec!["1".repeat(digits); count].join(",")).into_bytes()
}

#[test]
fn a_write_is_as_large_as_its_request_or_the_setting_says() {
    let server = Running::start();
    let write = |method: &str, size: Option<&str>, body: Vec<u8>| {
        let mut ask = Ask::new(method, "/n.json").with_query("ns", "sizes").with_query("print", "silent");
        ask.query.extend(size.map(|size| ("writeSizeLimit".into(), size.into())));
        ask.body = Some(body);
        told(&server, ask.by_owner())
    };
    let done = || (204, String::new());
    // In one piece, and as they come.
    for (count, digits) in [(260_000, 1), (260_000, 5)] {
        assert_eq!(write("PUT", Some("tiny"), numbers(count, digits)), (400, TOO_BIG.into()), "{digits}");
        assert_eq!(write("PUT", None, numbers(count, digits)), done(), "{digits}");
        // What is removed is not what is written.
        assert_eq!(write("PATCH", Some("tiny"), b"null".to_vec()), done(), "{digits}");
    }
    let setting =
        Ask { body: Some(b"\"small\"".to_vec()), ..Ask::new("PUT", "/.settings/defaultWriteSizeLimit.json") };
    assert_eq!(told(&server, setting.with_query("ns", "sizes").by_owner()).0, 200);
    assert_eq!(write("PUT", None, numbers(260_000, 5)), done());
    assert_eq!(write("PUT", None, numbers(2_500_001, 16)), (400, TOO_BIG.into()));
}
