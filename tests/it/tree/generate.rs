//! Random data: few distinct keys, so that things collide, and every kind of value.

use hearth_tests::naive::{Content, Node, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// What the order of keys has to tell apart: integers and what only looks like one, push ids, text beyond U+FFFF and
/// just below, texts that are inline and not.
pub(super) const KEYS: &[&str] = &[
    "a",
    "b",
    "é",
    "😀",
    "\u{ffee}",
    "0",
    "00",
    "-0",
    "-00",
    "1",
    "01",
    "-1",
    "-01",
    "9",
    "10",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "00000000002147483647",
    "00000000002147483648",
    "-",
    "--1",
    "1a",
    " 1",
    "-OfJOJtHRpRMarWw0KQi",
    "-OfJOLAAAAbbbbccccdd",
    "a key of more than 23 bytes",
    "a key of more than 23 bytes, too",
];

/// Fewer still, for paths of several levels.
const PATH_KEYS: &[&str] = &["a", "b", "0", "01", "-x"];

/// The integers whose JavaScript hash is another one (wire reference 6.3), and the neighbours that are not.
pub(super) const INTEGERS: &[i64] = &[
    0,
    1,
    -1,
    42,
    1_700_000_000_000,
    (1 << 48) - 1,
    (1 << 50) - 3,
    (1 << 52) - 27,
    (1 << 53) - 38,
    (1 << 53) - 1,
    1 << 53,
    (1 << 53) + 1,
    i64::MAX,
    i64::MAX - 1,
    i64::MIN,
];

const DOUBLES: &[f64] = &[
    0.5,
    -1.5,
    0.1,
    3.999_999_999_999_999_6,
    1.862_645_149_230_957e-9,
    1e21,
    1e-7,
    1e-300,
    5e-324,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    9_223_372_036_854_775_808.0,
];

pub(super) fn cases(cases: u32) -> ProptestConfig {
    // A fixed bug becomes a row of a table; files of seeds beside the sources would say less.
    ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::with_cases(cases)
    }
}

pub(super) fn key() -> impl Strategy<Value = String> {
    select(KEYS).prop_map(String::from)
}

/// Up to `depth` keys, with slashes between them.
pub(super) fn path(depth: usize) -> impl Strategy<Value = String> {
    vec(select(PATH_KEYS), 0..=depth).prop_map(|keys| keys.join("/"))
}

pub(super) fn number() -> impl Strategy<Value = Value> {
    let finite = any::<f64>().prop_filter_map("finite", Value::from_f64);
    prop_oneof![
        4 => select(INTEGERS).prop_map(Value::Int),
        2 => (0_i64..4).prop_map(Value::Int),
        2 => select(DOUBLES).prop_filter_map("finite", Value::from_f64),
        1 => any::<i64>().prop_map(Value::Int),
        1 => finite,
    ]
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => select(vec!["", "x", "y", "😀", "\u{ffee}", "tab\tand \" and \\"]).prop_map(String::from),
        1 => "[a-c]{24,40}",
        1 => any::<String>(),
    ]
    .prop_map(Value::Text)
}

pub(super) fn value() -> impl Strategy<Value = Value> {
    prop_oneof![1 => any::<bool>().prop_map(Value::Bool), 3 => number(), 2 => text()]
}

pub(super) fn priority() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        4 => Just(None),
        2 => (0_i64..3).prop_map(|number| Some(Value::Int(number))),
        1 => number().prop_map(Some),
        1 => text().prop_map(Some),
    ]
}

pub(super) fn leaf() -> impl Strategy<Value = Node> {
    (value(), priority()).prop_map(|(value, priority)| Node { priority, content: Content::Leaf(value) })
}

/// Nodes up to three levels deep, of all keys.
pub(super) fn node() -> impl Strategy<Value = Node> {
    leaf().prop_recursive(3, 48, 8, |below| inner(key(), below))
}

/// Nodes up to three levels deep, of the keys that [`path`] uses.
pub(super) fn path_node() -> impl Strategy<Value = Node> {
    leaf().prop_recursive(3, 32, 4, |below| inner(select(PATH_KEYS).prop_map(String::from), below))
}

fn inner(
    key: impl Strategy<Value = String>,
    below: impl Strategy<Value = Node>,
) -> impl Strategy<Value = Node> {
    (vec((key, below), 1..8), priority()).prop_map(|(children, priority)| {
        let node = children
            .into_iter()
            .fold(None, |node, (key, child)| Node::with_child(node, &key, Some(child)))
            .expect("there is at least one child");
        Node { priority, ..node }
    })
}

/// As many distinct keys, of all kinds, in no particular order.
pub(super) fn many_keys(count: usize) -> Vec<String> {
    let numbered = (100..100 + count).map(|n| match n % 7 {
        0 => n.to_string(),
        1 => format!("0{n}"),
        2 => format!("-{n}"),
        3 => format!("-OfJOJo-{n:012}"),
        4 => format!("😀{n}"),
        5 => format!("\u{ffee}{n}"),
        _ => format!("a key of more than 23 bytes, {n}"),
    });
    KEYS.iter().map(|&key| String::from(key)).chain(numbered).take(count).collect()
}
