//! A snapshot as rules see it: a place in the tree before or after the operation, whether anything is there or not
//! (rules reference 4.1).

use crate::limits::RULE_PATH_BYTES_MAX;
use hearth_tree::{DEPTH_MAX, KEY_BYTES_MAX, Key, Node, Path};

/// In which tree a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// As it is before the operation: `root`, `data`.
    Before,
    /// As it will be: `newData`.
    After,
}

/// A place that a rule holds.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    when: When,
    /// From the root down to it or to what it was reached from.
    base: &'a [Key],
    /// From there down.
    below: Vec<Key>,
    /// How many levels further down, by keys that no data can have.
    beyond: usize,
    node: Option<&'a Node>,
}

impl<'a> Place<'a> {
    pub(crate) const fn new(when: When, base: &'a [Key], node: Option<&'a Node>) -> Self {
        Self { when, base, below: Vec::new(), beyond: 0, node }
    }

    pub(crate) const fn when(&self) -> When {
        self.when
    }

    /// What is there.
    pub(crate) const fn node(&self) -> Option<&'a Node> {
        self.node
    }

    /// Where it is; nothing, if no data can be there.
    pub(crate) fn path(&self) -> Option<Path> {
        (self.beyond == 0).then(|| self.base.iter().chain(&self.below).cloned().collect())
    }

    /// Goes down. A key that data cannot have does not exist, and neither does anything below it; `.` and `..` are such
    /// keys. A path without any key names no child: were it the node itself, `root.child('admins').child(x).exists()`
    /// would let in whoever has an empty name (rules reference 13, point 7).
    pub(crate) fn child(mut self, path: &str) -> Self {
        let mut keys = path.split('/').filter(|key| !key.is_empty()).peekable();
        if keys.peek().is_none() || RULE_PATH_BYTES_MAX < path.len() {
            self.beyond += 1;
            self.node = None;
            return self;
        }
        for key in keys {
            // What is too long is not even copied into the complaint about it.
            let key = if key.len() <= KEY_BYTES_MAX { Key::parse(key).ok() } else { None };
            self.step(key);
        }
        self
    }

    /// Goes down by keys that were read before; at least one.
    pub(crate) fn descend(mut self, keys: &[Key]) -> Self {
        self.below.reserve(keys.len());
        for key in keys {
            self.step(Some(key.clone()));
        }
        self
    }

    /// One level down; by what is no key, beyond all data.
    fn step(&mut self, key: Option<Key>) {
        let fits = self.beyond == 0 && self.base.len() + self.below.len() < DEPTH_MAX;
        match key {
            Some(key) if fits => {
                self.node = self.node.and_then(|node| node.child(&key));
                self.below.push(key);
            }
            Some(_) | None => {
                self.beyond += 1;
                self.node = None;
            }
        }
    }

    /// Goes up; nothing above the root. `root` is that of its tree. O(depth).
    pub(crate) fn parent(mut self, root: Option<&'a Node>) -> Option<Self> {
        if self.beyond != 0 {
            self.beyond -= 1;
        } else if self.below.pop().is_none() {
            (_, self.base) = self.base.split_last()?;
        }
        if self.beyond == 0 {
            let above = root.and_then(|root| root.get(self.base));
            self.node = above.and_then(|node| node.get(&self.below));
        }
        Some(self)
    }
}
