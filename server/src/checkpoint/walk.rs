//! The leaves of a tree in depth-first key order, from any place on.
//!
//! Why priorities of inner nodes are items of their own: a tree is then nothing but a sorted list, and every part of it
//! can be written without the rest.

use hearth_tree::{ChildIter, Key, Node, Priority};

/// What stands at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item<'a> {
    /// A leaf, with its priority.
    Leaf(&'a Node),
    /// The priority of an inner node. Something below it follows.
    Priority(&'a Priority),
}

pub(crate) struct Walk<'a> {
    /// The place of `node`, or of the last one looked at.
    keys: Vec<Key>,
    /// What is left of the children of each node above.
    levels: Vec<ChildIter<'a>>,
    /// To be looked at next.
    node: Option<&'a Node>,
}

impl<'a> Walk<'a> {
    /// From the first item at or behind a place. O(depth x log n).
    pub(crate) fn from(root: Option<&'a Node>, at: &[Key]) -> Self {
        let mut walk = Self { keys: Vec::new(), levels: Vec::new(), node: root };
        for key in at {
            // What is there stands before the place.
            let Some(node) = walk.node.take() else { break };
            let children = node.children();
            let before = children.rank(|own| own < key);
            walk.node = children.get(key);
            let passed = before + usize::from(walk.node.is_some());
            walk.levels.push(children.range(passed, children.len()));
            walk.keys.push(key.clone());
        }
        walk
    }

    /// The next item and its place. O(1) on average.
    pub(crate) fn next(&mut self) -> Option<(&[Key], Item<'a>)> {
        loop {
            if let Some(node) = self.node.take() {
                if node.value().is_some() {
                    return Some((&self.keys, Item::Leaf(node)));
                }
                self.levels.push(node.children().iter());
                if let Some(priority) = node.priority() {
                    return Some((&self.keys, Item::Priority(priority)));
                }
            }
            let above = self.levels.len().checked_sub(1)?;
            self.keys.truncate(above);
            match self.levels[above].next() {
                None => drop(self.levels.pop()),
                Some((key, child)) => {
                    self.keys.push(key.clone());
                    self.node = Some(child);
                }
            }
        }
    }
}
