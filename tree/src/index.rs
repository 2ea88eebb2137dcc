//! The children of one node in another order than by key.
//!
//! Why persistent: a view compares the windows of two snapshots, so both snapshots need their index, and sharing makes
//! the second one cost only what has changed.

use crate::counted::{Range, Tree, View as TreeView};
use crate::key::Key;
use crate::node::Node;
use crate::order::SortValue;
use crate::query::{ChildPath, Cut};
use std::cmp::Ordering;
use std::fmt;

/// The children of a node, ordered. Belongs to one snapshot of the node, which it keeps; cloning is O(1) and shares
/// everything.
#[derive(Clone)]
pub struct Index {
    by: IndexBy,
    node: Option<Node>,
    entries: Tree<Entry, ()>,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("by", &self.by).field("len", &self.len()).finish()
    }
}

/// What an index orders by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IndexBy {
    /// The value at a place below each child.
    Child(ChildPath),
    /// The child's own value.
    Value,
    /// The child's priority.
    Priority,
}

/// Where more than one child in so many has changed, sorting them all anew is faster than an edit for each: a list of a
/// million that somebody replaces as a whole took seventy times as long.
const EDITED_SHARE: usize = 32;
/// So many edits cost too little to look for something better.
const EDITS_MIN: usize = 32;

#[derive(Clone)]
struct Entry {
    value: SortValue,
    key: Key,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.order(&other.value).then_with(|| self.key.cmp(&other.key))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl IndexBy {
    /// What a child is ordered by.
    pub(crate) fn sort_value(&self, child: &Node) -> SortValue {
        match self {
            Self::Child(path) => Self::child_value(path, child),
            Self::Value => SortValue::of(Some(child)),
            Self::Priority => SortValue::of_priority(child),
        }
    }

    pub(crate) fn child_value(path: &ChildPath, child: &Node) -> SortValue {
        SortValue::of(child.get(path.keys()))
    }
}

impl Index {
    /// Sorts the children of a node. O(n log n): where a node is large, build it where nobody waits.
    pub fn build(by: IndexBy, node: Option<&Node>) -> Self {
        let children = node.into_iter().flat_map(Node::children);
        let mut entries: Vec<_> = children
            .map(|(key, child)| (Entry { value: by.sort_value(child), key: key.clone() }, ()))
            .collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Self { by, node: node.cloned(), entries: Tree::from_sorted(entries) }
    }

    /// The index of the same node in a later snapshot. O(log n) for each child that has changed, and never much more
    /// than [`Index::build`].
    #[must_use]
    pub fn updated(&self, later: Option<&Node>) -> Self {
        self.try_updated(later).unwrap_or_else(|| Self::build(self.by.clone(), later))
    }

    /// The same, unless so much has changed that it is faster to build it anew. O(log n) for each child that has.
    pub fn try_updated(&self, later: Option<&Node>) -> Option<Self> {
        let edits_max = EDITS_MIN.max(later.map_or(0, |node| node.children().len()) / EDITED_SHARE);
        self.updated_within(edits_max, later)
    }

    /// The same, if no more children have changed than these. O(log n) for each.
    pub fn updated_within(&self, edits_max: usize, later: Option<&Node>) -> Option<Self> {
        let nothing = Node::no_children();
        let [before, after] = [self.node.as_ref(), later].map(|node| node.map_or(nothing, Node::children));
        let mut entries = self.entries.clone();
        for (edits, (key, a, b)) in before.difference(after).enumerate() {
            if edits == edits_max {
                return None;
            }
            let [a, b] = [a, b].map(|child| child.map(|child| self.by.sort_value(child)));
            if a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| a.order(b).is_eq()) {
                continue;
            }
            if let Some(value) = a {
                entries = entries.with(&Entry { value, key: key.clone() }, None);
            }
            if let Some(value) = b {
                entries = entries.with(&Entry { value, key: key.clone() }, Some(()));
            }
        }
        Some(Self { by: self.by.clone(), node: later.cloned(), entries })
    }

    /// What it orders by.
    pub const fn by(&self) -> &IndexBy {
        &self.by
    }

    /// Whether it orders the children of this node, as they are in this snapshot.
    pub fn belongs_to(&self, node: Option<&Node>) -> bool {
        match (&self.node, node) {
            (None, None) => true,
            (Some(own), Some(node)) => own.is_same(node),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// How many children it orders.
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether it orders none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn nth(&self, rank: usize) -> Option<(&SortValue, &Key)> {
        self.view().nth(rank).map(|(entry, ())| (&entry.value, &entry.key))
    }

    /// How many children lie before a cut.
    pub(crate) fn rank(&self, cut: &Cut) -> usize {
        self.view().rank(|entry| cut.is_after(&entry.value, &entry.key))
    }

    /// The keys of ranks `from..to`, in the index's order.
    pub(crate) fn keys(&self, from: usize, to: usize) -> IndexKeys<'_> {
        IndexKeys(self.view().range(from, to))
    }

    fn view(&self) -> TreeView<'_, Entry, ()> {
        self.entries.view()
    }
}

/// Keys in the order of an index, from both ends.
pub(crate) struct IndexKeys<'a>(Range<'a, Entry, ()>);

impl<'a> Iterator for IndexKeys<'a> {
    type Item = &'a Key;

    fn next(&mut self) -> Option<&'a Key> {
        self.0.next().map(|(entry, ())| &entry.key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for IndexKeys<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(entry, ())| &entry.key)
    }
}
