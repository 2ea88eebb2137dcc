//! `.indexOn`: which orders a place can be queried in without reading all of it (rules reference 6).

use crate::outline::NodeId;
use crate::ruleset::Ruleset;
use hearth_tree::{Order, Path, PathError, RelativePath};
use std::fmt;

/// One entry of `.indexOn`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IndexOn {
    /// By the children's own values: `.value`.
    Value,
    /// By the value at a place below each child.
    Child(RelativePath),
    /// By key or priority, which need no index: `.key`, `.priority`.
    Inherent,
}

impl IndexOn {
    /// Reads an entry.
    ///
    /// # Errors
    /// [`PathError`] if it is neither a path nor one of the special names.
    pub(crate) fn parse(text: &str) -> Result<Self, PathError> {
        match text {
            ".value" => Ok(Self::Value),
            ".key" | ".priority" => Ok(Self::Inherent),
            _ => RelativePath::parse(text).map(Self::Child),
        }
    }
}

/// As it stands in the rules, as far as that matters.
impl fmt::Display for IndexOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value => f.write_str(".value"),
            Self::Child(path) => path.fmt(f),
            Self::Inherent => f.write_str(".key"),
        }
    }
}

/// An index that a query needs and the rules do not define. Worded as the service words it (rules reference 6).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Index not defined, add \".indexOn\": \"{on}\", for path \"{at}\", to the rules")]
pub struct MissingIndex {
    /// What to index on.
    pub on: String,
    /// The place that is queried.
    pub at: Path,
}

impl MissingIndex {
    /// The index that a query at a place needs, where none is defined. The orders by key and by priority need none.
    pub fn needed(at: &Path, order: &Order) -> Option<Self> {
        let on = needed(order)?;
        Some(Self { on: on.to_string(), at: at.clone() })
    }
}

fn needed(order: &Order) -> Option<IndexOn> {
    match order {
        Order::Key(_) | Order::Priority(_) => None,
        Order::Value(_) => Some(IndexOn::Value),
        Order::Child(path, _) => Some(IndexOn::Child(path.keys().iter().cloned().collect())),
    }
}

impl Ruleset {
    /// What is indexed at a place. `.indexOn` is not inherited; a literal node hides a capture here too. O(depth).
    pub fn indexes(&self, at: &Path) -> &[IndexOn] {
        let root = Some(NodeId::ROOT);
        let node = at.keys().iter().fold(root, |node, key| node.and_then(|id| self.node(id).child(key)));
        node.map_or(&[], |id| &self.node(id).index_on)
    }

    /// The index that a query at a place needs and that is not there. The orders by key and by priority need none.
    pub fn missing_index(&self, at: &Path, order: &Order) -> Option<MissingIndex> {
        let is_there = |on: IndexOn| self.indexes(at).contains(&on);
        if needed(order).is_none_or(is_there) { None } else { MissingIndex::needed(at, order) }
    }
}
