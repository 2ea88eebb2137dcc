//! What is left behind when a session ends (wire reference 4.7).

use super::ask::{Ledger, NOW_MS, rules, set, uid, update};
use hearth_engine::limits::{ARMED_BYTES_MAX, ARMED_PLACES_MAX};
use hearth_engine::{Act, Armed, Committer, Door, Identity, Refusal, Revision};
use hearth_tests::twin::path;
use proptest::collection::vec;
use proptest::{prop_assert_eq, proptest};
use serde_json::{Value, json};

fn arm(at: &str, value: Value) -> Act {
    Act::Arm(set(at, &value))
}

fn arm_update(at: &str, parts: Value) -> Act {
    Act::Arm(update(at, &parts))
}

fn disarm(at: &str) -> Act {
    Act::Disarm(path(at))
}

/// Sends these and ends the session a second later, once as it is and once after a crash.
fn check(what: &str, before: &Value, acts: Vec<Act>, after: &Value) {
    let mut ledger = Ledger::new(Door::Open, before);
    let start = ledger.tree.clone();
    for act in acts {
        let verdict = ledger.ask(NOW_MS, 1, &Identity::nobody(), act);
        assert!(verdict.outcome.is_ok(), "{what}: {verdict:?}");
    }
    assert_eq!(&ledger.data(), before, "{what}: nothing is written before the end");
    let mut recovered = Ledger {
        committer: Committer::new(Door::Open, Revision::default(), start),
        ..Ledger::new(Door::Open, before)
    };
    ledger.commits.iter().for_each(|commit| recovered.committer.replay(commit));
    for ledger in [&mut ledger, &mut recovered] {
        ledger.ask(NOW_MS + 1_000, 1, &Identity::nobody(), Act::End);
        assert_eq!(&ledger.data(), after, "{what}");
        assert_eq!(ledger.committer.armed_sessions().next(), None, "{what}");
        let again = ledger.ask(NOW_MS + 2_000, 1, &Identity::nobody(), Act::End);
        assert!(again.commit.is_none(), "{what}: it is made once");
    }
}

#[test]
fn a_session_leaves_what_it_has_armed_and_not_taken_back() {
    let before = json!({"p": 0, "c": "was", "k": {"x": 1}});
    let now = NOW_MS + 1_000;
    for (report, what, acts, after) in [
        (
            "R063",
            "a child of an update",
            vec![arm_update("", json!({"p": 1, "c": "x"})), disarm("c")],
            json!({"p": 1, "c": "was", "k": {"x": 1}}),
        ),
        (
            "R063",
            "above what is armed",
            vec![arm("k/x", json!(2)), arm("p", json!(1)), disarm("k")],
            json!({"p": 1, "c": "was", "k": {"x": 1}}),
        ),
        (
            "R063",
            "everything",
            vec![arm("k/x", json!(2)), arm_update("", json!({"p": 1})), disarm("")],
            before.clone(),
        ),
        (
            "R063",
            "a child of a value",
            vec![arm("k", json!({"x": 5, "y": 6})), disarm("k/y")],
            json!({"p": 0, "c": "was", "k": {"x": 5}}),
        ),
        (
            "R063",
            "deep inside a value",
            vec![arm("k", json!({"x": {"a": 1, "b": 2}, "y": 6})), disarm("k/x/a")],
            json!({"p": 0, "c": "was", "k": {"x": {"b": 2}, "y": 6}}),
        ),
        (
            "R063",
            "what was not in the value",
            vec![arm("k", json!({"x": 5})), disarm("k/none")],
            json!({"p": 0, "c": "was", "k": {"x": 5}}),
        ),
        (
            "R063",
            "below a leaf",
            vec![arm("p", json!(7)), disarm("p/x")],
            json!({"p": 7, "c": "was", "k": {"x": 1}}),
        ),
        ("", "below a delete", vec![arm("k", Value::Null), disarm("k/x")], json!({"p": 0, "c": "was"})),
        ("", "beside", vec![arm("p", json!(7)), disarm("c")], json!({"p": 7, "c": "was", "k": {"x": 1}})),
        (
            "R063",
            "a set over a set",
            vec![arm("k", json!({"y": 1})), arm("k", json!({"z": 2}))],
            json!({"p": 0, "c": "was", "k": {"z": 2}}),
        ),
        (
            "R063",
            "a set over what is below",
            vec![arm("k/y", json!(1)), arm("k", json!({"z": 2}))],
            json!({"p": 0, "c": "was", "k": {"z": 2}}),
        ),
        (
            "",
            "below a set",
            vec![arm("k", json!({"z": 2})), arm("k/y", json!(1))],
            json!({"p": 0, "c": "was", "k": {"y": 1, "z": 2}}),
        ),
        (
            "",
            "below a delete",
            vec![arm("k", Value::Null), arm("k/y", json!(1))],
            json!({"p": 0, "c": "was", "k": {"y": 1}}),
        ),
        (
            "",
            "a delete inside a set",
            vec![arm("k", json!({"y": 1, "z": 2})), arm("k/y", Value::Null)],
            json!({"p": 0, "c": "was", "k": {"z": 2}}),
        ),
        (
            "",
            "an update beside and inside",
            vec![arm("k", json!({"y": 1})), arm_update("k", json!({"y": 2, "z": 3}))],
            json!({"p": 0, "c": "was", "k": {"y": 2, "z": 3}}),
        ),
        (
            "R063",
            "a priority with a value",
            vec![arm("p", json!({".value": 1, ".priority": 2}))],
            json!({"p": {".value": 1, ".priority": 2}, "c": "was", "k": {"x": 1}}),
        ),
        (
            "R063",
            "a priority on a set",
            vec![arm("p", json!(1)), arm("p/.priority", json!("q"))],
            json!({"p": {".value": 1, ".priority": "q"}, "c": "was", "k": {"x": 1}}),
        ),
        (
            "R063",
            "a set over a priority",
            vec![arm("p/.priority", json!("q")), arm("p", json!(1))],
            json!({"p": 1, "c": "was", "k": {"x": 1}}),
        ),
        (
            "",
            "a priority alone",
            vec![arm("p/.priority", json!(3))],
            json!({"p": {".value": 0, ".priority": 3}, "c": "was", "k": {"x": 1}}),
        ),
        ("", "a priority of nothing", vec![arm("none/.priority", json!(3))], before.clone()),
        (
            "",
            "a priority and what is below",
            vec![arm("k/.priority", json!(3)), arm("k/y", json!(2))],
            json!({"p": 0, "c": "was", "k": {".priority": 3, "x": 1, "y": 2}}),
        ),
        (
            "R063",
            "the time of the end",
            vec![arm("p", json!({".sv": "timestamp"}))],
            json!({"p": now, "c": "was", "k": {"x": 1}}),
        ),
        (
            "R063",
            "the time inside a value and a priority",
            vec![arm("p", json!({"at": {".sv": "timestamp"}, ".priority": {".sv": "timestamp"}}))],
            json!({"p": {"at": now, ".priority": now}, "c": "was", "k": {"x": 1}}),
        ),
        (
            "R063",
            "the time after a child is taken back",
            vec![arm("p", json!({"at": {".sv": "timestamp"}, "y": 1})), disarm("p/y")],
            json!({"p": {"at": now}, "c": "was", "k": {"x": 1}}),
        ),
        (
            "",
            "an increment",
            vec![arm("k/x", json!({".sv": {"increment": 2}}))],
            json!({"p": 0, "c": "was", "k": {"x": 3}}),
        ),
        ("", "nothing", vec![], before.clone()),
    ] {
        check(&format!("{report} {what}"), &before, acts, &after);
    }
}

#[test]
fn rules_judge_what_is_armed_twice() {
    let open = rules(&json!({
        ".read": true,
        "mine": {"$who": {".write": "auth.uid === $who"}},
        "gate": {".write": true},
        "gated": {".write": "root.child('gate').val() === true"},
    }));
    let ann = uid("ann");
    for (what, acts, later, after) in [
        ("allowed", vec![arm("mine/ann", json!(1))], None, json!({"gate": true, "mine": {"ann": 1}})),
        ("still allowed", vec![arm("gated", json!(1))], None, json!({"gate": true, "gated": 1})),
        ("no longer allowed", vec![arm("gated", json!(1))], Some(json!(false)), json!({"gate": false})),
        (
            "one of two no longer",
            vec![arm("gated", json!(1)), arm("mine/ann", json!(2))],
            Some(json!(false)),
            json!({"gate": false, "mine": {"ann": 2}}),
        ),
    ] {
        let mut ledger = Ledger::new(open.clone(), &json!({"gate": true}));
        for act in acts {
            assert!(ledger.ask(NOW_MS, 1, &ann, act).outcome.is_ok(), "{what}");
        }
        if let Some(gate) = later {
            ledger.ask(NOW_MS, 2, &uid("bob"), Act::Write(set("gate", &gate)));
        }
        // Who reports the end does not matter: it is judged as who armed it.
        let verdict = ledger.ask(NOW_MS, 1, &Identity::nobody(), Act::End);
        assert!(verdict.outcome.is_ok(), "{what}");
        assert_eq!(ledger.data(), after, "{what}");
    }
    let mut ledger = Ledger::new(open, &json!({"gate": true}));
    let verdict = ledger.ask(NOW_MS, 1, &ann, arm("mine/bob", json!(1)));
    assert!(matches!(verdict.outcome, Err(Refusal::Denied(_))) && verdict.commit.is_none(), "{verdict:?}");
    assert_eq!(ledger.committer.armed_sessions().next(), None);
}

#[test]
fn a_session_arms_so_many_places_and_may_change_its_mind_about_them() {
    let mut committer = Ledger::new(Door::Open, &Value::Null);
    let mut arm_at = |at: &str| committer.ask(NOW_MS, 1, &Identity::nobody(), arm(at, json!(1))).outcome;
    for place in 0..ARMED_PLACES_MAX {
        assert!(arm_at(&format!("p/{place}")).is_ok(), "{place}");
    }
    for more in ["one more", "p/0/below/1000/others", "p/1000"] {
        // Below what is armed is no place of its own.
        let refusal = arm_at(more).err().map(|refusal| refusal.to_string());
        let text = "a session can arm writes at 1000 places for its disconnect, and this would be more";
        assert_eq!(refusal.as_deref(), (!more.starts_with("p/0/")).then_some(text), "{more}");
    }
    assert!(arm_at("p/0").is_ok(), "a place that is armed");
    assert!(arm_at("p").is_ok(), "instead of all of them");
    assert!(arm_at("one more").is_ok());
}

#[test]
fn a_session_arms_so_much_and_may_change_its_mind_about_it() {
    // What is weighed beside the text: the place, the node, and what holds them.
    let most = ARMED_BYTES_MAX - 3 * 64 - 1;
    let text = |bytes: usize| json!("x".repeat(bytes));
    let refused = "a session can arm 1024 KiB of writes for its disconnect, and this would be more";
    for (what, acts, last, expected) in [
        ("as much as there may be", vec![], arm("p", text(most)), Ok(())),
        ("a byte more", vec![], arm("p", text(most + 1)), Err(refused)),
        ("something beside it", vec![arm("p", text(most))], arm("q", json!(1)), Err(refused)),
        ("something beside half of it", vec![arm("p", text(most / 2))], arm("q", text(most / 3)), Ok(())),
        ("the same again", vec![arm("p", text(most))], arm("p", text(most)), Ok(())),
        (
            "something instead",
            vec![arm("p", text(most)), arm("p", json!(1))],
            arm("q", text(most / 2)),
            Ok(()),
        ),
        ("what was taken back", vec![arm("p", text(most)), disarm("p")], arm("q", text(most)), Ok(())),
        (
            "the time, within something large",
            vec![arm("p", json!({"at": {".sv": "timestamp"}, "text": "x".repeat(most)}))],
            arm("q", json!(1)),
            Ok(()),
        ),
    ] {
        let mut ledger = Ledger::new(Door::Open, &Value::Null);
        for act in acts {
            drop(ledger.ask(NOW_MS, 1, &Identity::nobody(), act));
        }
        let outcome = ledger.ask(NOW_MS, 1, &Identity::nobody(), last).outcome;
        let found = outcome.map(|_| ()).map_err(|refusal| refusal.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{what}");
    }
}

proptest! {
    #[test]
    fn what_is_armed_is_counted_as_it_would_be_written(
        acts in vec((0..4_u8, vec("[abc]", 0..4), 0..3_u8), 1..40),
    ) {
        let mut armed = Armed::new(Identity::nobody());
        for (kind, keys, number) in acts {
            let at = keys.join("/");
            let value = match number {
                0 => json!(null),
                1 => json!(1),
                _ => json!({"a": 1, "b": {"c": 2}, "c": 3}),
            };
            match kind {
                0 => armed.disarm(&path(&at)),
                1 => armed.arm(&Identity::nobody(), &update(&at, &json!({"a": value, "b/c": 1, "c/.priority": number}))),
                2 => armed.arm(&Identity::nobody(), &update(&at, &json!({".priority": number}))),
                _ => armed.arm(&Identity::nobody(), &set(&at, &value)),
            }
            let written = armed.clone().into_update();
            prop_assert_eq!(armed.places(), written.map_or(0, |update| update.assignments().len()), "{:?}", armed);
        }
    }
}
