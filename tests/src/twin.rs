//! The same data as the model holds them and as the tree holds them.

mod query;

pub use query::tree_query;

use crate::naive;
use hearth_tree::{Change, Edit, Key, Node, Number, Path, Priority, Scalar, Snapshot, Text, To};

/// A key of the tree.
pub fn key(text: &str) -> Key {
    Key::parse(text).expect("the tests make legal keys")
}

/// A path of the tree.
pub fn path(text: &str) -> Path {
    Path::parse(text).expect("the tests make legal paths")
}

/// The tree's twin of a node of the model, built at once.
pub fn tree_node(model: &naive::Node) -> Node {
    let node = match model.value() {
        Some(value) => Node::from(scalar(value)),
        None => Node::inner(model.children().iter().map(|(text, child)| (key(text), tree_node(child))))
            .expect("no node of the model is empty"),
    };
    match &model.priority {
        None => node,
        Some(value) => node.with_priority(Some(priority(value))),
    }
}

/// The tree's twin of a node of the model, built child by child.
pub fn grown_node(model: &naive::Node) -> Node {
    let node = match model.children() {
        [] => Node::from(scalar(model.value().expect("no node of the model is empty"))),
        [first, others @ ..] => {
            let (text, child) = first;
            let node = Node::inner([(key(text), grown_node(child))]).expect("it has a child");
            others.iter().rev().fold(node, |node, (text, child)| {
                node.with_child(&key(text), Some(grown_node(child))).expect("it has a child")
            })
        }
    };
    match &model.priority {
        None => node,
        Some(value) => node.with_priority(Some(priority(value))),
    }
}

/// The model's twin of a node of the tree. Children are taken over in the order in which the tree has them.
pub fn model_node(node: &Node) -> naive::Node {
    let content = match node.value() {
        Some(value) => naive::Content::Leaf(model_value(value)),
        None => naive::Content::Children(
            node.children().iter().map(|(key, child)| (key.as_str().into(), model_node(child))).collect(),
        ),
    };
    naive::Node { priority: node.priority().map(model_priority), content }
}

/// The model's twin of a priority.
pub fn model_priority(priority: &Priority) -> naive::Value {
    model_value(&priority.clone().into())
}

/// The tree's twin of a whole tree of the model.
pub fn snapshot(model: Option<&naive::Node>) -> Snapshot {
    Snapshot::new(model.map(tree_node))
}

/// The model's twin of a whole tree.
pub fn model_root(snapshot: &Snapshot) -> Option<naive::Node> {
    snapshot.root().map(model_node)
}

/// The tree's twin of a number; nothing for what is none.
pub fn number(value: &naive::Value) -> Option<Number> {
    match value {
        naive::Value::Int(integer) => Some(Number::from(*integer)),
        naive::Value::Double(double) => Some(Number::from_f64(*double).expect("the model holds no infinity")),
        naive::Value::Bool(_) | naive::Value::Text(_) => None,
    }
}

/// The tree's twin of a value.
pub fn scalar(value: &naive::Value) -> Scalar {
    match (value, number(value)) {
        (_, Some(number)) => Scalar::Number(number),
        (naive::Value::Bool(value), None) => Scalar::Bool(*value),
        (naive::Value::Text(value), None) => Scalar::Text(text(value)),
        (naive::Value::Int(_) | naive::Value::Double(_), None) => unreachable!("these are numbers"),
    }
}

/// The tree's twin of a priority.
pub fn priority(value: &naive::Value) -> Priority {
    match scalar(value) {
        Scalar::Number(number) => Priority::Number(number),
        Scalar::Text(text) => Priority::Text(text),
        Scalar::Bool(_) => unreachable!("no priority of the model is a boolean"),
    }
}

fn text(text: &str) -> Text {
    Text::new(text).expect("the tests make no text of more than 10 MB")
}

fn model_value(value: &Scalar) -> naive::Value {
    match value {
        Scalar::Bool(value) => naive::Value::Bool(*value),
        Scalar::Text(text) => naive::Value::Text(text.as_str().into()),
        Scalar::Number(number) => match number.as_i64() {
            Some(integer) => naive::Value::Int(integer),
            None => naive::Value::Double(number.as_f64()),
        },
    }
}

/// The tree after the edits of a change, one after the other, priorities last: as clients apply them.
pub fn apply_one_by_one(before: &Snapshot, edits: &[Edit]) -> Snapshot {
    let (priorities, nodes): (Vec<_>, Vec<_>) =
        edits.iter().partition(|edit| matches!(edit.to, To::Priority(_)));
    nodes.into_iter().chain(priorities).fold(before.clone(), |tree, edit| {
        tree.apply(&Change::new(vec![edit.clone()]).expect("one edit lies apart from no other"))
    })
}

/// Checks what holds of every change: its edits lie apart and in order, and come to the same one by one.
pub fn check_change(before: &Snapshot, change: &Change, after: &Snapshot) {
    let edits = change.edits();
    assert_eq!(Change::new(edits.to_vec()).as_ref(), Ok(change), "the edits lie apart and in order");
    assert_eq!(&before.apply(change), after, "together: {edits:?}");
    assert_eq!(&apply_one_by_one(before, edits), after, "one by one: {edits:?}");
}

/// Checks that without this edit something would be missing, together or one by one.
pub fn check_needed(before: &Snapshot, change: &Change, edit: &Edit, after: &Snapshot) {
    let fewer: Vec<Edit> = change.edits().iter().filter(|other| *other != edit).cloned().collect();
    let together = before.apply(&Change::new(fewer.clone()).expect("fewer edits lie apart, too"));
    let suffices = &together == after && &apply_one_by_one(before, &fewer) == after;
    assert!(!suffices, "{edit:?} of {change:?} changes nothing");
}
