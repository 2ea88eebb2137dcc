//! Verdicts: the recorded cases, and what users of this kind of database stumbled over.

use crate::case::{Case, Step};
use hearth_rules::{Aspect, Budget, Denial};
use hearth_tree::Snapshot;
use serde_json::{Value, json};

#[test]
fn the_recorded_operations_are_allowed_or_denied() {
    let rows = include_str!("../../../tests/cases/rules-conformance.json");
    let rows: Vec<Value> = serde_json::from_str(rows).expect("the cases are a list of rows");
    assert_eq!(rows.len(), 280, "rows were lost");
    let wrong: Vec<String> = rows
        .iter()
        .filter(|row| Case::of(row).is_allowed() != (row["allow"] == true))
        .map(|row| format!("{}: {}", row["id"], row["why"]))
        .collect();
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// A row in the shape of the recorded ones, for somebody signed in as `ann` at time 1000.
fn judge(rules: &Value, data: &Value, kind: &str, path: &str, value: &Value) -> bool {
    let row = json!({
        "rules": {"rules": rules}, "auth": {"uid": "ann", "token": {}, "list": [1, 2]}, "now": 1000, "data": data,
        "op": {"kind": kind, "path": path, "value": value},
    });
    Case::of(&row).is_allowed()
}

#[test]
fn what_users_stumbled_over_is_judged_right() {
    let nicknames = json!({"nicknames": {"$u": {".write": true, ".validate": r"newData.val().matches(/^[a-z]+(\s[a-z]+)*$/i)"}}});
    let failing_above =
        json!({".read": "auth.token.role.length > 0", "status": {"minBuild": {".read": true}}});
    let forms = json!({"forms": {".write": true, ".validate": "newData.hasChildren(['title'])"}});
    let links = json!({"links": {"$l": {".write": true, ".validate": "root.child('rooms/' + newData.val()).exists()"}}});
    let cards = json!({"cards": {"$c": {".write": "auth != null && data.child('frozen').val() !== true"}}});
    let clock =
        json!({"clock": {".write": true, ".validate": "!data.exists() || newData.val() > data.val()"}});
    let room = json!({"room": {"$r": {".read": "root.child('room/' + $r + '/in/' + auth.uid).exists()"}}});
    let people = json!({"people": {".read": "query.orderByChild == 'name'"}});
    let admins = json!({".read": "root.child('admins').child(data.child('who').val()).exists()"});
    let rooms = json!({"rooms": {"a": {"b": 1}}});
    let nothing = json!(null);
    for (report, rules, data, kind, path, value, allowed) in [
        ("R001", &nicknames, &nothing, "set", "/nicknames/u1", json!("blue otter"), true),
        ("R001", &nicknames, &nothing, "set", "/nicknames/u1", json!("blue_otter"), false),
        ("R005", &failing_above, &nothing, "read", "/status/minBuild", nothing.clone(), true),
        ("R005", &failing_above, &nothing, "read", "/status", nothing.clone(), false),
        ("R007", &forms, &nothing, "set", "/forms/body/p1", json!("hi"), false),
        ("R007", &forms, &json!({"forms": {"title": "t"}}), "set", "/forms/body/p1", json!("hi"), true),
        ("R011", &links, &rooms, "set", "/links/x", json!("a.b#c"), false),
        ("R011", &links, &rooms, "set", "/links/x", json!("a//b"), true),
        ("R011", &links, &rooms, "set", "/links/x", json!("a/c"), false),
        // `rooms/` is `rooms`.
        ("R011", &links, &rooms, "set", "/links/x", json!(""), true),
        ("R011", &links, &nothing, "set", "/links/x", json!(""), false),
        ("R011", &admins, &json!({"admins": {"x": 1}, "who": ""}), "read", "/", nothing.clone(), false),
        ("R017", &cards, &nothing, "set", "/cards/c", json!({"t": 1}), true),
        (
            "R017",
            &cards,
            &json!({"cards": {"c": {"frozen": true}}}),
            "set",
            "/cards/c",
            json!({"t": 1}),
            false,
        ),
        ("R021", &clock, &nothing, "set", "/clock", json!(0), true),
        ("R021", &clock, &json!({"clock": 3}), "set", "/clock", json!(2), false),
        ("R067", &room, &nothing, "read", "/room/r", nothing.clone(), false),
        (
            "R067",
            &room,
            &json!({"room": {"r": {"in": {"ann": true}}}}),
            "read",
            "/room/r",
            nothing.clone(),
            true,
        ),
        (
            "R099",
            &people,
            &json!({"people": {"x": {"secret": {"pin": 1}}}}),
            "read",
            "/people",
            nothing.clone(),
            false,
        ),
        ("R099", &people, &nothing, "read", "/people", nothing.clone(), false),
    ] {
        assert_eq!(judge(rules, data, kind, path, &value), allowed, "{report}: {kind} {path} {value}");
    }
}

/// Whether an expression holds for `data` at the root; nothing, if it fails.
fn holds(expression: &str, data: &Value) -> Option<bool> {
    let read = |expression: String| judge(&json!({".read": expression}), data, "read", "/", &json!(null));
    match (read(expression.into()), read(format!("!({expression})"))) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
        (true, true) => panic!("{expression} is true and false"),
    }
}

#[test]
fn patterns_know_ascii_only() {
    for (pattern, text, expected) in [
        (r"^\d$", "5", true),
        (r"^\d$", "٥", false),
        (r"^\D$", "٥", true),
        (r"^\w$", "é", false),
        (r"^\W$", "é", true),
        (r"^\w$", "_", true),
        (r"^\s$", "\u{b}", true),
        (r"^\s$", "\u{a0}", false),
        (r"^\S$", "\u{a0}", true),
        ("^k$/i", "K", true),
        ("^k$/i", "\u{212a}", false),
        ("^é$/i", "É", false),
        ("^[a-c]$/i", "B", true),
        ("^[^a-c]$/i", "B", false),
        ("^[^a-c]$/i", "d", true),
        ("^s$/i", "ſ", false),
        (r"^[\W]$/i", "k", false),
        (r"^[\s\S]$", "x", true),
        (r"[^\s\S]", "x", false),
        ("^.$", "\n", true),
        ("^.$", "\u{1F600}", true),
        ("a+?b", "b", true),
        (r"^a\.b$", "axb", false),
        (r"^\b$", "b", true),
        ("^x{2,3}$", "xxx", true),
        ("a$", "a\n", false),
        ("^ab|cd$", "abx", true),
        (r"^[\]-]$", "]", true),
    ] {
        let (pattern, flag) = pattern.strip_suffix("/i").map_or((pattern, ""), |pattern| (pattern, "i"));
        let found = holds(&format!("data.val().matches(/{pattern}/{flag})"), &json!(text));
        assert_eq!(found, Some(expected), "/{pattern}/{flag} on {text:?}");
    }
}

#[test]
fn expressions_have_the_values_of_the_reference() {
    let data = json!({"n": 5, "t": "aé\u{1F600}", "o": {"x": 1}, "f": 0.1, "b": true, "big": 9_007_199_254_740_993_i64});
    for (expression, expected) in [
        ("1e21 + '' == '1e+21'", Some(true)),
        ("data.child('f').val() + '' == '0.1'", Some(true)),
        ("1e308 * 10 + '' == 'Infinity'", Some(true)),
        ("0 / 0 == 0 / 0", Some(false)),
        ("5 % 0 != 5 % 0", Some(true)),
        ("data.child('t').val().length == 4", Some(true)),
        ("'\u{e000}' < '\u{1F600}'", Some(false)),
        ("data.child('o').val() == data.child('o').val()", Some(false)),
        ("data.child('o').val() != data.child('o').val()", Some(true)),
        ("data.child('o').val() < 1", None),
        ("data.child('o').val() + 'x' == ''", None),
        ("data.child('n').val().length == 1", None),
        ("(true ? data : root).exists()", Some(true)),
        ("(data.exists() ? data : root).child('n').val() == 5", Some(true)),
        ("(false ? query : query).orderByKey", Some(false)),
        ("auth.uid == 'ann' && auth['u' + 'id'] == 'ann'", Some(true)),
        ("auth[data.child('n').val()] == null", None),
        ("auth.a[auth.b] == null", None),
        ("auth.list['1'] == 2 && auth.list[1] == 2", Some(true)),
        ("auth.list['01'] == null && auth.list['+1'] == null && auth.list[-1] == null", Some(true)),
        ("auth.uid.foo == null && auth.uid.length.foo == null", Some(true)),
        ("auth.token.contains('x')", None),
        ("data.hasChildren(['n', data.child('zip').val()])", None),
        ("data.hasChildren(['zip', data.child('zip').val()])", None),
        ("data.child('').exists()", Some(false)),
        ("data.child('').parent().exists()", Some(true)),
        ("data.hasChild('/')", Some(false)),
        ("data.child('a.b/c').parent().parent().hasChild('n')", Some(true)),
        ("data.child('o/x').parent().hasChild('x')", Some(true)),
        ("data.child('n/x/y').parent().parent().val() == 5", Some(true)),
        ("data.parent().exists()", None),
        ("'abc'.replace('', 'x') == 'abc'", Some(true)),
        ("'aXa'.replace('a', 'bb') == 'bbXbb'", Some(true)),
        ("'É'.toLowerCase() == 'é'", Some(true)),
        ("data.child('big').val() == 9007199254740992", Some(true)),
        ("query.startAt == null && query.limitToFirst == null", Some(true)),
        ("query.limitToFirst <= 10", None),
        ("-data.child('b').val() == 1", None),
        ("!!!data.exists()", Some(false)),
        ("true ? false ? true : false : true", Some(false)),
    ] {
        assert_eq!(holds(expression, &data), expected, "{expression}");
    }
}

#[test]
fn a_write_counts_where_it_is_addressed_even_if_nothing_changes() {
    let rules = json!({
        "a": {".write": "newData.getPriority() == 2", ".validate": "newData.getPriority() == 2", "x": {".validate": false}},
        "n": {".write": true, ".validate": "newData.val() == data.val() + 1"},
        "up": {".write": "newData.child('m').val() == 1", "$k": {".validate": "$k.length == 1"}},
    });
    let data = json!({"a": {"x": 1}, "n": 1});
    for (kind, path, value, allowed) in [
        // A priority alone does not carry the children.
        ("set", "/a/.priority", json!(2), true),
        ("set", "/a/.priority", json!(3), false),
        ("set", "/a", json!({".priority": 2, "x": 1}), false),
        ("set", "/n", json!(1), false),
        ("set", "/n", json!({".sv": {"increment": 1}}), true),
        ("update", "/up", json!({"m": 1, "n": 2}), true),
        ("update", "/up", json!({"m": 1, "long": 2}), false),
        ("update", "/up", json!({"m": 2, "n": 2}), false),
        ("update", "/", json!({"up/m": 1, "n": 2}), true),
        ("update", "/", json!({"up/m": 1, "n": 3}), false),
        ("update", "/up", json!({}), true),
    ] {
        assert_eq!(judge(&rules, &data, kind, path, &value), allowed, "{kind} {path} {value}");
    }
}

#[test]
fn a_read_verdict_says_what_it_depends_on() {
    for (rule, expected, saw_now) in [
        ("auth != null", vec![], false),
        ("data.exists()", vec![("/a", Aspect::Existence)], false),
        (
            "root.child('m/x').exists() && data.val() != null",
            vec![("/a", Aspect::Value), ("/m/x", Aspect::Existence)],
            false,
        ),
        // What is not evaluated is not depended on.
        ("!root.child('m').exists() && data.val() != null", vec![("/m", Aspect::Existence)], false),
        (
            "data.parent().child('m').hasChildren(['x', 'y', 'z'])",
            vec![("/m/x", Aspect::Existence), ("/m/y", Aspect::Existence)],
            false,
        ),
        ("data.hasChildren() || now > 5", vec![("/a", Aspect::Value)], true),
        ("data.child('a.b').exists()", vec![], false),
        ("data.exists() && data.exists()", vec![("/a", Aspect::Existence)], false),
    ] {
        let row = json!({
            "rules": {"rules": {"a": {".read": rule}}}, "auth": {"uid": "ann"}, "now": 1000,
            "data": {"a": 1, "m": {"x": true}}, "op": {"kind": "read", "path": "/a"},
        });
        let case = Case::of(&row);
        let Step::Read(verdict) = case.step() else { panic!("a read") };
        let looks: Vec<(String, Aspect)> =
            verdict.looks.iter().map(|look| (look.at.to_string(), look.aspect)).collect();
        let expected: Vec<(String, Aspect)> =
            expected.into_iter().map(|(at, aspect)| (at.to_owned(), aspect)).collect();
        assert_eq!((looks, verdict.saw_now), (expected, saw_now), "{rule}");
    }
}

#[test]
fn no_verdict_costs_more_than_its_budget() {
    let doubling =
        "'0123456789abcdef'".to_owned() + &".replace('0', '0123456789abcdef0123456789abcdef')".repeat(40);
    let grown = format!("({doubling}).length > 0");
    let many: serde_json::Map<String, Value> = (0..1000).map(|key| (format!("k{key}"), json!(1))).collect();
    let rules = json!({
        "grown": {".write": grown},
        "many": {".write": true, "$k": {".validate": "newData.isNumber()"}},
        "scan": {".write": "newData.val().contains('b')"},
    });
    let text = "a".repeat(6400);
    for (path, value, steps, allowed) in [
        ("/grown", json!(1), 10_000_000, false),
        ("/many", json!(many), 3001, true),
        ("/many", json!(many), 3000, false),
        ("/scan", json!(text.clone() + "b"), 104, true),
        ("/scan", json!(text + "b"), 103, false),
    ] {
        let row = json!({
            "rules": {"rules": rules}, "auth": null, "now": 1, "data": null,
            "op": {"kind": "set", "path": path, "value": value},
        });
        let mut case = Case::of(&row);
        case.budget = Budget { steps, ..Budget::DEFAULT };
        let Step::Write(outcome) = case.step() else { panic!("a write") };
        assert_eq!(outcome.is_ok(), allowed, "{path} with {steps} steps: {outcome:?}");
        assert!(allowed || matches!(outcome, Err(Denial::OverBudget { .. })), "{path}: {outcome:?}");
    }
}

#[test]
fn a_look_differs_when_what_was_looked_at_does() {
    let tree = |data: Value| -> Snapshot { crate::case::snapshot(&data) };
    let at = hearth_tree::Path::parse("/a").expect("a path");
    for (before, after, existence, value) in [
        (json!({"a": 1}), json!({"a": 2}), false, true),
        (json!({"a": 1}), json!({"b": 1}), true, true),
        (json!({"a": {"x": 1}}), json!({"a": {"y": 2}}), false, false),
        (json!({"a": {"x": 1}}), json!({"a": 1}), false, true),
        (json!({"a": 1}), json!({"a": {".value": 1, ".priority": 2}}), false, true),
        (json!({"a": 1}), json!({"a": 1, "b": 2}), false, false),
    ] {
        for (aspect, expected) in [(Aspect::Existence, existence), (Aspect::Value, value)] {
            let look = hearth_rules::Look { at: at.clone(), aspect };
            assert_eq!(
                look.differs(&tree(before.clone()), &tree(after.clone())),
                expected,
                "{before} {after} {aspect:?}"
            );
        }
    }
}
