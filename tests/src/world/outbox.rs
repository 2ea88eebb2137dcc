//! The queues between the publisher and the clients: short, so that they are often full.

use hearth_engine::{Delivery, Item, Outboxes, Published, Push, Revoked, SessionId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// All queues.
#[derive(Debug, Default)]
pub(super) struct Boxes {
    by_session: BTreeMap<SessionId, Outbox>,
    /// What has been taken since somebody last looked.
    pub fresh: Vec<(SessionId, Fresh)>,
    /// Sessions that were given up, since somebody last looked.
    pub cut: Vec<SessionId>,
}

/// Something that has just left the engine.
#[derive(Clone, Debug)]
pub(super) enum Fresh {
    /// Data.
    Push(Push),
    /// The end of a listener.
    Revoked(Revoked),
}

#[derive(Debug)]
struct Outbox {
    deliveries: VecDeque<Delivery>,
    capacity: usize,
    has_refused: bool,
}

impl Boxes {
    /// A queue of that many deliveries.
    pub(super) fn open(&mut self, session: SessionId, capacity: usize) {
        self.by_session.insert(session, Outbox { deliveries: VecDeque::new(), capacity, has_refused: false });
    }

    /// The queue is gone with all that is in it.
    pub(super) fn close(&mut self, session: SessionId) {
        self.by_session.remove(&session);
    }

    /// The oldest delivery.
    pub(super) fn take(&mut self, session: SessionId) -> Option<Delivery> {
        self.by_session.get_mut(&session)?.deliveries.pop_front()
    }

    /// Whether nothing waits and nothing was refused.
    pub(super) fn is_idle(&self, session: SessionId) -> bool {
        self.by_session.get(&session).is_none_or(|own| own.deliveries.is_empty() && !own.has_refused)
    }

    /// Whether something was refused, for which there is room now; forgets it.
    pub(super) fn take_refused(&mut self, session: SessionId) -> bool {
        self.by_session.get_mut(&session).is_some_and(|own| {
            let has_room = own.has_refused && own.deliveries.len() < own.capacity;
            own.has_refused &= !has_room;
            has_room
        })
    }
}

impl Outboxes for Boxes {
    fn offer(&mut self, session: SessionId, delivery: Delivery) -> Result<(), Delivery> {
        let Some(own) = self.by_session.get_mut(&session) else { return Ok(()) };
        if own.capacity <= own.deliveries.len() {
            assert!(!own.has_refused, "{session:?} lags and is offered news");
            own.has_refused = true;
            return Err(delivery);
        }
        for item in &delivery.items {
            match item {
                Item::Push(push) => self.fresh.push((session, Fresh::Push(push.clone()))),
                Item::Revoked(revoked) => self.fresh.push((session, Fresh::Revoked(revoked.clone()))),
                Item::Answer(_) => {}
            }
        }
        own.deliveries.push_back(delivery);
        Ok(())
    }

    fn show(&mut self, _: &Arc<Published>) {}

    fn is_taking(&self, _: SessionId) -> bool {
        false
    }

    fn cut(&mut self, session: SessionId) {
        assert!(self.by_session.get(&session).is_some_and(|own| own.has_refused), "{session:?} does not lag");
        self.by_session.remove(&session);
        self.cut.push(session);
    }
}
