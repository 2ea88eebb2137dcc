//! What everybody may see.

use crate::door::Door;
use crate::revision::Revision;
use hearth_tree::Snapshot;

/// The tree at the newest revision that is durable, and who may read it. Together, so that nobody judges a tree by rules
/// that came earlier or later. Immutable: readers hold it as long as they like.
#[derive(Clone, Debug)]
pub struct Published {
    /// Which one.
    pub revision: Revision,
    /// The tree.
    pub tree: Snapshot,
    /// What stands between readers and the tree.
    pub door: Door,
}

impl Published {
    /// A database in which nothing was ever written.
    pub fn empty(door: Door) -> Self {
        Self { revision: Revision::default(), tree: Snapshot::default(), door }
    }
}
