//! One node of the data on the way from the root to what is judged.

use crate::outline::NodeId;
use crate::ruleset::Ruleset;
use hearth_tree::{Key, Node, Path};

/// A node on the way down, as it is and as it will be. What was found out there serves every place below it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level<'a> {
    /// Nothing for the root.
    pub(crate) key: Option<&'a Key>,
    pub(crate) before: Option<&'a Node>,
    pub(crate) after: Option<&'a Node>,
    /// The rules for it.
    pub(crate) rules: Option<NodeId>,
    /// What its `.write` said, once it was asked.
    pub(crate) granted: Option<bool>,
    pub(crate) validated: bool,
}

impl<'a> Level<'a> {
    pub(crate) const fn root(before: Option<&'a Node>, after: Option<&'a Node>) -> Self {
        Self { key: None, before, after, rules: Some(NodeId::ROOT), granted: None, validated: false }
    }

    /// The level of a child.
    pub(crate) fn below(&self, ruleset: &Ruleset, key: &'a Key) -> Self {
        let child = |node: &'a Node| node.child(key);
        let before = self.before.and_then(child);
        let is_same = match (self.before, self.after) {
            (Some(before), Some(after)) => std::ptr::eq(before, after),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let after = if is_same { before } else { self.after.and_then(child) };
        self.with_child(ruleset, key, before, after)
    }

    /// As [`Level::below`], of a child that is known as it will be.
    pub(crate) fn below_to(&self, ruleset: &Ruleset, key: &'a Key, after: &'a Node) -> Self {
        let before = self.before.and_then(|node| node.child(key));
        self.with_child(ruleset, key, before, Some(after))
    }

    fn with_child(
        &self,
        ruleset: &Ruleset,
        key: &'a Key,
        before: Option<&'a Node>,
        after: Option<&'a Node>,
    ) -> Self {
        let rules = self.rules.and_then(|id| ruleset.node(id).child(key));
        Self { key: Some(key), before, after, rules, granted: None, validated: false }
    }
}

/// The keys of levels from the root down.
pub(crate) fn keys<'a>(levels: &[Level<'a>]) -> impl Iterator<Item = &'a Key> {
    levels.iter().filter_map(|level| level.key)
}

/// The place that levels from the root lead to.
pub(crate) fn path(levels: &[Level<'_>]) -> Path {
    keys(levels).cloned().collect()
}
