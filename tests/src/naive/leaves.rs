//! What a client with a cache says it has, range by range of its leaves (wire reference 6.5).

use super::base64::base64;
use super::sha1::sha1;
use super::{Node, Value, key_order, true_bits};
use std::cmp::Ordering;

/// A leaf: the names that lead to it, and its text. The priority of a node with children is one, named `.priority`.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// From the node down.
    pub names: Vec<String>,
    /// Whether it is the priority of a node that no key comes after, which clients leave out of their texts.
    pub is_silent: bool,
    text: String,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Leaf(Node),
    Priority(Value),
}

/// All leaves of a node, in leaf order.
pub fn leaves(node: Option<&Node>) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    if let Some(node) = node {
        collect(node, &[], &mut leaves);
    }
    leaves.sort_by(|a, b| path_order(&a.names, &b.names));
    leaves
}

fn collect(node: &Node, names: &[String], into: &mut Vec<Leaf>) {
    let below = |name: &str| [names, &[name.to_owned()]].concat();
    match node.value() {
        Some(value) => {
            let priority = node
                .priority
                .as_ref()
                .map(|priority| format!("priority:{}:", literal(priority)))
                .unwrap_or_default();
            let text = priority + &literal(value);
            into.push(Leaf {
                names: names.to_vec(),
                is_silent: false,
                text,
                content: Content::Leaf(node.clone()),
            });
        }
        None => {
            if let Some(priority) = &node.priority {
                let is_last =
                    node.children().iter().all(|(key, _)| key_order(key, ".priority") == Ordering::Less);
                into.push(Leaf {
                    names: below(".priority"),
                    is_silent: is_last,
                    text: literal(priority),
                    content: Content::Priority(priority.clone()),
                });
            }
            for (key, child) in node.children() {
                collect(child, &below(key), into);
            }
        }
    }
}

/// The order of places: name by name, what leads to another before it.
pub fn path_order(a: &[String], b: &[String]) -> Ordering {
    let differing = a.iter().zip(b).map(|(a, b)| key_order(a, b)).find(|order| order.is_ne());
    differing.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Those of the leaves that come after one place, up to another.
pub fn between<'a>(leaves: &'a [Leaf], after: Option<&[String]>, up_to: Option<&[String]>) -> Vec<&'a Leaf> {
    let is_within = |leaf: &&Leaf| {
        after.is_none_or(|after| path_order(&leaf.names, after).is_gt())
            && up_to.is_none_or(|up_to| path_order(&leaf.names, up_to).is_le())
    };
    leaves.iter().filter(is_within).collect()
}

/// The hash of leaves; nothing where there are none.
pub fn range_hash(leaves: &[&Leaf]) -> Option<String> {
    range_text(leaves).map(|text| base64(&sha1(text.as_bytes())))
}

/// The text that is hashed.
pub fn range_text(leaves: &[&Leaf]) -> Option<String> {
    let spoken: Vec<(&[String], &str)> =
        leaves.iter().filter(|leaf| !leaf.is_silent).map(|leaf| (&leaf.names[..], &leaf.text[..])).collect();
    (!spoken.is_empty()).then(|| nested(&spoken))
}

fn nested(leaves: &[(&[String], &str)]) -> String {
    if let [([], text)] = leaves {
        return format!("({text})");
    }
    let entries = leaves.chunk_by(|(a, _), (b, _)| a[0] == b[0]).map(|group| {
        let below: Vec<_> = group.iter().map(|(names, text)| (&names[1..], *text)).collect();
        format!("{}:{}", quoted(&group[0].0[0]), nested(&below))
    });
    format!("({})", entries.collect::<Vec<_>>().join(","))
}

/// A tree of leaves alone; a priority counts where its node has one of them.
pub fn tree_of(leaves: &[&Leaf]) -> Option<Node> {
    let mut node = None;
    for leaf in leaves {
        if let Content::Leaf(own) = &leaf.content {
            node = Node::with(node, &leaf.names, Some(own.clone()));
        }
    }
    for leaf in leaves {
        if let (Content::Priority(priority), Some((_, at))) = (&leaf.content, leaf.names.split_last()) {
            node = Node::with_priority(node, at, Some(priority.clone()));
        }
    }
    node
}

fn literal(value: &Value) -> String {
    match (value, value.as_f64()) {
        (_, Some(number)) => format!("number:{:016x}", true_bits(number)),
        (Value::Bool(value), _) => format!("boolean:{value}"),
        (Value::Text(text), _) => format!("string:{}", quoted(text)),
        (Value::Int(_) | Value::Double(_), None) => unreachable!("every number has a nearest double"),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
