//! One place that holds something: a leaf or an inner node, immutable and shared between snapshots.
//!
//! Why this layout: a database holds millions of small objects. A node is 24 bytes where it stands (short texts
//! included), and an inner node of up to 32 children is one allocation: its head and its sorted children. Above that
//! the children move to a counted tree. Both look the same from outside.

use crate::counted::{Difference, LEAF_MAX, LOOKED_THROUGH_MAX, Range, Spliced, Tree, View};
use crate::hash::HashCell;
use crate::key::{Key, key_order};
use crate::scalar::{Priority, Scalar};
use std::fmt;
use triomphe::{Arc, ThinArc};

/// Something that exists at a place: a leaf with a value, or an inner node with at least one child; either may have a
/// priority. Absence is `Option<Node>`, never an empty node. Cloning is O(1) and shares everything below.
#[derive(Clone)]
pub struct Node(Repr);

#[derive(Clone)]
enum Repr {
    Leaf(Scalar),
    PrioritizedLeaf(Arc<(Scalar, Priority)>),
    /// Up to [`LEAF_MAX`] children.
    Small(ThinArc<Head, Entry>),
    Large(Arc<Large>),
}

pub(crate) type Entry = (Key, Node);

/// What an inner node knows beside its children.
struct Head {
    priority: Option<Arc<Priority>>,
    /// How many children have a priority: where none has, the order by priority is the order by key.
    prioritized: u32,
    hash: HashCell,
}

struct Large {
    head: Head,
    children: Tree<Key, Node>,
}

const _: () = assert!(size_of::<Head>() == 32, "with four children a node then takes 240 bytes of heap");
const _: () = assert!(size_of::<Node>() == 24, "a node stands in 24 bytes beside its key");

impl Head {
    fn new(priority: Option<Arc<Priority>>, prioritized: u32) -> Self {
        Self { priority, prioritized, hash: HashCell::default() }
    }
}

impl From<Scalar> for Node {
    fn from(value: Scalar) -> Self {
        Self(Repr::Leaf(value))
    }
}

impl Node {
    /// An inner node of these children, in any order; of children with the same key the last one counts. Nothing, if
    /// there are none. O(n), O(n log n) if they are not in order.
    pub fn inner(children: impl IntoIterator<Item = (Key, Self)>) -> Option<Self> {
        let mut children: Vec<Entry> = children.into_iter().collect();
        if !children.is_sorted_by(|a, b| a.0 < b.0) {
            // Stable, and from the back, so that the last of equal keys is the one that stays.
            children.reverse();
            children.sort_by(|a, b| a.0.cmp(&b.0));
            children.dedup_by(|later, kept| later.0 == kept.0);
        }
        Self::from_sorted(children, None)
    }

    /// Children in strictly ascending order, from a vector or a part of one.
    pub(crate) fn from_sorted<I>(children: I, priority: Option<Arc<Priority>>) -> Option<Self>
    where
        I: IntoIterator<Item = Entry>,
        I::IntoIter: ExactSizeIterator + AsRef<[Entry]>,
    {
        let children = children.into_iter();
        let entries = children.as_ref();
        debug_assert!(entries.is_sorted_by(|a, b| a.0 < b.0), "children come strictly ascending");
        let prioritized = entries.iter().map(|(_, child)| prioritized(Some(child))).sum();
        let head = Head::new(priority, prioritized);
        match children.len() {
            0 => None,
            1..=LEAF_MAX => Some(Self(Repr::Small(ThinArc::from_header_and_iter(head, children)))),
            _ => {
                let children = Tree::from_sorted(children.collect());
                Some(Self(Repr::Large(Arc::new(Large { head, children }))))
            }
        }
    }

    /// The same value and children with this priority.
    #[must_use]
    pub fn with_priority(&self, priority: Option<Priority>) -> Self {
        match &self.0 {
            Repr::Leaf(value) => Self::leaf(value.clone(), priority),
            Repr::PrioritizedLeaf(leaf) => Self::leaf(leaf.0.clone(), priority),
            Repr::Small(slice) => {
                let head = Head::new(priority.map(Arc::new), slice.header.header.prioritized);
                Self(Repr::Small(ThinArc::from_header_and_iter(head, slice.slice.iter().cloned())))
            }
            Repr::Large(large) => {
                let head = Head::new(priority.map(Arc::new), large.head.prioritized);
                Self(Repr::Large(Arc::new(Large { head, children: large.children.clone() })))
            }
        }
    }

    fn leaf(value: Scalar, priority: Option<Priority>) -> Self {
        match priority {
            None => Self(Repr::Leaf(value)),
            Some(priority) => Self(Repr::PrioritizedLeaf(Arc::new((value, priority)))),
        }
    }

    /// The value of a leaf; nothing for an inner node.
    pub fn value(&self) -> Option<&Scalar> {
        match &self.0 {
            Repr::Leaf(value) => Some(value),
            Repr::PrioritizedLeaf(leaf) => Some(&leaf.0),
            Repr::Small(_) | Repr::Large(_) => None,
        }
    }

    /// The priority, where there is one.
    pub fn priority(&self) -> Option<&Priority> {
        match &self.0 {
            Repr::Leaf(_) => None,
            Repr::PrioritizedLeaf(leaf) => Some(&leaf.1),
            Repr::Small(_) | Repr::Large(_) => self.head()?.priority.as_deref(),
        }
    }

    /// The children in key order; none for a leaf.
    pub fn children(&self) -> Children<'_> {
        Children(match &self.0 {
            Repr::Leaf(_) | Repr::PrioritizedLeaf(_) => View::Leaf(&[]),
            Repr::Small(slice) => View::Leaf(&slice.slice),
            Repr::Large(large) => large.children.view(),
        })
    }

    /// The children of what does not exist.
    pub(crate) const fn no_children<'a>() -> Children<'a> {
        Children(View::Leaf(&[]))
    }

    /// The child of that name. O(log n).
    pub fn child(&self, key: &Key) -> Option<&Self> {
        self.children().get(key)
    }

    /// The child whose key is this text; none for a text that is no key. O(log n).
    pub fn child_named(&self, name: &str) -> Option<&Self> {
        self.children().named(name)
    }

    /// What is at the end of these keys, the node itself if there are none.
    pub fn get(&self, keys: &[Key]) -> Option<&Self> {
        keys.iter().try_fold(self, |node, key| node.child(key))
    }

    /// Whether any child has a priority; where none has, the order by priority is the order by key.
    pub fn has_prioritized_children(&self) -> bool {
        self.head().is_some_and(|head| head.prioritized != 0)
    }

    /// This node with `child` at `key`, or with nothing there (wire reference 7.7): a child below a leaf takes the
    /// leaf's value and keeps its priority; without its last child a node is gone, and its priority with it.
    /// O(log n).
    pub fn with_child(&self, key: &Key, child: Option<Self>) -> Option<Self> {
        self.with_child_made(key, |_| child)
    }

    /// As [`Node::with_child`], with what `make` makes of the child that is there now.
    pub(crate) fn with_child_made(
        &self,
        key: &Key,
        make: impl FnOnce(Option<&Self>) -> Option<Self>,
    ) -> Option<Self> {
        let children = self.children().0;
        let place = children.find(key);
        let old = place.value;
        let child = make(old);
        let same = match (old, &child) {
            (None, None) => true,
            (Some(old), Some(new)) => old.is_same(new),
            _ => false,
        };
        if same {
            return Some(self.clone());
        }
        let prioritized =
            self.head().map_or(0, |head| head.prioritized) + prioritized(child.as_ref()) - prioritized(old);
        let head = Head::new(self.shared_priority(), prioritized);
        if let View::Branch(..) = children {
            return Some(Self::from_tree(head, place.with(key, child)));
        }
        let len = place.before.len() + usize::from(child.is_some()) + place.after.len();
        match len {
            0 => None,
            1..=LEAF_MAX => {
                let entries =
                    Spliced::new(place.before, child.map(|child| (key.clone(), child)), place.after);
                Some(Self(Repr::Small(ThinArc::from_header_and_iter(head, entries))))
            }
            _ => Some(Self::from_tree(head, place.with(key, child))),
        }
    }

    /// A node of a tree that was edited: back to one slice where that suffices, by a margin, so that a node at the
    /// border does not change form with every edit.
    fn from_tree(head: Head, children: Tree<Key, Self>) -> Self {
        let len = children.view().len();
        if len <= LEAF_MAX / 2 {
            let entries = children.view().range(0, len).cloned();
            return Self(Repr::Small(ThinArc::from_header_and_iter(head, entries)));
        }
        Self(Repr::Large(Arc::new(Large { head, children })))
    }

    /// Whether the two are one allocation, or leaves of equal value: never wrong when it says yes. O(1), but for long
    /// texts.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Leaf(a), Repr::Leaf(b)) => a == b,
            (Repr::PrioritizedLeaf(a), Repr::PrioritizedLeaf(b)) => Arc::ptr_eq(a, b) || a == b,
            (Repr::Small(a), Repr::Small(b)) => a.ptr() == b.ptr(),
            (Repr::Large(a), Repr::Large(b)) => Arc::ptr_eq(a, b),
            (Repr::Leaf(_) | Repr::PrioritizedLeaf(_) | Repr::Small(_) | Repr::Large(_), _) => false,
        }
    }

    /// Whether anything lies more than `levels` keys below; the keys to it are then in `trail`, the last first.
    pub(crate) fn is_deeper_than(&self, levels: usize, trail: &mut Vec<Key>) -> bool {
        any_deeper_than(self.children().iter(), levels, trail, Self::is_deeper_than)
    }

    fn head(&self) -> Option<&Head> {
        match &self.0 {
            Repr::Leaf(_) | Repr::PrioritizedLeaf(_) => None,
            Repr::Small(slice) => Some(&slice.header.header),
            Repr::Large(large) => Some(&large.head),
        }
    }

    /// Where an inner node keeps its hash once it was asked for.
    pub(crate) fn hash_cell(&self) -> Option<&HashCell> {
        self.head().map(|head| &head.hash)
    }

    fn shared_priority(&self) -> Option<Arc<Priority>> {
        match &self.0 {
            Repr::Leaf(_) => None,
            Repr::PrioritizedLeaf(leaf) => Some(Arc::new(leaf.1.clone())),
            Repr::Small(_) | Repr::Large(_) => self.head()?.priority.clone(),
        }
    }
}

fn prioritized(child: Option<&Node>) -> u32 {
    u32::from(child.is_some_and(|child| child.priority().is_some()))
}

/// The children of a node, in key order. Cheap to copy; ranks count from 0.
#[derive(Clone, Copy)]
pub struct Children<'a>(View<'a, Key, Node>);

impl<'a> Children<'a> {
    /// How many there are. O(1).
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none, as in a leaf.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The child of that name. O(log n).
    pub fn get(self, key: &Key) -> Option<&'a Node> {
        self.named(key.as_str())
    }

    fn named(self, name: &str) -> Option<&'a Node> {
        match self.0 {
            View::Leaf(entries) if entries.len() <= LOOKED_THROUGH_MAX => {
                entries.iter().find(|(own, _)| own.as_str() == name).map(|(_, child)| child)
            }
            View::Leaf(_) | View::Branch(..) => self.0.get_by(|own| key_order(own.as_str(), name)),
        }
    }

    /// All of them, from both ends.
    pub fn iter(self) -> ChildIter<'a> {
        self.range(0, self.len())
    }

    /// Those of ranks `from..to`. O(log n) to begin.
    pub fn range(self, from: usize, to: usize) -> ChildIter<'a> {
        ChildIter(self.0.range(from, to))
    }

    /// The child with that many before it. O(log n).
    pub fn nth(self, rank: usize) -> Option<(&'a Key, &'a Node)> {
        self.0.nth(rank).map(|(key, child)| (key, child))
    }

    /// How many leading children have a key that satisfies `before`, which holds for a prefix of them. O(log n).
    pub fn rank(self, before: impl Fn(&Key) -> bool) -> usize {
        self.0.rank(before)
    }

    /// The children that are not the same in `after`, in key order; what the two share is skipped, so the cost follows
    /// the difference.
    pub(crate) fn difference(self, after: Self) -> impl Iterator<Item = ChildDifference<'a>> {
        Difference::new(self.0, after.0).filter_map(|differing| {
            let (before, after) = (differing.before, differing.after);
            let same = matches!((before, after), (Some(a), Some(b)) if a.is_same(b));
            (!same).then_some((differing.key, before, after))
        })
    }
}

/// A key, its child before and its child after.
pub(crate) type ChildDifference<'a> = (&'a Key, Option<&'a Node>, Option<&'a Node>);

impl<'a> IntoIterator for Children<'a> {
    type Item = (&'a Key, &'a Node);
    type IntoIter = ChildIter<'a>;

    fn into_iter(self) -> ChildIter<'a> {
        self.iter()
    }
}

/// Children in key order, from both ends.
pub struct ChildIter<'a>(Range<'a, Key, Node>);

impl<'a> Iterator for ChildIter<'a> {
    type Item = (&'a Key, &'a Node);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, child)| (key, child))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for ChildIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, child)| (key, child))
    }
}

impl ExactSizeIterator for ChildIter<'_> {}

/// Whether one of these children lies below `levels`, or something below it does, as `is_deeper_than` says of one child;
/// the keys to it are then in `trail`, the last first.
pub(crate) fn any_deeper_than<'a, T: 'a>(
    mut children: impl Iterator<Item = (&'a Key, &'a T)>,
    levels: usize,
    trail: &mut Vec<Key>,
    is_deeper_than: impl Fn(&T, usize, &mut Vec<Key>) -> bool,
) -> bool {
    children.any(|(key, child)| {
        let deeper = levels.checked_sub(1).is_none_or(|levels| is_deeper_than(child, levels, trail));
        if deeper {
            trail.push(key.clone());
        }
        deeper
    })
}

/// Deep, but parts that both share are equal without a look.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        if self.is_same(other) {
            return true;
        }
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0) {
            return a.header.header.priority == b.header.header.priority && a.slice == b.slice;
        }
        self.value() == other.value()
            && self.priority() == other.priority()
            && self.children().len() == other.children().len()
            && self.children().difference(other.children()).all(|(_, a, b)| a == b)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value(), self.priority()) {
            (Some(value), None) => write!(f, "{value:?}"),
            (Some(value), Some(priority)) => write!(f, "{value:?} with priority {priority:?}"),
            (None, priority) => {
                let mut map = f.debug_map();
                map.entries(self.children());
                if let Some(priority) = priority {
                    map.entry(&".priority", priority);
                }
                map.finish()
            }
        }
    }
}
