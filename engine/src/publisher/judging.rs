//! Who may still listen: permissions change with the data, the time, the identity and the rules.
//!
//! Why not at once: rules concern everybody, and a hundred thousand verdicts in one step would stall all others. Why
//! nobody notices: a listener whose turn has not come is suspended. It is judged before it is told anything, so what is
//! late is at most the word that it may listen no longer.

use super::{Publisher, Round};
use crate::delivery::{Item, Outboxes, Revoked};
use crate::door::{Identity, Pass};
use crate::limits::{FORGOTTEN_AT_ONCE_MAX, JUDGED_AT_ONCE_MAX};
use crate::request::SessionId;
use crate::standing::ListenerId;
use hearth_tree::Snapshot;

impl Publisher {
    /// A session has become somebody else. From here on it is told nothing that it may not know; what it may no longer
    /// listen to is revoked at once or, of many listeners, in slices: see [`Publisher::settle_some`].
    pub fn identify(
        &mut self,
        now_ms: i64,
        session: SessionId,
        identity: Identity,
        outboxes: &mut impl Outboxes,
    ) {
        let Some(own) = self.sessions.get_mut(&session) else { return };
        own.identity = identity;
        let mut ids = own.listens.values().copied();
        let first = ids.by_ref().take(JUDGED_AT_ONCE_MAX).collect();
        self.unjudged.extend(ids);
        self.judge_listeners(now_ms, first, outboxes);
    }

    /// Judges again what depends on the time, in slices, and gives up sessions that have fallen behind for too long. To be
    /// called every second or so.
    pub fn tick(&mut self, now_ms: i64, outboxes: &mut impl Outboxes) {
        self.give_up(now_ms, outboxes);
        self.unjudged.extend(&self.clock_watchers);
        self.settle_some(now_ms, outboxes);
    }

    /// Whether every listener has been judged since rules and identities changed last, and all are forgotten whose session
    /// has ended.
    pub fn is_settled(&self) -> bool {
        self.unjudged.is_empty() && self.ended.is_empty()
    }

    /// Judges the next slice of the listeners that are suspended, at most [`JUDGED_AT_ONCE_MAX`] of them, and forgets at most
    /// [`FORGOTTEN_AT_ONCE_MAX`] of those whose session has ended. To be called between all other steps until
    /// [`Publisher::is_settled`].
    pub fn settle_some(&mut self, now_ms: i64, outboxes: &mut impl Outboxes) {
        self.forget_some();
        let ids = self.unjudged.iter().take(JUDGED_AT_ONCE_MAX).copied().collect();
        self.judge_listeners(now_ms, ids, outboxes);
    }

    /// Forgets the next slice of what sessions listened to that have ended.
    pub(super) fn forget_some(&mut self) {
        for _ in 0..FORGOTTEN_AT_ONCE_MAX {
            let Some(listens) = self.ended.last_mut() else { return };
            match listens.pop_first() {
                Some((_, id)) => self.forget(id),
                None => drop(self.ended.pop()),
            }
        }
    }

    /// Whether the session of a listener is gone. Mostly none is, and then nothing is looked for.
    pub(super) fn has_ended(&self, session: SessionId) -> bool {
        !self.ended.is_empty() && !self.sessions.contains_key(&session)
    }

    /// Whether a listener must be judged before it is told anything.
    pub(super) fn is_in_doubt(&self, id: ListenerId) -> bool {
        self.clock_watchers.contains(&id) || self.unjudged.contains(&id)
    }

    fn judge_listeners(&mut self, now_ms: i64, ids: Vec<ListenerId>, outboxes: &mut impl Outboxes) {
        let published = self.published.clone();
        let mut round = Round::new();
        for id in ids {
            self.judge(now_ms, id, &published.tree, &mut round);
        }
        self.hand_out(round, &published, outboxes);
    }

    /// Judges a listener again, and revokes what is not allowed.
    pub(super) fn judge(&mut self, now_ms: i64, id: ListenerId, tree: &Snapshot, round: &mut Round) {
        self.unjudged.remove(&id);
        let Some(listener) = self.listeners.get(&id) else { return };
        let Some(session) = self.sessions.get(&listener.session) else { return };
        self.judged += 1;
        match self.door().read_again(&session.identity, now_ms, tree, &listener.at, &listener.query) {
            Ok(pass) => {
                self.unwatch(id);
                self.watch(id, &pass);
                if let Some(listener) = self.listeners.get_mut(&id) {
                    listener.pass = pass;
                }
            }
            Err(denied) => {
                let super::Listener { session, at, query, tag, .. } = listener;
                let (session, at, query) = (*session, at.clone(), query.clone());
                let revoked = Revoked { at, query, tag: *tag, reasons: denied.reasons().cloned() };
                self.unlisten(session, &revoked.at, revoked.tag);
                round.entry(session).or_default().items.push(Item::Revoked(revoked));
            }
        }
    }

    pub(super) fn watch(&mut self, id: ListenerId, pass: &Pass) {
        for look in &pass.looks {
            self.looks.entry(&look.at).insert(id);
        }
        if pass.saw_now {
            self.clock_watchers.insert(id);
        }
    }

    pub(super) fn unwatch(&mut self, id: ListenerId) {
        self.clock_watchers.remove(&id);
        let Some(listener) = self.listeners.get(&id) else { return };
        for look in &listener.pass.looks {
            if let Some(ids) = self.looks.get_mut(&look.at) {
                ids.remove(&id);
                if ids.is_empty() {
                    self.looks.remove(&look.at);
                }
            }
        }
    }
}
