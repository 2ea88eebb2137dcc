//! The whole tree at one moment.

use crate::change::Change;
use crate::hash::Hash;
use crate::node::Node;
use crate::path::Path;

/// The tree of one database at one revision, possibly empty. Cloning is O(1) and shares everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot(Option<Node>);

impl Snapshot {
    /// The tree under this root.
    pub const fn new(root: Option<Node>) -> Self {
        Self(root)
    }

    /// The node at the root, if the tree holds anything.
    pub const fn root(&self) -> Option<&Node> {
        self.0.as_ref()
    }

    /// What is at a place. O(depth x log n).
    pub fn get(&self, at: &Path) -> Option<&Node> {
        self.root()?.get(at.keys())
    }

    /// The hash of what is at a place; nothing, if nothing is there.
    pub fn hash(&self, at: &Path) -> Option<Hash> {
        self.get(at).map(Node::hash)
    }

    /// The tree after a change. Shares what the change does not touch.
    #[must_use]
    pub fn apply(&self, change: &Change) -> Self {
        Self(change.apply_to(self.root()))
    }
}
