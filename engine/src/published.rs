//! What everybody may see.

use crate::door::Door;
use crate::own_rules::Governing;
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
    /// Which rules decide.
    pub governing: Governing,
}

impl Published {
    /// A database in which nothing was ever written.
    pub fn empty(door: Door) -> Self {
        let governing = Governing::by_default(door);
        Self { revision: Revision::default(), tree: Snapshot::default(), governing }
    }

    /// What stands between readers and the tree.
    pub const fn door(&self) -> &Door {
        self.governing.door()
    }
}
