//! The life of a session, whatever carries its messages: frames go in as messages, and out as texts.
//!
//! Why the transport asks for everything and nothing here runs by itself: only the transport knows when its client can
//! take more. What the client cannot take stays in a bounded queue, and where that is full it gets one difference instead.

use super::Server;
use super::opening::Opening;
use crate::connection::{Connection, Next};
use crate::database::{Database, Stopped};
use crate::meters::Meters;
use crate::random::session_name;
use crate::sessions::{Entry, Stay};
use crate::threads::{Outbox, SessionMessage};
use hearth_engine::{Delivery, Identity, SessionId};
use hearth_wire::{Assembled, Handshake, ServerControl, SessionId as Name};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Longest message: 16 MB of a write (wire reference 7.3), and what stands around it.
pub(super) const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024 + 64 * 1024;
/// Longest message that is received to be refused.
pub(super) const SKIPPED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Deliveries that wait for a connection. One that falls further behind gets one difference instead.
const OUTBOX: usize = 64;

/// A client's session. Whoever opens one must [end](Session::end) it, or what it has armed is never made.
pub(super) struct Session {
    connection: Connection,
    database: Database,
    id: SessionId,
    name: Name,
    deliveries: mpsc::Receiver<Delivery>,
    is_lagging: Arc<AtomicBool>,
}

/// By which others end a session.
pub(super) struct Leash {
    entry: Entry,
    stay: Stay,
}

/// Why others end a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pull {
    /// Its client has come back, and goes on in another one.
    Followed,
    /// The server ends.
    Closing,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("the system has no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl Session {
    /// Opens a session when the one before it is over (wire reference 10.3). Its handshake is the first text to go out.
    pub(super) async fn open(
        server: &Server,
        opening: Opening,
        stay: Stay,
    ) -> Result<(Self, Leash), OpenError> {
        let Opening { database, gate, params, peer, host } = opening;
        if let Some(last) = &params.last_session {
            server.sessions.end(last.as_str()).await;
        }
        let name = session_name()?;
        let entry = server.sessions.enter(name.as_str());
        let id = server.databases.new_session();
        let (queue, deliveries) = mpsc::channel(OUTBOX);
        let is_lagging = Arc::new(AtomicBool::new(false));
        let outbox = Outbox { queue, is_lagging: is_lagging.clone() };
        database.open(id, Identity::nobody(), outbox).await?;
        let mut connection =
            Connection::new(server.databases.clone(), database.clone(), gate, (id, peer.address));
        let handshake = Handshake { now_ms: crate::clock::now_ms(), host, session: Some(name.clone()) };
        connection.say(&ServerControl::Handshake(handshake));
        Ok((Self { connection, database, id, name, deliveries, is_lagging }, Leash { entry, stay }))
    }

    /// How its client knows it.
    pub(super) const fn name(&self) -> &Name {
        &self.name
    }

    /// What is counted of the server.
    pub(super) const fn meters(&self) -> &Arc<Meters> {
        self.database.meters_of_server()
    }

    /// Tells the client something about the connection.
    pub(super) fn say(&mut self, control: &ServerControl) {
        self.connection.say(control);
    }

    /// Whether it can take another message.
    pub(super) fn has_room(&self) -> bool {
        self.connection.has_room()
    }

    /// Takes a message of the client.
    pub(super) async fn receive(&mut self, message: Assembled<'_>) -> Result<Next, Stopped> {
        self.connection.receive(message).await
    }

    /// Waits for news, to be [taken](Session::take). Nothing is lost if it is dropped; nothing comes when the server ends.
    pub(super) async fn news(&mut self) -> Option<Delivery> {
        self.deliveries.recv().await
    }

    /// Takes news, and others that are there by now: they can go out in one piece.
    pub(super) async fn take(&mut self, news: Delivery) -> Result<Next, Stopped> {
        let mut next = self.connection.deliver(news).await?;
        while next == Next::GoOn
            && self.connection.takes_more()
            && let Ok(more) = self.deliveries.try_recv()
        {
            next = self.connection.deliver(more).await?;
        }
        Ok(next)
    }

    /// The next text to go out.
    pub(super) fn next_outgoing(&mut self) -> Option<Utf8Bytes> {
        self.connection.next_outgoing()
    }

    /// All that was taken has gone out: what found no room meanwhile can be made up for.
    pub(super) async fn drained(&mut self) -> Result<(), Stopped> {
        self.connection.give_up_untold().await?;
        if self.deliveries.is_empty() && self.is_lagging.swap(false, Ordering::SeqCst) {
            self.database.tell(self.id, SessionMessage::Drained).await?;
        }
        Ok(())
    }

    /// Makes the writes that it has armed, and lets those go on who wait for that. The server stays for a last word.
    pub(super) async fn end(&mut self, leash: Leash) -> Result<Stay, Stopped> {
        self.connection.end(&mut self.deliveries).await?;
        let Leash { entry, stay } = leash;
        drop(entry);
        Ok(stay)
    }
}

impl Leash {
    /// Returns when others end the session.
    pub(super) async fn pulled(&mut self) -> Pull {
        let Self { entry, stay } = self;
        tokio::select! {
            () = entry.stopped() => Pull::Followed,
            () = stay.closing() => Pull::Closing,
        }
    }
}
