//! The tree of the model at every revision.

use super::mirror::Mirror;
use crate::naive::{Doubles, Node, Query, Tree, hash};

/// All trees since the beginning, the empty one first.
#[derive(Debug)]
pub(super) struct History(Vec<Tree>);

impl Default for History {
    fn default() -> Self {
        Self(vec![Tree::default()])
    }
}

impl History {
    /// The newest revision.
    pub(super) fn newest(&self) -> usize {
        self.0.len() - 1
    }

    /// The newest tree.
    pub(super) fn now(&self) -> &Tree {
        self.at(self.newest())
    }

    /// The tree of a revision.
    pub(super) fn at(&self, revision: usize) -> &Tree {
        &self.0[revision]
    }

    /// The next tree.
    pub(super) fn push(&mut self, tree: Tree) {
        self.0.push(tree);
    }

    /// Forgets what a crash took back.
    pub(super) fn cut(&mut self, newest: usize) {
        assert!(newest <= self.newest(), "the log holds what was never decided");
        self.0.truncate(newest + 1);
    }

    /// What a query shows at a place of a revision.
    pub(super) fn answer(&self, revision: usize, at: &[String], query: &Query) -> Option<Node> {
        query.answer(self.at(revision).root.as_ref().and_then(|root| root.get(at)))
    }

    /// Whether a listener shows what it should at a revision.
    pub(super) fn agrees(&self, revision: usize, mirror: &Mirror) -> bool {
        let there = self.at(revision).root.as_ref().and_then(|root| root.get(&mirror.at));
        if mirror.query.loads_all_data() {
            return mirror.shown.as_ref() == there;
        }
        mirror.shown == mirror.query.answer(there)
    }
}

/// The hash of a node as clients of either kind send it.
pub(super) fn hash_of(node: Option<&Node>, doubles: Doubles) -> Option<hearth_tree::Hash> {
    let text = hash(node, doubles);
    (!text.is_empty()).then(|| hearth_tree::Hash::parse(&text).expect("the model makes hashes"))
}
