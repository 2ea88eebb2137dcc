//! What of the data a verdict depends on.
//!
//! Why existence and value apart: a membership rule asks whether a place exists; it need not be judged again whenever
//! what is there changes.

use hearth_tree::{Node, Path, Snapshot};

/// One thing that a verdict looked at, before the operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Look {
    /// The place.
    pub at: Path,
    /// What of it.
    pub aspect: Aspect,
}

/// What of a place a verdict looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Aspect {
    /// Whether anything is there.
    Existence,
    /// The value of a leaf or that it is an inner node, and the priority. Not what is below.
    Value,
}

impl Look {
    /// Whether what was looked at differs between two trees. Costs O(depth), whatever lies below.
    pub fn differs(&self, before: &Snapshot, after: &Snapshot) -> bool {
        let (before, after) = (before.get(&self.at), after.get(&self.at));
        match self.aspect {
            Aspect::Existence => before.is_some() != after.is_some(),
            Aspect::Value => {
                before.is_some() != after.is_some()
                    || before.and_then(Node::value) != after.and_then(Node::value)
                    || before.and_then(Node::priority) != after.and_then(Node::priority)
            }
        }
    }
}
