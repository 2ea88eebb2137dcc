//! Who listens to what: a listen is judged, given its snapshot and registered in one step.
//!
//! Why one step: between the snapshot that it is given and the commits that follow nothing can be lost or come twice.

use super::trail::Missed;
use super::{Listener, Publisher, Round, Session};
use crate::body::{Body, Content, HeldRanges};
use crate::delivery::{Answer, Delivery, Item, Outboxes, Push, Revoked};
use crate::door::Denied;
use crate::limits::{HASHED_AT_ONCE_MAX, LISTENS_BYTES_MAX, LISTENS_MAX, OUTDATED_ENTRIES};
use crate::moment::Moment;
use crate::outdated::Outdated;
use crate::request::{SessionId, Ticket};
use crate::standing::{ListenerId, Tag};
use crate::weight::Scale;
use hearth_rules::MissingIndex;
use hearth_tree::{Hash, IndexBy, Path, Query};
use std::sync::Arc;

/// A wish to be told what is at a place, now and whenever it changes.
#[derive(Clone, Debug)]
pub struct Listen {
    /// Where.
    pub at: Path,
    /// What of it.
    pub query: Query,
    /// What the session calls it; none, if it listens to everything.
    pub tag: Option<Tag>,
    /// The hash of what the client has of it, which need not be sent again; `Some(None)` is nothing, `None` a client
    /// that does not say.
    pub known: Option<Option<Hash>>,
    /// The same, range by range, of a client that can be sent the ranges that differ.
    pub held: Option<HeldRanges>,
    /// Where a client was that comes back: it was told everything up to there, of the same place and query. It need only be
    /// told what is there now at the places that were touched since. `Some(None)` is a client that begins and may come back,
    /// `None` one that will not.
    pub left: Option<Option<Moment>>,
}

/// A listen that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The index that its query needs and that is not declared. It is served all the same (wire reference 5.6).
    pub missing_index: Option<MissingIndex>,
}

/// Why somebody cannot listen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListenRefusal {
    /// The rules do not allow it.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// It listens to enough already.
    #[error("a connection can listen to {LISTENS_MAX} places, and this would be more")]
    TooMany,
    /// What it listens to is named at too great a length already.
    #[error(
        "the places and queries that a connection listens to can have {} MiB, and this would be more",
        LISTENS_BYTES_MAX / 1024 / 1024
    )]
    TooLong,
    /// The session is not open.
    #[error("the connection has ended")]
    Closed,
}

impl Session {
    /// Whether news on its way to the client could be taken for news of a listener that begins now, so that the client
    /// ends with something else than what it said to have: news of a listener that is gone, or of one below.
    fn may_mistake(&self, at: &Path, tag: Option<Tag>) -> bool {
        let below = self.listens.range((at.clone(), None)..).take_while(|((own, _), _)| at.covers(own));
        let mut below = below.map(|(place, _)| place);
        self.forgotten.concerns(at, tag)
            || tag.is_none() && below.any(|(own, own_tag)| own_tag.is_none() && own != at)
    }
}

impl Publisher {
    /// Begins to listen, or listens anew to a place under a tag that is in use (wire reference 4.2). If that needs a large
    /// index that is not there, it begins when [`Publisher::indexed`] brings it.
    pub fn listen(
        &mut self,
        now_ms: i64,
        session: SessionId,
        ticket: Ticket,
        listen: Listen,
        outboxes: &mut impl Outboxes,
    ) {
        if let Some(listen) = self.let_wait(now_ms, session, ticket, listen) {
            self.begin_listen(now_ms, session, ticket, listen, outboxes);
        }
    }

    pub(super) fn begin_listen(
        &mut self,
        now_ms: i64,
        session: SessionId,
        ticket: Ticket,
        listen: Listen,
        outboxes: &mut impl Outboxes,
    ) {
        let Listen { at, query, tag, known, held, left } = listen;
        let own = self.sessions.get(&session);
        let (known, held) = match own.is_some_and(|own| !own.may_mistake(&at, tag)) {
            true => (known, held),
            false => (None, None),
        };
        let missing_index = self.published.door().missing_index(&at, &query);
        let begun = self.begin(now_ms, session, &at, query, tag);
        // To its client a refusal ends what it listened to there, whatever the query of that was.
        if begun.is_err() {
            self.unlisten(session, &at, tag);
        }
        let new = begun.as_ref().ok().copied();
        // A session that lags is shown this listener with all others.
        let missed =
            new.zip(left.flatten()).map_or(Missed::Unknown, |(id, left)| self.missed_since(id, left));
        if new.is_some() && left.is_some() {
            self.begin_trail();
        }
        let push = new.filter(|_| !self.lags(session)).and_then(|id| match missed {
            Missed::Unknown => self.first_push(id, known, held),
            Missed::Nothing => None,
            Missed::Parts(content) => Some(Push { body: Arc::new(Body::new(at, content)), tag }),
        });
        let answer = Item::Answer(Answer::Listen(ticket, begun.map(|_| Begun { missing_index })));
        let items = push.map(Item::Push).into_iter().chain([answer]).collect();
        let since = self.published.clone();
        self.hand_out(Round::from([(session, Delivery { items, ..Delivery::default() })]), &since, outboxes);
        if !self.lags(session) {
            self.mark_shown(new);
        }
    }

    /// Stops listening.
    pub fn unlisten(&mut self, session: SessionId, at: &Path, tag: Option<Tag>) {
        let own = self.sessions.get_mut(&session);
        let id = own.and_then(|own| {
            let id = own.listens.remove(&(at.clone(), tag))?;
            own.forgotten.add(at, tag);
            Some(id)
        });
        if let Some(id) = id {
            self.forget(id);
        }
    }

    /// Ends what a session listens to under this tag at a place or above it, as if that were no longer allowed: its client
    /// cannot receive what is new there. O(depth).
    pub fn end_listens_above(
        &mut self,
        session: SessionId,
        at: &Path,
        tag: Option<Tag>,
        outboxes: &mut impl Outboxes,
    ) {
        let Some(own) = self.sessions.get(&session) else { return };
        let above = (0..=at.keys().len()).map(|depth| at.keys()[..depth].iter().cloned().collect::<Path>());
        let ended: Vec<Revoked> = above
            .filter_map(|at| {
                let Listener { query, .. } = self.listeners.get(own.listens.get(&(at.clone(), tag))?)?;
                Some(Revoked { at, query: query.clone(), tag, reasons: None })
            })
            .collect();
        for Revoked { at, .. } in &ended {
            self.unlisten(session, at, tag);
        }
        let items = ended.into_iter().map(Item::Revoked).collect();
        let since = self.published.clone();
        self.hand_out(Round::from([(session, Delivery { items, ..Delivery::default() })]), &since, outboxes);
    }

    /// Registers a listener that has not been shown anything yet.
    fn begin(
        &mut self,
        now_ms: i64,
        session: SessionId,
        at: &Path,
        query: Query,
        tag: Option<Tag>,
    ) -> Result<ListenerId, ListenRefusal> {
        let own = self.sessions.get(&session).ok_or(ListenRefusal::Closed)?;
        let place = (at.clone(), tag);
        if LISTENS_MAX <= own.listens.len() && !own.listens.contains_key(&place) {
            return Err(ListenRefusal::TooMany);
        }
        let mut scale = Scale::up_to(LISTENS_BYTES_MAX);
        scale.listen(at, &query);
        let bytes = scale.bytes();
        let replaced = own.listens.get(&place).and_then(|id| self.listeners.get(id));
        if LISTENS_BYTES_MAX < own.listens_bytes + bytes - replaced.map_or(0, |listener| listener.bytes) {
            return Err(ListenRefusal::TooLong);
        }
        let pass = self.door().read(&own.identity, now_ms, &self.published.tree, at, &query)?;
        let replaced = own.listens.get(&place).copied();
        let id = ListenerId(self.listeners_made);
        self.listeners_made += 1;
        self.indexes.ensure(at, &query, &self.published.tree);
        let query = self.places.entry(at).add(query, id);
        // Only now, so that an index that both need stays.
        if let Some(replaced) = replaced {
            self.forget(replaced);
        }
        self.watch(id, &pass);
        let listener = Listener { session, at: at.clone(), query, tag, pass, is_new: true, bytes };
        self.listeners.insert(id, listener);
        if let Some(own) = self.sessions.get_mut(&session) {
            own.forgotten.told(at, tag);
            // Told only now, a revocation from before would end the new listener at its client.
            if let Some(lag) = &mut own.lag {
                lag.forget_revocation(at, tag);
            }
            own.listens_bytes += bytes;
            own.listens.insert(place, id);
        }
        Ok(id)
    }

    /// All that a listener shows, unless its client knows that.
    pub(super) fn first_push(
        &self,
        id: ListenerId,
        known: Option<Option<Hash>>,
        held: Option<HeldRanges>,
    ) -> Option<Push> {
        let Listener { at, query, tag, .. } = self.listeners.get(&id)?;
        let tree = &self.published.tree;
        let node = if query.is_everything() {
            tree.get(at).cloned()
        } else {
            self.indexes.view(at, query, tree).ok().and_then(|view| view.to_node())
        };
        let is_known = match (known, &node) {
            (Some(Some(hash)), Some(node)) => {
                node.hash_costs_at_most(HASHED_AT_ONCE_MAX) && node.has_hash(hash)
            }
            (Some(None), None) => true,
            (Some(_), _) | (None, _) => false,
        };
        let content = match (node, held) {
            (Some(node), Some(held)) => Content::PutOver(node, held),
            (node, _) => Content::Put(node),
        };
        let body = Body::new(at.clone(), content);
        (!is_known).then(|| Push { body: Arc::new(body), tag: *tag })
    }

    pub(super) fn mark_shown(&mut self, ids: impl IntoIterator<Item = ListenerId>) {
        for id in ids {
            if let Some(listener) = self.listeners.get_mut(&id) {
                listener.is_new = false;
            }
        }
    }

    /// Drops a listener that its session no longer names.
    pub(super) fn forget(&mut self, id: ListenerId) {
        self.unwatch(id);
        self.unjudged.remove(&id);
        let Some(Listener { session, at, query, bytes, .. }) = self.listeners.remove(&id) else { return };
        if let Some(own) = self.sessions.get_mut(&session) {
            own.listens_bytes -= bytes;
        }
        let Some(standing) = self.places.get_mut(&at) else { return };
        standing.remove(&query, id);
        if standing.is_empty() {
            self.places.remove(&at);
        }
        self.forget_needless_indexes(&at);
    }

    pub(super) fn forget_needless_indexes(&mut self, at: &Path) {
        let standing = self.places.get(at);
        let is_needed = |by: &IndexBy| {
            standing.is_some_and(|standing| standing.queries().any(|(query, _)| query.orders_by(by)))
        };
        let needless = self.indexes.retain(at, is_needed);
        let large = needless.into_iter().filter(|index| OUTDATED_ENTRIES < index.len());
        self.outdated.extend(large.map(Outdated::of_index));
    }
}
