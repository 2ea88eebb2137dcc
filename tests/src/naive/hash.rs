//! The hash of a node (wire reference 6.1).

use super::base64::base64;
use super::sha1::sha1;
use super::{Node, Sort, Value, js_bits, sort_order, true_bits};

/// Whose bytes of doubles a hash is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubles {
    /// The true ones, as Android computes them.
    True,
    /// Those of the JavaScript SDK.
    JavaScript,
}

/// The hash; empty for nothing.
pub fn hash(node: Option<&Node>, doubles: Doubles) -> String {
    node.map_or_else(String::new, |node| base64(&sha1(hash_text(node, doubles).as_bytes())))
}

/// The text that is hashed.
pub fn hash_text(node: &Node, doubles: Doubles) -> String {
    let prefix = match &node.priority {
        None => String::new(),
        Some(priority) => format!("priority:{}:", literal(priority, doubles)),
    };
    if let Some(value) = node.value() {
        return prefix + &literal(value, doubles);
    }
    // By priority, then by key: they are in key order, and the sort keeps that among equals.
    let mut children: Vec<&(String, Node)> = node.children().iter().collect();
    children.sort_by(|(_, a), (_, b)| sort_order(&Sort::of_priority(a), &Sort::of_priority(b)));
    let children = children.into_iter().map(|(key, child)| format!(":{key}:{}", hash(Some(child), doubles)));
    prefix + &children.collect::<String>()
}

fn literal(value: &Value, doubles: Doubles) -> String {
    match (value, value.as_f64()) {
        (_, Some(number)) => {
            let bits = match doubles {
                Doubles::True => true_bits(number),
                Doubles::JavaScript => js_bits(number),
            };
            format!("number:{bits:016x}")
        }
        (Value::Bool(value), _) => format!("boolean:{value}"),
        (Value::Text(text), _) => format!("string:{text}"),
        (Value::Int(_) | Value::Double(_), None) => unreachable!("every number has a nearest double"),
    }
}
