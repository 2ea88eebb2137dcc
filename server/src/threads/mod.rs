//! The threads that own the databases: one decides, one keeps, one publishes, one writes checkpoints, one builds large
//! indexes, and one lets go of what is large.
//!
//! Why threads and not tasks: each owns its state, so nothing is locked and the order is by construction. Why bounded
//! queues all the way: who asks waits when they are full, and nothing grows.

mod checkpoint;
mod committer;
mod indexer;
mod log;
mod outbox;
mod publisher;
mod reclaim;

use crate::backup::Moment;
use crate::checkpoint::Captured;
use crate::checkpoint_log::CheckpointLog;
use crate::connection::Credit;
use crate::kept_indexes::KeptIndexes;
use crate::log::{Checkpointing, Kept, KeptLog, Staging};
use crate::meters::Meters;
use crate::study::Studies;
use arc_swap::ArcSwap;
pub(crate) use checkpoint::CheckpointHealth;
use checkpoint::{LogBytes, Marked};
use hearth_engine::{
    DatabaseId, Decided, Door, Durable, Identity, Listen, Published, Request, SessionId, Tag, Ticket, Verdict,
};
use hearth_tree::{Index, Path};
pub(crate) use log::LogHealth;
pub(crate) use outbox::{Inbox, Outbox, Taking, outbox};
pub(crate) use reclaim::Reclaim;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// Requests that wait to be decided. Whoever asks waits in turn.
const COMMITTER_QUEUE: usize = 1_024;
/// Groups that wait to be kept, or to be published.
const GROUP_QUEUE: usize = 64;
/// Messages that wait for the publisher.
const PUBLISHER_QUEUE: usize = 1_024;
/// Captures that wait for the checkpoint thread: the one that it has asked for, and the last one. More are not wanted.
const CAPTURE_QUEUE: usize = 2;
/// Large writes that are put on the disk at the same time. More would only share the disk; they wait, with their bodies.
const STAGED_AT_ONCE: usize = 2;
/// Most requests that are decided into one group.
const GROUP_REQUESTS_MAX: usize = 512;

/// What the committer is told.
pub(crate) enum ToCommitter {
    /// A new database with its name.
    Open(DatabaseId, String, Door),
    /// Something to decide.
    Decide(DatabaseId, Request, Credit),
    /// All that is decided is wanted for a checkpoint.
    Capture,
    /// The same for a backup, when it is durable.
    Backup(oneshot::Sender<Moment>),
}

/// What the log thread is told.
enum ToLog {
    /// What was decided.
    Keep(Vec<Decided>),
    /// All databases as they are decided, for a checkpoint.
    Captured { databases: BTreeMap<DatabaseId, Captured>, is_last: bool },
    /// The same for a backup.
    Backup(oneshot::Sender<Moment>, Moment),
}

/// What the publisher is told.
pub(crate) enum ToPublisher {
    /// A database: what is published, and where readers find what will be.
    Open(DatabaseId, Arc<ArcSwap<Published>>),
    /// Commits of several databases to show.
    Publish(Vec<(DatabaseId, Durable<Vec<Verdict>>)>),
    /// Anything about one session.
    Session(DatabaseId, SessionId, SessionMessage, Credit),
    /// An index of what is at a place, which it wanted.
    Indexed(DatabaseId, Path, Index),
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
    Listen(Ticket, Box<Listen>),
    /// It reads.
    Read(Ticket),
    /// It no longer listens.
    Unlisten(Path, Option<Tag>),
    /// Its client cannot receive what is new at this place.
    GiveUp(Path, Option<Tag>),
    /// Its queue is empty again.
    Drained,
}

/// The way to the threads.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    pub(crate) committer: mpsc::Sender<ToCommitter>,
    pub(crate) publisher: mpsc::Sender<ToPublisher>,
    pub(crate) health: LogHealth,
    pub(crate) meters: Arc<Meters>,
    /// What is noted of rules, in development.
    pub(crate) studies: Option<Arc<Studies>>,
    pub(crate) checkpoints: CheckpointHealth,
    pub(crate) reclaim: Reclaim,
    pub(crate) indexes: Arc<KeptIndexes>,
    /// Nothing, where nothing is kept.
    pub(crate) stager: Option<Arc<Stager>>,
}

/// Who puts large writes on the disk ahead.
#[derive(Debug)]
pub(crate) struct Stager {
    pub(crate) staging: Staging,
    /// Each who stages has one.
    pub(crate) turns: Semaphore,
}

impl Threads {
    /// Starts them on what was kept. They end when nobody can tell them anything any more.
    pub(crate) fn start(
        log: Box<dyn KeptLog + Send>,
        checkpointing: Option<(Checkpointing, CheckpointLog)>,
        kept: BTreeMap<DatabaseId, Kept>,
        shown: BTreeMap<DatabaseId, Arc<ArcSwap<Published>>>,
        studies: Option<Arc<Studies>>,
    ) -> std::io::Result<(Self, Running)> {
        let stager =
            log.staging().map(|staging| Arc::new(Stager { staging, turns: Semaphore::new(STAGED_AT_ONCE) }));
        let (to_committer, committer) = mpsc::channel(COMMITTER_QUEUE);
        let (to_log, groups) = mpsc::channel(GROUP_QUEUE);
        let (to_publisher, publisher) = mpsc::channel(PUBLISHER_QUEUE);
        let own = |name: &str| std::thread::Builder::new().name(name.into());
        let waits = timer()?;
        let meters = Arc::<Meters>::default();
        let (own_studies, own_stager, own_meters) = (studies.clone(), stager.clone(), meters.clone());
        let committer = own("committer").spawn(move || {
            let staging = own_stager.as_deref().map(|stager| &stager.staging);
            let seen = committer::Seen { studies: own_studies.as_deref(), meters: &own_meters, staging };
            committer::run(&waits, kept, seen, committer, &to_log);
        })?;
        let (publish, health) = (to_publisher.clone(), LogHealth::default());
        let log_health = health.clone();
        let log_bytes = LogBytes::default();
        let checkpoints = CheckpointHealth::default();
        let (to_checkpoint, checkpoint) = match checkpointing {
            None => (None, None),
            Some((checkpointing, when)) => {
                let (to_checkpoint, captures) = std::sync::mpsc::sync_channel(CAPTURE_QUEUE);
                // Not a sender: those say that somebody can still ask for something.
                let ask = to_committer.downgrade();
                let (log_bytes, health) = (log_bytes.clone(), checkpoints.clone());
                let run = move || checkpoint::run(checkpointing, when, &log_bytes, &health, &captures, &ask);
                (Some(to_checkpoint), Some(own("checkpoint").spawn(run)?))
            }
        };
        let own_meters = meters.clone();
        let log = own("log").spawn(move || {
            log::run(log, (&log_health, &log_bytes, &own_meters), groups, &publish, to_checkpoint.as_ref());
        })?;
        let waits = timer()?;
        let (reclaim, garbage) = std::sync::mpsc::sync_channel(reclaim::RECLAIM_QUEUE);
        let reclaim = Reclaim::new(reclaim);
        // It ends with whoever can hand it something, and nobody waits for it.
        drop(own("reclaim").spawn(move || reclaim::run(&garbage))?);
        let watching = publisher::Watching { studies: studies.clone(), meters: meters.clone() };
        let (to_indexer, wanted) = std::sync::mpsc::sync_channel(indexer::INDEXER_QUEUE);
        // Not a sender: those say that somebody can still ask for something.
        let answer = to_publisher.downgrade();
        let indexes = Arc::new(KeptIndexes::new(reclaim.clone()));
        let own_indexes = indexes.clone();
        // It ends with the publisher, and nobody waits for it.
        drop(own("indexer").spawn(move || indexer::run(&wanted, &answer, &own_indexes))?);
        let elsewhere = publisher::Elsewhere { reclaim: reclaim.clone(), indexer: to_indexer };
        let publisher = own("publisher")
            .spawn(move || publisher::run(&waits, shown, &watching, publisher, &elsewhere))?;
        let running = Running { serving: [committer, log, publisher], checkpoint };
        let own = Self {
            committer: to_committer,
            publisher: to_publisher,
            health,
            meters,
            studies,
            checkpoints,
            reclaim,
            indexes,
            stager,
        };
        Ok((own, running))
    }
}

#[cfg(test)]
impl Threads {
    /// On nothing, and what they keep ends with them.
    pub(crate) fn in_memory() -> (Self, Running) {
        Self::start(Box::new(hearth_engine::MemoryLog), None, BTreeMap::new(), BTreeMap::new(), None).unwrap()
    }
}

/// The threads themselves.
#[derive(Debug)]
pub(crate) struct Running {
    serving: [JoinHandle<()>; 3],
    checkpoint: Option<JoinHandle<()>>,
}

impl Running {
    /// Returns when they have ended: then everything that was decided has been kept.
    pub(crate) async fn ended(&self) {
        while !self.serving.iter().all(JoinHandle::is_finished) {
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns when the last checkpoint is written, if there is one to write. Whoever does not wait loses nothing but the
    /// time that reading the log takes.
    pub(crate) async fn checkpointed(&self) {
        while !self.checkpoint.as_ref().is_none_or(JoinHandle::is_finished) {
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
