//! The indexes that standing queries need, kept in step with the published tree.
//!
//! Why the old ones are handed out: a view of what was shown needs the index of the snapshot before, and a persistent
//! index costs nothing to keep for that moment.

use crate::path_map::PathMap;
use hearth_tree::{Edit, Index, IndexBy, IndexNeeded, Path, Query, Snapshot, View};

/// At most one index for each place and order.
#[derive(Debug, Default)]
pub(crate) struct Indexes(PathMap<Vec<Index>>);

impl Indexes {
    /// Builds what a query needs at a place, unless it is there. O(n log n).
    pub(crate) fn ensure(&mut self, at: &Path, query: &Query, tree: &Snapshot) {
        let node = tree.get(at);
        if let Some(by) = query.index_for(node)
            && self.get(at, &by).is_none()
        {
            self.0.entry(at).push(Index::build(by, node));
        }
    }

    /// Adds one that was built elsewhere of the tree that the others belong to. None of its order may be there.
    pub(crate) fn add(&mut self, at: &Path, index: Index) {
        debug_assert!(!self.has(at, index.by()), "there is one already");
        self.0.entry(at).push(index);
    }

    /// Whether there is one.
    pub(crate) fn has(&self, at: &Path, by: &IndexBy) -> bool {
        self.get(at, by).is_some()
    }

    /// Takes out the indexes of a place that nobody needs any more.
    pub(crate) fn retain(&mut self, at: &Path, is_needed: impl Fn(&IndexBy) -> bool) -> Vec<Index> {
        let Some(indexes) = self.0.get_mut(at) else { return Vec::new() };
        let needless = indexes.extract_if(.., |index| !is_needed(index.by())).collect();
        if indexes.is_empty() {
            self.0.remove(at);
        }
        needless
    }

    /// Brings the indexes to a later tree; gives those of the tree before, where they have changed.
    pub(crate) fn update(&mut self, edits: &[Edit], after: &Snapshot) -> Self {
        let mut old = PathMap::new();
        for at in self.0.touched(edits) {
            let later = after.get(&at);
            if let Some(indexes) = self.0.get_mut(&at) {
                let updated = indexes.iter().map(|index| index.updated(later)).collect();
                *old.entry(&at) = std::mem::replace(indexes, updated);
            }
        }
        Self(old)
    }

    /// What a query shows at a place of the tree that the indexes belong to.
    pub(crate) fn view<'a>(
        &'a self,
        at: &Path,
        query: &'a Query,
        tree: &'a Snapshot,
    ) -> Result<View<'a>, IndexNeeded> {
        let node = tree.get(at);
        let index = query.index_for(node).and_then(|by| self.get(at, &by));
        View::new(query, node, index)
    }

    fn get(&self, at: &Path, by: &IndexBy) -> Option<&Index> {
        self.0.get(at)?.iter().find(|index| index.by() == by)
    }
}
