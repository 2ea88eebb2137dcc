//! Which children of a node a client wants, and in which order.
//!
//! Why so many types: a query by key with a tie key, two starts, or `equalTo` beside `startAt` cannot be written down
//! here, so nobody below the edge has to refuse them.

use crate::index::IndexBy;
use crate::key::{Key, key_order};
use crate::node::Node;
use crate::order::SortValue;
use crate::path::{PathError, RelativePath};
use crate::scalar::{Priority, Scalar};
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::ops::Bound;

/// The children of a node within a range of an order, or the first or last of them (wire reference 5).
///
/// ```
/// use hearth_tree::{Key, Node, Order, Query, Range, Scalar, View, Window};
/// let newest = Query { order: Order::Key(Range::ALL), window: Window::last(2)? };
/// let scores = Node::inner([("ann", 3), ("bob", 5), ("cyd", 4)].map(|(who, score)| {
///     (Key::parse(who).expect("a name"), Scalar::Number(score.into()).into())
/// }));
/// let view = View::new(&newest, scores.as_ref(), None)?;
/// assert_eq!(view.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["bob", "cyd"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    /// The order and the range within it.
    pub order: Order,
    /// How much of the range.
    pub window: Window,
}

/// What children are ordered by, with the range that goes with that order. Ties go to the keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// By key alone.
    Key(Range<KeyBound>),
    /// By the value at a place below each child; a missing one is null.
    Child(ChildPath, Range<Position<Option<Scalar>>>),
    /// By the child's own value; inner nodes come last, all equal.
    Value(Range<Position<Option<Scalar>>>),
    /// By priority: none, numbers, texts.
    Priority(Range<Position<Option<Priority>>>),
}

/// How much of a range is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Window {
    /// All of it.
    #[default]
    All,
    /// That many from its start.
    First(NonZeroU32),
    /// That many from its end.
    Last(NonZeroU32),
}

/// From where to where; one start and one end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Range<B> {
    /// `startAt` is included, `startAfter` excluded.
    pub start: Bound<B>,
    /// `endAt` is included, `endBefore` excluded.
    pub end: Bound<B>,
}

/// A place in an order: a value and, to break ties among children of that value, a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position<V> {
    /// The value; `None` is null.
    pub value: V,
    /// Without a key the whole value is meant: all children of that value are included, or all excluded.
    pub key: Option<KeyBound>,
}

/// A place in the order of keys: any text, legal key or not, or an end of the order (wire reference 5.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyBound {
    /// Below every key; `[MIN_NAME]` on the wire.
    Min,
    /// Where this text would stand.
    At(SmolStr),
    /// Above every key; `[MAX_NAME]` or `[MAX_KEY]` on the wire.
    Max,
}

/// The place below each child that a query orders by. At least one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChildPath(RelativePath);

/// A text that is not a child path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChildPathError {
    /// It has no keys.
    #[error("a path to order by needs at least one key")]
    Empty,
    /// It is no path.
    #[error(transparent)]
    Path(#[from] PathError),
}

/// A limit of zero children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a limit must be at least 1")]
pub struct LimitError;

impl ChildPath {
    /// Reads `points` or `meta/at`.
    ///
    /// # Errors
    /// [`ChildPathError`] names the segment or the depth.
    pub fn parse(text: &str) -> Result<Self, ChildPathError> {
        match RelativePath::parse(text)? {
            path if path.is_here() => Err(ChildPathError::Empty),
            path => Ok(Self(path)),
        }
    }

    /// The keys, at least one.
    pub fn keys(&self) -> &[Key] {
        self.0.keys()
    }
}

impl std::fmt::Display for ChildPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Window {
    /// `limitToFirst`.
    ///
    /// # Errors
    /// [`LimitError`] for 0.
    pub fn first(limit: u32) -> Result<Self, LimitError> {
        NonZeroU32::new(limit).map(Self::First).ok_or(LimitError)
    }

    /// `limitToLast`.
    ///
    /// # Errors
    /// [`LimitError`] for 0.
    pub fn last(limit: u32) -> Result<Self, LimitError> {
        NonZeroU32::new(limit).map(Self::Last).ok_or(LimitError)
    }
}

impl<B> Range<B> {
    /// The whole order.
    pub const ALL: Self = Self { start: Bound::Unbounded, end: Bound::Unbounded };

    /// `equalTo`.
    pub fn only(at: B) -> Self
    where
        B: Clone,
    {
        Self { start: Bound::Included(at.clone()), end: Bound::Included(at) }
    }

    /// Whether this is the whole order.
    pub const fn is_all(&self) -> bool {
        matches!((&self.start, &self.end), (Bound::Unbounded, Bound::Unbounded))
    }
}

impl Range<KeyBound> {
    /// Whether a child of that key is within the range.
    pub fn holds(&self, key: &Key) -> bool {
        let starts = match &self.start {
            Bound::Included(bound) => bound.order_of(key).is_ge(),
            Bound::Excluded(bound) => bound.order_of(key).is_gt(),
            Bound::Unbounded => true,
        };
        let ends = match &self.end {
            Bound::Included(bound) => bound.order_of(key).is_le(),
            Bound::Excluded(bound) => bound.order_of(key).is_lt(),
            Bound::Unbounded => true,
        };
        starts && ends
    }
}

impl<V> Position<V> {
    /// All children of a value.
    pub const fn of(value: V) -> Self {
        Self { value, key: None }
    }

    /// One place among the children of a value.
    pub const fn with_key(value: V, key: KeyBound) -> Self {
        Self { value, key: Some(key) }
    }
}

impl KeyBound {
    /// Reads a bound as clients write it, sentinels included. Any other text stands for itself: Android sends bounds
    /// that are longer than any key (wire reference 5.1).
    pub fn parse(text: &str) -> Self {
        match text {
            "[MIN_NAME]" => Self::Min,
            "[MAX_NAME]" | "[MAX_KEY]" => Self::Max,
            _ => Self::At(text.into()),
        }
    }

    /// Where a key stands, seen from here.
    fn order_of(&self, key: &Key) -> Ordering {
        match self {
            Self::Min => Ordering::Greater,
            Self::At(text) => key_order(key.as_str(), text),
            Self::Max => Ordering::Less,
        }
    }
}

impl Query {
    /// Everything at a place: what a listen without a query means.
    pub const EVERYTHING: Self = Self { order: Order::Priority(Range::ALL), window: Window::All };

    /// Whether the query shows all children, whatever its order (wire reference 5.3).
    pub const fn is_everything(&self) -> bool {
        let all = match &self.order {
            Order::Key(range) => range.is_all(),
            Order::Child(_, range) | Order::Value(range) => range.is_all(),
            Order::Priority(range) => range.is_all(),
        };
        all && matches!(self.window, Window::All)
    }

    /// The index without which the children of `node` would have to be sorted for this query. None for the order by
    /// key, nor for the order by priority where no child has one.
    pub fn index_for(&self, node: Option<&Node>) -> Option<IndexBy> {
        match &self.order {
            Order::Key(_) => None,
            Order::Child(path, _) => Some(IndexBy::Child(path.clone())),
            Order::Value(_) => Some(IndexBy::Value),
            Order::Priority(_) => {
                node.is_some_and(Node::has_prioritized_children).then_some(IndexBy::Priority)
            }
        }
    }

    /// Whether this query can come to need that index, whatever the node holds.
    pub fn orders_by(&self, by: &IndexBy) -> bool {
        match (&self.order, by) {
            (Order::Child(path, _), IndexBy::Child(by)) => path == by,
            (Order::Value(_), IndexBy::Value) | (Order::Priority(_), IndexBy::Priority) => true,
            (Order::Key(_) | Order::Child(..) | Order::Value(_) | Order::Priority(_), _) => false,
        }
    }

    /// What this query orders a child by; null throughout for the order by key.
    pub(crate) fn sort_value(&self, child: &Node) -> SortValue {
        match &self.order {
            Order::Key(_) => SortValue::Null,
            Order::Child(path, _) => IndexBy::child_value(path, child),
            Order::Value(_) => SortValue::of(Some(child)),
            Order::Priority(_) => SortValue::of_priority(child),
        }
    }

    /// Start and end as cuts between children.
    pub(crate) fn cuts(&self) -> (Cut, Cut) {
        match &self.order {
            Order::Key(range) => range.cuts(|key| (SortValue::Null, Some(key.clone()))),
            Order::Child(_, range) | Order::Value(range) => {
                range.cuts(|at| (at.value.clone().map_or(SortValue::Null, SortValue::from), at.key.clone()))
            }
            Order::Priority(range) => range.cuts(|at| (at.value.clone().into(), at.key.clone())),
        }
    }
}

/// A place between two neighbours in an order, or one of its ends.
pub(crate) enum Cut {
    Start,
    /// Just before what is at this value and key, or just after it.
    Beside {
        value: SortValue,
        key: KeyBound,
        after: bool,
    },
    End,
}

impl Cut {
    /// Whether a child lies before the cut.
    pub(crate) fn is_after(&self, value: &SortValue, key: &Key) -> bool {
        match self {
            Self::Start => false,
            Self::End => true,
            Self::Beside { value: at, key: at_key, after } => {
                match value.order(at).then_with(|| at_key.order_of(key)) {
                    Ordering::Less => true,
                    Ordering::Equal => *after,
                    Ordering::Greater => false,
                }
            }
        }
    }
}

impl<B> Range<B> {
    fn cuts(&self, place: impl Fn(&B) -> (SortValue, Option<KeyBound>)) -> (Cut, Cut) {
        // Without a key the whole value is on one side: before its first child, or after its last.
        let cut = |at: &B, after: bool| {
            let (value, key) = place(at);
            let whole = if after { KeyBound::Max } else { KeyBound::Min };
            Cut::Beside { value, key: key.unwrap_or(whole), after }
        };
        let start = match &self.start {
            Bound::Included(at) => cut(at, false),
            Bound::Excluded(at) => cut(at, true),
            Bound::Unbounded => Cut::Start,
        };
        let end = match &self.end {
            Bound::Included(at) => cut(at, true),
            Bound::Excluded(at) => cut(at, false),
            Bound::Unbounded => Cut::End,
        };
        (start, end)
    }
}
