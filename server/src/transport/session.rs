//! The life of a session, whatever carries its messages: frames go in as messages, and out as texts.
//!
//! Why the transport asks for everything and nothing here runs by itself: only the transport knows when its client can
//! take more. What the client cannot take stays in a bounded queue, and where that is full it gets one difference instead.

use super::Server;
use super::opening::Opening;
use super::pace::TooSlow;
use crate::auth::Expiry;
use crate::clock::now_ms;
use crate::connection::{Connection, Next, Told};
use crate::database::{Database, Stopped};
use crate::meters::{Meters, Present, Transport};
use crate::random::session_name;
use crate::sessions::{Entry, Stay};
use crate::threads::{Inbox, SessionMessage, Taking, outbox};
use hearth_engine::{Delivery, Identity, SessionId};
use hearth_wire::{Assembled, Handshake, ServerControl, SessionId as Name};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// Longest message: 16 MB of a write (wire reference 7.3), and what stands around it.
pub(super) const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024 + 64 * 1024;
/// Longest message that is received to be refused.
pub(super) const SKIPPED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How long an alarm runs at the most: the clock may be set meanwhile.
const ALARM_MAX: Duration = Duration::from_secs(60 * 60);
/// Deliveries that wait for a connection. One that falls further behind gets one difference instead.
const OUTBOX: usize = 64;

/// A client's session. Whoever opens one must [end](Session::end) it, or what it has armed is never made.
pub(super) struct Session {
    connection: Connection,
    database: Database,
    id: SessionId,
    name: Name,
    deliveries: Inbox,
    alarm: Alarm,
}

/// What a session has to look after besides its client.
pub(super) enum News {
    Delivery(Delivery),
    /// It may be that it is not proved any more who the client is.
    Alarm,
}

/// Rings when it is not proved any more who the client is.
#[derive(Default)]
struct Alarm {
    at_ms: Option<i64>,
    /// In a box, since many connections have none.
    timer: Option<Pin<Box<Sleep>>>,
}

/// By which others end a session, or what its client may do.
pub(super) struct Leash {
    entry: Entry,
    stay: Stay,
    expiry: Arc<Expiry>,
    database: Database,
    id: SessionId,
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
        let (outbox, deliveries) = outbox(OUTBOX);
        database.open(id, Identity::nobody(), outbox).await?;
        let mut connection =
            Connection::new(server.databases.clone(), database.clone(), gate, (id, peer.address));
        let handshake = Handshake { now_ms: now_ms(), host, session: Some(name.clone()) };
        connection.say(&ServerControl::Handshake(handshake));
        let expiry = connection.expiry().clone();
        let leash = Leash { entry, stay, expiry, database: database.clone(), id };
        let alarm = Alarm::default();
        Ok((Self { connection, database, id, name, deliveries, alarm }, leash))
    }

    /// How its client knows it.
    pub(super) const fn name(&self) -> &Name {
        &self.name
    }

    /// What is counted of the server.
    pub(super) fn meters(&self) -> &Arc<Meters> {
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

    /// Counts it while it is carried like that.
    pub(super) fn enter(&self, transport: Transport) -> Present {
        self.meters().enter(transport, Some(self.database.meters()))
    }

    /// Counts so many bytes of messages that its client is told; what is long counts itself.
    pub(super) fn told(&self, bytes: usize) {
        if 0 < bytes {
            self.database.meters().bytes_out.add(bytes as u64);
        }
    }

    /// Takes a message of the client.
    pub(super) async fn receive(&mut self, message: Assembled<'_>) -> Result<Next, Stopped> {
        let bytes = match &message {
            Assembled::Message(text) => text.len(),
            Assembled::TooBig { bytes, .. } => *bytes,
        };
        self.database.meters().bytes_in.add(bytes as u64);
        let next = self.connection.receive(message).await?;
        self.alarm.follow(self.connection.expiry());
        Ok(next)
    }

    /// Waits for news, to be [taken](Session::take). Nothing is lost if it is dropped; nothing comes when the server ends.
    pub(super) async fn news(&mut self) -> Option<News> {
        let Self { deliveries, alarm: Alarm { timer, .. }, .. } = self;
        let Some(timer) = timer else { return deliveries.next().await.map(News::Delivery) };
        tokio::select! {
            biased;
            () = timer => Some(News::Alarm),
            delivery = deliveries.next() => delivery.map(News::Delivery),
        }
    }

    /// Takes news, and others that are there by now: they can go out in one piece.
    pub(super) async fn take(&mut self, news: News) -> Result<Next, Stopped> {
        let mut next = match news {
            News::Delivery(delivery) => self.deliver(delivery).await?,
            News::Alarm => {
                self.connection.expire().await?;
                self.alarm = Alarm::default();
                Next::GoOn
            }
        };
        while next == Next::GoOn
            && self.connection.takes_more()
            && let Some(more) = self.deliveries.take()
        {
            next = self.deliver(more).await?;
        }
        self.alarm.follow(self.connection.expiry());
        Ok(next)
    }

    fn deliver(&mut self, delivery: Delivery) -> impl Future<Output = Result<Next, Stopped>> {
        let answered = if self.connection.waits() { self.deliveries.answered() } else { None };
        self.connection.deliver(delivery, answered)
    }

    /// The next message to go out.
    pub(super) fn next_outgoing(&mut self) -> Option<Told> {
        self.connection.next_outgoing()
    }

    /// Its client begins to take something long.
    pub(super) fn taking(&self) -> Taking {
        self.deliveries.taking()
    }

    /// Says that its client is closed because it takes something long too slowly.
    pub(super) fn is_too_slow(&self) {
        let slow = &self.database.meters().slow;
        slow.add(1);
        tracing::info!(
            session = self.id.0,
            slow = slow.get(),
            database = self.database.name(),
            "a connection is closed: {TooSlow}"
        );
    }

    /// All that was taken has gone out: what found no room meanwhile can be made up for.
    pub(super) async fn drained(&mut self) -> Result<(), Stopped> {
        // In boxes, since both are rare and every connection would have room for them.
        if self.connection.has_untold() {
            Box::pin(self.connection.give_up_untold()).await?;
        }
        if self.deliveries.has_caught_up() {
            Box::pin(self.database.tell(self.id, SessionMessage::Drained)).await?;
        }
        Ok(())
    }

    /// Makes the writes that it has armed, and lets those go on who wait for that. The server stays for a last word.
    pub(super) async fn end(&mut self, leash: Leash) -> Result<Stay, Stopped> {
        self.connection.end(&mut self.deliveries).await?;
        let Leash { entry, stay, .. } = leash;
        drop(entry);
        Ok(stay)
    }
}

impl Alarm {
    fn follow(&mut self, expiry: &Expiry) {
        let at_ms = expiry.at_ms();
        if self.at_ms == at_ms {
            return;
        }
        let left = |at_ms: i64| u64::try_from(at_ms.saturating_sub(now_ms())).unwrap_or_default();
        let timer = at_ms.map(|at_ms| Box::pin(sleep(ALARM_MAX.min(Duration::from_millis(left(at_ms))))));
        *self = Self { at_ms, timer };
    }
}

impl Leash {
    /// Returns when others end the session. Until then whoever's token ends becomes nobody on time, even while the client
    /// takes nothing and so nobody else looks: what is published later is then not kept for it.
    pub(super) async fn pulled(&mut self) -> Pull {
        let Self { entry, stay, expiry, database, id } = self;
        tokio::select! {
            () = entry.stopped() => Pull::Followed,
            () = stay.closing() => Pull::Closing,
            Stopped = expire(expiry, database, *id) => Pull::Closing,
        }
    }
}

/// Takes the client of a session for nobody each time that its token ends, until the server does.
async fn expire(expiry: &Expiry, database: &Database, id: SessionId) -> Stopped {
    let mut seen = None;
    loop {
        seen = Some(expiry.over(seen).await);
        // In a box, since every connection would have room for it.
        if let Err(stopped) = Box::pin(database.identify(id, Identity::nobody())).await {
            return stopped;
        }
    }
}
