//! A tree as JSON in the form of an export, where `.value` and `.priority` are not children.

use serde_json::{Map, Value, json};

/// What is at a place; null if nothing is. A key that no data can have is not there.
pub(crate) fn get<'a>(mut node: &'a Value, path: &[String]) -> &'a Value {
    for key in path {
        let forbidden = key.is_empty() || key.contains(['.', '#', '$', '[', ']', '/', '\n']);
        node = if forbidden { &Value::Null } else { &node[key.as_str()] };
    }
    node
}

/// The value of a leaf; an inner node is an object.
pub(crate) fn value(node: &Value) -> &Value {
    node.as_object().and_then(|members| members.get(".value")).unwrap_or(node)
}

pub(crate) fn priority(node: &Value) -> &Value {
    &node[".priority"]
}

pub(crate) fn has_children(node: &Value) -> bool {
    value(node).is_object()
}

/// Without what does not exist.
pub(crate) fn pruned(node: &Value) -> Value {
    let Value::Object(members) = node else { return node.clone() };
    let kept: Map<String, Value> = members
        .iter()
        .map(|(key, child)| (key.clone(), pruned(child)))
        .filter(|(_, child)| !child.is_null())
        .collect();
    if kept.keys().all(|key| key == ".priority") { Value::Null } else { Value::Object(kept) }
}

/// The tree with another value at a place.
pub(crate) fn with(root: &Value, path: &[&str], value: &Value) -> Value {
    let Some((key, below)) = path.split_first() else { return pruned(value) };
    if !has_children(root) && pruned(value).is_null() {
        // Nothing below a leaf takes nothing away.
        return root.clone();
    }
    // A leaf that gets children loses its value and keeps its priority (wire reference 7.7).
    let mut members = root.as_object().cloned().unwrap_or_default();
    members.remove(".value");
    let child = members.get(*key).cloned().unwrap_or(json!(null));
    members.insert((*key).to_owned(), with(&child, below, value));
    pruned(&Value::Object(members))
}
