//! What users have reported of rules, as rows: the report, the rules, what is asked, and what a good server answers.

use crate::client::Ask;
use crate::server::Running;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// A database of its own for each row.
fn ask(row: usize, method: &str, path: &str) -> Ask {
    Ask::new(method, path).with_query("ns", &format!("row-{row}"))
}

fn status(server: &Running, ask: &Ask) -> u16 {
    ask.send(&server.address).expect("the server answers").status
}

fn store(row: usize, rules: &Value) -> Ask {
    ask(row, "PUT", "/.settings/rules.json").by_owner().with_body(&json!({"rules": rules}))
}

/// Who asks.
enum Who {
    Nobody,
    /// Somebody with an unsigned token.
    User(&'static str),
    /// An admin who acts as somebody with this `auth`.
    As(&'static str),
}

#[test]
fn requests_are_judged_as_they_should_be() {
    use Who::{As, Nobody, User};
    let server = Running::start();
    let names = json!({"nicknames": {"$u": {".write": true,
        ".validate": r"newData.val().matches(/^[a-z]+(\s[a-z]+)*$/i)"}}});
    let shallow = json!({".read": "auth.token.role == 'ops'", "status": {"minBuild": {".read": true}}});
    let forms = json!({"forms": {".write": true, ".validate": "newData.hasChildren(['title'])"}});
    let bracket = json!({".read": "auth.token['firebase']['sign_in_provider'] == 'custom'"});
    let links = json!({"links": {"$l": {".write": true,
        ".validate": "root.child('rooms/' + newData.val()).exists()"}}});
    let own =
        json!({"u": {"$id": {".read": "auth.uid == $id && (auth.token == null || auth.token.ok == true)"}}});
    let frozen = json!({"cards": {"$c": {".write": "auth != null && data.child('frozen').val() !== true"}}});
    let (none, rooms) = (json!(null), json!({"rooms": {"a": {"b": 1}}}));
    for (row, (report, rules, data, who, method, path, value, expected)) in [
        ("R001", &names, &none, Nobody, "PUT", "/nicknames/u1.json", json!("blue otter"), 200),
        ("R001", &names, &none, User("amy"), "PUT", "/nicknames/u1.json", json!("Blue Otter"), 200),
        ("R001", &names, &none, User("amy"), "PUT", "/nicknames/u1.json", json!("blue_otter"), 401),
        ("R005", &shallow, &none, Nobody, "GET", "/status/minBuild.json", none.clone(), 200),
        ("R005", &shallow, &none, Nobody, "GET", "/status.json", none.clone(), 401),
        ("R007", &forms, &none, Nobody, "PUT", "/forms/body/p1.json", json!("hi"), 401),
        (
            "R007",
            &forms,
            &json!({"forms": {"title": "t"}}),
            Nobody,
            "PUT",
            "/forms/body/p1.json",
            json!("hi"),
            200,
        ),
        ("R009", &bracket, &none, User("amy"), "GET", "/a.json", none.clone(), 401),
        ("R011", &links, &rooms, Nobody, "PUT", "/links/l.json", json!("a.b#c"), 401),
        ("R011", &links, &rooms, Nobody, "PUT", "/links/l.json", json!("a//b"), 200),
        ("R011", &links, &rooms, Nobody, "PUT", "/links/l.json", json!("a//c"), 401),
        ("R011", &links, &rooms, Nobody, "PUT", "/links/a.b%23c.json", json!("a"), 400),
        ("R015", &own, &none, As(r#"{"uid":"zed"}"#), "GET", "/u/zed.json", none.clone(), 200),
        ("R015", &own, &none, As(r#"{"uid":"zed"}"#), "GET", "/u/amy.json", none.clone(), 401),
        ("R015", &own, &none, As("null"), "GET", "/u/zed.json", none.clone(), 401),
        (
            "R015",
            &own,
            &none,
            As(r#"{"uid":"zed","token":{"ok":false}}"#),
            "GET",
            "/u/zed.json",
            none.clone(),
            401,
        ),
        (
            "R015",
            &own,
            &none,
            As(r#"{"uid":"zed","token":{"ok":true}}"#),
            "GET",
            "/u/zed.json",
            none.clone(),
            200,
        ),
        ("R017", &frozen, &none, User("amy"), "PUT", "/cards/new.json", json!(1), 200),
        (
            "R017",
            &frozen,
            &json!({"cards": {"c": {"frozen": true}}}),
            User("amy"),
            "PUT",
            "/cards/c.json",
            json!(1),
            401,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let shown = format!("{report} {rules} {method} {path} {value}");
        assert_eq!(status(&server, &store(row, rules)), 200, "{shown}");
        assert_eq!(status(&server, &ask(row, "PUT", "/.json").by_owner().with_body(data)), 200, "{shown}");
        let asked = ask(row, method, path);
        let asked = if value.is_null() { asked } else { asked.with_body(&value) };
        let asked = match who {
            Nobody => asked,
            User(uid) => {
                let claims = URL_SAFE_NO_PAD.encode(json!({"sub": uid}).to_string());
                asked.with_query("auth", &format!("e30.{claims}."))
            }
            As(auth) => asked.by_owner().with_query("auth_variable_override", auth),
        };
        assert_eq!(status(&server, &asked), expected, "{shown}");
    }
}

#[test]
fn rules_are_taken_or_refused_as_they_should_be() {
    let server = Running::start();
    for (row, (report, rules, expected)) in [
        ("R001", json!({".read": r"auth.uid.matches(/^[\s\w\d\S\W\D]$/i)"}), 200),
        ("R003", json!({".read": "root.child('teams').child(auth.uid) != null"}), 400),
        ("R003", json!({".read": "root.child('teams').child(auth.uid).exists()"}), 200),
        ("R009", json!({".read": "auth.token[\"firebase\"][\"sign_in_provider\"] == 'custom'"}), 200),
        ("R009", json!({".write": "newData.val()[\"kind\"] == 'x'"}), 400),
        ("R017", json!({"cards": {"$c": {".write": "auth != null && !data.child('frozen').val()"}}}), 400),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(status(&server, &store(row, &rules)), expected, "{report} {rules}");
    }
}
