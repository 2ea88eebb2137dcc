//! About how much memory something takes, near enough to bound it.
//!
//! Why counted and not remembered: hardly anything is ever weighed, and a count in every node would be paid for by all.
//! Why up to a bound: nobody asks how much above it something is, and the walk ends there.

use crate::limits::HEAVY_BYTES;
use hearth_tree::{
    Assigned, Change, Key, KeyBound, Node, Order, Path, Priority, Query, Scalar, Snapshot, To, Write,
};
use std::ops::Bound;

/// A node beside its key, with its share of what holds them together.
const NODE_BYTES: usize = 64;
/// Most of what a commit copies of one node on the way to the place that it changes: two leaves' worth of a large node.
const COPIED_BYTES: usize = 4 * 1024;

/// Whether a node is so large that to encode or to hash it takes a while. O([`HEAVY_BYTES`]).
pub fn is_heavy(node: Option<&Node>) -> bool {
    let mut scale = Scale::up_to(HEAVY_BYTES);
    scale.node(node);
    HEAVY_BYTES < scale.bytes()
}

/// Something that is weighed up to a bound.
#[derive(Debug)]
pub(crate) struct Scale {
    bytes: usize,
    most: usize,
}

impl Scale {
    /// Stops a little above this.
    pub(crate) const fn up_to(most: usize) -> Self {
        Self { bytes: 0, most }
    }

    /// What was put on it, or a little more than the bound.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    const fn is_full(&self) -> bool {
        self.most < self.bytes
    }

    const fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    fn scalar(&mut self, value: Option<&Scalar>) {
        if let Some(Scalar::Text(text)) = value {
            self.add(text.as_str().len());
        }
    }

    fn priority(&mut self, priority: Option<&Priority>) {
        if let Some(priority) = priority {
            self.add(NODE_BYTES);
            self.scalar(Some(&priority.clone().into()));
        }
    }

    pub(crate) fn keys(&mut self, keys: &[Key]) {
        keys.iter().for_each(|key| self.add(NODE_BYTES + key.as_str().len()));
    }

    /// A place, kept by itself.
    pub(crate) fn place(&mut self, at: &Path) {
        self.add(NODE_BYTES);
        self.keys(at.keys());
    }

    /// A node and all below it. O(the bound), at most the depth of a tree deep.
    pub(crate) fn node(&mut self, node: Option<&Node>) {
        let Some(node) = node else { return };
        self.add(NODE_BYTES);
        self.scalar(node.value());
        self.priority(node.priority());
        for (key, child) in node.children() {
            if self.is_full() {
                return;
            }
            self.add(key.as_str().len());
            self.node(Some(child));
        }
    }

    pub(crate) fn to(&mut self, to: &To) {
        match to {
            To::Node(node) => self.node(node.as_ref()),
            To::Priority(priority) => self.priority(priority.as_ref()),
        }
    }

    /// What a change carries, with its places.
    pub(crate) fn change(&mut self, change: &Change) {
        for edit in change.edits() {
            if self.is_full() {
                return;
            }
            self.keys(edit.at.keys());
            self.to(&edit.to);
        }
    }

    /// What a write carries, with its places. Server values weigh as what they become.
    pub(crate) fn write(&mut self, write: &Write) {
        for assignment in write.assignments() {
            if self.is_full() {
                return;
            }
            self.keys(assignment.at().keys());
            self.assigned(assignment.to());
        }
    }

    pub(crate) fn assigned(&mut self, to: &Assigned) {
        self.add(NODE_BYTES);
        if let Assigned::Value(Some(draft)) = to {
            match draft.as_node() {
                Some(node) => self.node(Some(node)),
                // Where nothing is, an increment cannot go beyond all numbers.
                None => self.node(draft.resolve(0, None).ok().as_ref()),
            }
        }
    }

    /// What a tree no longer holds after a change: what whoever keeps the tree before keeps alive because of it.
    pub(crate) fn replaced(&mut self, change: &Change, before: &Snapshot) {
        for edit in change.edits() {
            if self.is_full() {
                return;
            }
            self.add(COPIED_BYTES * (1 + edit.at.keys().len()));
            if let To::Node(_) = edit.to {
                self.node(before.get(&edit.at));
            }
        }
    }

    /// A place and a query there, as somebody who listens keeps them.
    pub(crate) fn listen(&mut self, at: &Path, query: &Query) {
        self.place(at);
        match &query.order {
            Order::Key(range) => {
                for bound in [&range.start, &range.end] {
                    if let Bound::Included(key) | Bound::Excluded(key) = bound {
                        self.key_bound(Some(key));
                    }
                }
            }
            Order::Value(range) | Order::Child(_, range) => {
                for bound in [&range.start, &range.end] {
                    if let Bound::Included(position) | Bound::Excluded(position) = bound {
                        self.scalar(position.value.as_ref());
                        self.key_bound(position.key.as_ref());
                    }
                }
            }
            Order::Priority(range) => {
                for bound in [&range.start, &range.end] {
                    if let Bound::Included(position) | Bound::Excluded(position) = bound {
                        self.priority(position.value.as_ref());
                        self.key_bound(position.key.as_ref());
                    }
                }
            }
        }
        if let Order::Child(path, _) = &query.order {
            self.keys(path.keys());
        }
    }

    fn key_bound(&mut self, bound: Option<&KeyBound>) {
        if let Some(KeyBound::At(text)) = bound {
            self.add(text.len());
        }
    }
}
