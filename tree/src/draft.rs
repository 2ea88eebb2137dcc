//! A value as a client wrote it: it may hold server values, so it is not a node yet.
//!
//! Why a type of its own: only resolved data can be committed, and a value without server values (nearly every one) is
//! a node from the start and costs nothing more.

use crate::key::{Key, OneLine};
use crate::limits::DEPTH_MAX;
use crate::node::{Node, any_deeper_than};
use crate::path::RelativePath;
use crate::scalar::{NotFinite, Number, Priority, Scalar};
use crate::server_value::ServerValue;

/// Something to write at a place; nothing, that is a delete, is `Option<Draft>`. At most 32 levels deep.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft(Shape);

/// What a draft is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A node: there are no server values in it.
    Resolved(Node),
    /// A leaf with a server value as its value or its priority.
    Leaf {
        /// The value.
        value: Pending<Scalar>,
        /// The priority, where there is one.
        priority: Option<Pending<Priority>>,
    },
    /// An inner node with a server value as its priority or somewhere below.
    Inner {
        /// Strictly ascending, at least one.
        children: Vec<(Key, Draft)>,
        /// The priority, where there is one.
        priority: Option<Pending<Priority>>,
    },
}

/// A value, or how the server shall make it.
#[derive(Clone, Debug, PartialEq)]
pub enum Pending<T> {
    /// What the client wrote.
    Known(T),
    /// What the server fills in.
    Server(ServerValue),
}

/// An increment inside a value whose sum the tree cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the increment at `{}` goes beyond the largest number, 1.797e308", OneLine(.at))]
pub struct IncrementError {
    /// Where, from the written place on.
    pub at: RelativePath,
}

impl From<Node> for Draft {
    fn from(node: Node) -> Self {
        Self(Shape::Resolved(node))
    }
}

impl Draft {
    /// A leaf.
    pub fn leaf(value: Pending<Scalar>, priority: Option<Pending<Priority>>) -> Self {
        Self(match (value, priority) {
            (Pending::Known(value), None) => Shape::Resolved(value.into()),
            (Pending::Known(value), Some(Pending::Known(priority))) => {
                Shape::Resolved(Node::from(value).with_priority(Some(priority)))
            }
            (value, priority) => Shape::Leaf { value, priority },
        })
    }

    /// An inner node of these children, in any order; of children with the same key the last one counts. Nothing, if
    /// there are none. O(n), O(n log n) if they are not in order.
    pub fn object(mut children: Vec<(Key, Self)>, priority: Option<Pending<Priority>>) -> Option<Self> {
        if !children.is_sorted_by(|a, b| a.0 < b.0) {
            // Stable, and from the back, so that the last of equal keys is the one that stays.
            children.reverse();
            children.sort_by(|a, b| a.0.cmp(&b.0));
            children.dedup_by(|later, kept| later.0 == kept.0);
        }
        Self::inner(children, priority)
    }

    /// An inner node of children in strictly ascending order; nothing, if there are none.
    pub(crate) fn inner(children: Vec<(Key, Self)>, priority: Option<Pending<Priority>>) -> Option<Self> {
        if children.is_empty() {
            return None;
        }
        let resolved = |(_, child): &(Key, Self)| matches!(child.0, Shape::Resolved(_));
        let priority = match priority {
            Some(Pending::Known(priority)) => Ok(Some(priority)),
            None => Ok(None),
            Some(Pending::Server(value)) => Err(value),
        };
        match priority {
            Ok(priority) if children.iter().all(resolved) => {
                let nodes = children.into_iter().filter_map(|(key, child)| match child.0 {
                    Shape::Resolved(node) => Some((key, node)),
                    Shape::Leaf { .. } | Shape::Inner { .. } => None,
                });
                let nodes: Vec<_> = nodes.collect();
                let node = Node::from_sorted(nodes, priority.map(triomphe::Arc::new))?;
                Some(Self(Shape::Resolved(node)))
            }
            Ok(priority) => Some(Self(Shape::Inner { children, priority: priority.map(Pending::Known) })),
            Err(value) => Some(Self(Shape::Inner { children, priority: Some(Pending::Server(value)) })),
        }
    }

    /// `value` after a write at the end of these keys, as the tree would change (wire reference 7.7): what is queued to
    /// be written at a place takes in what is queued below it. O(children) at each level.
    pub fn with(value: Option<Self>, keys: &[Key], new: Option<Self>) -> Option<Self> {
        let Some((key, below)) = keys.split_first() else {
            return new;
        };
        let (mut children, priority) = match (value, &new) {
            (None, None) => return None,
            (None, Some(_)) => (Vec::new(), None),
            // A delete below a leaf changes nothing.
            (Some(leaf), None) if leaf.is_leaf() => return Some(leaf),
            (Some(value), _) => value.into_children(),
        };
        let place = children.binary_search_by(|(own, _)| own.cmp(key));
        let child = place.ok().map(|at| children.remove(at).1);
        if let Some(child) = Self::with(child, below, new) {
            let (Ok(at) | Err(at)) = place;
            children.insert(at, (key.clone(), child));
        }
        Self::inner(children, priority)
    }

    /// The same value and children with this priority.
    #[must_use]
    pub fn with_priority(self, priority: Option<Pending<Priority>>) -> Self {
        match self.0 {
            Shape::Leaf { value, .. } => Self::leaf(value, priority),
            Shape::Inner { children, .. } => Self::of_children(children, priority),
            Shape::Resolved(node) => match (node.value(), priority) {
                (_, None) => Self(Shape::Resolved(node.with_priority(None))),
                (_, Some(Pending::Known(priority))) => {
                    Self(Shape::Resolved(node.with_priority(Some(priority))))
                }
                (Some(value), priority) => Self::leaf(Pending::Known(value.clone()), priority),
                (None, priority) => {
                    Self::of_children(Self(Shape::Resolved(node)).into_children().0, priority)
                }
            },
        }
    }

    /// What is at the end of these keys.
    pub fn get(&self, keys: &[Key]) -> Option<Self> {
        let Some((key, below)) = keys.split_first() else {
            return Some(self.clone());
        };
        match &self.0 {
            Shape::Resolved(node) => node.get(keys).cloned().map(Self::from),
            Shape::Leaf { .. } => None,
            Shape::Inner { children, .. } => {
                let at = children.binary_search_by(|(own, _)| own.cmp(key)).ok()?;
                children[at].1.get(below)
            }
        }
    }

    /// Whether there are no children.
    pub fn is_leaf(&self) -> bool {
        match &self.0 {
            Shape::Resolved(node) => node.value().is_some(),
            Shape::Leaf { .. } => true,
            Shape::Inner { .. } => false,
        }
    }

    /// The children in key order, none for a leaf, and the priority.
    pub fn into_children(self) -> (Vec<(Key, Self)>, Option<Pending<Priority>>) {
        match self.0 {
            Shape::Leaf { priority, .. } => (Vec::new(), priority),
            Shape::Inner { children, priority } => (children, priority),
            Shape::Resolved(node) => {
                let children = node.children().iter().map(|(key, child)| (key.clone(), child.clone().into()));
                (children.collect(), node.priority().cloned().map(Pending::Known))
            }
        }
    }

    fn of_children(children: Vec<(Key, Self)>, priority: Option<Pending<Priority>>) -> Self {
        Self::inner(children, priority).expect("they were the children of an inner node")
    }

    /// The node, if the value holds no server value.
    pub const fn as_node(&self) -> Option<&Node> {
        match &self.0 {
            Shape::Resolved(node) => Some(node),
            Shape::Leaf { .. } | Shape::Inner { .. } => None,
        }
    }

    /// What it is made of, for who writes it down.
    pub const fn shape(&self) -> &Shape {
        &self.0
    }

    /// The node, if the value holds no server value; otherwise the draft again.
    pub(crate) fn into_node(self) -> Result<Node, Self> {
        match self.0 {
            Shape::Resolved(node) => Ok(node),
            Shape::Leaf { .. } | Shape::Inner { .. } => Err(self),
        }
    }

    /// Fills in the server values. `current` is what is at the place now; O(1) where there are none.
    ///
    /// # Errors
    /// [`IncrementError`] names the place of an increment that cannot be stored.
    pub fn resolve(&self, now_ms: i64, current: Option<&Node>) -> Result<Node, IncrementError> {
        let mut trail = Vec::new();
        self.resolve_at(now_ms, current, &mut trail)
            .map_err(|NotFinite| IncrementError { at: trail.into_iter().rev().collect() })
    }

    /// On an error the keys to its place are left in `trail`, the last first.
    fn resolve_at(
        &self,
        now_ms: i64,
        current: Option<&Node>,
        trail: &mut Vec<Key>,
    ) -> Result<Node, NotFinite> {
        let (node, priority) = match &self.0 {
            Shape::Resolved(node) => return Ok(node.clone()),
            Shape::Leaf { value, priority } => {
                let value = match value {
                    Pending::Known(value) => value.clone(),
                    Pending::Server(value) => Scalar::Number(
                        value.resolve(now_ms, current.and_then(Node::value).and_then(Scalar::number))?,
                    ),
                };
                (Node::from(value), priority)
            }
            Shape::Inner { children, priority } => {
                let resolved = children.iter().map(|(key, child)| {
                    let current = current.and_then(|current| current.child(key));
                    let node =
                        child.resolve_at(now_ms, current, trail).inspect_err(|_| trail.push(key.clone()))?;
                    Ok((key.clone(), node))
                });
                let children = resolved.collect::<Result<Vec<_>, NotFinite>>()?;
                (
                    Node::from_sorted(children, None).expect("a draft has children where it is no leaf"),
                    priority,
                )
            }
        };
        match priority {
            None => Ok(node),
            Some(priority) => {
                let current = current.and_then(Node::priority).and_then(Priority::number);
                Ok(node.with_priority(Some(resolve_priority(priority, now_ms, current)?)))
            }
        }
    }

    /// The first place that is more than `levels` keys below this one.
    pub(crate) fn deeper_than(&self, levels: usize) -> Option<RelativePath> {
        let mut trail = Vec::with_capacity(DEPTH_MAX);
        self.is_deeper_than(levels, &mut trail).then(|| trail.into_iter().rev().collect())
    }

    fn is_deeper_than(&self, levels: usize, trail: &mut Vec<Key>) -> bool {
        match &self.0 {
            Shape::Resolved(node) => node.is_deeper_than(levels, trail),
            Shape::Leaf { .. } => false,
            Shape::Inner { children, .. } => any_deeper_than(
                children.iter().map(|(key, child)| (key, child)),
                levels,
                trail,
                Self::is_deeper_than,
            ),
        }
    }
}

/// The priority to store. `current` is the numeric priority that is there now.
pub(crate) fn resolve_priority(
    priority: &Pending<Priority>,
    now_ms: i64,
    current: Option<Number>,
) -> Result<Priority, NotFinite> {
    match priority {
        Pending::Known(priority) => Ok(priority.clone()),
        Pending::Server(value) => value.resolve(now_ms, current).map(Priority::Number),
    }
}
