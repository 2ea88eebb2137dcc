//! One place that holds something, and how it changes (wire reference 7.7).

use super::{Value, key_order};
use std::cmp::Ordering;

/// Something that exists. Nothing is `Option<Node>`: empty nodes do not exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// A number or a text.
    pub priority: Option<Value>,
    /// What is there.
    pub content: Content,
}

/// A value or children.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A value.
    Leaf(Value),
    /// At least one child, in key order (7.5), each key once.
    Children(Vec<(String, Node)>),
}

impl Node {
    /// A leaf without priority.
    pub const fn leaf(value: Value) -> Self {
        Self { priority: None, content: Content::Leaf(value) }
    }

    /// The value of a leaf.
    pub const fn value(&self) -> Option<&Value> {
        match &self.content {
            Content::Leaf(value) => Some(value),
            Content::Children(_) => None,
        }
    }

    /// The children in key order; none for a leaf.
    pub fn children(&self) -> &[(String, Self)] {
        match &self.content {
            Content::Leaf(_) => &[],
            Content::Children(children) => children,
        }
    }

    /// The child of that name.
    pub fn child(&self, key: &str) -> Option<&Self> {
        self.children().iter().find(|(own, _)| own == key).map(|(_, child)| child)
    }

    /// What is at the end of these keys.
    pub fn get(&self, keys: &[String]) -> Option<&Self> {
        match keys {
            [] => Some(self),
            [key, below @ ..] => self.child(key)?.get(below),
        }
    }

    /// What a node, or nothing, becomes when a child is set or deleted (`None`).
    ///
    /// * A child below a leaf: the leaf's value is lost, its priority stays.
    /// * A delete below a leaf, or of what is not there, changes nothing.
    /// * Without its last child the node is gone, and its priority with it.
    pub fn with_child(node: Option<Self>, key: &str, child: Option<Self>) -> Option<Self> {
        let Some(child) = child else {
            let mut node = node?;
            if let Content::Children(children) = &mut node.content {
                children.retain(|(own, _)| own != key);
                if children.is_empty() {
                    return None;
                }
            }
            return Some(node);
        };
        let (priority, mut children) = match node {
            None => (None, Vec::new()),
            Some(Self { priority, content: Content::Leaf(_) }) => (priority, Vec::new()),
            Some(Self { priority, content: Content::Children(children) }) => (priority, children),
        };
        children.retain(|(own, _)| own != key);
        let at = children.iter().take_while(|(own, _)| key_order(own, key) == Ordering::Less).count();
        children.insert(at, (key.into(), child));
        Some(Self { priority, content: Content::Children(children) })
    }

    /// What a node, or nothing, becomes when something further below is set or deleted.
    pub fn with(node: Option<Self>, keys: &[String], new: Option<Self>) -> Option<Self> {
        let Some((key, below)) = keys.split_first() else {
            return new;
        };
        let child = node.as_ref().and_then(|node| node.child(key)).cloned();
        let child = Self::with(child, below, new);
        Self::with_child(node, key, child)
    }

    /// What a node, or nothing, becomes when a priority at or below it is set. Where nothing is, nothing happens.
    pub fn with_priority(node: Option<Self>, keys: &[String], priority: Option<Value>) -> Option<Self> {
        let target = node.as_ref().and_then(|node| node.get(keys)).cloned();
        match target {
            None => node,
            Some(target) => Self::with(node, keys, Some(Self { priority, content: target.content })),
        }
    }

    /// How many keys the deepest leaf is below this node.
    pub fn depth(&self) -> usize {
        self.children().iter().map(|(_, child)| child.depth() + 1).max().unwrap_or(0)
    }
}
