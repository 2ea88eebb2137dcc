//! Sessions that have fallen behind: their news are dropped, and one difference takes their place.

use super::{Listener, Publisher, Round};
use crate::body::Body;
use crate::delivery::{Answer, Delivery, Item, Outboxes, Push};
use crate::indexes::Indexes;
use crate::published::Published;
use crate::request::SessionId;
use crate::standing::ListenerId;
use std::sync::Arc;

/// What a session that fell behind has missed.
#[derive(Debug)]
pub(super) struct Lag {
    /// What it was shown last.
    since: Arc<Published>,
    /// Answers and revocations that come after the news that it missed. No more than the session has requests and
    /// listens under way.
    pub(super) held: Vec<Item>,
}

impl Publisher {
    /// A session that lagged has room again: one difference for all its listeners, then what had to wait for it.
    pub fn drained(&mut self, now_ms: i64, session: SessionId, outboxes: &mut impl Outboxes) {
        let Some(own) = self.sessions.get_mut(&session) else { return };
        let Some(Lag { since, held }) = own.lag.take() else { return };
        let (revoked, ids) = self.judge_doubtful(now_ms, session);
        let news = ids.iter().filter_map(|&id| self.missed(id, &since)).map(Item::Push);
        let held = held.into_iter().map(|item| self.renewed(item));
        let items = news.chain(held).chain(revoked).collect();
        match outboxes.offer(session, Delivery { items }) {
            Ok(()) => self.mark_shown(ids),
            Err(refused) => self.lag(session, since, refused),
        }
    }

    /// What had to wait for a difference, as it is behind that difference.
    fn renewed(&self, held: Item) -> Item {
        match held {
            Item::Answer(Answer::Read(ticket, _)) => {
                Item::Answer(Answer::Read(ticket, self.published.clone()))
            }
            Item::Push(_) | Item::Revoked(_) | Item::Answer(Answer::Write(..) | Answer::Listen(..)) => held,
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
        self.sessions.get(&session).is_some_and(|own| own.lag.is_some())
    }

    /// What a listener has missed since its session fell behind.
    fn missed(&self, id: ListenerId, since: &Published) -> Option<Push> {
        let Listener { at, query, tag, is_new, .. } = self.listeners.get(&id)?;
        let (before, after) = (since.tree.get(at), self.published.tree.get(at));
        if *is_new {
            return self.first_push(id, None);
        }
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
            return self.first_push(id, None);
        };
        Some(Push { body: Arc::new(body?), tag: *tag })
    }

    /// Gives the connections what one step has to say. Who has no room lags from the snapshot before on: its news are
    /// dropped, its answers wait for the difference that it gets instead.
    pub(super) fn hand_out(&mut self, round: Round, before: &Arc<Published>, outboxes: &mut impl Outboxes) {
        for (id, delivery) in round {
            let lag = self.sessions.get_mut(&id).and_then(|session| session.lag.as_mut());
            match lag {
                Some(lag) => lag.held.extend(delivery.without_news()),
                None => {
                    if let Err(refused) = outboxes.offer(id, delivery) {
                        self.lag(id, before.clone(), refused);
                    }
                }
            }
        }
    }

    fn lag(&mut self, session: SessionId, since: Arc<Published>, refused: Delivery) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.lag = Some(Lag { since, held: refused.without_news() });
        }
    }
}
