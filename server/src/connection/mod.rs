//! One client's connection, whatever carries its messages: from what it sends to what it is told.
//!
//! Why requests queue here: writes are pipelined, but whoever reads, listens or changes its identity after a write must
//! see that write, so such a request waits until the writes before it are answered (wire reference 3.5). And why answers
//! have slots: they leave in the order in which the requests came.
//!
//! What one client can make a connection hold: requests up to [`queued::REQUEST_BYTES_MAX`] and one message more, one text of a
//! mebibyte that goes out, and two trees of other times: what waits to go out is spelled when it goes, what is long while it
//! goes, and a read is begun when the one before has left.

mod begun;
mod delivered;
mod failure;
mod identity;
mod long;
mod news;
mod outgoing;
mod queued;
mod reading;
mod slots;
mod spelled;
mod timed;
mod watched;
mod window;

pub(crate) use long::{Long, Told};
pub(crate) use news::bytes_told;
pub(crate) use queued::REQUEST_NODES_MAX;
pub(crate) use window::Credit;

use crate::auth::{Expiry, Gate};
use crate::database::{Database, Databases};
use crate::limits::{Line, Who};
use crate::profile::{Operation, Record};
use crate::transport::{BodyShare, Coming};
use hearth_engine::{Identity, Push as EnginePush, SessionId};
use outgoing::Outgoing;
use queued::Queued;
use slots::Slot;
use spelled::Spelled;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use watched::Watched;
use window::Window;

/// A client's connection.
pub(crate) struct Connection {
    databases: Arc<Databases>,
    database: Database,
    gate: Gate,
    session: SessionId,
    /// Where its client is.
    address: IpAddr,
    identity: Identity,
    /// Until when it is proved.
    expiry: Arc<Expiry>,
    /// Requests that have not been begun, those that are refused already among them: an answer has its turn too.
    queued: VecDeque<Queued>,
    /// One for each request that was begun and whose answer has not left.
    slots: VecDeque<Slot>,
    writes_under_way: usize,
    tickets_made: u64,
    spelled: Spelled,
    /// The text of all requests that are queued or have a slot, in bytes.
    request_bytes: usize,
    /// What these take of the memory for what all clients send: their text, and what was made of it.
    share: BodyShare,
    outgoing: VecDeque<Outgoing>,
    /// How many of these are reads.
    reads_outgoing: usize,
    /// News that the client cannot receive.
    untold: Vec<EnginePush>,
    /// What is under way while somebody looks on.
    watched: Watched,
    /// What it may have wait for the threads; nothing, while it has not asked for anything.
    window: Option<Window>,
}

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    GoOn,
    Close,
}

impl Connection {
    /// Of a session of nobody yet, and where its client is.
    pub(crate) fn new(
        databases: Arc<Databases>,
        database: Database,
        gate: Gate,
        (session, address): (SessionId, IpAddr),
    ) -> Self {
        database.profile(|| Record::new(Operation::Connect));
        Self {
            share: databases.bodies().share(Coming::Message),
            databases,
            database,
            gate,
            session,
            address,
            identity: Identity::nobody(),
            expiry: Arc::new(Expiry::new(None)),
            queued: VecDeque::new(),
            slots: VecDeque::new(),
            writes_under_way: 0,
            tickets_made: 0,
            spelled: Spelled::default(),
            request_bytes: 0,
            outgoing: VecDeque::new(),
            reads_outgoing: 0,
            untold: Vec::new(),
            watched: Watched::default(),
            window: None,
        }
    }

    fn who(&self) -> Who<'_> {
        Who {
            database: self.database.name(),
            identity: &self.identity,
            address: self.address,
            line: Line::Session(self.session),
        }
    }
}
