//! Writes nodes as JSON text in pieces, as somebody takes them.
//!
//! Why not through serde as [`super::Json`]: serde writes a value to its end. Whoever sends a text of 200 MB to somebody who
//! takes it slowly would have all of it in memory, or a thread that waits. Here the place where it stopped is kept.

use super::format::{Compact, Pretty};
use super::name::{PRIORITY, VALUE};
use super::write::{Form, Json};
use crate::node::Node;
use crate::scalar::Priority;
use serde::Serialize;
use serde_json::ser::Formatter;
use std::ops::Range;
use std::vec;

/// What is written.
#[derive(Clone, Debug)]
pub enum Top {
    /// A node, or nothing.
    Node(Option<Node>),
    /// The children of a node as an object, whatever their keys are, and without its priority.
    Children(Node),
    /// An object of these, in this order.
    Members(Vec<(String, Option<Node>)>),
    /// The keys of the children of these ranks, each with `true`, as an object.
    Keys(Node, Range<usize>),
}

/// A JSON text that is written in pieces; joined they are what [`Json`] writes in one.
#[derive(Clone, Debug)]
pub struct JsonPieces {
    form: Form,
    spelling: Spelling,
    top: Option<Top>,
    /// What is open, the innermost last.
    levels: Vec<Level>,
}

#[derive(Clone, Copy, Debug)]
enum Spelling {
    Compact,
    Pretty(Pretty),
}

/// An object or array that is being written.
#[derive(Clone, Debug)]
enum Level {
    Object {
        node: Node,
        /// Of the child that comes next.
        rank: usize,
        shows_priority: bool,
    },
    Array {
        node: Node,
        rank: usize,
        /// Where the next element stands: there may be gaps.
        position: usize,
    },
    Members {
        left: vec::IntoIter<(String, Option<Node>)>,
        is_first: bool,
    },
    Keys {
        node: Node,
        /// Of the children that come.
        left: Range<usize>,
        is_first: bool,
    },
}

impl JsonPieces {
    /// Nothing is written yet. Holds on to what is written.
    pub fn new(top: Top, form: Form, is_pretty: bool) -> Self {
        let spelling = if is_pretty { Spelling::Pretty(Pretty::default()) } else { Spelling::Compact };
        Self { form, spelling, top: Some(top), levels: Vec::new() }
    }

    /// Appends the next piece, which is longer than `bytes` by no more than one leaf, what an
    /// array lacks before it, and their brackets, unless the text ends before. It ends between two tokens, and a key is in one
    /// piece with its colon. Whether there is more. O(length), and O(depth log children) to begin.
    pub fn append_to(&mut self, text: &mut Vec<u8>, bytes: usize) -> bool {
        let Self { form, spelling, top, levels } = self;
        match spelling {
            Spelling::Compact => {
                Writer { form: *form, formatter: &mut Compact, levels, text }.run(top, bytes)
            }
            Spelling::Pretty(pretty) => {
                Writer { form: *form, formatter: pretty, levels, text }.run(top, bytes)
            }
        }
    }
}

/// Writes one piece.
struct Writer<'a, F> {
    form: Form,
    formatter: &'a mut F,
    levels: &'a mut Vec<Level>,
    text: &'a mut Vec<u8>,
}

const TAKES_ALL: &str = "a vector takes all bytes, and every key is a text";

impl<F: Formatter + Clone> Writer<'_, F> {
    fn run(mut self, top: &mut Option<Top>, bytes: usize) -> bool {
        let end = self.text.len().saturating_add(bytes);
        match top.take() {
            None => {}
            Some(Top::Node(node)) => self.value(node.as_ref()),
            Some(Top::Children(node)) => {
                self.formatter.begin_object(self.text).expect(TAKES_ALL);
                self.levels.push(Level::Object { node, rank: 0, shows_priority: false });
            }
            Some(Top::Members(members)) => {
                self.formatter.begin_object(self.text).expect(TAKES_ALL);
                self.levels.push(Level::Members { left: members.into_iter(), is_first: true });
            }
            Some(Top::Keys(node, left)) => {
                self.formatter.begin_object(self.text).expect(TAKES_ALL);
                self.levels.push(Level::Keys { node, left, is_first: true });
            }
        }
        while self.text.len() < end {
            match self.levels.pop() {
                None => return false,
                Some(level) => self.go_on(level, end),
            }
        }
        !self.levels.is_empty()
    }

    /// Writes members of the innermost level, until one opens another level, it is at its end, or the piece is.
    fn go_on(&mut self, level: Level, end: usize) {
        match level {
            Level::Object { node, rank, shows_priority } => self.object(node, rank, shows_priority, end),
            Level::Array { node, rank, position } => self.array(node, rank, position, end),
            Level::Members { mut left, is_first } => match left.next() {
                None => self.end_object(),
                Some((name, node)) => {
                    self.key(&name, is_first);
                    self.levels.push(Level::Members { left, is_first: false });
                    self.member(node.as_ref());
                }
            },
            Level::Keys { node, left, is_first } => self.keys(node, left, is_first, end),
        }
    }

    fn keys(&mut self, node: Node, mut left: Range<usize>, mut is_first: bool, end: usize) {
        let own = node.clone();
        for (key, _) in own.children().range(left.start, left.end) {
            if end <= self.text.len() {
                self.levels.push(Level::Keys { node, left, is_first });
                return;
            }
            self.key(key.as_str(), is_first);
            self.formatter.begin_object_value(self.text).expect(TAKES_ALL);
            self.scalar(&true);
            self.formatter.end_object_value(self.text).expect(TAKES_ALL);
            (left.start, is_first) = (left.start + 1, false);
        }
        self.end_object();
    }

    fn object(&mut self, node: Node, mut rank: usize, shows_priority: bool, end: usize) {
        let own = node.clone();
        let children = own.children();
        for (key, child) in children.range(rank, children.len()) {
            if end <= self.text.len() {
                self.levels.push(Level::Object { node, rank, shows_priority });
                return;
            }
            self.key(key.as_str(), rank == 0);
            rank += 1;
            if child.value().is_none() {
                self.levels.push(Level::Object { node, rank, shows_priority });
                self.member(Some(child));
                return;
            }
            self.member(Some(child));
        }
        if let Some(priority) = node.priority().filter(|_| shows_priority) {
            self.priority(priority);
        }
        self.end_object();
    }

    fn array(&mut self, node: Node, mut rank: usize, mut position: usize, end: usize) {
        let own = node.clone();
        let children = own.children();
        for (key, child) in children.range(rank, children.len()) {
            let place = key.as_position().unwrap_or(position);
            while position < place {
                self.formatter.begin_array_value(self.text, position == 0).expect(TAKES_ALL);
                self.formatter.write_null(self.text).expect(TAKES_ALL);
                self.formatter.end_array_value(self.text).expect(TAKES_ALL);
                position += 1;
            }
            if end <= self.text.len() {
                self.levels.push(Level::Array { node, rank, position });
                return;
            }
            self.formatter.begin_array_value(self.text, position == 0).expect(TAKES_ALL);
            rank += 1;
            position += 1;
            if child.value().is_none() {
                self.levels.push(Level::Array { node, rank, position });
                self.value(Some(child));
                return;
            }
            self.value(Some(child));
            self.formatter.end_array_value(self.text).expect(TAKES_ALL);
        }
        self.formatter.end_array(self.text).expect(TAKES_ALL);
        self.end_value();
    }

    fn end_object(&mut self) {
        self.formatter.end_object(self.text).expect(TAKES_ALL);
        self.end_value();
    }

    /// Behind an object or array: the one around it goes on.
    fn end_value(&mut self) {
        match self.levels.last() {
            None => {}
            Some(Level::Array { .. }) => self.formatter.end_array_value(self.text).expect(TAKES_ALL),
            Some(Level::Object { .. } | Level::Members { .. } | Level::Keys { .. }) => {
                self.formatter.end_object_value(self.text).expect(TAKES_ALL);
            }
        }
    }

    fn key(&mut self, key: &str, is_first: bool) {
        self.formatter.begin_object_key(self.text, is_first).expect(TAKES_ALL);
        self.scalar(key);
        self.formatter.end_object_key(self.text).expect(TAKES_ALL);
    }

    /// The value behind a key. The end of an object or array is written with it.
    fn member(&mut self, node: Option<&Node>) {
        self.formatter.begin_object_value(self.text).expect(TAKES_ALL);
        self.value(node);
        if node.is_none_or(|node| node.value().is_some()) {
            self.formatter.end_object_value(self.text).expect(TAKES_ALL);
        }
    }

    fn priority(&mut self, priority: &Priority) {
        self.key(PRIORITY, false);
        self.formatter.begin_object_value(self.text).expect(TAKES_ALL);
        self.scalar(priority);
        self.formatter.end_object_value(self.text).expect(TAKES_ALL);
    }

    /// A leaf, or the beginning of an object or array.
    fn value(&mut self, node: Option<&Node>) {
        let Some(node) = node else {
            return self.formatter.write_null(self.text).expect(TAKES_ALL);
        };
        let priority = node.priority().filter(|_| self.form.priorities);
        match (node.value(), priority) {
            (Some(value), None) => self.scalar(value),
            (Some(value), Some(priority)) => {
                self.formatter.begin_object(self.text).expect(TAKES_ALL);
                self.key(VALUE, true);
                self.formatter.begin_object_value(self.text).expect(TAKES_ALL);
                self.scalar(value);
                self.formatter.end_object_value(self.text).expect(TAKES_ALL);
                self.priority(priority);
                self.formatter.end_object(self.text).expect(TAKES_ALL);
            }
            (None, _) => {
                let shows_priority = priority.is_some();
                let node = node.clone();
                let level = if Json::new(Some(&node), self.form).array_len(&node).is_some() {
                    self.formatter.begin_array(self.text).expect(TAKES_ALL);
                    Level::Array { node, rank: 0, position: 0 }
                } else {
                    self.formatter.begin_object(self.text).expect(TAKES_ALL);
                    Level::Object { node, rank: 0, shows_priority }
                };
                self.levels.push(level);
            }
        }
    }

    fn scalar(&mut self, value: &(impl Serialize + ?Sized)) {
        // Scalars are spelled the same wherever they stand.
        let mut serializer = serde_json::Serializer::with_formatter(&mut *self.text, self.formatter.clone());
        value.serialize(&mut serializer).expect(TAKES_ALL);
    }
}
