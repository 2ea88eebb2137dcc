//! A database as connections see it, and all of them by name.

use crate::audit::Audit;
use crate::backup::Moment;
use crate::connection::Credit;
use crate::in_vain::InVain;
use crate::kept_indexes::Found;
use crate::limits::Limiter;
use crate::log::{Kept, NotStaged, Staged};
use crate::meters::{DatabaseMeters, Meters};
use crate::profile::{Record, Watching};
use crate::random::random_number;
use crate::rule_watch::RuleWatch;
use crate::slow::Slow;
use crate::study::Study;
use crate::threads::{
    CheckpointHealth, LogHealth, Outbox, SessionMessage, Threads, ToCommitter, ToPublisher, outbox,
};
use crate::transport::BodyRoom;
use crate::unhurried::unhurried;
use crate::unindexed::Unindexed;
use arc_swap::ArcSwap;
use dashmap::DashMap;
use hearth_engine::limits::HASHED_AT_ONCE_MAX;
use hearth_engine::{Act, DatabaseId, Door, Identity, Published, Request, SessionId, Ticket};
use hearth_tree::{Assigned, Assignment, Draft, Key, Node, Path, PushIds, Query, Snapshot, Write};
use hearth_wire::{Addressed, Namespace};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// One database. Cheap to clone, and small: each connection has several.
#[derive(Clone, Debug)]
pub struct Database(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: DatabaseId,
    name: Arc<str>,
    threads: Threads,
    published: Arc<ArcSwap<Published>>,
    meters: Arc<DatabaseMeters>,
    rule_watch: Arc<RuleWatch>,
}

/// The threads have ended: the server is shutting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server is shutting down")]
pub struct Stopped;

/// Why a large write could not be put on the disk. It was not decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StageError {
    /// The disk does not take it.
    #[error("the write is too large for what room there is, or the disk fails; nothing of it is kept")]
    Disk {
        /// What the system says, for the operator.
        reason: String,
    },
    /// There is too little of it.
    #[error("{reason}; nothing of it is kept")]
    NoRoom {
        /// How much it takes, and how much there is.
        reason: String,
    },
    /// Too late.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl Database {
    fn new(id: DatabaseId, name: &str, threads: Threads, published: Arc<ArcSwap<Published>>) -> Self {
        let meters = threads.meters.of(id);
        let rule_watch = RuleWatch::new(threads.studies.as_deref(), &threads.meters, id).into();
        Self(Arc::new(Inner { id, name: name.into(), threads, published, meters, rule_watch }))
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// What is counted of it.
    pub(crate) fn meters(&self) -> &Arc<DatabaseMeters> {
        &self.0.meters
    }

    /// What is counted of the whole server.
    pub(crate) fn meters_of_server(&self) -> &Arc<Meters> {
        &self.0.threads.meters
    }

    /// Looks on at what is done in it; nothing, if enough others do.
    pub(crate) fn watch(&self) -> Option<Watching> {
        self.0.threads.meters.profiles.watch(self.0.id)
    }

    /// When something begins, if anybody looks on. One load where nobody does.
    pub(crate) fn began(&self) -> Option<Instant> {
        self.0.threads.meters.profiles.began()
    }

    /// Tells those who look on what was done.
    pub(crate) fn profile(&self, record: impl FnOnce() -> Record) {
        self.0.threads.meters.profiles.tell(self.0.id, record);
    }

    /// What everybody may see now. Waits for nobody.
    pub fn published(&self) -> Arc<Published> {
        self.0.published.load_full()
    }

    /// What is noted of its rules, in development.
    pub(crate) fn study(&self) -> Option<Arc<Study>> {
        self.0.rule_watch.study().cloned()
    }

    /// Who looks on at every verdict of its rules.
    pub(crate) fn rule_watch(&self) -> &Arc<RuleWatch> {
        &self.0.rule_watch
    }

    /// Has something decided; the verdict comes through the session's queue. Waits while too many others wait.
    ///
    /// # Errors
    /// [`Stopped`] at the end of the server.
    pub async fn decide(&self, request: Request) -> Result<(), Stopped> {
        self.decide_with(request, Credit::default()).await
    }

    /// The same for one of several requests of a connection.
    pub(crate) async fn decide_with(&self, request: Request, credit: Credit) -> Result<(), Stopped> {
        let message = ToCommitter::Decide(self.0.id, request, credit);
        self.0.threads.committer.send(message).await.map_err(|_| Stopped)
    }

    /// Lets this decide from now on who may do what, unless the database has rules of its own. Returns when it holds for
    /// writes and for readers: then no write that was judged before is shown any more, and nobody is told what it does not
    /// allow. Where that ends a listener, the word of it may come a little later. `session` must never have been used.
    ///
    /// # Errors
    /// [`Stopped`] at the end of the server.
    async fn govern(&self, session: SessionId, door: Door) -> Result<(), Stopped> {
        let (outbox, mut answer) = outbox(1);
        self.open(session, Identity::Admin, outbox).await?;
        let (ticket, act) = (Some(Ticket(0)), Act::Govern(door));
        self.decide(Request { session, ticket, identity: Identity::Admin, act }).await?;
        // It listens to nothing, so the first that it is told is the answer, which is never a refusal.
        answer.next().await.ok_or(Stopped)?;
        self.tell(session, SessionMessage::Close).await
    }

    /// Puts a write that is large on the disk ahead, so that nobody else waits for that when it is kept. Whoever asks has
    /// the write decided next, and lets go of what it is given when that is answered. Takes as long as the disk does, and
    /// waits for its turn: two at once are as fast as more.
    ///
    /// # Errors
    /// [`StageError`]; nothing is left of it then.
    pub(crate) async fn stage(&self, write: Write) -> Result<(Write, Option<Staged>), StageError> {
        let Some(stager) = self.0.threads.stager.clone() else { return Ok((write, None)) };
        let _turn = stager.turns.acquire().await.map_err(|_| Stopped)?;
        let (staging, published) = (stager.staging.clone(), self.published());
        let stage = move || {
            let write = with_known(write, &published.tree);
            staging.stage(&write).map(|staged| (write, staged))
        };
        let staged = tokio::task::spawn_blocking(stage).await.map_err(|_| Stopped)?;
        staged.map_err(|error| {
            tracing::error!(%error, "a large write cannot be put on the disk, and is refused");
            let reason = error.to_string();
            match error {
                NotStaged::NoRoom { .. } => StageError::NoRoom { reason },
                NotStaged::Io(_) => StageError::Disk { reason },
            }
        })
    }

    /// Computes the hash of what is at a place now, if that takes long: who decides compares with hashes that are known, and
    /// with others only if they are quick.
    pub(crate) fn prepare_hash(&self, at: &Path) {
        let published = self.published();
        if let Some(node) = published.tree.get(at).filter(|node| !node.hash_costs_at_most(HASHED_AT_ONCE_MAX))
        {
            unhurried(|| node.hash());
        }
        self.let_go_of_tree(published);
    }

    /// The index without which the children of what is at a place, in some snapshot, would have to be sorted for a query.
    pub(crate) fn index_for(&self, query: &Query, at: &Path, node: Option<&Node>) -> Option<Found> {
        let by = query.index_for(node)?;
        Some(self.0.threads.indexes.find((self.0.id, &self.0.published), at, by, node))
    }

    /// Drops what may be large where nobody waits.
    pub(crate) fn let_go(&self, what: impl Send + 'static) {
        self.0.threads.reclaim.let_go(what);
    }

    /// Lets go of what was published when it was taken: since then a commit may have replaced much of it.
    pub(crate) fn let_go_of_tree(&self, published: Arc<Published>) {
        if !Arc::ptr_eq(&published, &self.0.published.load()) {
            self.let_go(published);
        }
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
        self.tell_with(session, message, Credit::default()).await
    }

    /// The same for one of several requests of a connection.
    pub(crate) async fn tell_with(
        &self,
        session: SessionId,
        message: SessionMessage,
        credit: Credit,
    ) -> Result<(), Stopped> {
        let message = ToPublisher::Session(self.0.id, session, message, credit);
        self.0.threads.publisher.send(message).await.map_err(|_| Stopped)
    }
}

/// What is there already becomes the same nodes, so that who decides sees at once that it does not change: to find out takes
/// as long as it is large. O(what is written).
fn with_known(write: Write, tree: &Snapshot) -> Write {
    let Write::Set(set) = &write else { return write };
    let Assigned::Value(Some(draft)) = set.to() else { return write };
    match tree.get(set.at()) {
        Some(known) if draft.as_node() == Some(known) => {
            let set = Assignment::value(set.at().clone(), Some(Draft::from(known.clone())));
            set.map_or(write, Write::Set)
        }
        Some(_) | None => write,
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
    /// None has that name, and there are too many to make another one.
    #[error(
        "there is no database `{name}` here, and with {DATABASES_MAX} others no more are made: this server has to be started anew"
    )]
    TooMany {
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
    /// Of databases that are made from now on.
    door: ArcSwap<Door>,
    naming: Naming,
    by_name: DashMap<String, Database>,
    databases_made: AtomicU64,
    sessions_made: AtomicU64,
    push_ids: Mutex<PushIds>,
    limiter: Limiter,
    audit: Audit,
    unindexed: Unindexed,
    slow: Slow,
    bodies: Arc<BodyRoom>,
    in_vain: InVain,
}

/// What the database without a name is called.
const DEFAULT: &str = "default";

/// Most databases that are made by use. Whoever asks for one needs to be nobody for that, and even an empty one is kept
/// and looked at.
const DATABASES_MAX: usize = 10_000;

/// Most databases that are named in one line.
const NAMED_MAX: usize = 10;

/// Session ids of one start of a server; then come those of the next one. More than a server has in years.
const SESSIONS_PER_START: u64 = 1 << 40;

/// What is known of the databases when a server begins.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    /// Those that were kept, by name, with what is published of them.
    kept: Vec<(String, DatabaseId, Arc<ArcSwap<Published>>)>,
    databases_made: u64,
    sessions_made: u64,
}

impl Beginning {
    /// From what was kept, and how often a server has begun on that.
    pub(crate) fn new(kept: &BTreeMap<DatabaseId, Kept>, starts: u64) -> Self {
        let published = |kept: &Kept| Arc::new(ArcSwap::from_pointee(kept.published()));
        let database = |(&id, kept): (&DatabaseId, &Kept)| (kept.name.clone(), id, published(kept));
        Self {
            databases_made: kept.last_key_value().map_or(0, |(last, _)| last.0 + 1),
            sessions_made: starts * SESSIONS_PER_START,
            kept: kept.iter().map(database).collect(),
        }
    }

    /// What the publisher begins with.
    pub(crate) fn shown(&self) -> BTreeMap<DatabaseId, Arc<ArcSwap<Published>>> {
        self.kept.iter().map(|(_, id, published)| (*id, published.clone())).collect()
    }
}

impl Databases {
    /// Those that were kept, and those that will be made.
    pub(crate) fn new(threads: Threads, beginning: Beginning, door: Door, naming: Naming) -> Self {
        let databases = Self {
            threads,
            door: ArcSwap::from_pointee(door),
            naming,
            by_name: DashMap::new(),
            databases_made: AtomicU64::new(beginning.databases_made),
            sessions_made: AtomicU64::new(beginning.sessions_made),
            push_ids: Mutex::default(),
            limiter: Limiter::default(),
            audit: Audit::default(),
            unindexed: Unindexed::default(),
            slow: Slow::default(),
            bodies: Arc::default(),
            in_vain: InVain::default(),
        };
        // What may not be used is kept all the same.
        for (name, id, published) in beginning.kept {
            if databases.exists(&name) {
                let database = Database::new(id, &name, databases.threads.clone(), published);
                databases.by_name.insert(name, database);
            }
        }
        databases
    }

    /// Whether the log can still be written.
    pub(crate) const fn health(&self) -> &LogHealth {
        &self.threads.health
    }

    /// Whether checkpoints are written, and the log does not grow without end.
    pub(crate) const fn checkpoint_health(&self) -> &CheckpointHealth {
        &self.threads.checkpoints
    }

    /// What is counted.
    pub(crate) const fn meters(&self) -> &Arc<Meters> {
        &self.threads.meters
    }

    /// Those that are served, in the order in which they were made. O(n log n).
    pub(crate) fn all(&self) -> Vec<Database> {
        let mut all: Vec<Database> = self.by_name.iter().map(|entry| entry.value().clone()).collect();
        all.sort_by_key(|database| database.0.id);
        all
    }

    /// What they are called, in that order; then those that may be used and never were. O(n log n).
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.all().iter().map(|database| database.name().to_owned()).collect();
        if let Naming::Listed(listed) = &self.naming {
            let unused =
                listed.iter().map(Namespace::as_str).filter(|&name| !self.by_name.contains_key(name));
            names.extend(unused.map(str::to_owned));
        }
        names
    }

    /// Whether there is such a database, or will be when it is first used.
    pub(crate) fn may_be_used(&self, name: &Namespace) -> bool {
        self.exists(name.as_str())
    }

    /// How much waits for each thread that others ask.
    pub(crate) fn queues(&self) -> [(&'static str, usize); 2] {
        let Threads { committer, publisher, .. } = &self.threads;
        [
            ("committer", committer.max_capacity() - committer.capacity()),
            ("publisher", publisher.max_capacity() - publisher.capacity()),
        ]
    }

    /// How many children are in the indexes that are kept for readers.
    pub(crate) fn index_entries(&self) -> usize {
        self.threads.indexes.entries()
    }

    /// How much anybody may do in them.
    pub(crate) const fn limiter(&self) -> &Limiter {
        &self.limiter
    }

    /// Where bodies of requests find room while they are received.
    pub(crate) const fn bodies(&self) -> &Arc<BodyRoom> {
        &self.bodies
    }

    /// Who tells of bulk reads.
    pub(crate) const fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Who tells of queries without an index.
    pub(crate) const fn unindexed(&self) -> &Unindexed {
        &self.unindexed
    }

    /// What is told of slow requests.
    pub(crate) const fn slow(&self) -> &Slow {
        &self.slow
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
        if !self.exists(name) {
            self.in_vain.asked(name);
            return Err(FindError::Unknown { name: name.into() });
        }
        // Those that are listed are as many as their owner wants.
        if self.naming == Naming::OnUse && DATABASES_MAX <= self.by_name.len() {
            return Err(FindError::TooMany { name: name.into() });
        }
        let door = self.door.load_full();
        let made = self.make(name, &door).await?;
        // Of two who made it at once the first counts; the other's stays empty and unknown.
        let database = self.by_name.entry(name.into()).or_insert(made).clone();
        // Who has changed the rules since may have missed it.
        let mut held = door;
        loop {
            let newest = self.door.load_full();
            if Arc::ptr_eq(&held, &newest) {
                return Ok(database);
            }
            database.govern(self.new_session(), Door::clone(&newest)).await?;
            held = newest;
        }
    }

    /// As [`Database::govern`], in every database, now and whenever one is made. Not to be called again before it has
    /// returned: two changes could come in a different order to different databases.
    ///
    /// # Errors
    /// [`Stopped`] at the end of the server.
    pub(crate) async fn govern(&self, door: Door) -> Result<(), Stopped> {
        self.door.store(Arc::new(door.clone()));
        let databases: Vec<Database> = self.by_name.iter().map(|entry| entry.value().clone()).collect();
        for database in databases {
            database.govern(self.new_session(), door.clone()).await?;
        }
        Ok(())
    }

    /// The names of databases in which the default does not decide, in backticks, sorted; of many only some.
    pub(crate) fn with_own_rules(&self) -> Vec<String> {
        let has_own = |database: &Database| database.published().governing.own().text.is_some();
        let own = self.by_name.iter().filter(|entry| has_own(entry.value()));
        let mut names: Vec<_> = own.map(|entry| format!("`{}`", entry.key())).collect();
        names.sort();
        if NAMED_MAX < names.len() {
            let more = names.split_off(NAMED_MAX).len();
            names.push(format!("{more} more"));
        }
        names
    }

    /// All databases at one place of the log, up to which everything is durable, those that are not served, too. Waits for
    /// what was asked before.
    ///
    /// # Errors
    /// [`Stopped`] at the end of the server, and where the log has failed.
    pub(crate) async fn moment(&self) -> Result<Moment, Stopped> {
        let (answer, moment) = oneshot::channel();
        self.threads.committer.send(ToCommitter::Backup(answer)).await.map_err(|_| Stopped)?;
        let moment = moment.await.map_err(|_| Stopped)?;
        Ok(Moment { starts: self.sessions_made.load(Ordering::Relaxed) / SESSIONS_PER_START, ..moment })
    }

    fn exists(&self, name: &str) -> bool {
        match &self.naming {
            Naming::OnUse => true,
            Naming::Listed(names) => names.iter().any(|own| own.as_str() == name),
        }
    }

    async fn make(&self, name: &str, door: &Door) -> Result<Database, Stopped> {
        let id = DatabaseId(self.databases_made.fetch_add(1, Ordering::Relaxed));
        let threads = self.threads.clone();
        let published = Arc::new(ArcSwap::from_pointee(Published::empty(door.clone())));
        threads.publisher.send(ToPublisher::Open(id, published.clone())).await.map_err(|_| Stopped)?;
        let open = ToCommitter::Open(id, name.into(), door.clone());
        threads.committer.send(open).await.map_err(|_| Stopped)?;
        Ok(Database::new(id, name, threads, published))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn databases_are_made_by_use_until_there_are_too_many() {
        let find = async |databases: &Databases, name: String| {
            let name = Namespace::parse(&name).expect("it is one");
            databases.find(&Addressed::Named(name)).await.err()
        };
        let (threads, _running) = Threads::in_memory();
        let databases = Databases::new(threads, Beginning::default(), Door::Open, Naming::OnUse);
        for made in 0..DATABASES_MAX {
            assert_eq!(find(&databases, format!("n{made}")).await, None, "{made}");
        }
        for (name, expected) in
            [("n0", None), ("another", Some(FindError::TooMany { name: "another".into() })), ("n9999", None)]
        {
            assert_eq!(find(&databases, name.into()).await, expected, "{name}");
        }
    }
}
