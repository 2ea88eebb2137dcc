//! What a write makes of a tree.

use super::generate::{cases, number, path, path_node, priority, value};
use super::twin::{self, check_change, check_needed, model_root, snapshot, tree_node};
use hearth_tests::naive::{self, Refusal, Tree, Value};
use hearth_tree::{
    Assignment, Change, Draft, Edit, Path, Pending, Priority, Scalar, ServerValue, To, Update, Write,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// One part of a write: the model reads it as JSON, the tree takes it as types.
#[derive(Clone, Debug)]
enum Part {
    Value(Option<naive::Node>),
    Leaf { value: Filled, priority: Option<Filled> },
    Priority(Option<Filled>),
}

/// A value, or what the server fills in.
#[derive(Clone, Debug)]
enum Filled {
    Known(Value),
    Timestamp,
    Increment(Value),
}

impl Filled {
    fn json(&self) -> Json {
        match self {
            Self::Known(value) => naive::export(Some(&naive::Node::leaf(value.clone()))),
            Self::Timestamp => json!({".sv": "timestamp"}),
            Self::Increment(delta) => json!({".sv": {"increment": Self::Known(delta.clone()).json()}}),
        }
    }

    fn pending<T>(&self, known: impl Fn(&Value) -> T) -> Pending<T> {
        match self {
            Self::Known(value) => Pending::Known(known(value)),
            Self::Timestamp => Pending::Server(ServerValue::Timestamp),
            Self::Increment(delta) => {
                let delta = twin::number(delta).expect("increments are numbers");
                Pending::Server(ServerValue::Increment(delta))
            }
        }
    }
}

impl Part {
    fn json(&self) -> Json {
        match self {
            Self::Value(node) => naive::export(node.as_ref()),
            Self::Leaf { value, priority: None } => value.json(),
            Self::Leaf { value, priority: Some(priority) } => {
                json!({".value": value.json(), ".priority": priority.json()})
            }
            Self::Priority(priority) => priority.as_ref().map_or(Json::Null, Filled::json),
        }
    }

    fn place(&self, at: &str) -> String {
        match self {
            Self::Value(_) | Self::Leaf { .. } => at.into(),
            Self::Priority(_) => format!("{at}/.priority"),
        }
    }

    fn assignment(&self, at: Path) -> Assignment {
        let priority = |filled: &Filled| -> Pending<Priority> { filled.pending(twin::priority) };
        let value = match self {
            Self::Priority(to) => return Assignment::priority(at, to.as_ref().map(priority)),
            Self::Value(node) => node.as_ref().map(|node| Draft::from(tree_node(node))),
            Self::Leaf { value, priority: own } => {
                let value: Pending<Scalar> = value.pending(twin::scalar);
                Some(Draft::leaf(value, own.as_ref().map(priority)))
            }
        };
        Assignment::value(at, value).expect("the tests write nothing deep")
    }
}

fn filled(known: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Filled> {
    prop_oneof![
        2 => known.prop_map(Filled::Known),
        1 => Just(Filled::Timestamp),
        2 => number().prop_map(Filled::Increment),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    let own = || priority().prop_filter_map("a priority", |priority| priority);
    prop_oneof![
        3 => option::of(path_node()).prop_map(Part::Value),
        2 => (filled(value()), option::of(filled(own())))
            .prop_map(|(value, priority)| Part::Leaf { value, priority }),
        2 => option::of(filled(own())).prop_map(Part::Priority),
    ]
}

const NOW_MS: i64 = 1_764_500_000_000;

/// Writes the same to the model and to the tree, and compares.
fn check(
    before: Option<naive::Node>,
    write: Option<Write>,
    by_model: impl Fn(&mut Tree) -> Result<(), Refusal>,
) {
    let tree = snapshot(before.as_ref());
    let mut model = Tree { root: before.clone() };
    let verdict = by_model(&mut model);
    let Some(write) = write else {
        assert_eq!(verdict, Err(Refusal::Conflict));
        return;
    };
    match write.resolve(NOW_MS, &tree) {
        Err(_) => assert_eq!(verdict, Err(Refusal::NotFinite)),
        Ok(change) => {
            assert_eq!(verdict, Ok(()));
            let after = tree.apply(&change);
            assert_eq!(model_root(&after), model.root, "{change:?}");
            assert_eq!(change.is_empty(), before == model.root, "{change:?}");
            check_change(&tree, &change, &after);
            change.edits().iter().for_each(|edit| check_needed(&tree, &change, edit, &after));
            assert_eq!(model_root(&tree), before, "the tree before is still what it was");
        }
    }
}

fn check_set(before: Option<naive::Node>, at: &str, part: &Part) {
    let write = Write::Set(part.assignment(twin::path(at)));
    check(before, Some(write), |model| model.set(&part.place(at), &part.json(), NOW_MS));
}

fn check_update(before: Option<naive::Node>, at: &str, parts: &[(String, Part)]) {
    // An update's own place is refused where its text is read.
    let is_below = |(below, part): &&(String, Part)| !below.is_empty() || matches!(part, Part::Priority(_));
    let parts: Vec<_> = parts.iter().filter(is_below).cloned().collect();
    let assignments = parts.iter().map(|(below, part)| part.assignment(twin::path(&format!("{at}/{below}"))));
    let write = Update::new(twin::path(at), assignments.collect()).ok().map(Write::Update);
    let parts: Vec<_> = parts.iter().map(|(below, part)| (part.place(below), part.json())).collect();
    check(before, write, |model| model.update(at, &parts, NOW_MS));
}

proptest! {
    #![proptest_config(cases(2048))]

    #[test]
    fn a_set_does_what_the_model_does(
        before in option::weighted(0.9, path_node()),
        at in path(3),
        part in part(),
    ) {
        check_set(before, &at, &part);
    }

    #[test]
    fn an_update_does_what_the_model_does(
        before in option::weighted(0.9, path_node()),
        at in path(1),
        parts in vec((path(2), part()), 0..5),
    ) {
        check_update(before, &at, &parts);
    }

    #[test]
    fn updates_conflict_where_one_place_covers_another(
        places in vec((path(3), any::<bool>()), 0..4),
    ) {
        let name = |(at, is_priority): &(String, bool)| {
            let mut keys = naive::split(at);
            keys.extend(is_priority.then(|| ".priority".into()));
            keys
        };
        let covers = |a: &usize, b: &usize| a != b && name(&places[*b]).starts_with(&name(&places[*a]));
        let conflict = (0..places.len()).any(|a| (0..places.len()).any(|b| covers(&a, &b)));
        let edits = places.iter().map(|(at, is_priority)| {
            let to = if *is_priority { To::Priority(None) } else { To::Node(None) };
            Edit { at: twin::path(at), to }
        });
        prop_assert_eq!(Change::new(edits.collect()).is_err(), conflict);
    }
}

/// A tree, a place, what is written there, and the tree afterwards, all as JSON in export form.
fn check_row(before: &Json, at: &str, parts: &[(&str, Json)], after: &Json) {
    let node = |json: &Json| naive::read(json, None, NOW_MS).expect("the tests write legal trees");
    let parts: Vec<(String, Part)> = parts
        .iter()
        .map(|(below, json)| match below.strip_suffix(".priority") {
            Some(below) => {
                let priority = node(json).and_then(|node| node.value().cloned());
                (below.into(), Part::Priority(priority.map(Filled::Known)))
            }
            None => ((*below).into(), Part::Value(node(json))),
        })
        .collect();
    check_update(node(before), at, &parts);
    let mut model = Tree { root: node(before) };
    let parts: Vec<_> = parts.iter().map(|(below, part)| (part.place(below), part.json())).collect();
    model.update(at, &parts, NOW_MS).expect("the places lie apart");
    assert_eq!(naive::export(model.root.as_ref()), *after, "{before} with {parts:?} at `{at}`");
}

#[test]
fn a_node_keeps_and_loses_its_priority_as_in_the_sdks() {
    let prioritized = json!({"n": {"x": 1, ".priority": 5}});
    for (before, parts, after) in [
        // Written together with what makes the node.
        (json!(null), vec![("n/x", json!(1)), ("n/.priority", json!(5))], prioritized.clone()),
        (json!(null), vec![("n/.priority", json!(5))], json!(null)),
        // Emptied and filled again: lost, unless it is written again.
        (prioritized.clone(), vec![("n/x", json!(null)), ("n/y", json!(2))], json!({"n": {"y": 2}})),
        (
            prioritized.clone(),
            vec![("n/x", json!(null)), ("n/y", json!(2)), ("n/.priority", json!(5))],
            json!({"n": {"y": 2, ".priority": 5}}),
        ),
        (json!({"x": 1, ".priority": 5}), vec![("x", json!(null)), ("y", json!(2))], json!({"y": 2})),
        // The same at several places, one above the others.
        (
            json!({"p": {
                "a": {"x": 1, ".priority": 1}, "b": {"x": 1, ".priority": 2}, ".priority": 3,
            }}),
            vec![("p/a/x", json!(null)), ("p/a/y", json!(2)), ("p/b/x", json!(null)), ("p/b/y", json!(2))],
            json!({"p": {"a": {"y": 2}, "b": {"y": 2}, ".priority": 3}}),
        ),
        // Filled before it is emptied: kept.
        (
            prioritized.clone(),
            vec![("n/x", json!(null)), ("n/a", json!(2))],
            json!({"n": {"a": 2, ".priority": 5}}),
        ),
        // Here, and only here, integers come as texts: 10 before 9.
        (
            json!({"n": {"9": 1, ".priority": 5}}),
            vec![("n/9", json!(null)), ("n/10", json!(2))],
            json!({"n": {"10": 2, ".priority": 5}}),
        ),
        (
            json!({"n": {"10": 1, ".priority": 5}}),
            vec![("n/9", json!(2)), ("n/10", json!(null))],
            json!({"n": {"9": 2}}),
        ),
        // Emptied for good.
        (prioritized.clone(), vec![("n/x", json!(null)), ("n/.priority", json!(7))], json!(null)),
        // A child below a leaf takes its place, and the priority stays.
        (
            json!({"n": {".value": 1, ".priority": 5}}),
            vec![("n/x", json!(2))],
            json!({"n": {"x": 2, ".priority": 5}}),
        ),
        (
            json!({"n": {".value": 1, ".priority": 5}}),
            vec![("n/x", json!(null))],
            json!({"n": {".value": 1, ".priority": 5}}),
        ),
        (prioritized, vec![("n", json!({"x": 1}))], json!({"n": {"x": 1}})),
    ] {
        check_row(&before, "", &parts, &after);
    }
}
