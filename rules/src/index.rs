//! `.indexOn`: which orders a place can be queried in without reading all of it (rules reference 6).

use crate::outline::NodeId;
use crate::ruleset::Ruleset;
use hearth_tree::{Key, Order, Path, PathError, RelativePath};
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

/// What to add to the rules, so that an index is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexToAdd {
    /// The node of the rules that it belongs to: `/rooms/$room`. Keys of which the rules know nothing stand as they are.
    pub place: String,
    /// The node above of which the rules know something, itself if they do.
    pub known: String,
    /// What is to stand there, with what stands there now: `".indexOn": ["topic", "created"]`.
    pub line: String,
}

impl IndexToAdd {
    /// Where there are no rules.
    pub fn without_rules(missing: &MissingIndex) -> Self {
        let MissingIndex { on, at } = missing;
        let line = line(std::iter::once(on.clone()));
        Self { place: at.to_string(), known: Path::root().to_string(), line }
    }
}

/// As it stands in a rules document.
fn line(names: impl ExactSizeIterator<Item = String>) -> String {
    let is_one = names.len() == 1;
    let names: Vec<String> = names.map(|name| quoted(&name)).collect();
    let names = names.join(", ");
    if is_one { format!("\".indexOn\": {names}") } else { format!("\".indexOn\": [{names}]") }
}

/// As JSON has it. Keys have no control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
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
        match self.nearest(at) {
            (id, []) => &self.node(id).index_on,
            (_, [_, ..]) => &[],
        }
    }

    /// How the rules name a place: `/rooms/$room`. Keys of which they know nothing stand as they are. O(depth).
    pub fn place_of(&self, at: &Path) -> String {
        let (id, unknown) = self.nearest(at);
        let known = self.path_of(id);
        let unknown = unknown.iter().map(|key| format!("/{key}"));
        let place = known.trim_end_matches('/').to_owned() + &unknown.collect::<String>();
        if place.is_empty() { known } else { place }
    }

    /// What to add to these rules, so that an index is there that is not. O(depth).
    pub fn index_to_add(&self, missing: &MissingIndex) -> IndexToAdd {
        let MissingIndex { on, at } = missing;
        let known = self.path_of(self.nearest(at).0);
        let declared = self.indexes(at).iter().filter(|on| **on != IndexOn::Inherent);
        let mut names: Vec<String> = declared.map(ToString::to_string).collect();
        names.push(on.clone());
        IndexToAdd { place: self.place_of(at), known, line: line(names.into_iter()) }
    }

    /// The last node on the way to a place, and the keys behind it of which the rules know nothing.
    fn nearest<'p>(&self, at: &'p Path) -> (NodeId, &'p [Key]) {
        let (mut id, mut keys) = (NodeId::ROOT, at.keys());
        while let [key, rest @ ..] = keys
            && let Some(child) = self.node(id).child(key)
        {
            (id, keys) = (child, rest);
        }
        (id, keys)
    }

    /// The index that a query at a place needs and that is not there. The orders by key and by priority need none.
    pub fn missing_index(&self, at: &Path, order: &Order) -> Option<MissingIndex> {
        let is_there = |on: IndexOn| self.indexes(at).contains(&on);
        if needed(order).is_none_or(is_there) { None } else { MissingIndex::needed(at, order) }
    }
}
