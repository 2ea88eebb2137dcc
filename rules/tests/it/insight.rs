//! What is said about rules and verdicts: traces, coverage, missing indexes, lint.

use crate::case::{Case, Operation};
use hearth_rules::{
    Attempt, Claim, Counts, Coverage, Denial, QueryValues, Ruleset, SEEN_VALUES_MAX, Situation, debug_log,
    explain, reasons,
};
use hearth_tree::{ChildPath, Order, Path, Range};
use serde_json::{Value, json};

fn case(rules: &Value, auth: &Value, data: &Value, op: &Value) -> Case {
    Case::of(&json!({"rules": {"rules": rules}, "auth": auth, "now": 1000, "data": data, "op": op}))
}

/// The debug log and the explanation of an operation.
fn told(case: &Case, value: &str) -> (String, String) {
    let Case { rules, auth, now_ms, before, operation, budget } = case;
    let situation = Situation { auth, now_ms: *now_ms, before, budget: *budget };
    let (outcome, trace, attempt) = match operation {
        Operation::Read(at, query) => {
            let (verdict, trace) = rules.trace_read(&situation, at, query);
            (verdict.outcome, trace, Attempt::Read(at))
        }
        Operation::Write { after, targets } => {
            let (outcome, trace) = rules.trace_write(&situation, after, targets);
            (outcome, trace, Attempt::Write(value, &targets[0].path))
        }
    };
    (
        debug_log(
            rules,
            attempt,
            auth,
            match &outcome {
                Ok(()) => Ok(()),
                Err(denial) => Err(denial),
            },
            &trace,
        ),
        explain(rules, &trace),
    )
}

#[test]
fn a_trace_reads_as_the_service_writes_it() {
    let users =
        json!({"users": {"$u": {".write": "!data.exists()", ".read": "data.val().length > auth.n || true"}}});
    let form = json!({"f": {".write": true, ".validate": "newData.isString()"}});
    let held = json!({"users": {"h": 1}});
    for (rules, auth, data, op, expected) in [
        (
            &users,
            json!(null),
            &held,
            json!({"kind": "set", "path": "/users/h", "value": {"uid": "h"}}),
            "Attempt to write {\"uid\":\"h\"} to /users/h with auth=null\n    /\n    /users\n    /users/h:.write: \"!data.exists()\"\n      => false\n\nNo .write rule allowed the operation.\nWrite was denied.\n",
        ),
        (
            &users,
            json!({"uid": "a\"b"}),
            &held,
            json!({"kind": "read", "path": "/users/h"}),
            "Attempt to read /users/h with auth={\"uid\":\"a\\\"b\"}\n    /\n    /users\n    /users/h:.read: \"data.val().length > auth.n || true\"\n      => false\n\nNo .read rule allowed the operation.\nRead was denied.\n",
        ),
        (
            &form,
            json!(null),
            &json!(null),
            json!({"kind": "set", "path": "/f", "value": 5}),
            "Attempt to write 5 to /f with auth=null\n    /\n    /f:.write: \"true\"\n      => true\n    /f:.validate: \"newData.isString()\"\n      => false\n\nthe `.validate` rule for `/f` does not accept what would be there\nWrite was denied.\n",
        ),
        (
            &form,
            json!(null),
            &json!(null),
            json!({"kind": "set", "path": "/f", "value": "x"}),
            "Attempt to write \"x\" to /f with auth=null\n    /\n    /f:.write: \"true\"\n      => true\n    /f:.validate: \"newData.isString()\"\n      => true\n\nWrite was allowed.\n",
        ),
    ] {
        let value = op["value"].to_string();
        let (log, _) = told(&case(rules, &auth, data, &op), &value);
        assert_eq!(log, expected);
    }
}

#[test]
fn an_explanation_gives_every_part_its_value_and_every_failure_its_reason() {
    let rules = json!({"rooms": {"$room": {
        ".write": "auth.uid === $room && newData.child('n').val() > 3",
        ".read": "data.child('n').val() + 1 > 3",
    }}});
    for (op, expected) in [
        (
            json!({"kind": "set", "path": "/rooms/ann", "value": {"n": 2}}),
            "/\n  no rule to ask here\n/rooms\n  no rule to ask here\n/rooms/ann\n  /rooms/$room/.write (1:78): auth.uid === $room && newData.child('n').val() > 3\n      auth                           = {…}\n      auth.uid                       = \"ann\"\n      $room                          = \"ann\"\n      auth.uid === $room             = true\n      newData.child('n').val()       = 2\n      newData.child('n').val() > 3   = false\n    => false\n",
        ),
        (
            json!({"kind": "read", "path": "/rooms/ann"}),
            "/\n  no rule to ask here\n/rooms\n  no rule to ask here\n/rooms/ann\n  /rooms/$room/.read (1:37): data.child('n').val() + 1 > 3\n      data.child('n').val() = null\n      data.child('n').val() + 1: `+` adds numbers and joins texts; found null and a number\n    => failed, so it does not grant\n",
        ),
    ] {
        let (_, explanation) = told(&case(&rules, &json!({"uid": "ann"}), &json!(null), &op), "");
        let squeezed =
            |text: &str| text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        assert_eq!(squeezed(&explanation), squeezed(expected), "\n{explanation}");
    }
}

#[test]
fn coverage_counts_sides_as_a_hand_does() {
    let rules = json!({"a": {
        ".read": "auth != null && (data.exists() ? true : data.val() > 1)",
        ".write": "true",
        ".validate": "newData.isString() || newData.isNumber()",
    }});
    let (ann, nobody, one, empty) = (json!({"uid": "ann"}), json!(null), json!({"a": 1}), json!(null));
    let read = json!({"kind": "read", "path": "/a"});
    let set = |value: Value| json!({"kind": "set", "path": "/a", "value": value});
    let steps = [
        (&nobody, &one, read.clone()),
        (&ann, &one, read.clone()),
        (&ann, &one, read),
        (&ann, &empty, set(json!("x"))),
    ];
    let ruleset = case(&rules, &ann, &one, &steps[0].2).rules;
    let mut coverage = Coverage::new(&ruleset);
    for (auth, data, op) in &steps {
        // Each in a coverage of its own, merged: as a suite that runs side by side does.
        let case = case(&rules, auth, data, op);
        let mut own = Coverage::new(&ruleset);
        let situation =
            Situation { auth: &case.auth, now_ms: case.now_ms, before: &case.before, budget: case.budget };
        match &case.operation {
            Operation::Read(at, query) => {
                ruleset.cover_read(&situation, at, query, &mut own);
            }
            Operation::Write { after, targets } => {
                ruleset.cover_write(&situation, after, targets, &mut own).expect("it is allowed");
            }
        }
        coverage.merge(&own);
    }
    let points: Vec<String> = coverage
        .points(&ruleset)
        .iter()
        .map(|point| format!("{} {} {}", ruleset.rule(point.rule).kind(), point.side, point.hits))
        .collect();
    assert_eq!(
        points,
        [
            ".read true 2",
            ".read false 1",
            ".read the first branch of ?: 2",
            ".read true by the second branch of ?: 0",
            ".read false by the second branch of ?: 0",
            ".read decided by the left side of && 1",
            ".read true by the right side of && 2",
            ".read false by the right side of && 0",
            ".validate true 1",
            ".validate false 0",
            ".validate decided by the left side of || 1",
            ".validate true by the right side of || 0",
            ".validate false by the right side of || 0",
            ".write evaluated 1",
        ]
    );
    let (read, _) = ruleset.rules().next().expect("three rules");
    let parts: Vec<_> = coverage
        .parts(&ruleset, read)
        .map(|(part, seen)| {
            let text = &ruleset.rule(read).text().as_str()[ruleset.rule(read).part(part).range()];
            let Counts { truths, falsehoods, others, .. } = seen.counts;
            format!("{text}: {truths} {falsehoods} {others}")
        })
        .collect();
    assert!(parts.contains(&"auth != null: 2 1 0".to_owned()), "{parts:?}");
    assert!(parts.contains(&"data.val() > 1: 0 0 0".to_owned()), "{parts:?}");
}

#[test]
fn a_condition_that_was_never_false_or_never_true_is_missed() {
    let (nobody, ann, ben) =
        (json!(null), json!({"uid": "ann", "ok": true}), json!({"uid": "ben", "ok": true}));
    let shut = json!({"uid": "ann", "ok": false});
    let odd = json!({"uid": "ann", "ok": "odd"});
    for (rule, who, missed) in [
        (
            "auth != null && auth.uid == 'ann' && auth.ok == true",
            [&nobody, &ann].as_slice(),
            [
                "false by the right side of && at auth.uid == 'ann'",
                "false by the right side of && at auth.ok == true",
            ]
            .as_slice(),
        ),
        (
            "auth != null && auth.uid == 'ann'",
            &[&nobody, &ann],
            &["false by the right side of && at auth.uid == 'ann'"],
        ),
        ("auth != null && auth.uid == 'ann' && auth.ok == true", &[&nobody, &ann, &ben, &shut], &[]),
        (
            "auth == null || auth.ok == true",
            &[&nobody, &ann],
            &["false by the right side of || at auth.ok == true"],
        ),
        (
            "auth == null || auth.ok == true",
            &[&nobody, &shut],
            &["true by the right side of || at auth.ok == true"],
        ),
        // What fails does not hold.
        ("auth == null || auth.ok < 1", &[&nobody, &odd], &["true by the right side of || at auth.ok < 1"]),
        (
            "auth != null ? auth.ok == true : auth == 'x'",
            &[&nobody, &ann],
            &[
                "false by the first branch of ?: at auth.ok == true",
                "true by the second branch of ?: at auth == 'x'",
            ],
        ),
        // A literal is what it is, and a value is neither true nor false.
        (
            "auth != null && (auth.ok == true || true)",
            &[&nobody, &ann, &shut],
            &["false by the right side of && at auth.ok == true || true"],
        ),
        ("(auth == null ? 1 : 2) == 1", &[&nobody, &ann], &[]),
    ] {
        let rules = json!({".read": rule});
        let read = json!({"kind": "read", "path": "/"});
        let ruleset = case(&rules, &nobody, &json!(null), &read).rules;
        let mut coverage = Coverage::new(&ruleset);
        for auth in who {
            let Case { auth, now_ms, before, operation, budget, .. } =
                case(&rules, auth, &json!(null), &read);
            let Operation::Read(at, query) = &operation else { panic!("it reads") };
            let situation = Situation { auth: &auth, now_ms, before: &before, budget };
            ruleset.cover_read(&situation, at, query, &mut coverage);
        }
        let told: Vec<String> = coverage
            .points(&ruleset)
            .iter()
            .filter(|point| point.hits == 0 && point.operator.is_some())
            .map(|point| format!("{} at {}", point.side, &ruleset.source()[point.span.range()]))
            .collect();
        assert_eq!(told, missed, "{rule}");
    }
}

#[test]
fn coverage_keeps_a_few_values_and_counts_the_others() {
    let rules = json!({"$k": {".write": "newData.val() + 1 > 0"}});
    let set = |value: &Value| json!({"kind": "set", "path": "/k", "value": value});
    let ruleset = case(&rules, &json!(null), &json!(null), &set(&json!(1))).rules;
    let mut coverage = [Coverage::new(&ruleset), Coverage::new(&ruleset)];
    // 12 different numbers, each twice, once here and once there, and what cannot be computed with.
    let numbers = (0..12).flat_map(|number| [(0, json!(number)), (1, json!(number))]);
    for (at, value) in numbers.chain([(0, json!("x")), (1, json!(true)), (1, json!(false))]) {
        let Case { auth, now_ms, before, operation, budget, .. } =
            case(&rules, &json!(null), &json!(null), &set(&value));
        let Operation::Write { after, targets } = operation else { panic!("it writes") };
        let situation = Situation { auth: &auth, now_ms, before: &before, budget };
        let judged = ruleset.cover_write(&situation, &after, &targets, &mut coverage[at]);
        assert_eq!(judged.is_ok(), value.is_number(), "{value}");
    }
    let [mut coverage, other] = coverage;
    coverage.merge(&other);
    let (write, rule) = ruleset.rules().next().expect("one rule");
    let text = |part| &rule.text().as_str()[rule.part(part).range()];
    let seen = |wanted: &str| {
        let found = coverage.parts(&ruleset, write).find(|&(part, _)| text(part) == wanted);
        found.expect("it is there").1.clone()
    };
    let value = seen("newData.val()");
    assert_eq!(value.counts, Counts { truths: 1, falsehoods: 1, others: 25, failures: 0 });
    let kept: Vec<_> = (0..SEEN_VALUES_MAX).map(|number| (number.to_string().into_boxed_str(), 2)).collect();
    assert_eq!(value.values, kept);
    let sum = seen("newData.val() + 1");
    let faults: Vec<_> = sum.faults.iter().map(|(fault, count)| format!("{count} × {fault}")).collect();
    assert_eq!(faults, ["2 × `+` adds numbers and joins texts; found a boolean and a number"]);
    assert_eq!((sum.counts.others, sum.counts.failures), (25, 2));
    let whole = coverage.rule(write);
    assert_eq!(whole, Counts { truths: 24, falsehoods: 0, others: 0, failures: 3 });
}

#[test]
fn reasons_name_every_place_and_the_value_of_every_part_once() {
    let rules = json!({"a": {"$k": {".write": "auth.uid == $k && auth.uid != 'eve'"}}});
    let update = json!({"kind": "update", "path": "/a", "value": {"ann": 1, "ben": "x"}});
    let Case { rules, auth, now_ms, before, operation, budget } =
        case(&rules, &json!({"uid": "ann"}), &json!(null), &update);
    let Operation::Write { after, targets } = operation else { panic!("it writes") };
    let situation = Situation { auth: &auth, now_ms, before: &before, budget };
    let (outcome, trace) = rules.trace_write(&situation, &after, &targets);
    let denial = outcome.expect_err("it is denied");
    let values = ["1", "\"x\""];
    let attempts: Vec<_> =
        values.iter().zip(&targets).map(|(value, target)| Attempt::Write(value, &target.path)).collect();
    assert_eq!(
        reasons(&rules, &attempts, &auth, &denial, &trace, usize::MAX),
        "Attempt to write 1 to /a/ann with auth={\"uid\":\"ann\"}\n\
         Attempt to write \"x\" to /a/ben with auth={\"uid\":\"ann\"}\n\
         \x20   /\n    /a\n    /a/ann:.write: \"auth.uid == $k && auth.uid != 'eve'\"\n\
         \x20     auth              = {…}\n\
         \x20     auth.uid          = \"ann\"\n\
         \x20     $k                = \"ann\"\n\
         \x20     auth.uid == $k    = true\n\
         \x20     auth.uid != 'eve' = true\n\
         \x20     => true\n\
         \x20   /a/ben:.write: \"auth.uid == $k && auth.uid != 'eve'\"\n\
         \x20     auth           = {…}\n\
         \x20     auth.uid       = \"ann\"\n\
         \x20     $k             = \"ben\"\n\
         \x20     auth.uid == $k = false\n\
         \x20     => false\n\
         \nNo .write rule allowed the operation.\nWrite was denied.\n"
    );
}

#[test]
fn an_index_is_of_its_node_alone() {
    let rules = json!({"rules": {
        ".indexOn": "top",
        "rooms": {".indexOn": ["topic", "meta/created"], "hidden": {}, "$room": {".indexOn": ".value"}},
    }});
    let ruleset = Ruleset::compile(&rules.to_string()).expect("valid");
    let child = |path: &str| Order::Child(ChildPath::parse(path).expect("a path"), Range::ALL);
    let value = || Order::Value(Range::ALL);
    for (at, order, missing) in [
        ("/", child("top"), None),
        ("/rooms", child("topic"), None),
        ("/rooms", child("meta/created"), None),
        ("/rooms", child("top"), Some("top")),
        ("/rooms", value(), Some(".value")),
        ("/rooms/x", value(), None),
        ("/rooms/hidden", value(), Some(".value")),
        ("/rooms/x/y", child("meta/at"), Some("meta/at")),
        ("/rooms/x/y", Order::Key(Range::ALL), None),
        ("/rooms/x/y", Order::Priority(Range::ALL), None),
    ] {
        let at = Path::parse(at).expect("a path");
        let expected = missing.map(|on| {
            format!("Index not defined, add \".indexOn\": \"{on}\", for path \"{at}\", to the rules")
        });
        assert_eq!(ruleset.missing_index(&at, &order).map(|missing| missing.to_string()), expected, "{at}");
    }
}

#[test]
fn what_to_add_for_an_index_is_said_as_the_rules_name_the_place() {
    let rules = json!({"rules": {
        "users": {".indexOn": "age"},
        "rooms": {"$room": {
            "members": {".indexOn": [".value", "since/year", ".key"]},
            "messages": {"$message": {}},
            "lobby": {},
        }},
    }});
    let ruleset = Ruleset::compile(&rules.to_string()).expect("valid");
    let child = |path: &str| Order::Child(ChildPath::parse(path).expect("a path"), Range::ALL);
    for (at, order, place, line) in [
        ("/", child("x"), "/", r#"".indexOn": "x""#),
        ("/users", child("name"), "/users", r#"".indexOn": ["age", "name"]"#),
        ("/users/amy", Order::Value(Range::ALL), "/users/amy", r#"".indexOn": ".value""#),
        ("/rooms/r1/lobby", child("a/b"), "/rooms/$room/lobby", r#"".indexOn": "a/b""#),
        ("/rooms/r1/messages/m1/x", child("a"), "/rooms/$room/messages/$message/x", r#"".indexOn": "a""#),
        ("/rooms/r1/other/m", child("a"), "/rooms/$room/other/m", r#"".indexOn": "a""#),
        ("/none/of/it", child(r#"a"b\c"#), "/none/of/it", r#"".indexOn": "a\"b\\c""#),
        (
            "/rooms/r1/members",
            child("x"),
            "/rooms/$room/members",
            r#"".indexOn": [".value", "since/year", "x"]"#,
        ),
    ] {
        let at = Path::parse(at).expect("a path");
        let missing = ruleset.missing_index(&at, &order).expect("it is not there");
        let added = ruleset.index_to_add(&missing);
        assert_eq!((added.place.as_str(), added.line.as_str()), (place, line), "{at}");
    }
}

/// The codes of what is suspicious, each with the place that it is about.
fn check_lint(rules: &Value, expected: &[(&str, &str)]) {
    let ruleset = Ruleset::compile(&json!({"rules": rules}).to_string()).expect("valid rules");
    let found = ruleset.lint();
    let told: Vec<(&str, &str)> = found.iter().map(|each| (each.at.as_str(), each.lint.code())).collect();
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(told, expected, "{rules}\n{}", shown.join("\n"));
}

#[test]
fn lint_finds_open_doors_and_rules_that_do_not_do_what_they_seem_to() {
    let validated =
        |rule: &str| json!({"a": {".write": "auth.uid == 'x' && newData.exists()", ".validate": rule}});
    for (rules, expected) in [
        (json!({}), [].as_slice()),
        (json!({".read": false, ".write": false}), &[]),
        (json!({".read": true}), &[("/.read", "open-root")]),
        (json!({".read": "1 == 1"}), &[("/.read", "open-root"), ("/.read", "decided-comparison")]),
        (json!({".read": "now < 1700000000000"}), &[("/.read", "open-root-for-a-time")]),
        (json!({".read": "auth != null"}), &[("/.read", "open-root-to-signed-in")]),
        (json!({".read": "null !== auth.uid"}), &[("/.read", "open-root-to-signed-in")]),
        (json!({"a": {".read": "auth != null"}}), &[]),
        (json!({".write": "auth.admin == true"}), &[("/.write", "unvalidated-write")]),
        (
            json!({"a": {".write": true, "b": {".validate": "newData.isString()"}}}),
            &[("/a/.write", "public-write")],
        ),
        (
            json!({"a": {".read": true, "b": {".read": false, "c": {".read": "auth != null"}}}}),
            &[("/a/b/.read", "cannot-take-back"), ("/a/b/c/.read", "overruled")],
        ),
        (json!({"$k": {".read": "$k == 7"}}), &[("/$k/.read", "decided-comparison")]),
        (json!({"$k": {".read": "$k > 7"}}), &[("/$k/.read", "always-fails")]),
        (json!({"$k": {".read": "$k > '7'"}}), &[]),
        (json!({"a": {".read": "data.exists() && false"}}), &[("/a/.read", "never-holds")]),
        (json!({"a": {".read": "!(data.exists() && false)"}}), &[]),
        (json!({"a": {".validate": "newData.isString()"}}), &[("/a/.validate", "validate-never-runs")]),
        (json!({"a": {".validate": "newData.hasChildren(['b'])", "b": {".write": "auth.uid == 'x'"}}}), &[]),
        (validated("newData.exists() && newData.isString()"), &[("/a/.validate", "exists-in-validate")]),
        (validated("newData.isString() && newData.isNumber()"), &[("/a/.validate", "never-holds")]),
        (validated("newData.isString() || newData.isNumber()"), &[]),
        (validated("newData.child('y').isString() && newData.child('x').isNumber()"), &[]),
        (validated("newData.val().matches(/^a|b$/)"), &[("/a/.validate", "loose-anchors")]),
        (validated("newData.val().matches(/^(a|b)$/)"), &[]),
        (validated("newData.val().matches(/^[|]$/)"), &[]),
        (validated("data.val() == null || newData.val() == data.val()"), &[]),
        (
            json!({"a": {".write": "auth.uid == 'x'", ".validate": "newData.val() > data.val()"}}),
            &[("/a/.validate", "deletes-skip-validate")],
        ),
        (
            json!({"box": {"lid": {}, "$k": {".read": "auth != null", ".validate": false}}}),
            &[("/box/$k/.validate", "validate-never-runs"), ("/box/lid", "hides-capture")],
        ),
        (json!({"box": {"lid": {".read": false}, "$k": {".read": "auth != null"}}}), &[]),
        (
            json!({"f": {".write": "auth.uid == 'x'", "name": {".validate": "newData.isString()"}, "$other": {".validate": false}}}),
            &[],
        ),
    ] {
        check_lint(&rules, expected);
    }
}

#[test]
fn lint_looks_at_indexes() {
    let useless = ("/a", "useless-index");
    for (on, expected) in [
        (json!("x"), [].as_slice()),
        (json!(["x", "y/z", ".value", ".key", ".priority"]), &[]),
        (json!(["x", "y", "x"]), &[useless]),
        (json!(["x", "/x/"]), &[useless]),
        (json!(["", "x"]), &[useless]),
        (json!(["", "/x/", "a", "a"]), &[useless, useless]),
        (json!(".value"), &[]),
        (json!([".value", ".value"]), &[useless]),
    ] {
        check_lint(&json!({"a": {".indexOn": on}}), expected);
    }
}

#[test]
fn lint_looks_at_size_and_depth() {
    let deep = (0..33).fold(json!({".read": "auth.uid == 'x'"}), |below, _| json!({"k": below}));
    let found = Ruleset::compile(&json!({"rules": deep}).to_string()).expect("valid").lint();
    assert_eq!(found.iter().map(|each| each.lint.code()).collect::<Vec<_>>(), ["too-deep"]);
    let long = format!("{{\"rules\": {{}}}}{}", " ".repeat(256 * 1024));
    let found = Ruleset::compile(&long).expect("valid").lint();
    assert_eq!(found.iter().map(|each| each.lint.code()).collect::<Vec<_>>(), ["large-document"]);
}

#[test]
fn claims_come_from_json_within_a_depth() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    for (levels, fits) in [(32, true), (33, false)] {
        assert_eq!(serde_json::from_str::<Claim>(&nested(levels)).is_ok(), fits, "{levels}");
    }
    let claims = r#"{"a":[1,null,true],"b":{"c":"x\"\u0001"}}"#;
    assert_eq!(serde_json::from_str::<Claim>(claims).expect("claims").to_string(), claims);
}

/// What is made of a document must not be larger than the document by more than a factor: everything here is within the
/// bounds of a document and would take gigabytes or minutes otherwise.
#[test]
fn what_is_said_about_a_large_document_is_bounded() {
    let name = "k".repeat(768);
    let wide: String = (0..40_000).map(|key| format!("\"{key}\":{{\".read\":1}},")).collect();
    let deep = (0..60).fold(format!("{{{wide}}}"), |below, _| format!("{{\"{name}\":{below}}}"));
    let rejected = Ruleset::compile(&format!("{{\"rules\":{deep}}}")).expect_err("numbers are no rules");
    assert_eq!(rejected.diagnostics().len(), 100);
    let wide: String = (0..30_000).map(|key| format!("\"{key}\":{{\".read\":\"1==2\"}},")).collect();
    let deep = (0..60).fold(format!("{{{wide}}}"), |below, _| format!("{{\"{name}\":{below}}}"));
    let ruleset = Ruleset::compile(&format!("{{\"rules\":{deep}}}")).expect("valid");
    assert_eq!(ruleset.rules().count(), 30_000);
    assert!(ruleset.lint().len() <= 1000);
    let long = format!("data.isString(){}", " && data.isString()".repeat(40_000));
    let rules = json!({".read": long, ".write": false});
    let case = case(&rules, &json!(null), &json!("x"), &json!({"kind": "read", "path": "/"}));
    let (log, explanation) = told(&case, "");
    assert!(log.len() < 10_000 && explanation.len() < 20_000_000, "{} and {}", log.len(), explanation.len());
    let Case { rules, auth, now_ms, before, budget, .. } = &case;
    let situation = Situation { auth, now_ms: *now_ms, before, budget: *budget };
    let (at, denial) = (Path::root(), Denial::ReadNotGranted { at: Path::root() });
    let (_, trace) = rules.trace_read(&situation, &at, &QueryValues::default());
    let told = reasons(rules, &[Attempt::Read(&at)], auth, &denial, &trace, 1000);
    assert!(1000 < told.len() && told.len() < 10_000, "{}", told.len());
    let found = case.rules.lint();
    assert_eq!(found.iter().map(|each| each.lint.code()).collect::<Vec<_>>(), ["large-document"]);
}

#[test]
fn lint_sees_who_may() {
    for (rules, expected) in [
        // Open to everybody, however it is written.
        (json!({".read": "auth != null || true"}), [("/.read", "open-root")].as_slice()),
        (json!({".read": "auth == null || auth != null"}), &[("/.read", "open-root")]),
        (json!({".read": "auth == null"}), &[("/.read", "open-root")]),
        (json!({"$x": {".read": true}}), &[("/$x/.read", "open-root")]),
        (json!({"$x": {"$y": {".read": true}}}), &[("/$x/$y/.read", "open-root")]),
        (json!({"a": {".read": false}, "$x": {".read": true}}), &[]),
        (json!({"$x": {"a": {".read": true}}}), &[]),
        (json!({".read": "now > 1000"}), &[("/.read", "open-root-since")]),
        (json!({".read": "1700000000000 > now"}), &[("/.read", "open-root-for-a-time")]),
        (json!({".read": "now <= 1700000000000"}), &[("/.read", "open-root-for-a-time")]),
        (json!({".read": "now > 1000 && now < 1700000000000"}), &[]),
        (
            json!({"a": {".write": "auth == null || auth != null", ".validate": "newData.isString()"}}),
            &[("/a/.write", "public-write")],
        ),
        // Open to everybody who signs up.
        (json!({"$x": {".read": "auth != null"}}), &[("/$x/.read", "open-root-to-signed-in")]),
        (json!({".read": "!(auth == null)"}), &[("/.read", "open-root-to-signed-in")]),
        (json!({".read": "auth.token != null"}), &[("/.read", "open-root-to-signed-in")]),
        (json!({".read": "auth != null && auth.uid != null"}), &[("/.read", "open-root-to-signed-in")]),
        (
            json!({".read": "auth != null && (auth.provider == 'x' || true)"}),
            &[("/.read", "open-root-to-signed-in")],
        ),
        (json!({".read": "auth.token.email != null"}), &[]),
        (json!({".read": "auth != null && auth.token.admin == true"}), &[]),
        (json!({".read": "auth.uid == 'x'"}), &[]),
        // What can fail is not open.
        (json!({".read": "data.val() - 1 != 'a'"}), &[("/.read", "decided-comparison")]),
        (json!({".read": "!(data.val() > 1 ? false : false)"}), &[]),
        (json!({".read": "data.val() > 1 || true"}), &[]),
        (json!({".read": "data.val().contains('x') || true"}), &[]),
        (json!({".read": "data.child('a').val() == null || true"}), &[("/.read", "open-root")]),
    ] {
        check_lint(&rules, expected);
    }
}

#[test]
fn lint_sees_what_deletes_and_what_is_bounded() {
    let at_a = |write: &str, validate: &str| json!({"a": {".write": write, ".validate": validate}});
    let skips = [("/a/.validate", "deletes-skip-validate")].as_slice();
    let unvalidated = [("/a/.write", "unvalidated-write")].as_slice();
    let only = |write: &str| json!({"a": {".write": write}});
    for (rules, expected) in [
        (at_a("auth != null", "auth.uid == 'admin' && newData.isString()"), skips),
        (at_a("auth != null", "root.child('locked').val() != true && newData.isString()"), skips),
        (at_a("auth.uid == 'x'", "!root.child('locked').exists() && newData.isString()"), skips),
        (at_a("auth != null", "newData.child('by').val() == auth.uid"), skips),
        (
            json!({"a": {".write": "auth.uid == 'x'", "b": {".validate": "newData.isString() && auth.token.b == 1"}}}),
            &[("/a/b/.validate", "deletes-skip-validate")],
        ),
        // Whoever may delete has been thought of, or there is nothing to delete.
        (at_a("auth.uid == 'x'", "newData.child('by').val() == auth.uid"), &[]),
        (at_a("auth != null", "root.child('users').child(newData.child('by').val()).exists()"), &[]),
        (at_a("auth != null && newData.exists()", "auth.uid == 'admin' && newData.isString()"), &[]),
        (at_a("auth != null && !data.exists()", "newData.isString() && !data.exists()"), &[]),
        (at_a("auth != null && data.val() == null", "newData.isString() && !data.exists()"), &[]),
        (at_a("auth.uid == 'x'", "newData.isString()"), &[]),
        // What asks for nothing bounds nothing.
        (at_a("auth.uid == 'x'", "true"), unvalidated),
        (
            at_a("auth.uid == 'x'", "newData.exists()"),
            &[("/a/.validate", "exists-in-validate"), ("/a/.write", "unvalidated-write")],
        ),
        (
            json!({".validate": true, "a": {".write": "auth.uid == 'x'", "b": {".validate": "true"}}}),
            unvalidated,
        ),
        (json!({".validate": "newData.hasChildren(['b'])", "a": {".write": "auth.uid == 'x'"}}), &[]),
        (only("auth.uid == 'x' && newData.exists()"), unvalidated),
        (only("auth != null && newData.child('by').val() == auth.uid"), unvalidated),
        // Nothing is written, or its kind is asked for.
        (only("auth.uid == 'x' && !newData.exists()"), &[]),
        (only("auth.uid == 'x' && newData.val() == null"), &[]),
        (only("auth.uid == 'x' && newData.isString() && newData.val().length < 10"), &[]),
        (only("auth.uid == 'x' && (!newData.exists() || newData.val() == true)"), &[]),
        (only("auth.uid == 'x' && newData.hasChildren(['a', 'b'])"), &[]),
    ] {
        check_lint(&rules, expected);
    }
}

#[test]
fn lint_sees_what_can_never_be() {
    let validated =
        |rule: &str| json!({"a": {".write": "auth.uid == 'x' && newData.exists()", ".validate": rule}});
    let [never_validates, never_reads, never_compares] = [
        [("/a/.validate", "never-holds")].as_slice(),
        &[("/a/.read", "never-holds")],
        &[("/a/.read", "decided-comparison")],
    ];
    let read = |rule: &str| json!({"a": {".read": rule}});
    for (rules, expected) in [
        (read("auth == null && auth.uid == 'x'"), never_reads),
        (read("auth == null && auth.token.a.b != null"), never_reads),
        (read("!(auth != null || auth.uid != 'x')"), never_reads),
        (read("auth == null || auth.uid == 'x'"), &[]),
        (read("auth.uid == 'x' && auth.uid == 'y'"), never_reads),
        (read("auth.uid == 'x' || auth.uid == 'y'"), &[]),
        (read("auth.uid == 'x' && auth.uid != 'y'"), &[]),
        (read("data.child('a').isString() && data.isNumber()"), never_reads),
        (read("data.child('a').isString() && data.child('b').isNumber()"), &[]),
        (read("data.exists() && data.val() == null"), never_reads),
        (read("query.orderByChild == 'a' && query.orderByChild == 'b'"), never_reads),
        (json!({".read": "data.parent().exists()"}), &[("/.read", "never-holds")]),
        (json!({".read": "data.child('a').parent().parent().exists()"}), &[("/.read", "never-holds")]),
        (json!({".read": "data.child('a').parent().exists()"}), &[]),
        (read("data.parent().parent().exists()"), never_reads),
        (read("data.parent().exists()"), &[]),
        (read("data.child(auth.uid).parent().parent().exists()"), &[]),
        (read("1 > 2"), never_compares),
        (read("'b' < 'a'"), never_compares),
        (read("query.limitToFirst == '10'"), never_compares),
        (read("query.orderByChild == 10"), never_compares),
        (read("query.limitToFirst <= 10"), &[]),
        (read("query.limitToFirst <= 'a'"), &[("/a/.read", "always-fails")]),
        (validated("newData.isString() && newData.hasChildren()"), never_validates),
        (validated("newData.isString() && newData.child('x').isNumber()"), never_validates),
        (validated("newData.val() == 'a' && newData.val() == 'b'"), never_validates),
        (validated("newData.val() == 'a' || newData.val() == 'b'"), &[]),
        (
            validated("newData.val() == null"),
            &[("/a/.validate", "never-holds"), ("/a/.validate", "decided-comparison")],
        ),
        (
            validated("newData.exists() == false"),
            &[("/a/.validate", "exists-in-validate"), ("/a/.validate", "decided-comparison")],
        ),
        (validated("newData.val().length > 3 && newData.isNumber()"), never_validates),
        (validated("newData.isNumber() && newData.val() >= 0 && newData.val() < 10"), &[]),
        (validated("newData.hasChildren(['a']) && newData.child('a').isString()"), &[]),
        (validated("newData.hasChildren([]) && newData.isString()"), &[]),
        (validated("newData.parent().child('b').exists() && newData.isString()"), &[]),
        (validated("data.exists() ? newData.isString() : newData.isNumber()"), &[]),
        // Below what accepts nothing with children.
        (
            json!({"a": {".write": "auth.uid == 'x'", ".validate": "newData.isString()", "b": {".validate": "newData.isNumber()"}}}),
            &[("/a/b/.validate", "nothing-below")],
        ),
        (
            json!({"a": {".write": "auth.uid == 'x'", ".validate": "newData.isString()", "$other": {".validate": false}}}),
            &[],
        ),
        (
            json!({"a": {".validate": false, "b": {".write": "auth.uid == 'x'"}}}),
            &[("/a/b/.write", "only-deletes")],
        ),
        (json!({"a": {".validate": false, "b": {".write": "auth.uid == 'x' && !newData.exists()"}}}), &[]),
        (
            json!({"a": {".validate": "newData.isString() || newData.hasChildren(['b'])", "b": {".write": "auth.uid == 'x'", ".validate": "newData.isNumber()"}}}),
            &[],
        ),
        // Two values with children.
        (
            json!({"a": {".write": "auth.uid == 'x' && newData.val() == data.val()", "b": {".validate": "newData.isString()"}}}),
            &[("/a/.write", "inner-nodes")],
        ),
        (
            json!({"a": {".write": "auth.uid == 'x'", ".validate": "newData.val() != data.val()", "$b": {}}}),
            &[("/a/.validate", "deletes-skip-validate"), ("/a/.validate", "inner-nodes")],
        ),
        (validated("newData.val() == data.val()"), &[]),
        (
            json!({"a": {".write": "auth.uid == 'x' && newData.exists()", ".validate": "newData.val() == data.val()", "$other": {".validate": false}}}),
            &[],
        ),
        // A literal child that has nothing of what the capture beside it has.
        (
            json!({"$r": {"messages": {".read": "auth.uid == 'x'", ".write": "auth.uid == 'x'", ".validate": "newData.isString()"}}, "lobby": {}}),
            &[("/lobby", "hides-capture"), ("/lobby", "hides-capture")],
        ),
        (json!({"$r": {"messages": {".read": "auth.uid == 'x'"}}, "lobby": {"messages": {}}}), &[]),
        (json!({"$r": {"messages": {".read": "auth.uid == 'x'"}}, "lobby": {".read": false}}), &[]),
        (
            json!({".read": true, "box": {"lid": {}, "$k": {".read": "auth.uid == 'x'"}}}),
            &[("/.read", "open-root"), ("/box/$k/.read", "overruled")],
        ),
    ] {
        check_lint(&rules, expected);
    }
}
