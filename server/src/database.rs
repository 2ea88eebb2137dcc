//! A database as connections see it, and all of them by name.

use crate::random::random_number;
use crate::threads::{Outbox, SessionMessage, Threads, ToCommitter, ToPublisher};
use arc_swap::ArcSwap;
use dashmap::DashMap;
use hearth_engine::{Door, Identity, Published, Request, SessionId};
use hearth_tree::{Key, PushIds};
use hearth_wire::{Addressed, Namespace};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// A database, for the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DatabaseId(u64);

/// One database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Database {
    id: DatabaseId,
    threads: Threads,
    published: Arc<ArcSwap<Published>>,
    door: Door,
}

/// The threads have ended: the server is shutting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server is shutting down")]
pub struct Stopped;

impl Database {
    /// What everybody may see now. Waits for nobody.
    pub fn published(&self) -> Arc<Published> {
        self.published.load_full()
    }

    /// What stands between requests and the data.
    pub const fn door(&self) -> &Door {
        &self.door
    }

    /// Has something decided; the verdict comes through the session's queue. Waits while too many others wait.
    ///
    /// # Errors
    /// [`Stopped`] at the end of the server.
    pub async fn decide(&self, request: Request) -> Result<(), Stopped> {
        self.threads.committer.send(ToCommitter::Decide(self.id, request)).await.map_err(|_| Stopped)
    }

    /// Begins a session.
    pub(crate) async fn open(
        &self,
        session: SessionId,
        identity: Identity,
        outbox: Outbox,
    ) -> Result<(), Stopped> {
        self.tell(session, SessionMessage::Open(identity, outbox)).await
    }

    /// Makes a session somebody else, and returns when it sees nothing any more that it may not.
    pub(crate) async fn identify(&self, session: SessionId, identity: Identity) -> Result<(), Stopped> {
        let (done, is_done) = oneshot::channel();
        self.tell(session, SessionMessage::Identify(identity, done)).await?;
        is_done.await.map_err(|_| Stopped)
    }

    pub(crate) async fn tell(&self, session: SessionId, message: SessionMessage) -> Result<(), Stopped> {
        let message = ToPublisher::Session(self.id, session, message);
        self.threads.publisher.send(message).await.map_err(|_| Stopped)
    }
}

/// Why there is no database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// None has that name, and none is made by use.
    #[error("there is no database `{name}` here")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// Too late.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Which databases there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Every one that somebody asks for.
    OnUse,
    /// These.
    Listed(BTreeSet<Namespace>),
}

/// All databases of a server.
#[derive(Debug)]
pub struct Databases {
    threads: Threads,
    door: Door,
    naming: Naming,
    by_name: DashMap<String, Database>,
    databases_made: AtomicU64,
    sessions_made: AtomicU64,
    push_ids: Mutex<PushIds>,
}

/// What the database without a name is called.
const DEFAULT: &str = "default";

impl Databases {
    pub(crate) fn new(threads: Threads, door: Door, naming: Naming) -> Self {
        Self {
            threads,
            door,
            naming,
            by_name: DashMap::new(),
            databases_made: AtomicU64::new(0),
            sessions_made: AtomicU64::new(0),
            push_ids: Mutex::default(),
        }
    }

    /// A session id that was never used.
    pub fn new_session(&self) -> SessionId {
        SessionId(self.sessions_made.fetch_add(1, Ordering::Relaxed))
    }

    /// A key for a new child of a list, later than all that were made before.
    ///
    /// # Errors
    /// The system's own, if it has no random bytes to give.
    pub(crate) fn new_push_id(&self, now_ms: i64) -> Result<Key, getrandom::Error> {
        let random = random_number()?;
        let mut push_ids = self.push_ids.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(push_ids.next(u64::try_from(now_ms).unwrap_or_default(), || random))
    }

    /// The database of that name, made when it is first asked for if it may be.
    ///
    /// # Errors
    /// [`FindError`] says why there is none.
    pub async fn find(&self, name: &Addressed) -> Result<Database, FindError> {
        let name = match name {
            Addressed::Named(name) => name.as_str(),
            Addressed::Default => DEFAULT,
        };
        if let Some(database) = self.by_name.get(name) {
            return Ok(database.clone());
        }
        let exists = match &self.naming {
            Naming::OnUse => true,
            Naming::Listed(names) => names.iter().any(|own| own.as_str() == name),
        };
        if !exists {
            return Err(FindError::Unknown { name: name.into() });
        }
        let made = self.make().await?;
        // Of two who made it at once the first counts; the other's stays empty and unknown.
        Ok(self.by_name.entry(name.into()).or_insert(made).clone())
    }

    async fn make(&self) -> Result<Database, Stopped> {
        let id = DatabaseId(self.databases_made.fetch_add(1, Ordering::Relaxed));
        let published = Arc::new(ArcSwap::from_pointee(Published::default()));
        let (threads, door) = (self.threads.clone(), self.door.clone());
        threads
            .publisher
            .send(ToPublisher::Open(id, door.clone(), published.clone()))
            .await
            .map_err(|_| Stopped)?;
        threads.committer.send(ToCommitter::Open(id, door.clone())).await.map_err(|_| Stopped)?;
        Ok(Database { id, threads, published, door })
    }
}
