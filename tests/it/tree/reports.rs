//! What users of such databases have reported, where the data alone can show it. The first column names the report in
//! `tests/cases/user-reports.md`.

use super::twin::{model_node, path};
use hearth_tests::naive;
use hearth_tree::{
    Assignment, ChildPath, Form, Index, IndexBy, Json as Written, Key, KeyBound, Node, Number, Order, Path,
    Position, Query, Range, ReadError, ReadOptions, Scalar, Snapshot, Update, View, Window, Write, key_order,
    read_node, read_priority, read_update, read_value,
};
use serde_json::{Value as Json, json};
use std::ops::Bound;

const NOW_MS: i64 = 1_764_500_000_000;

fn node(json: &Json) -> Option<Node> {
    read_node(json.to_string().as_bytes(), &ReadOptions::default()).expect("the tests store legal values")
}

fn tree(json: &Json) -> Snapshot {
    Snapshot::new(node(json))
}

fn written(node: Option<&Node>, form: Form) -> String {
    String::from_utf8(Written::new(node, form).to_bytes()).expect("JSON is UTF-8")
}

fn export(tree: &Snapshot) -> Json {
    serde_json::from_str(&written(tree.root(), Form::SOCKET)).expect("what is written is JSON")
}

/// The tree after `value` was set at `at`.
fn set(before: &Snapshot, at: &str, value: &Json) -> Result<Snapshot, ReadError> {
    let text = value.to_string();
    let assignment = match at.strip_suffix(".priority") {
        Some(at) => {
            let priority = read_priority(text.as_bytes(), &ReadOptions::default())?;
            Assignment::priority(path(at), priority)
        }
        None => {
            let draft = read_value(text.as_bytes(), &ReadOptions::default())?;
            Assignment::value(path(at), draft).expect("the tests write nothing deep here")
        }
    };
    Ok(resolved(before, &Write::Set(assignment)))
}

/// The tree after an update at the root.
fn update(before: &Snapshot, parts: &Json) -> Result<Snapshot, ReadError> {
    let update: Update = read_update(parts.to_string().as_bytes(), &Path::root(), &ReadOptions::default())?;
    Ok(resolved(before, &Write::Update(update)))
}

fn resolved(before: &Snapshot, write: &Write) -> Snapshot {
    before.apply(&write.resolve(NOW_MS, before).expect("the tests store finite sums"))
}

#[test]
fn keys_have_their_limit_in_bytes() {
    for (report, key, is_key) in [
        ("R025", "a".repeat(768), true),
        ("R025", "a".repeat(769), false),
        ("R025", "😀".repeat(192), true),
        ("R025", "😀".repeat(193), false),
        ("R025", "a\u{7}b".into(), false),
        ("R025", "a\u{7f}b".into(), false),
        ("R025", "a\u{80}b".into(), true),
        ("R025", " ".into(), true),
        ("R025", String::new(), false),
        ("R023", "a+b".into(), true),
        ("R023", "a%2Bb".into(), true),
        ("R027", "-Nab\\".into(), true),
        ("R011", "a.b#c".into(), false),
        ("R011", "a/b".into(), false),
        ("R011", "a[0]".into(), false),
        ("R011", "$a".into(), false),
    ] {
        assert_eq!(Key::parse(&key).is_ok(), is_key, "{report}: `{key}`");
        let body = json!({key.clone(): 1}).to_string();
        let read = read_value(body.as_bytes(), &ReadOptions::default());
        assert_eq!(read.is_ok(), is_key, "{report}: `{key}` in a value");
        // As the only bad part of an update it refuses the whole. There `/` makes a path.
        let body = json!({"fine": 1, key.clone(): 1}).to_string();
        let read = read_update(body.as_bytes(), &Path::root(), &ReadOptions::default());
        assert_eq!(read.is_ok(), is_key || key == "a/b", "{report}: `{key}` in an update");
    }
}

#[test]
fn trees_have_their_limit_in_levels() {
    let steps = |count: usize| vec!["k"; count].join("/");
    let nested = |count: usize| (0..count).fold(json!(1), |below, _| json!({"k": below}));
    for (report, above, below, fits) in [
        ("R025", 32, 0, true),
        ("R025", 33, 0, false),
        ("R025", 0, 32, true),
        ("R025", 0, 33, false),
        ("R025", 31, 1, true),
        ("R025", 31, 2, false),
        ("R025", 16, 16, true),
        ("R025", 16, 17, false),
    ] {
        let by_set = || {
            let at = Path::parse(&steps(above)).ok()?;
            let draft = read_value(nested(below).to_string().as_bytes(), &ReadOptions::default()).ok()?;
            Assignment::value(at, draft).ok()
        };
        assert_eq!(by_set().is_some(), fits, "{report}: {below} levels below {above}");
        let body = json!({"a": 1, (steps(above)): nested(below)}).to_string();
        let by_update = read_update(body.as_bytes(), &Path::root(), &ReadOptions::default());
        assert_eq!(
            by_update.is_ok(),
            fits && above != 0,
            "{report}: {below} levels below {above} in an update"
        );
        let mut model = naive::Tree::default();
        assert_eq!(model.set(&steps(above), &nested(below), 0).is_ok(), fits, "{report}: in the model");
    }
}

#[test]
fn integer_keys_become_arrays_where_they_are_dense() {
    let dense = |count: usize| (0..count).map(|n| (n.to_string(), json!(n))).collect::<Json>();
    for (report, stored, shown) in [
        ("R029", json!({"0": "a", "1": "b"}), json!(["a", "b"])),
        ("R029", json!({"1": "a", "2": "b"}), json!([null, "a", "b"])),
        ("R029", json!({"0": "a", "3": "b"}), json!(["a", null, null, "b"])),
        ("R029", json!({"0": "a", "4": "b"}), json!({"0": "a", "4": "b"})),
        ("R029", json!({"1": "a", "5": "b", "9": "c"}), json!({"1": "a", "5": "b", "9": "c"})),
        ("R029", json!({"01": "a", "1": "b"}), json!({"01": "a", "1": "b"})),
        ("R029", json!({"0": "a", "x": "b"}), json!({"0": "a", "x": "b"})),
        ("R029", json!({"0": "a", "-1": "b"}), json!({"0": "a", "-1": "b"})),
        ("R029", json!({"0": "a"}), json!(["a"])),
        ("R029", json!({"1": "a"}), json!([null, "a"])),
        ("R029", json!({"2": "a"}), json!({"2": "a"})),
        ("R029", json!({"00": "a"}), json!({"00": "a"})),
        ("R029", dense(10), (0..10).collect()),
        ("R029", json!({"2147483647": "a"}), json!({"2147483647": "a"})),
        ("R029", json!({"18446744073709551616": "a"}), json!({"18446744073709551616": "a"})),
        ("R029", json!({"a": {"0": {"1": "x"}}}), json!({"a": [[null, "x"]]})),
        ("R031", json!([null, "x", null, "y"]), json!([null, "x", null, "y"])),
        ("R031", json!({"1": "x", "3": "y", "5": "z"}), json!([null, "x", null, "y", null, "z"])),
    ] {
        let node = node(&stored);
        for form in [Form::REST, Form::EXPORT] {
            let text = written(node.as_ref(), form);
            assert_eq!(serde_json::from_str::<Json>(&text).ok(), Some(shown.clone()), "{report}: {stored}");
        }
        let model = naive::read(&stored, None, 0).expect("legal");
        assert_eq!(naive::rest(model.as_ref()), shown, "{report}: {stored} in the model");
    }
}

#[test]
fn equal_data_have_one_hash_whatever_their_form_and_history() {
    let hash = |json: &Json| node(json).map(|node| node.hash());
    for (report, a, b, equal) in [
        ("R031", json!([null, "x", null, "y"]), json!({"1": "x", "3": "y"}), true),
        ("R031", json!({"a": [null]}), json!(null), true),
        ("R033", json!(-0.0), json!(0), true),
        ("R033", json!(1.0), json!(1), true),
        ("R033", json!({"n": 1}), json!({"n": 1, "m": null}), true),
        ("R103", json!({"a": 1, "b": 2}), json!({"a": 1}), false),
        ("R103", json!({"a": 1, "b": {"c": 2}}), json!({"a": 1, "b": {"c": 3}}), false),
        ("R103", json!({"a": 1}), json!({"a": {".value": 1, ".priority": 0}}), false),
        ("R103", json!({"a": 1}), json!({"a": 1, ".priority": 0}), false),
        ("R103", json!({"a": 1, ".priority": "0"}), json!({"a": 1, ".priority": 0}), false),
        ("R103", json!({"1": "x", "01": "y"}), json!({"1": "y", "01": "x"}), false),
    ] {
        assert_eq!(hash(&a) == hash(&b), equal, "{report}: {a} and {b}");
        assert_eq!(node(&a) == node(&b), equal, "{report}: {a} and {b}");
    }
}

#[test]
fn numbers_come_back_as_they_went_in() {
    for (report, text, shown) in [
        ("R033", "9007199254740991", "9007199254740991"),
        ("R033", "9007199254740993", "9007199254740993"),
        ("R033", "9007199254740994", "9007199254740994"),
        ("R033", "-9223372036854775808", "-9223372036854775808"),
        ("R033", "9223372036854775807", "9223372036854775807"),
        ("R033", "9223372036854775808", "9223372036854776000"),
        ("R033", "1e21", "1e+21"),
        ("R033", "1e-7", "1e-7"),
        ("R033", "0.30000000000000004", "0.30000000000000004"),
        ("R033", "-0", "0"),
        ("R033", "-0.0", "0"),
        ("R033", "1e308", "1e+308"),
        ("R033", "1.5e3", "1500"),
        ("R033", "1.0", "1"),
        ("R033", "4503599627370497.5", "4503599627370498"),
        ("R033", "5e-324", "5e-324"),
    ] {
        let read = |text: &str| read_node(text.as_bytes(), &ReadOptions::default()).expect("a number");
        let node = read(text).expect("a number is something");
        assert_eq!(written(Some(&node), Form::SOCKET), shown, "{report}: {text}");
        assert_eq!(read(&written(Some(&node), Form::SOCKET)).as_ref(), Some(&node), "{report}: {text} again");
        // A client that holds the same, by whichever hash, is told that nothing has changed.
        assert!(node.has_hash(node.hash()) && node.has_hash(node.js_hash()), "{report}: {text}");
    }
}

#[test]
fn increments_add_to_what_is_there() {
    let plus = |delta: Json| json!({".sv": {"increment": delta}});
    for (report, before, delta, after) in [
        ("R035", json!(null), json!(5), json!(5)),
        ("R035", json!(2), json!(5), json!(7)),
        ("R035", json!(2), json!(-3), json!(-1)),
        ("R035", json!("text"), json!(5), json!(5)),
        ("R035", json!(true), json!(5), json!(5)),
        ("R035", json!({"x": 1}), json!(5), json!(5)),
        ("R035", json!({".value": 2, ".priority": 9}), json!(5), json!(7)),
        ("R035", json!(0.5), json!(1), json!(1.5)),
        ("R035", json!(0.5), json!(0.5), json!(1)),
        ("R035", json!(9_007_199_254_740_993_i64), json!(2), json!(9_007_199_254_740_995_i64)),
        ("R035", json!(i64::MAX), json!(1), json!(9_223_372_036_854_776_000_u64)),
    ] {
        let tree = tree(&json!({"hits": before}));
        let by_set = set(&tree, "hits", &plus(delta.clone())).expect("legal");
        assert_eq!(export(&by_set), json!({"hits": after}), "{report}: {before} + {delta}");
        let by_update = update(&tree, &json!({"hits": plus(delta.clone()), "at": {".sv": "timestamp"}}));
        let expected = json!({"hits": after, "at": NOW_MS});
        assert_eq!(export(&by_update.expect("legal")), expected, "{report}: {before} + {delta} by an update");
    }
    let mut hits = tree(&json!(null));
    for delta in (0..1000).map(|_| 1).chain([-3]) {
        hits = set(&hits, "hits", &plus(json!(delta))).expect("legal");
    }
    assert_eq!(export(&hits), json!({"hits": 997}), "R035");
}

#[test]
fn server_values_are_filled_in_or_refused() {
    let timestamp = json!({".sv": "timestamp"});
    for (report, at, value, after) in [
        ("R037", "n", timestamp.clone(), Some(json!(NOW_MS))),
        (
            "R037",
            "n",
            json!({"a": timestamp, "b": [timestamp]}),
            Some(json!({"a": NOW_MS, "b": {"0": NOW_MS}})),
        ),
        ("R037", "n", json!({".sv": "bogus"}), None),
        ("R037", "n", json!({"a": {".sv": "timestamp", "x": 1}}), None),
        ("R037", "n", json!({"x": 1, ".sv": "timestamp"}), None),
        ("R037", "n", json!({".sv": {"increment": "1"}}), None),
        ("R037", "n", json!({".sv": {"multiply": 2}}), None),
        (
            "R037",
            "n",
            json!({".value": 1, ".priority": timestamp}),
            Some(json!({".value": 1, ".priority": NOW_MS})),
        ),
        (
            "R037",
            "n",
            json!({".value": timestamp, ".priority": "p"}),
            Some(json!({".value": NOW_MS, ".priority": "p"})),
        ),
        ("R037", "n/.priority", timestamp.clone(), Some(json!({".value": "old", ".priority": NOW_MS}))),
        ("R037", "n/.priority", json!({".sv": "bogus"}), None),
    ] {
        let before = tree(&json!({"n": "old"}));
        let after = after.map(|after| json!({"n": after}));
        let written = set(&before, at, &value).ok().map(|tree| export(&tree));
        assert_eq!(written, after, "{report}: {value} at `{at}`");
    }
}

/// The keys of a window, in the order of the query.
fn shown(query: &Query, node: Option<&Node>) -> Vec<String> {
    let index = query.index_for(node).map(|by: IndexBy| Index::build(by, node));
    let view = View::new(query, node, index.as_ref()).expect("the index is given");
    view.iter().map(|(key, _)| key.as_str().into()).collect()
}

#[test]
fn priorities_stay_and_order_before_keys() {
    let cups = json!({
        "a": {".value": 1, ".priority": 3},
        "b": {".value": 2, ".priority": "m"},
        "c": 9,
        "d": {"x": 1, ".priority": -1},
        "e": {".value": 1, ".priority": 3},
        "10": {".value": 1, ".priority": "\u{ffee}"},
        "9": {".value": 1, ".priority": "😀"},
    });
    let node = node(&cups);
    let by_priority = Query { order: Order::Priority(Range::ALL), window: Window::All };
    assert_eq!(shown(&by_priority, node.as_ref()), ["c", "d", "a", "e", "b", "9", "10"], "R039");
    assert_eq!(export(&Snapshot::new(node.clone())), cups, "R039: every priority is in the export");
    let exported: Json = serde_json::from_str(&written(node.as_ref(), Form::EXPORT)).expect("JSON");
    assert_eq!(exported, cups, "R039: also over REST");
    let model = node.as_ref().map(model_node);
    assert_eq!(naive::export(model.as_ref()), cups, "R039");
}

#[test]
fn a_set_clears_a_priority_and_an_update_keeps_it() {
    let before = json!({"n": {"x": 1, "y": 2, ".priority": 5}});
    for (report, after, expected) in [
        ("R041", set(&tree(&before), "n", &json!({"x": 1})), json!({"n": {"x": 1}})),
        (
            "R041",
            set(&tree(&before), "n", &json!({"x": 1, ".priority": 6})),
            json!({"n": {"x": 1, ".priority": 6}}),
        ),
        ("R041", set(&tree(&before), "n/x", &json!(3)), json!({"n": {"x": 3, "y": 2, ".priority": 5}})),
        (
            "R041",
            update(&tree(&before), &json!({"n/x": 3, "n/z": 4})),
            json!({"n": {"x": 3, "y": 2, "z": 4, ".priority": 5}}),
        ),
        ("R041", set(&tree(&before), "n/.priority", &json!(null)), json!({"n": {"x": 1, "y": 2}})),
        ("R041", update(&tree(&before), &json!({"n/x": null, "n/y": null})), json!(null)),
        ("R041", set(&tree(&before), "m/.priority", &json!(1)), before.clone()),
    ] {
        assert_eq!(after.map(|tree| export(&tree)).as_ref(), Ok(&expected), "{report}: {expected}");
    }
}

#[test]
fn pages_go_through_children_without_the_sort_field() {
    let node = node(&json!({
        "a": {"x": 1}, "b": {"at": 2}, "c": 3, "d": {"at": null, "x": 1}, "e": {"at": 1}, "f": {"x": 2},
    }));
    let page = |range, window: Window| {
        let path = ChildPath::parse("at").expect("a path");
        shown(&Query { order: Order::Child(path, range), window }, node.as_ref())
    };
    let cursor = |value: Option<i64>, key: &str| {
        let value = value.map(|value| Scalar::Number(Number::from(value)));
        Position::with_key(value, KeyBound::At(key.into()))
    };
    let after = |at| Range { start: Bound::Excluded(at), end: Bound::Unbounded };
    let before = |at| Range { start: Bound::Unbounded, end: Bound::Excluded(at) };
    let first = || Window::first(2).expect("not 0");
    let last = || Window::last(2).expect("not 0");
    for (report, page, expected) in [
        ("R043", page(Range::ALL, first()), vec!["a", "c"]),
        ("R043", page(after(cursor(None, "c")), first()), vec!["d", "f"]),
        ("R043", page(after(cursor(None, "f")), first()), vec!["e", "b"]),
        ("R043", page(after(cursor(Some(2), "b")), first()), vec![]),
        ("R043", page(Range::ALL, last()), vec!["e", "b"]),
        ("R043", page(before(cursor(Some(1), "e")), last()), vec!["d", "f"]),
        ("R043", page(before(cursor(None, "d")), last()), vec!["a", "c"]),
        ("R043", page(before(cursor(None, "a")), last()), vec![]),
    ] {
        assert_eq!(page, expected, "{report}");
    }
}

#[test]
fn key_bounds_lie_outside_all_keys() {
    let node = node(&json!({"-": 5, "~": 5, "😀": 5, "2147483647": 5, "00": 5, "\u{ffee}": 5}));
    let all = ["00", "2147483647", "-", "~", "😀", "\u{ffee}"];
    let five = |key: Option<KeyBound>| Position { value: Some(Scalar::Number(5.into())), key };
    let at = |key: &str| Some(KeyBound::parse(key));
    let page = |start, end| {
        shown(&Query { order: Order::Value(Range { start, end }), window: Window::All }, node.as_ref())
    };
    let (included, excluded) = (Bound::Included, Bound::Excluded);
    for (report, page, expected) in [
        ("R045", page(included(five(None)), included(five(None))), &all[..]),
        ("R045", page(included(five(at("~"))), Bound::Unbounded), &all[3..]),
        ("R045", page(excluded(five(at("~"))), Bound::Unbounded), &all[4..]),
        ("R045", page(Bound::Unbounded, included(five(at("-")))), &all[..3]),
        ("R045", page(included(five(at("[MIN_NAME]"))), included(five(at("[MAX_NAME]")))), &all[..]),
        ("R045", page(excluded(five(at("[MAX_NAME]"))), Bound::Unbounded), &[]),
        ("R045", page(excluded(five(at("[MAX_KEY]"))), Bound::Unbounded), &[]),
        ("R045", page(Bound::Unbounded, excluded(five(at("[MIN_NAME]")))), &[]),
        ("R045", page(included(five(at("😀"))), Bound::Unbounded), &all[4..]),
        ("R045", page(included(five(at("\u{ffee}"))), Bound::Unbounded), &all[5..]),
    ] {
        assert_eq!(page, expected, "{report}");
    }
    assert!(all.is_sorted_by(|a, b| key_order(a, b).is_lt()), "R045");
}
