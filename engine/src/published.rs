//! What everybody may see.

use crate::revision::Revision;
use hearth_tree::Snapshot;

/// The tree at the newest revision that is durable. Immutable: readers hold it as long as they like.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// Which one.
    pub revision: Revision,
    /// The tree.
    pub tree: Snapshot,
}
