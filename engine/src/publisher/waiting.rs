//! Listens that wait for an index.
//!
//! Why they wait: sorting a million children takes half a second, and whoever publishes makes everybody wait meanwhile. So
//! a large index that nobody has needed yet is asked of somebody else ([`Publisher::take_wanted`]), and until it comes the
//! listen is as one that its client has sent a little later: so are those that the same client sends behind it.

use super::{Listen, Publisher};
use crate::delivery::Outboxes;
use crate::limits::{INDEX_EDITS_MAX, INDEXED_AT_ONCE_MAX};
use crate::outdated::Outdated;
use crate::request::{SessionId, Ticket};
use hearth_tree::{Index, IndexBy, Path};

/// An index to be built of what is published, and given to [`Publisher::indexed`].
#[derive(Clone, Debug)]
pub struct WantedIndex {
    /// Of what.
    pub at: Path,
    /// By what.
    pub by: IndexBy,
    /// One that is out of date: to be brought to a later tree.
    pub outdated: Option<Index>,
}

/// An index that is being built elsewhere.
#[derive(Debug)]
pub(super) struct Building {
    at: Path,
    by: IndexBy,
    /// Whose first listen that waits needs it.
    sessions: Vec<SessionId>,
}

impl Publisher {
    /// Lets a listen wait, if it has to. Gives it back if not.
    pub(super) fn let_wait(
        &mut self,
        now_ms: i64,
        session: SessionId,
        ticket: Ticket,
        listen: Listen,
    ) -> Option<Listen> {
        let is_behind = self.sessions.get(&session).is_some_and(|own| !own.waiting.is_empty());
        let needed = if is_behind { None } else { self.needs_index(now_ms, session, &listen) };
        if !is_behind && needed.is_none() {
            return Some(listen);
        }
        let at = listen.at.clone();
        self.sessions.get_mut(&session)?.waiting.push_back((ticket, listen));
        if let Some(by) = needed {
            self.want(session, at, by);
        }
        None
    }

    /// The index that a listen needs, if that is to be built elsewhere. Nobody builds one for whom rules refuse.
    fn needs_index(&self, now_ms: i64, session: SessionId, listen: &Listen) -> Option<IndexBy> {
        let Listen { at, query, .. } = listen;
        let tree = &self.published.tree;
        let node = tree.get(at);
        let by = query.index_for(node)?;
        if node.map_or(0, |node| node.children().len()) <= INDEXED_AT_ONCE_MAX || self.indexes.has(at, &by) {
            return None;
        }
        let own = self.sessions.get(&session)?;
        self.door().read_again(&own.identity, now_ms, tree, at, query).ok()?;
        Some(by)
    }

    fn want(&mut self, session: SessionId, at: Path, by: IndexBy) {
        let known = self.building.iter_mut().find(|building| building.at == at && building.by == by);
        match known {
            Some(building) => building.sessions.push(session),
            None => {
                self.building.push(Building { at: at.clone(), by: by.clone(), sessions: vec![session] });
                self.wanted.push(WantedIndex { at, by, outdated: None });
            }
        }
    }

    /// What is to be built elsewhere, since the last time.
    pub fn take_wanted(&mut self) -> Vec<WantedIndex> {
        std::mem::take(&mut self.wanted)
    }

    /// An index that was wanted is built, of a tree that was published not long ago: the listens that wait for it go on. If
    /// too much has changed since, it is wanted anew.
    pub fn indexed(&mut self, now_ms: i64, at: &Path, index: Index, outboxes: &mut impl Outboxes) {
        let position =
            self.building.iter().position(|building| building.at == *at && building.by == *index.by());
        let Some(position) = position else {
            self.outdated.push(Outdated::of_index(index));
            return;
        };
        let Some(current) = index.updated_within(INDEX_EDITS_MAX, self.published.tree.get(at)) else {
            let by = index.by().clone();
            self.wanted.push(WantedIndex { at: at.clone(), by, outdated: Some(index) });
            return;
        };
        let Building { sessions, .. } = self.building.swap_remove(position);
        self.indexes.add(at, current);
        for session in sessions {
            self.go_on(now_ms, session, outboxes);
        }
        // Nobody may need it any more.
        self.forget_needless_indexes(at);
    }

    /// Begins the listens of a session that have waited, until one has to wait for something else.
    fn go_on(&mut self, now_ms: i64, session: SessionId, outboxes: &mut impl Outboxes) {
        loop {
            let first = self.sessions.get(&session).and_then(|own| own.waiting.front());
            let Some((_, listen)) = first else { return };
            if let Some(by) = self.needs_index(now_ms, session, listen) {
                let at = listen.at.clone();
                return self.want(session, at, by);
            }
            let first = self.sessions.get_mut(&session).and_then(|own| own.waiting.pop_front());
            let Some((ticket, listen)) = first else { return };
            self.begin_listen(now_ms, session, ticket, listen, outboxes);
        }
    }
}
