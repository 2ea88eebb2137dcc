//! What a query shows of a node, and what a commit changes of that.
//!
//! Why a view keeps nothing but ranks: both snapshots of a commit are at hand, and the counted trees find the window in
//! each in O(log n). So a listener holds no list of what it was shown, however long its window is.

use crate::index::{Index, IndexBy, IndexKeys};
use crate::key::{Key, OneLine};
use crate::node::{ChildIter, Children, Node};
use crate::order::SortValue;
use crate::query::{Cut, KeyBound, Query, Window};
use std::collections::BTreeMap;
use std::ops::Range;

/// The children of a node that a query shows, in the query's order, at one snapshot.
pub struct View<'a> {
    query: &'a Query,
    children: Children<'a>,
    order: Ordered<'a>,
    window: Range<usize>,
}

/// Where the order comes from.
#[derive(Clone, Copy)]
enum Ordered<'a> {
    /// By key, or by priority where no child has one.
    ByKey(Children<'a>),
    ByIndex(&'a Index),
}

/// A query whose order needs an index that was not given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the children would have to be sorted: an index by {} is needed", match .0 {
    IndexBy::Child(path) => format!("`{}`", OneLine(path)),
    IndexBy::Value => "value".into(),
    IndexBy::Priority => "priority".into(),
})]
pub struct IndexNeeded(pub IndexBy);

/// What became of one child, seen through a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChildChange<'a> {
    /// It was not shown and is now.
    Entered(&'a Node),
    /// It is shown, with another value or priority.
    Changed {
        /// What was shown.
        before: &'a Node,
        /// What is to be shown.
        after: &'a Node,
    },
    /// It was shown and is no more: deleted, or out of the window.
    Left,
}

impl<'a> View<'a> {
    /// The ranks in the order of the query of what it shows; where that is by key, those of the children.
    pub fn shown_ranks(&self) -> Range<usize> {
        self.window.clone()
    }

    /// What `query` shows of `node`, the children of a leaf or of nothing being none. O(log n). The index, if one is
    /// needed ([`Query::index_for`]), must be that of the same snapshot.
    ///
    /// # Errors
    /// [`IndexNeeded`] if that index is not given, or is that of another snapshot.
    pub fn new(
        query: &'a Query,
        node: Option<&'a Node>,
        index: Option<&'a Index>,
    ) -> Result<Self, IndexNeeded> {
        let children = node.map_or(Node::no_children(), Node::children);
        let order = match query.index_for(node) {
            None => Ordered::ByKey(children),
            Some(by) => match index.filter(|index| *index.by() == by && index.belongs_to(node)) {
                Some(index) => Ordered::ByIndex(index),
                None => return Err(IndexNeeded(by)),
            },
        };
        let (start, end) = query.cuts();
        let start = order.rank(&start);
        // A range that ends before it starts holds nothing.
        let range = start..order.rank(&end).max(start);
        let window = match query.window {
            Window::All => range,
            Window::First(limit) => {
                range.start..range.end.min(range.start.saturating_add(limit.get() as usize))
            }
            Window::Last(limit) => range.start.max(range.end.saturating_sub(limit.get() as usize))..range.end,
        };
        Ok(Self { query, children, order, window })
    }

    /// How many children are shown.
    pub fn len(&self) -> usize {
        self.window.len()
    }

    /// Whether no child is shown.
    pub fn is_empty(&self) -> bool {
        self.window.is_empty()
    }

    /// The children shown, in the query's order, from both ends. O(log n) for each, O(1) in key order.
    pub fn iter(&self) -> ViewIter<'a> {
        self.ranks(self.window.clone())
    }

    /// The children shown as a node of their own, which is what clients hash and hold: without the priority of the node
    /// that was queried (wire reference 5.2). Nothing, if none is shown.
    pub fn to_node(&self) -> Option<Node> {
        Node::inner(self.iter().map(|(key, child)| (key.clone(), child.clone())))
    }

    /// What has changed of what this view shows in `later`, the view of the same query at a later snapshot: applied to
    /// what was shown it gives what is to be shown. By key. Skips what the snapshots share: O(log n) for each child
    /// that differs.
    pub fn changes(&self, later: &Self) -> BTreeMap<&'a Key, ChildChange<'a>> {
        debug_assert!(self.query == later.query, "both views are of one query");
        let (shown, to_show) = (self.extent(), later.extent());
        let mut changes = BTreeMap::new();
        let mut moved = Vec::new();
        for (key, before, after) in self.children.difference(later.children) {
            let was = before.filter(|child| shown.holds(&self.query.sort_value(child), key));
            let is = after.filter(|child| to_show.holds(&self.query.sort_value(child), key));
            let change = match (was, is) {
                (None, None) => None,
                (Some(before), Some(after)) => {
                    (before != after).then_some(ChildChange::Changed { before, after })
                }
                (None, Some(after)) => Some(ChildChange::Entered(after)),
                (Some(_), None) => Some(ChildChange::Left),
            };
            moved.push(key);
            changes.extend(change.map(|change| (key, change)));
        }
        // Children that are the same but lie on the other side of the window's border now.
        let unmoved = |key: &Key| moved.binary_search(&key).is_err();
        for (key, child) in later.outside(&shown).filter(|(key, _)| unmoved(key)) {
            changes.insert(key, ChildChange::Entered(child));
        }
        for (key, _) in self.outside(&to_show).filter(|(key, _)| unmoved(key)) {
            changes.insert(key, ChildChange::Left);
        }
        changes
    }

    /// From the first child shown to the last.
    fn extent(&self) -> Extent {
        let place = |rank| self.order.nth(rank);
        match (place(self.window.start), self.window.end.checked_sub(1).and_then(place)) {
            (Some(first), Some(last)) if !self.is_empty() => {
                Extent::Within { first: first.into(), last: last.into() }
            }
            _ => Extent::Nothing,
        }
    }

    /// The children shown here that lie outside another extent.
    fn outside(&self, extent: &Extent) -> impl Iterator<Item = (&'a Key, &'a Node)> {
        let Range { start, end } = self.window;
        let (before, after) = match extent {
            Extent::Nothing => (end, end),
            Extent::Within { first, last } => {
                (self.order.rank(&first.cut(false)), self.order.rank(&last.cut(true)))
            }
        };
        self.ranks(start..before.clamp(start, end)).chain(self.ranks(after.clamp(start, end)..end))
    }

    fn ranks(&self, ranks: Range<usize>) -> ViewIter<'a> {
        match self.order {
            Ordered::ByKey(children) => ViewIter(Ranked::ByKey(children.range(ranks.start, ranks.end))),
            Ordered::ByIndex(index) => ViewIter(Ranked::ByIndex {
                children: self.children,
                keys: index.keys(ranks.start, ranks.end),
            }),
        }
    }
}

impl<'a> Ordered<'a> {
    fn rank(self, cut: &Cut) -> usize {
        match self {
            Self::ByKey(children) => children.rank(|key| cut.is_after(&SortValue::Null, key)),
            Self::ByIndex(index) => index.rank(cut),
        }
    }

    fn nth(self, rank: usize) -> Option<(SortValue, &'a Key)> {
        match self {
            Self::ByKey(children) => children.nth(rank).map(|(key, _)| (SortValue::Null, key)),
            Self::ByIndex(index) => index.nth(rank).map(|(value, key)| (value.clone(), key)),
        }
    }
}

/// Where the children that are shown begin and end.
enum Extent {
    Nothing,
    Within { first: Place, last: Place },
}

struct Place {
    value: SortValue,
    key: Key,
}

impl Extent {
    fn holds(&self, value: &SortValue, key: &Key) -> bool {
        match self {
            Self::Nothing => false,
            Self::Within { first, last } => {
                !first.cut(false).is_after(value, key) && last.cut(true).is_after(value, key)
            }
        }
    }
}

impl Place {
    fn cut(&self, after: bool) -> Cut {
        Cut::Beside { value: self.value.clone(), key: KeyBound::At(self.key.as_str().into()), after }
    }
}

impl From<(SortValue, &Key)> for Place {
    fn from((value, key): (SortValue, &Key)) -> Self {
        Self { value, key: key.clone() }
    }
}

/// The children that a view shows, in its order, from both ends.
pub struct ViewIter<'a>(Ranked<'a>);

enum Ranked<'a> {
    ByKey(ChildIter<'a>),
    ByIndex { children: Children<'a>, keys: IndexKeys<'a> },
}

impl<'a> Ranked<'a> {
    /// The child of a key that the index knows.
    fn child(children: Children<'a>, key: &'a Key) -> (&'a Key, &'a Node) {
        (key, children.get(key).expect("the index is that of this node"))
    }
}

impl<'a> Iterator for ViewIter<'a> {
    type Item = (&'a Key, &'a Node);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Ranked::ByKey(children) => children.next(),
            Ranked::ByIndex { children, keys } => keys.next().map(|key| Ranked::child(*children, key)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Ranked::ByKey(children) => children.size_hint(),
            Ranked::ByIndex { keys, .. } => keys.size_hint(),
        }
    }
}

impl DoubleEndedIterator for ViewIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Ranked::ByKey(children) => children.next_back(),
            Ranked::ByIndex { children, keys } => keys.next_back().map(|key| Ranked::child(*children, key)),
        }
    }
}

impl ExactSizeIterator for ViewIter<'_> {}
