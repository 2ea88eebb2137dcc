//! What children are ordered by, apart from their keys (wire reference 7.4).

use crate::key::{Key, text_order};
use crate::node::Node;
use crate::scalar::{Priority, Scalar};
use std::cmp::Ordering;

/// What a query orders a child by: the value at some place in it, or its priority. Ordered as the SDKs do: null, false,
/// true, numbers, texts, objects; objects are all equal. Of priorities only null, numbers and texts exist, and their
/// order is the same.
#[derive(Clone, Debug, PartialEq)]
pub enum SortValue {
    /// Nothing is there.
    Null,
    /// `false` before `true`.
    Bool(bool),
    /// By nearest double; see [`crate::Number::order`].
    Number(crate::Number),
    /// By UTF-16 code unit.
    Text(crate::Text),
    /// Any inner node.
    Object,
}

impl SortValue {
    /// What a node, or nothing, counts as.
    pub fn of(node: Option<&Node>) -> Self {
        match node {
            None => Self::Null,
            Some(node) => node.value().map_or(Self::Object, |value| value.clone().into()),
        }
    }

    /// What a child's priority counts as.
    pub fn of_priority(node: &Node) -> Self {
        node.priority().map_or(Self::Null, |priority| Scalar::from(priority.clone()).into())
    }

    /// The order of the SDKs. Values of one kind of number may be equal here without being the same.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.order(*b),
            (Self::Text(a), Self::Text(b)) => text_order(a.as_str(), b.as_str()),
            (Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Object, _) => {
                self.class().cmp(&other.class())
            }
        }
    }

    const fn class(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 3,
            Self::Object => 4,
        }
    }
}

impl From<Scalar> for SortValue {
    fn from(value: Scalar) -> Self {
        match value {
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Number(value) => Self::Number(value),
            Scalar::Text(value) => Self::Text(value),
        }
    }
}

impl From<Option<Priority>> for SortValue {
    fn from(priority: Option<Priority>) -> Self {
        priority.map_or(Self::Null, |priority| Scalar::from(priority).into())
    }
}

/// Children by priority, then key. O(n log n): where an index by priority exists, use that.
pub(crate) fn by_priority(node: &Node) -> Vec<(&Key, &Node)> {
    let mut children: Vec<_> =
        node.children().iter().map(|(key, child)| (SortValue::of_priority(child), key, child)).collect();
    // Stable, and the children come in key order.
    children.sort_by(|a, b| a.0.order(&b.0));
    children.into_iter().map(|(_, key, child)| (key, child)).collect()
}
