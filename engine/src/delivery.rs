//! What leaves the engine for a session, and the seam to its connection.

use crate::body::Body;
use crate::limits::HEAVY_BYTES;
use crate::moment::Moment;
use crate::published::Published;
use crate::publisher::{Begun, ListenRefusal};
use crate::request::{Accepted, Refusal, SessionId, Ticket};
use crate::standing::Tag;
use hearth_tree::{Path, Query};
use std::sync::Arc;

/// What one step has to say to a session, to be sent in this order: news before the answers that depend on them.
#[derive(Debug, Default)]
pub struct Delivery {
    /// Where whoever has taken it stands: it has been told everything up to here.
    pub moment: Moment,
    /// News, revocations and answers.
    pub items: Vec<Item>,
}

impl Delivery {
    /// Whether it keeps so much alive that it should not wait beside others. O([`HEAVY_BYTES`]) once for each body.
    pub fn is_heavy(&self) -> bool {
        let mut bytes = 0;
        self.items.iter().any(|item| {
            bytes += match item {
                Item::Push(push) => push.body.weight(),
                Item::Revoked(revoked) => revoked.reasons.as_ref().map_or(0, |reasons| reasons.len()),
                Item::Answer(_) => 0,
            };
            HEAVY_BYTES < bytes
        })
    }

    /// What a session that lags must still be told, after the difference that it gets instead of the news.
    pub(crate) fn without_news(self) -> Vec<Item> {
        let kept = |item| match item {
            Item::Push(_) => None,
            // How many are held is not bounded by what a client asks, so they are short.
            Item::Revoked(revoked) => Some(Item::Revoked(Revoked { reasons: None, ..revoked })),
            Item::Answer(_) => Some(item),
        };
        self.items.into_iter().filter_map(kept).collect()
    }
}

/// One message.
#[derive(Debug)]
pub enum Item {
    /// News for a listener.
    Push(Push),
    /// A listener that may listen no longer; it is gone.
    Revoked(Revoked),
    /// What became of a request.
    Answer(Answer),
}

/// News for a listener.
#[derive(Clone, Debug)]
pub struct Push {
    /// What is new.
    pub body: Arc<Body>,
    /// Which query of the session it is for; none, if it listens to everything.
    pub tag: Option<Tag>,
}

/// A listener that has lost its permission.
#[derive(Clone, Debug, PartialEq)]
pub struct Revoked {
    /// Where it listened.
    pub at: Path,
    /// To what.
    pub query: Arc<Query>,
    /// By which name.
    pub tag: Option<Tag>,
    /// How that came about, if whoever listened may know it.
    pub reasons: Option<Arc<str>>,
}

/// What became of a request.
#[derive(Debug)]
pub enum Answer {
    /// Of a write or of arming one.
    Write(Ticket, Result<Accepted, Refusal>),
    /// Of a listen.
    Listen(Ticket, Result<Begun, ListenRefusal>),
    /// Of a read: what is published where this stands among the news.
    Read(Ticket, Arc<Published>),
}

/// The queues of the connections. The publisher never waits for one.
pub trait Outboxes {
    /// Takes a delivery for a session, or gives it back because the queue is full. A session that is gone takes
    /// everything.
    ///
    /// # Errors
    /// The delivery itself: the session is lagging from now on, until [`crate::Publisher::drained`] is called for it.
    fn offer(&mut self, session: SessionId, delivery: Delivery) -> Result<(), Delivery>;

    /// Another revision is published, or other rules hold. Comes before the deliveries that speak of it, so that whoever
    /// has been told of it also finds it when reading.
    fn show(&mut self, published: &Arc<Published>);

    /// Whether a session takes something long just now, fast enough: then it is not given up, however long it lags.
    fn is_taking(&self, session: SessionId) -> bool;

    /// A session has lagged for [`crate::limits::LAG_END_MS`] and is given up: the publisher has closed it, its connection
    /// is to be ended with that reason, and counted.
    fn cut(&mut self, session: SessionId);
}
