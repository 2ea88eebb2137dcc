//! The threads that own the databases: one decides, one keeps, one publishes.
//!
//! Why threads and not tasks: each owns its state, so nothing is locked and the order is by construction. Why bounded
//! queues all the way: who asks waits when they are full, and nothing grows.

mod committer;
mod log;
mod publisher;

use crate::log::Kept;
use arc_swap::ArcSwap;
use hearth_engine::{
    DatabaseId, Delivery, Door, Durable, Identity, Listen, Log, Published, Request, SessionId, Tag, Ticket,
    Verdict,
};
use hearth_tree::Path;
pub(crate) use log::LogHealth;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// Requests that wait to be decided. Whoever asks waits in turn.
const COMMITTER_QUEUE: usize = 1_024;
/// Groups that wait to be kept, or to be published.
const GROUP_QUEUE: usize = 64;
/// Messages that wait for the publisher.
const PUBLISHER_QUEUE: usize = 1_024;
/// Most requests that are decided into one group.
const GROUP_REQUESTS_MAX: usize = 512;

/// What the committer is told.
pub(crate) enum ToCommitter {
    /// A new database with its name.
    Open(DatabaseId, String, Door),
    /// Something to decide.
    Decide(DatabaseId, Request),
}

/// What the publisher is told.
pub(crate) enum ToPublisher {
    /// A database: what is published, and where readers find what will be.
    Open(DatabaseId, Arc<ArcSwap<Published>>),
    /// Commits of several databases to show.
    Publish(Vec<(DatabaseId, Durable<Vec<Verdict>>)>),
    /// Anything about one session.
    Session(DatabaseId, SessionId, SessionMessage),
}

/// What the publisher is told of a session.
pub(crate) enum SessionMessage {
    /// It begins.
    Open(Identity, Outbox),
    /// It is over.
    Close,
    /// It is somebody else now. Answered when what it may no longer see has been revoked.
    Identify(Identity, oneshot::Sender<()>),
    /// It listens.
    Listen(Ticket, Listen),
    /// It reads.
    Read(Ticket),
    /// It no longer listens.
    Unlisten(Path, Option<Tag>),
    /// Its queue is empty again.
    Drained,
}

/// Where the publisher puts what a session shall be told.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    pub(crate) queue: mpsc::Sender<Delivery>,
    /// Set when a delivery found no room: the session must say when its queue is empty.
    pub(crate) is_lagging: Arc<AtomicBool>,
}

/// The way to the threads.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    pub(crate) committer: mpsc::Sender<ToCommitter>,
    pub(crate) publisher: mpsc::Sender<ToPublisher>,
    pub(crate) health: LogHealth,
}

impl Threads {
    /// Starts them on what was kept. They end when nobody can tell them anything any more.
    pub(crate) fn start(
        log: Box<dyn Log + Send>,
        kept: BTreeMap<DatabaseId, Kept>,
        shown: BTreeMap<DatabaseId, Arc<ArcSwap<Published>>>,
    ) -> std::io::Result<(Self, Running)> {
        let (to_committer, committer) = mpsc::channel(COMMITTER_QUEUE);
        let (to_log, groups) = mpsc::channel(GROUP_QUEUE);
        let (to_publisher, publisher) = mpsc::channel(PUBLISHER_QUEUE);
        let own = |name: &str| std::thread::Builder::new().name(name.into());
        let waits = timer()?;
        let committer = own("committer").spawn(move || committer::run(&waits, kept, committer, &to_log))?;
        let (publish, health) = (to_publisher.clone(), LogHealth::default());
        let log_health = health.clone();
        let log = own("log").spawn(move || log::run(log, &log_health, groups, &publish))?;
        let waits = timer()?;
        let publisher = own("publisher").spawn(move || publisher::run(&waits, shown, publisher))?;
        let running = Running([committer, log, publisher]);
        Ok((Self { committer: to_committer, publisher: to_publisher, health }, running))
    }
}

#[cfg(test)]
impl Threads {
    /// On nothing, and what they keep ends with them.
    pub(crate) fn in_memory() -> (Self, Running) {
        Self::start(Box::new(hearth_engine::MemoryLog), BTreeMap::new(), BTreeMap::new()).unwrap()
    }
}

/// The threads themselves.
#[derive(Debug)]
pub(crate) struct Running([JoinHandle<()>; 3]);

impl Running {
    /// Returns when they have ended: then everything that was decided has been kept.
    pub(crate) async fn ended(&self) {
        while !self.0.iter().all(JoinHandle::is_finished) {
            sleep(Duration::from_millis(5)).await;
        }
    }
}

/// What a thread waits with. Its own: the server's runtime ends before the threads do, and waiting with a deadline on a
/// runtime that ends is a panic.
fn timer() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}

/// What a thread that waits with a deadline finds.
enum Next<T> {
    Message(T),
    Deadline,
    End,
}

fn next<T>(timer: &Runtime, inbox: &mut mpsc::Receiver<T>, wait: Option<Duration>) -> Next<T> {
    let message = match wait {
        None => Ok(inbox.blocking_recv()),
        Some(wait) => timer.block_on(async { timeout(wait, inbox.recv()).await }),
    };
    match message {
        Ok(Some(message)) => Next::Message(message),
        Ok(None) => Next::End,
        Err(_) => Next::Deadline,
    }
}
