//! Ranges of leaves, by which clients that keep data say what they have of a large node (wire reference 6.5, 6.6).
//!
//! Why ranges of leaves and not children: a client cuts what it has into pieces of like size, wherever those end.

use crate::hash::{Doubles, Hash, add_literal};
use crate::key::{Key, key_order};
use crate::node::Node;
use crate::path::RelativePath;
use crate::scalar::{Priority, Scalar};
use sha1::{Digest, Sha1};
use std::cmp::Ordering;

/// Leaves of a node, in leaf order: depth first, children by key and never by priority, a place before those below it.
/// The priority of an inner node counts as a leaf `.priority` among its children.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeafRange<'a> {
    /// The range begins behind this place; without it, at the first leaf.
    pub after: Option<&'a RelativePath>,
    /// The range ends with this place; without it, with the last leaf.
    pub up_to: Option<&'a RelativePath>,
}

/// Where the name `.priority`, which is no key, stands among keys.
const PRIORITY: &str = ".priority";

/// What a range asks of one node: the ends that lie at or below it, as keys from it on.
#[derive(Clone, Copy)]
struct Part<'a> {
    after: Option<&'a [Key]>,
    up_to: Option<&'a [Key]>,
}

impl<'a> Part<'a> {
    fn of(range: LeafRange<'a>) -> Self {
        Self { after: range.after.map(RelativePath::keys), up_to: range.up_to.map(RelativePath::keys) }
    }

    const fn is_everything(self) -> bool {
        self.after.is_none() && self.up_to.is_none()
    }

    /// Whether it has the node itself, if that is a leaf: the end behind which the range begins is at it or below.
    const fn has_leaf(self) -> bool {
        self.after.is_none()
    }

    /// What it asks of the child of that name; nothing, if it has nothing of it.
    fn of_child(self, name: &str) -> Option<Self> {
        let after = match self.after {
            // The range begins behind the node itself, and every child is behind it.
            None | Some([]) => None,
            Some([first, below @ ..]) => match key_order(name, first.as_str()) {
                Ordering::Less => return None,
                Ordering::Equal => Some(below),
                Ordering::Greater => None,
            },
        };
        let up_to = match self.up_to {
            None => None,
            // It ends with the node itself, before every child.
            Some([]) => return None,
            Some([last, below @ ..]) => match key_order(name, last.as_str()) {
                Ordering::Less => None,
                Ordering::Equal => Some(below),
                Ordering::Greater => return None,
            },
        };
        Some(Self { after, up_to })
    }

    /// Whether it has the priority of the node, if that has children.
    fn has_priority(self) -> bool {
        self.of_child(PRIORITY).is_some_and(Part::has_leaf)
    }

    /// The children of which it may have something, in key order, with what it asks of them. O(log n) to begin.
    fn of_children<'n>(
        self,
        node: &'n Node,
    ) -> impl Iterator<Item = (&'n Key, &'n Node, Self)> + use<'a, 'n> {
        let children = node.children();
        let from = match self.after {
            None | Some([]) => 0,
            Some([first, ..]) => children.rank(|key| key < first),
        };
        let to = match self.up_to {
            None => children.len(),
            Some([]) => from,
            Some([last, ..]) => children.rank(|key| key <= last),
        };
        let part = move |(key, child)| Some((key, child, self.of_child(Key::as_str(key))?));
        children.range(from, to.max(from)).filter_map(part)
    }
}

impl Node {
    /// The hash of the leaves in a range (wire reference 6.5); nothing, if there are none. O(nodes in the range).
    pub fn range_hash(&self, range: LeafRange<'_>) -> Option<Hash> {
        let mut text = RangeText::default();
        text.add(self, Part::of(range));
        text.finish()
    }

    /// The leaves in a range, as a tree from this node on; nothing, if there are none. Shares what lies whole in it.
    #[must_use]
    pub fn in_range(&self, range: LeafRange<'_>) -> Option<Self> {
        within(self, Part::of(range))
    }

    /// Whether this node or any below has both children and a priority. O(nodes).
    pub fn has_inner_priority(&self) -> bool {
        let children = self.children();
        !children.is_empty()
            && (self.priority().is_some() || children.iter().any(|(_, child)| child.has_inner_priority()))
    }
}

fn within(node: &Node, part: Part<'_>) -> Option<Node> {
    if part.is_everything() {
        return Some(node.clone());
    }
    if node.value().is_some() {
        return part.has_leaf().then(|| node.clone());
    }
    let children = part.of_children(node);
    let within =
        Node::inner(children.filter_map(|(key, child, below)| Some((key.clone(), within(child, below)?))))?;
    Some(match node.priority().filter(|_| part.has_priority()) {
        Some(priority) => within.with_priority(Some(priority.clone())),
        None => within,
    })
}

/// The text of a range on its way into the hash. The names that lead to a leaf are written when the first leaf below
/// them is.
#[derive(Default)]
struct RangeText<'a> {
    sha: Sha1,
    /// The names from the node to where the walk is.
    names: Vec<&'a str>,
    /// How many of them are written; the text has begun when there was a leaf.
    written: usize,
    has_begun: bool,
    needs_comma: bool,
}

impl<'a> RangeText<'a> {
    fn add(&mut self, node: &'a Node, part: Part<'_>) {
        if let Some(value) = node.value() {
            if part.has_leaf() {
                self.begin_leaf();
                if let Some(priority) = node.priority() {
                    self.sha.update("priority:");
                    self.add_literal(&priority.clone().into());
                    self.sha.update(":");
                }
                self.add_literal(value);
            }
            return;
        }
        let mut priority = node.priority().filter(|_| part.has_priority() && has_key_behind_priority(node));
        for (key, child, below) in part.of_children(node) {
            if key_order(PRIORITY, key.as_str()) == Ordering::Less
                && let Some(priority) = priority.take()
            {
                self.add_priority(priority);
            }
            self.names.push(key.as_str());
            self.add(child, below);
            self.leave();
        }
        if let Some(priority) = priority {
            self.add_priority(priority);
        }
    }

    fn add_priority(&mut self, priority: &Priority) {
        self.names.push(PRIORITY);
        self.begin_leaf();
        self.add_literal(&priority.clone().into());
        self.leave();
    }

    fn begin_leaf(&mut self) {
        if !self.has_begun {
            self.has_begun = true;
            self.sha.update("(");
        }
        for name in &self.names[self.written..] {
            if std::mem::take(&mut self.needs_comma) {
                self.sha.update(",");
            }
            add_quoted(&mut self.sha, name);
            self.sha.update(":(");
        }
        self.written = self.names.len();
    }

    fn leave(&mut self) {
        self.names.pop();
        if self.names.len() < self.written {
            self.written = self.names.len();
            self.needs_comma = true;
            self.sha.update(")");
        }
    }

    fn add_literal(&mut self, value: &Scalar) {
        match value {
            Scalar::Text(text) => {
                self.sha.update("string:");
                add_quoted(&mut self.sha, text.as_str());
            }
            Scalar::Bool(_) | Scalar::Number(_) => add_literal(&mut self.sha, value, Doubles::True),
        }
    }

    fn finish(mut self) -> Option<Hash> {
        self.has_begun.then(|| {
            self.sha.update(")");
            Hash::of(self.sha)
        })
    }
}

/// Clients come to the priority of a node only on their way to a key behind it, so that without one it is in no range's
/// text.
fn has_key_behind_priority(node: &Node) -> bool {
    let last = node.children().iter().next_back();
    last.is_some_and(|(key, _)| key_order(PRIORITY, key.as_str()) == Ordering::Less)
}

fn add_quoted(sha: &mut Sha1, text: &str) {
    sha.update("\"");
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\\']) {
        sha.update(&rest[..at]);
        sha.update("\\");
        sha.update(&rest[at..=at]);
        rest = &rest[at + 1..];
    }
    sha.update(rest);
    sha.update("\"");
}
