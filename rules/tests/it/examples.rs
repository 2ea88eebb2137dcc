//! The rules of the examples, against what their pages do and what somebody with a page of his own might try.

use super::case::Case;
use hearth_rules::Ruleset;
use serde_json::{Value, json};

const NOW_MS: i64 = 1000;

const CHAT: &str = include_str!("../../../examples/chat/rules.json");

/// `who` is a uid, or empty for nobody.
fn judge(rules: &str, data: &Value, who: &str, kind: &str, path: &str, value: &Value) -> bool {
    let auth = if who.is_empty() { Value::Null } else { json!({"uid": who, "token": {}}) };
    let mut case = Case::of(&json!({
        "rules": {"rules": {}}, "auth": auth, "now": NOW_MS, "data": data,
        "op": {"kind": kind, "path": path, "value": value},
    }));
    case.rules = Ruleset::compile(rules).unwrap_or_else(|rejected| panic!("{rejected}"));
    case.is_allowed()
}

#[test]
fn in_the_chat_members_talk_and_nobody_else_listens() {
    let rules = CHAT;
    let now = json!({".sv": "timestamp"});
    // Ann is in the room r, Ben in none; Ann has said m.
    let data = json!({
        "chats": {"r": {"title": "Tea", "lastMessage": "Ann: hi", "lastAt": 1}},
        "members": {"r": {"ann": {"name": "Ann", "joinedAt": 1}}},
        "messages": {"r": {"m": {"from": "ann", "name": "Ann", "text": "hi", "at": 1}}},
        "users": {"ann": {"name": "Ann", "rooms": {"r": true}}, "ben": {"name": "Ben"}},
    });
    let joining = |uid: &str, name: &str, room: &str| {
        json!({
            format!("members/{room}/{uid}"): {"name": name, "joinedAt": now},
            format!("users/{uid}/rooms/{room}"): true,
        })
    };
    let mut making = joining("ben", "Ben", "s");
    making["chats/s"] = json!({"title": "Soup", "lastMessage": "", "lastAt": now});
    let sending = |uid: &str, name: &str, text: &str, at: &Value| {
        json!({
            "messages/r/n": {"from": uid, "name": name, "text": text, "at": at},
            "chats/r/lastMessage": "the beginning of it",
            "chats/r/lastAt": now,
        })
    };
    let leaving = json!({"members/r/ann": null, "users/ann/rooms/r": null, "typing/r/ann": null});
    let none = Value::Null;
    for (who, kind, path, value, allowed) in [
        ("ben", "read", "/chats", none.clone(), true),
        ("", "read", "/chats", none.clone(), false),
        ("ben", "read", "/members/r", none.clone(), true),
        ("ann", "read", "/messages/r", none.clone(), true),
        ("ben", "read", "/messages/r", none.clone(), false),
        ("ann", "read", "/messages", none.clone(), false),
        ("ann", "read", "/typing/r", none.clone(), true),
        ("ben", "read", "/typing/r", none.clone(), false),
        ("ben", "read", "/presence/ann", none.clone(), true),
        ("ben", "read", "/users/ben/rooms", none.clone(), true),
        ("ben", "read", "/users/ann/rooms", none.clone(), false),
        ("ben", "update", "/", making.clone(), true),
        ("ann", "update", "/", making, false),
        ("ben", "update", "/", joining("ben", "Ben", "r"), true),
        ("ann", "update", "/", joining("ben", "Ben", "r"), false),
        ("ben", "update", "/", joining("ben", "Ben", "nowhere"), false),
        ("ben", "update", "/", json!({"users/ben/rooms/r": true}), false),
        ("ben", "set", "/chats/r", json!({"title": "Mine", "lastAt": now}), false),
        ("ann", "set", "/chats/r", none.clone(), false),
        ("ann", "update", "/", sending("ann", "Ann", "ho", &now), true),
        ("ann", "update", "/", sending("ann", "Ann", "ho", &json!(7)), false),
        ("ann", "update", "/", sending("ann", "Ann", "", &now), false),
        ("ann", "update", "/", sending("ann", "Ann", &"o".repeat(2000), &now), true),
        ("ann", "update", "/", sending("ann", "Ann", &"o".repeat(2001), &now), false),
        ("ann", "update", "/", sending("ann", "Ben", "ho", &now), false),
        ("ann", "update", "/", sending("ben", "Ann", "ho", &now), false),
        ("ben", "update", "/", sending("ben", "Ben", "ho", &now), false),
        ("ann", "set", "/messages/r/m/text", json!("never said hi"), false),
        ("ann", "set", "/messages/r/m", none.clone(), false),
        ("ann", "update", "/", leaving.clone(), true),
        ("ben", "update", "/", leaving, false),
        ("ann", "set", "/presence/ann/c", now.clone(), true),
        ("ann", "set", "/presence/ann/c", none.clone(), true),
        ("ann", "set", "/presence/ben/c", now.clone(), false),
        ("ann", "set", "/typing/r/ann", json!(true), true),
        ("ann", "set", "/typing/r/ann", json!("<b>"), false),
        ("ben", "set", "/typing/r/ben", json!(true), false),
        ("ben", "set", "/typing/r/ben", none.clone(), true),
        ("ben", "set", "/users/ben/name", json!("Ben"), true),
        ("ben", "set", "/users/ann/name", json!("Ben"), false),
    ] {
        assert_eq!(judge(rules, &data, who, kind, path, &value), allowed, "{who}: {kind} {path} {value}");
    }
}
