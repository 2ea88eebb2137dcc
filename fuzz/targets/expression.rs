//! Any text as an expression: problems, or a rule that comes to a verdict whatever is there, watched or not.

#![no_main]

use hearth_rules::{
    Budget, Claim, Coverage, Fault, OrderedBy, QueryValues, Ruleset, Situation, Trace, explain,
};
use hearth_tree::{Part, Path, ReadOptions, Snapshot, Target, read_node};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

/// `before` and `after`, as JSON.
const TREES: [&str; 4] = [
    "null",
    r#"{"probe": "a"}"#,
    r#"{"probe": {"k": {".value": 5, ".priority": "x"}, "a": {"b": true}}, "a": {"b": {"k": "aaaa"}}}"#,
    r#"{"probe": {"k": {"n": 1, "t": "text", "a": {"b": {"c": {"d": "e"}}}}}, "n": -0.5, "t": "é\ud83d\ude00"}"#,
];
const AUTHS: [&str; 3] = [
    "null",
    r#"{"uid": "k", "token": {"a": [1, "x", null], "admin": true, "email": "a@b.c"}}"#,
    r#"{"uid": 5, "a": {"b": {}}}"#,
];

fuzz_target!(|input: (u8, &str)| {
    let (choice, expression) = input;
    let kind = [".read", ".write", ".validate"][usize::from(choice % 3)];
    let grant = if kind == ".validate" { json!({".write": true}) } else { json!({}) };
    let mut node = grant;
    node[kind] = json!(expression);
    let Ok(rules) = Ruleset::compile(&json!({"rules": {"probe": {"$id": node}}}).to_string()) else { return };
    // Whatever the linter thinks of it, it thinks it without panicking.
    rules.lint();
    let at = Path::parse("/probe/k").expect("a path");
    // Small, so that what doubles texts ends soon.
    let budget = Budget { steps: 100_000, bytes: 1 << 20 };
    for before in TREES.map(snapshot) {
        for auth in AUTHS.map(claims) {
            let situation = Situation { auth: &auth, now_ms: 1_700_000_000_000, before: &before, budget };
            if kind == ".read" {
                read(&rules, &situation, &at);
            } else {
                TREES.map(snapshot).iter().for_each(|after| write(&rules, &situation, after, &at));
            }
        }
    }
});

fn read(rules: &Ruleset, situation: &Situation<'_>, at: &Path) {
    let query = QueryValues { order: OrderedBy::Child("n".into()), ..QueryValues::default() };
    for query in [QueryValues::default(), query] {
        let verdict = rules.read(situation, at, &query);
        let (traced, trace) = rules.trace_read(situation, at, &query);
        assert_eq!(verdict, traced);
        assert_eq!(verdict, rules.cover_read(situation, at, &query, &mut Coverage::new(rules)));
        look_through(rules, &trace);
    }
}

fn write(rules: &Ruleset, situation: &Situation<'_>, after: &Snapshot, at: &Path) {
    let targets = [Target { path: at.clone(), part: Part::Value }];
    let verdict = rules.write(situation, after, &targets);
    let (traced, trace) = rules.trace_write(situation, after, &targets);
    assert_eq!(verdict, traced);
    assert_eq!(verdict, rules.cover_write(situation, after, &targets, &mut Coverage::new(rules)));
    look_through(rules, &trace);
}

/// What the compiler let through has to make sense when it runs.
fn look_through(rules: &Ruleset, trace: &Trace) {
    let runs = trace.visits.iter().flat_map(|visit| &visit.runs);
    for run in runs {
        if let Err(failure) = &run.outcome {
            assert!(!matches!(failure.fault, Fault::Unsound { .. }), "{}", failure.fault);
        }
    }
    assert!(!explain(rules, trace).contains('\u{1b}'), "a terminal would obey");
}

fn snapshot(json: &str) -> Snapshot {
    Snapshot::new(read_node(json.as_bytes(), &ReadOptions::default()).expect("data"))
}

fn claims(json: &str) -> Claim {
    serde_json::from_str(json).expect("claims")
}
