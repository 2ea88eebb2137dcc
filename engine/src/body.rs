//! What a commit says to those who listen at a place: made once, told to all of them.

use crate::limits::HEAVY_BYTES;
use crate::weight::Scale;
use bytes::Bytes;
use hearth_tree::{Change, ChildChange, Edit, Hash, Node, Path, Priority, RelativePath, Snapshot, To, View};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// News for a place. Shared by all listeners whom it concerns, with room for its encoded form, which the first one who
/// needs it fills in.
pub struct Body {
    /// Where it applies.
    pub at: Path,
    /// What is there now.
    pub content: Content,
    /// The encoded form.
    pub encoded: OnceLock<Encoded>,
    /// What it weighs in bytes, or a little more than [`HEAVY_BYTES`]; found out when it is first asked for.
    weight: OnceLock<usize>,
}

/// The encoded form of a body, as whoever encodes it keeps it for all who are told the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// This text.
    Text(Bytes),
    /// It is too long to stand in memory as one text: each who is told it has it written anew.
    Long {
        /// Its length in bytes.
        bytes: usize,
        /// How many parts it is sent in.
        parts: usize,
        /// The length of the last of them, as parts are measured.
        last_units: usize,
    },
    /// No client can receive it.
    TooLong,
}

/// What is at a place now.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// This and nothing else.
    Put(Option<Node>),
    /// The same, for a client that says what it has of it: the ranges of leaves that differ suffice.
    PutOver(Node, HeldRanges),
    /// The same with another priority.
    Priority(Option<Priority>),
    /// The same except for these places below. Clients may apply them in any order: no node among them is emptied and
    /// filled again while it has a priority.
    Merge(Vec<(RelativePath, To)>),
}

/// What a client says it has of a node, range by range of its leaves and in their order (wire reference 6.5): the place
/// that each ends with, where the next one begins, and its hash. Behind the last one it has nothing.
pub type HeldRanges = Arc<[(RelativePath, Hash)]>;

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("at", &self.at).field("content", &self.content).finish()
    }
}

impl Body {
    pub(crate) const fn new(at: Path, content: Content) -> Self {
        Self { at, content, encoded: OnceLock::new(), weight: OnceLock::new() }
    }

    /// Whether it is so large that encoding it takes a while. O([`HEAVY_BYTES`]) once.
    pub fn is_heavy(&self) -> bool {
        HEAVY_BYTES < self.weight()
    }

    /// What it weighs in bytes, or a little more than [`HEAVY_BYTES`].
    pub(crate) fn weight(&self) -> usize {
        *self.weight.get_or_init(|| {
            let mut scale = Scale::up_to(HEAVY_BYTES);
            match &self.content {
                Content::Put(node) => scale.node(node.as_ref()),
                Content::PutOver(node, held) => {
                    for (place, _) in held.iter() {
                        scale.keys(place.keys());
                    }
                    scale.node(Some(node));
                }
                Content::Priority(priority) => scale.to(&To::Priority(priority.clone())),
                Content::Merge(parts) => {
                    for (below, to) in parts {
                        scale.keys(below.keys());
                        scale.to(to);
                    }
                }
            }
            scale.bytes()
        })
    }

    fn of_edit(edit: &Edit) -> Self {
        let content = match &edit.to {
            To::Node(node) => Content::Put(node.clone()),
            To::Priority(priority) => Content::Priority(priority.clone()),
        };
        Self::new(edit.at.clone(), content)
    }

    /// What a change says to those who listen to everything at a place; nothing, if nothing changes there.
    pub(crate) fn of_change(at: &Path, change: &Change, before: &Snapshot, after: &Snapshot) -> Option<Self> {
        let is_node = |edit: &Edit| matches!(edit.to, To::Node(_));
        if change.edits().iter().any(|edit| is_node(edit) && edit.at.covers(at) && edit.at != *at) {
            let (old, new) = (before.get(at), after.get(at));
            return (old != new).then(|| Self::new(at.clone(), Content::Put(new.cloned())));
        }
        let edits: Vec<Edit> = change.edits().iter().filter(|edit| at.covers(&edit.at)).cloned().collect();
        Self::of_edits(at, edits, before, after)
    }

    /// What leads from one tree to a later one, for those who listen to everything at a place. Skips what the two share.
    pub(crate) fn of_difference(at: &Path, before: &Snapshot, after: &Snapshot) -> Option<Self> {
        let change = Change::between(before.get(at), after.get(at));
        let edit = |edit: &Edit| Edit {
            at: at.keys().iter().chain(edit.at.keys()).cloned().collect(),
            to: edit.to.clone(),
        };
        Self::of_edits(at, change.edits().iter().map(edit).collect(), before, after)
    }

    /// Edits at or below a place as one piece.
    fn of_edits(at: &Path, edits: Vec<Edit>, before: &Snapshot, after: &Snapshot) -> Option<Self> {
        match &in_any_order(at, edits, before, after)[..] {
            [] => None,
            [edit] => Some(Self::of_edit(edit)),
            edits => {
                let part = |edit: &Edit| Some((edit.at.strip(at)?, edit.to.clone()));
                Some(Self::new(at.clone(), Content::Merge(edits.iter().filter_map(part).collect())))
            }
        }
    }

    /// What a change says to those who listen to a query (wire reference 5.5).
    pub(crate) fn of_views(at: &Path, before: &View<'_>, after: &View<'_>) -> Option<Self> {
        let changes = before.changes(after);
        let mut parts = Vec::with_capacity(changes.len());
        for (key, change) in changes {
            let child: RelativePath = [key.clone()].into_iter().collect();
            match change {
                ChildChange::Left => parts.push((child, To::Node(None))),
                ChildChange::Entered(node) => parts.push((child, To::Node(Some(node.clone())))),
                ChildChange::Changed { before, after } => {
                    let below = Change::between(Some(before), Some(after));
                    // A priority is part of what a window is ordered by: then the child whole.
                    if below.edits().iter().any(|edit| matches!(edit.to, To::Priority(_))) {
                        parts.push((child, To::Node(Some(after.clone()))));
                        continue;
                    }
                    parts.extend(below.edits().iter().map(|edit| {
                        let keys = child.keys().iter().chain(edit.at.keys()).cloned();
                        (keys.collect(), edit.to.clone())
                    }));
                }
            }
        }
        (!parts.is_empty()).then(|| Self::new(at.clone(), Content::Merge(parts)))
    }
}

/// Edits that come to the same in whatever order a client applies them: where a priority is written together with
/// something below it, or could be lost on the way, the node is sent whole.
fn in_any_order(at: &Path, mut edits: Vec<Edit>, before: &Snapshot, after: &Snapshot) -> Vec<Edit> {
    let mut places: Vec<Path> =
        edits.iter().filter(|edit| matches!(edit.to, To::Priority(_))).map(|edit| edit.at.clone()).collect();
    places.extend(emptied(at, &edits, before, after));
    for at in places {
        if edits.iter().filter(|edit| at.covers(&edit.at)).nth(1).is_some() {
            edits.retain(|edit| !at.covers(&edit.at));
            edits.push(Edit { to: To::Node(after.get(&at).cloned()), at });
        }
    }
    edits
}

/// The nodes with a priority, at a place and below, that are empty when everything is deleted before anything is set:
/// then they would lose it. JavaScript changes what is there before it adds what is new (wire reference 5.5).
fn emptied(at: &Path, edits: &[Edit], before: &Snapshot, after: &Snapshot) -> Vec<Path> {
    let deletions: Vec<Edit> =
        edits.iter().filter(|edit| matches!(edit.to, To::Node(None))).cloned().collect();
    if deletions.is_empty() || deletions.len() == edits.len() {
        return Vec::new();
    }
    let above = deletions.iter().flat_map(|edit| {
        let keys = edit.at.keys();
        (at.keys().len()..keys.len()).map(move |depth| keys[..depth].iter().cloned().collect::<Path>())
    });
    let above: BTreeSet<Path> =
        above.filter(|at| after.get(at).is_some_and(|node| node.priority().is_some())).collect();
    if above.is_empty() {
        return Vec::new();
    }
    let deleted =
        before.apply(&Change::new(deletions).expect("some of the edits of a change lie apart, too"));
    above.into_iter().filter(|at| deleted.get(at).is_none()).collect()
}
