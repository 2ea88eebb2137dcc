//! The listeners at one place. Those with the same query cost once.

use hearth_tree::Query;
use indexmap::{IndexMap, IndexSet};
use std::sync::Arc;

/// What a session calls one of its queries (wire reference 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u64);

/// A listener, for the publisher's own book-keeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ListenerId(pub(crate) u64);

/// Everybody at one place, by what they listen to. Kept in the order of arrival, so that nothing depends on chance, and
/// left in O(1), so that ten thousand who leave at once do not hold up the rest.
#[derive(Debug, Default)]
pub(crate) struct Standing(IndexMap<Arc<Query>, IndexSet<ListenerId>>);

impl Standing {
    /// Adds a listener, and gives the query as all who have it share it.
    pub(crate) fn add(&mut self, query: Query, id: ListenerId) -> Arc<Query> {
        let entry = self.0.entry(Arc::new(query));
        let shared = entry.key().clone();
        entry.or_default().insert(id);
        shared
    }

    pub(crate) fn remove(&mut self, query: &Arc<Query>, id: ListenerId) {
        if let Some(ids) = self.0.get_mut(query) {
            ids.swap_remove(&id);
            if ids.is_empty() {
                self.0.swap_remove(query);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn queries(&self) -> impl Iterator<Item = (&Arc<Query>, &IndexSet<ListenerId>)> {
        self.0.iter()
    }
}
