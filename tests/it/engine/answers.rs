//! What the committer answers: hash first, then rules; no commit for what changes nothing.

use super::ask::{Ledger, NOW_MS, hash, node, rules, set, uid, update};
use hearth_engine::{Accepted, Act, Door, Identity, Refusal, Revision};
use hearth_tests::twin::path;
use hearth_tree::Hash;
use serde_json::{Value, json};

fn write_if(at: &str, hash: Option<Hash>, value: Value) -> Act {
    Act::WriteIf { at: path(at), hash, write: set(at, &value) }
}

fn word(outcome: &Result<Accepted, Refusal>) -> &'static str {
    match outcome {
        Ok(_) => "ok",
        Err(Refusal::Stale { .. }) => "stale",
        Err(Refusal::Denied(_)) => "denied",
        Err(Refusal::Resolve(_)) => "unresolved",
        Err(Refusal::Arm(_)) => "not armed",
        Err(Refusal::LogStopped) => "stopped",
        Err(Refusal::InDoubt) => "in doubt",
        Err(Refusal::OtherRules { .. }) => "other rules",
    }
}

#[test]
fn the_hash_comes_first_and_the_value_second() {
    let door = rules(&json!({
        "open": {".read": true, ".write": true, ".validate": "newData.isNumber()"},
        "dark": {".write": true},
        "fixed": {".read": true},
        "closed": {},
    }));
    let data = json!({"open": 1, "dark": 1, "fixed": 1, "closed": 1});
    let (right, wrong) = (hash(&json!(1)), hash(&json!(2)));
    for (at, hash, value, expected) in [
        ("open", right, json!(2), "ok"),
        ("open", right, json!("no number"), "denied"),
        ("open", wrong, json!(2), "stale"),
        ("open", None, json!(2), "stale"),
        // The value is not judged: JavaScript makes the first one of nothing.
        ("open", None, json!("no number"), "stale"),
        ("dark", right, json!(2), "ok"),
        ("dark", wrong, json!(2), "denied"),
        ("dark", None, json!(2), "denied"),
        ("fixed", right, json!(2), "denied"),
        ("fixed", wrong, json!(2), "stale"),
        ("closed", right, json!(2), "denied"),
        ("closed", wrong, json!(2), "denied"),
    ] {
        let mut ledger = Ledger::new(door.clone(), &data);
        let verdict = ledger.ask(NOW_MS, 1, &uid("ann"), write_if(at, hash, value.clone()));
        let what = format!("{at} {hash:?} {value}");
        assert_eq!(word(&verdict.outcome), expected, "{what}");
        assert_eq!(verdict.commit.is_some(), expected == "ok", "{what}");
        assert_eq!(ledger.data() == data, expected != "ok", "{what}");
        assert_eq!(ledger.committer.revision(), Revision::new(u64::from(expected == "ok")), "{what}");
    }
}

#[test]
fn either_hash_of_a_number_will_do_and_none_is_that_of_nothing() {
    // JavaScript computes other bytes for this one (wire reference 6.3).
    let odd = json!((1_i64 << 52) - 27);
    let here = node(&odd).expect("a node");
    assert_ne!(here.hash(), here.js_hash(), "it would not show the difference");
    for (data, hash, expected) in [
        (odd.clone(), Some(here.hash()), "ok"),
        (odd.clone(), Some(here.js_hash()), "ok"),
        (odd, None, "stale"),
        (Value::Null, None, "ok"),
        (Value::Null, Some(here.hash()), "stale"),
    ] {
        let mut ledger = Ledger::new(Door::Open, &json!({"n": data, "other": 1}));
        let verdict = ledger.ask(NOW_MS, 1, &Identity::nobody(), write_if("n", hash, json!("new")));
        assert_eq!(word(&verdict.outcome), expected, "{data} {hash:?}");
    }
}

#[test]
fn what_changes_nothing_is_no_commit_and_a_refusal_changes_nothing() {
    let data = json!({"a": 1, "b": {".value": 2, ".priority": 3}, "max": f64::MAX});
    let open = Door::Open;
    let closed = Door::Closed;
    let narrow = rules(&json!({"a": {".write": true}}));
    for (what, door, act, expected, commits) in [
        ("the same value", &open, Act::Write(set("a", &json!(1))), "ok", 0),
        ("the same priority", &open, Act::Write(set("b/.priority", &json!(3))), "ok", 0),
        ("a priority of nothing", &open, Act::Write(set("none/.priority", &json!(3))), "ok", 0),
        ("a delete of nothing", &open, Act::Write(set("none", &Value::Null)), "ok", 0),
        ("a delete below a leaf", &open, Act::Write(set("a/b", &Value::Null)), "ok", 0),
        ("an update of nothing", &open, Act::Write(update("", &json!({"a": 1, "none": null}))), "ok", 0),
        ("an increment by 0", &open, Act::Write(set("a", &json!({".sv": {"increment": 0}}))), "ok", 0),
        ("the same if it is there", &open, write_if("a", hash(&json!(1)), json!(1)), "ok", 0),
        ("a priority that goes", &open, Act::Write(set("b", &json!(2))), "ok", 1),
        ("another value", &open, Act::Write(set("a", &json!(2))), "ok", 1),
        ("part of an update", &open, Act::Write(update("", &json!({"a": 1, "c": 2}))), "ok", 1),
        (
            "beyond all numbers",
            &open,
            Act::Write(set("max", &json!({".sv": {"increment": f64::MAX}}))),
            "unresolved",
            0,
        ),
        (
            "beyond all numbers in an update",
            &open,
            Act::Write(update("", &json!({"a": 7, "max": {".sv": {"increment": f64::MAX}}}))),
            "unresolved",
            0,
        ),
        ("without rules", &closed, Act::Write(set("a", &json!(2))), "denied", 0),
        ("where they are", &narrow, Act::Write(set("a", &json!(2))), "ok", 1),
        ("where there are none", &narrow, Act::Write(set("b", &json!(2))), "denied", 0),
        // Permission is asked for what is written, whether or not it differs.
        ("the same without permission", &narrow, Act::Write(set("b/.priority", &json!(3))), "denied", 0),
        ("half of an update", &narrow, Act::Write(update("", &json!({"a": 2, "b": 3}))), "denied", 0),
        ("a disarm of nothing", &open, Act::Disarm(path("a")), "ok", 0),
        ("an end of nothing", &open, Act::End, "ok", 0),
    ] {
        let mut ledger = Ledger::new(door.clone(), &data);
        let verdict = ledger.ask(NOW_MS, 1, &uid("ann"), act);
        assert_eq!(word(&verdict.outcome), expected, "{what}");
        assert_eq!(usize::from(verdict.commit.is_some()), commits, "{what}");
        assert_eq!(ledger.data() != data, commits == 1, "{what}");
        if let Ok(accepted) = verdict.outcome {
            assert_eq!(accepted.revision, Revision::new(commits as u64), "{what}");
        }
    }
}
