//! Writes nodes.
//!
//! Why through serde: a message can hold a node among other things and is still written in one go, and the two
//! formatters are all there is to the difference between compact and pretty.

use super::format::{Compact, Pretty};
use super::name::{PRIORITY, VALUE};
use crate::node::{Children, Node};
use crate::scalar::{Number, Priority, Scalar};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

/// Which of the spellings of the same data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Whether priorities are written, as `.priority` and with `.value` where a leaf has one; otherwise they are lost.
    pub priorities: bool,
    /// Whether dense integer keys become arrays (wire reference 7.2). A node that shows a priority, its own or a
    /// child's, stays an object.
    pub arrays: bool,
}

impl Form {
    /// What the socket carries, and what loses nothing: priorities, never arrays (wire reference 7.1, 7.2).
    pub const SOCKET: Self = Self { priorities: true, arrays: false };
    /// What REST and event streams answer: arrays, no priorities (rest reference 7.1, 7.3).
    pub const REST: Self = Self { priorities: false, arrays: true };
    /// What REST answers to `format=export`: priorities, and arrays where none shows (rest reference 7.1).
    pub const EXPORT: Self = Self { priorities: true, arrays: true };
}

/// A node, or nothing, as JSON text: `null` is nothing. Children come in key order, `.priority` last.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a> {
    node: Option<&'a Node>,
    form: Form,
}

impl<'a> Json<'a> {
    /// This node in this form.
    pub const fn new(node: Option<&'a Node>, form: Form) -> Self {
        Self { node, form }
    }

    /// The compact text. O(nodes).
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes);
        bytes
    }

    /// Appends the compact text. O(nodes).
    pub fn append_to(self, bytes: &mut Vec<u8>) {
        self.append_with(bytes, Compact);
    }

    /// Appends the text as the service prints it for people (`print=pretty`), without a newline at the end. O(nodes).
    pub fn append_pretty_to(self, bytes: &mut Vec<u8>) {
        self.append_with(bytes, Pretty::default());
    }

    fn append_with(self, bytes: &mut Vec<u8>, formatter: impl Formatter) {
        self.serialize(&mut serde_json::Serializer::with_formatter(bytes, formatter))
            .expect("a vector takes all bytes, and every key is a text");
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(node) = self.node else { return serializer.serialize_unit() };
        let priority = node.priority().filter(|_| self.form.priorities);
        match (node.value(), priority) {
            (Some(value), None) => value.serialize(serializer),
            (Some(value), Some(priority)) => {
                let mut members = serializer.serialize_map(Some(2))?;
                members.serialize_entry(VALUE, value)?;
                members.serialize_entry(PRIORITY, priority)?;
                members.end()
            }
            (None, priority) => match self.array_len(node) {
                Some(len) => self.serialize_array(node.children(), len, serializer),
                None => self.serialize_object(node.children(), priority, serializer),
            },
        }
    }
}

impl<'a> Json<'a> {
    /// How long the array is that stands for this node, if one does (wire reference 7.2): every key is a position, and
    /// more than half of the places up to the highest are taken.
    pub(super) fn array_len(self, node: &Node) -> Option<usize> {
        let shows_priority = node.priority().is_some() || node.has_prioritized_children();
        if !self.form.arrays || (self.form.priorities && shows_priority) {
            return None;
        }
        let children = node.children();
        // In key order the highest position comes last, so for nearly every object one look suffices.
        let (last, _) = children.nth(children.len().checked_sub(1)?)?;
        let position_max = last.as_position().filter(|&position| position < 2 * children.len())?;
        let all_positions = children.iter().all(|(key, _)| key.as_position().is_some());
        all_positions.then_some(position_max + 1)
    }

    fn serialize_array<S: Serializer>(
        self,
        children: Children<'a>,
        len: usize,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut elements = serializer.serialize_seq(Some(len))?;
        let mut next = 0;
        for (key, child) in children {
            let position = key.as_position().unwrap_or(next);
            for _ in next..position {
                elements.serialize_element(&())?;
            }
            elements.serialize_element(&Self { node: Some(child), ..self })?;
            next = position + 1;
        }
        elements.end()
    }

    fn serialize_object<S: Serializer>(
        self,
        children: Children<'a>,
        priority: Option<&Priority>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(children.len() + usize::from(priority.is_some())))?;
        for (key, child) in children {
            members.serialize_entry(key.as_str(), &Self { node: Some(child), ..self })?;
        }
        if let Some(priority) = priority {
            members.serialize_entry(PRIORITY, priority)?;
        }
        members.end()
    }
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text.as_str()),
        }
    }
}

impl Serialize for Priority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text.as_str()),
        }
    }
}

/// Integers as integers. A serializer of `serde_json` spells doubles as JavaScript does if its formatter is [`Compact`]
/// or [`Pretty`].
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_i64() {
            Some(integer) => serializer.serialize_i64(integer),
            None => serializer.serialize_f64(self.as_f64()),
        }
    }
}
