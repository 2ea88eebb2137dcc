//! Sessions that have fallen behind: their news are dropped, and one difference takes their place.
//!
//! Why the tree that they saw last is kept only so long: it keeps alive what commits have replaced since. What that is can
//! be more than it looks, since a delete of a million nodes is a small commit; so what is replaced is weighed, while
//! anybody lags. All who lag count the same commits, so together they keep no more alive than the one who has lagged
//! longest.

use super::{Listener, Publisher, Round};
use crate::body::Body;
use crate::delivery::{Answer, Delivery, Item, Outboxes, Push, Revoked};
use crate::indexes::Indexes;
use crate::limits::{LAG_BYTES_MAX, LAG_END_MS, LAG_MS_MAX};
use crate::outdated::Outdated;
use crate::published::Published;
use crate::request::{SessionId, Ticket};
use crate::standing::{ListenerId, Tag};
use crate::weight::Scale;
use hearth_tree::{Change, Path, Snapshot};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a session that fell behind has missed.
#[derive(Debug)]
pub(super) struct Lag {
    /// What it was shown last; nothing, if that would keep too much alive. Then it is shown everything anew.
    since: Option<Since>,
    /// When the publisher noticed, in milliseconds since 1970; nothing before the first tick.
    noticed_ms: Option<i64>,
    /// Answers and revocations that come after the news that it missed. No more than the session has requests and
    /// listens under way.
    held: Vec<Held>,
}

/// The tree that a session saw last.
#[derive(Debug)]
struct Since {
    published: Arc<Published>,
    /// How much had been replaced by then.
    replaced_bytes: u64,
}

/// Something that waits for a difference.
#[derive(Debug)]
enum Held {
    Item(Item),
    /// The answer to a read: of what is there behind the difference, so it keeps nothing alive until then.
    Read(Ticket),
}

/// All sessions that lag.
#[derive(Debug, Default)]
pub(super) struct Lagging {
    sessions: BTreeSet<SessionId>,
    /// Those for whom a tree is kept, with how much had been replaced when that began; the one that has lagged longest
    /// first.
    keeping: BTreeSet<(u64, SessionId)>,
    /// What commits have replaced, in bytes, as far as it was weighed: while a tree was kept for anybody.
    replaced_bytes: u64,
}

impl Lag {
    pub(super) fn into_outdated(self) -> Option<Outdated> {
        self.since.map(Since::into_outdated)
    }

    /// A revocation from before a listener began anew would end that listener at its client.
    pub(super) fn forget_revocation(&mut self, at: &Path, tag: Option<Tag>) {
        let is_old = |revoked: &Revoked| revoked.at == *at && revoked.tag == tag;
        self.held.retain(|held| !matches!(held, Held::Item(Item::Revoked(revoked)) if is_old(revoked)));
    }

    fn hold(&mut self, refused: Delivery) {
        self.held.extend(refused.without_news().into_iter().map(|item| match item {
            Item::Answer(Answer::Read(ticket, _)) => Held::Read(ticket),
            Item::Push(_) | Item::Revoked(_) | Item::Answer(Answer::Write(..) | Answer::Listen(..)) => {
                Held::Item(item)
            }
        }));
    }
}

impl Since {
    /// It may be all that still holds what commits have replaced since.
    fn into_outdated(self) -> Outdated {
        Outdated::new(self.published, Indexes::default())
    }
}

impl Lagging {
    fn begin(&mut self, session: SessionId, since: Option<Since>, noticed_ms: Option<i64>) -> Lag {
        self.sessions.insert(session);
        self.keeping.extend(since.as_ref().map(|since| (since.replaced_bytes, session)));
        Lag { since, noticed_ms, held: Vec::new() }
    }

    pub(super) fn end(&mut self, session: SessionId, lag: &Lag) {
        self.sessions.remove(&session);
        if let Some(since) = &lag.since {
            self.keeping.remove(&(since.replaced_bytes, session));
        }
    }
}

impl Publisher {
    /// A session that lagged has room again: one difference for all its listeners, then what had to wait for it.
    pub fn drained(&mut self, now_ms: i64, session: SessionId, outboxes: &mut impl Outboxes) {
        let Some(own) = self.sessions.get_mut(&session) else { return };
        let Some(lag) = own.lag.take() else { return };
        self.lagging.end(session, &lag);
        let Lag { since, noticed_ms, held } = lag;
        let (revoked, ids) = self.judge_doubtful(now_ms, session);
        let news = ids
            .iter()
            .filter_map(|&id| self.missed(id, since.as_ref().map(|since| &*since.published)))
            .map(Item::Push);
        let held = held.into_iter().map(|held| match held {
            Held::Item(item) => item,
            Held::Read(ticket) => Item::Answer(Answer::Read(ticket, self.published.clone())),
        });
        let items = news.chain(held).chain(revoked).collect();
        match outboxes.offer(session, Delivery { moment: self.moment(), items }) {
            Ok(()) => {
                self.mark_shown(ids);
                self.outdated.extend(since.map(Since::into_outdated));
            }
            Err(refused) => self.lag(session, since, noticed_ms, refused),
        }
    }

    /// A commit is published. Weighs what it replaces, if a tree is kept for anybody, and keeps none for who would keep too
    /// much alive. O([`LAG_BYTES_MAX`]) for all commits of a lag together.
    pub(super) fn replaced(&mut self, change: &Change, before: &Snapshot) {
        if self.lagging.keeping.is_empty() {
            return;
        }
        let mut scale = Scale::up_to(LAG_BYTES_MAX);
        scale.replaced(change, before);
        self.lagging.replaced_bytes += scale.bytes() as u64;
        while let Some(&(began, session)) = self.lagging.keeping.first()
            && (LAG_BYTES_MAX as u64) < self.lagging.replaced_bytes - began
        {
            self.lagging.keeping.pop_first();
            self.keep_nothing(session);
        }
    }

    /// Looks how long sessions have lagged: keeps no tree for them, and closes them in the end, unless they take something
    /// long meanwhile.
    pub(super) fn give_up(&mut self, now_ms: i64, outboxes: &mut impl Outboxes) {
        for session in self.lagging.sessions.iter().copied().collect::<Vec<_>>() {
            let lag = self.sessions.get_mut(&session).and_then(|own| own.lag.as_mut());
            let Some(lag) = lag else { continue };
            let lagged_ms = now_ms - *lag.noticed_ms.get_or_insert(now_ms);
            if LAG_END_MS <= lagged_ms && !outboxes.is_taking(session) {
                self.close(session);
                outboxes.cut(session);
            } else if LAG_MS_MAX <= lagged_ms {
                self.keep_nothing(session);
            }
        }
    }

    fn keep_nothing(&mut self, session: SessionId) {
        let lag = self.sessions.get_mut(&session).and_then(|own| own.lag.as_mut());
        if let Some(since) = lag.and_then(|lag| lag.since.take()) {
            self.lagging.keeping.remove(&(since.replaced_bytes, session));
            self.outdated.push(since.into_outdated());
        }
    }

    /// Judges again what of a session is in doubt; gives what is revoked, and the listeners that are left.
    fn judge_doubtful(&mut self, now_ms: i64, session: SessionId) -> (Vec<Item>, Vec<ListenerId>) {
        let listens = |publisher: &Self| -> Vec<ListenerId> {
            let own = publisher.sessions.get(&session);
            own.map(|own| own.listens.values().copied().collect()).unwrap_or_default()
        };
        let mut round = Round::new();
        let tree = self.published.clone();
        for id in listens(self).into_iter().filter(|&id| self.is_in_doubt(id)).collect::<Vec<_>>() {
            self.judge(now_ms, id, &tree.tree, &mut round);
        }
        (round.remove(&session).unwrap_or_default().items, listens(self))
    }

    pub(super) fn lags(&self, session: SessionId) -> bool {
        // Mostly nobody does, and then nothing is looked for.
        !self.lagging.sessions.is_empty() && self.sessions.get(&session).is_some_and(|own| own.lag.is_some())
    }

    /// What a listener has missed since its session fell behind; everything, if what it was shown last is not known.
    fn missed(&self, id: ListenerId, since: Option<&Published>) -> Option<Push> {
        let Listener { at, query, tag, is_new, .. } = self.listeners.get(&id)?;
        let Some(since) = since.filter(|_| !is_new) else {
            return self.first_push(id, None, None);
        };
        let (before, after) = (since.tree.get(at), self.published.tree.get(at));
        if before == after {
            return None;
        }
        let body = if query.is_everything() {
            Body::of_difference(at, &since.tree, &self.published.tree)
        } else if let (None, None) = (query.index_for(before), query.index_for(after)) {
            let none = Indexes::default();
            let [before, after] = [&since.tree, &self.published.tree].map(|tree| none.view(at, query, tree));
            Body::of_views(at, &before.ok()?, &after.ok()?)
        } else {
            // The index of what was shown last is gone: the window whole.
            return self.first_push(id, None, None);
        };
        Some(Push { body: Arc::new(body?), tag: *tag })
    }

    /// Gives the connections what one step has to say. Who has no room lags from the snapshot before on: its news are
    /// dropped, its answers wait for the difference that it gets instead.
    pub(super) fn hand_out(&mut self, round: Round, before: &Arc<Published>, outboxes: &mut impl Outboxes) {
        let moment = self.moment();
        for (id, delivery) in round {
            let delivery = Delivery { moment, ..delivery };
            let lag = self.sessions.get_mut(&id).and_then(|session| session.lag.as_mut());
            match lag {
                Some(lag) => lag.hold(delivery),
                None => {
                    if let Err(refused) = outboxes.offer(id, delivery) {
                        let replaced_bytes = self.lagging.replaced_bytes;
                        let since = Since { published: before.clone(), replaced_bytes };
                        self.lag(id, Some(since), None, refused);
                    }
                }
            }
        }
    }

    fn lag(&mut self, session: SessionId, since: Option<Since>, noticed_ms: Option<i64>, refused: Delivery) {
        if let Some(own) = self.sessions.get_mut(&session) {
            own.lag.insert(self.lagging.begin(session, since, noticed_ms)).hold(refused);
        }
    }
}
