//! From the records of a log to the databases as they were left.
//!
//! Why one tree for both: who decides and who reads go on from the same snapshot. Built twice, every node would exist
//! twice for as long as the server runs.

use super::record::Record;
use super::recovery::Mistake;
use crate::checkpoint::Captured;
use hearth_engine::{
    Act, Commit, Committer, DatabaseId, Decided, Door, Governing, Identity, Log, LogError, LogStep,
    Published, Request, Revision, SessionId,
};
use hearth_tree::Snapshot;
use hearth_wire::Namespace;
use std::collections::{BTreeMap, BTreeSet};

/// A database as it was left.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) name: String,
    pub(crate) committer: Committer,
}

/// What the records read so far come to.
#[derive(Debug)]
pub(crate) struct Replay {
    door: Door,
    names: BTreeSet<String>,
    pub(crate) databases: BTreeMap<DatabaseId, Kept>,
    /// How often a server has begun on these data.
    pub(crate) starts: u64,
    /// Whether the last one has ended in order.
    pub(crate) is_stopped: bool,
    pub(crate) commits: u64,
}

impl Replay {
    pub(crate) const fn new(door: Door) -> Self {
        Self {
            door,
            names: BTreeSet::new(),
            databases: BTreeMap::new(),
            starts: 0,
            is_stopped: false,
            commits: 0,
        }
    }

    /// Goes on from a checkpoint.
    pub(crate) fn resume(door: Door, starts: u64, databases: BTreeMap<DatabaseId, Kept>) -> Self {
        let names = databases.values().map(|kept| kept.name.clone()).collect();
        let commits = databases.values().map(|kept| kept.committer.revision().get()).sum();
        Self { door, names, databases, starts, is_stopped: false, commits }
    }

    /// The next record.
    ///
    /// # Errors
    /// [`Mistake`], if it cannot come now.
    pub(crate) fn see(&mut self, record: Record) -> Result<(), Mistake> {
        self.is_stopped = false;
        match record {
            Record::Started { start } => {
                if Some(start) != self.starts.checked_add(1) {
                    return Err(Mistake::Start { before: self.starts, found: start });
                }
                self.starts = start;
            }
            Record::Stopped => self.is_stopped = true,
            Record::Sealed => {}
            Record::Made { database, name } => self.make(database, name)?,
            Record::Commit { database, commit } => self.next(database, commit.revision)?.replay(&commit),
            Record::Written { database, revision, resolved, write } => {
                let committer = self.next(database, revision)?;
                // The tree that it is resolved against is the one that it was resolved against.
                let found = write.resolve(resolved.now_ms, committer.tree());
                let comes_to = match found {
                    Ok(change) if change.edits().len() as u64 == resolved.edits => {
                        committer.replay(&Commit { revision, change, arming: None });
                        return Ok(());
                    }
                    Ok(change) => format!("comes to {}", change.edits().len()),
                    Err(error) => format!("cannot be made: {error}"),
                };
                let name = self.databases[&database].name.clone();
                let (revision, edits) = (revision.get(), resolved.edits);
                return Err(Mistake::Resolved { name, revision, edits, comes_to });
            }
            Record::Rules { database, own } => {
                let kept = self.databases.get_mut(&database);
                let Kept { name, committer } = kept.ok_or(Mistake::Unknown { database: database.0 })?;
                let before = committer.governing().own().version;
                if before.checked_add(1) != Some(own.version) {
                    return Err(Mistake::Rules { name: name.clone(), before, found: own.version });
                }
                committer.replay_rules(own);
            }
            Record::Settings { database, settings } => {
                let kept = self.databases.get_mut(&database);
                let Kept { name, committer } = kept.ok_or(Mistake::Unknown { database: database.0 })?;
                let before = committer.governing().settings().version;
                if before.checked_add(1) != Some(settings.version) {
                    let (name, found) = (name.clone(), settings.version);
                    return Err(Mistake::Settings { name, before, found });
                }
                committer.replay_settings(settings);
            }
        }
        Ok(())
    }

    /// The database whose next commit is of that revision.
    fn next(&mut self, database: DatabaseId, found: Revision) -> Result<&mut Committer, Mistake> {
        let kept = self.databases.get_mut(&database);
        let Kept { name, committer } = kept.ok_or(Mistake::Unknown { database: database.0 })?;
        let (before, found) = (committer.revision().get(), found.get());
        if before.checked_add(1) != Some(found) {
            return Err(Mistake::Revision { name: name.clone(), before, found });
        }
        self.commits += 1;
        Ok(committer)
    }

    fn make(&mut self, database: DatabaseId, name: String) -> Result<(), Mistake> {
        if Namespace::parse(&name).is_err() {
            return Err(Mistake::Name { name });
        }
        if self.databases.contains_key(&database) {
            return Err(Mistake::MadeTwice { database: database.0 });
        }
        if !self.names.insert(name.clone()) {
            return Err(Mistake::NamedTwice { name });
        }
        let committer = Committer::new(self.door.clone(), Revision::default(), Snapshot::default());
        self.databases.insert(database, Kept { name, committer });
        Ok(())
    }

    /// Finds out what the rules mean that databases have of their own: those of now, and not all that ever were. To be done
    /// when everything is read, before anything is decided.
    pub(crate) fn understand_rules(&mut self) {
        for Kept { committer, .. } in self.databases.values_mut() {
            if let Err(rejected) = committer.understand_rules() {
                // Whoever starts the server is told where everything else is said.
                tracing::debug!(%rejected, "stored rules are not understood");
            }
        }
    }

    /// Makes the writes that were armed for the end of sessions: all of them have ended with the server, however it did.
    /// To be done before anybody is served. Returns how many sessions that were.
    ///
    /// # Errors
    /// [`LogError`], if the log cannot keep them: then nobody can be served.
    pub(crate) fn end_sessions<L: Log>(
        &mut self,
        now_ms: i64,
        log: &mut LogStep<L>,
    ) -> Result<usize, LogError> {
        let mut ended = 0;
        let mut group = Vec::new();
        for (&database, Kept { committer, .. }) in &mut self.databases {
            let sessions: Vec<SessionId> = committer.armed_sessions().collect();
            ended += sessions.len();
            let end =
                |session| Request { session, ticket: None, identity: Identity::nobody(), act: Act::End };
            let verdicts =
                sessions.into_iter().flat_map(|session| committer.decide(now_ms, end(session))).collect();
            group.push(Decided { database, made: None, verdicts });
        }
        // Nobody listens yet, so there is nobody to be told what became of them.
        drop(log.keep(group));
        log.stopped().map_or(Ok(ended), |error| Err(error.clone()))
    }
}

impl Kept {
    /// As a checkpoint has it.
    pub(crate) fn new(captured: Captured, door: Door) -> Self {
        let Captured { name, revision, tree, armed, own_rules, settings } = captured;
        let mut committer = Committer::resume(Governing::by_default(door), revision, tree, armed);
        committer.replay_rules(own_rules);
        committer.replay_settings(settings);
        Self { name, committer }
    }

    /// For a checkpoint.
    pub(crate) fn captured(&self) -> Captured {
        Captured::of(&self.name, &self.committer)
    }

    /// What everybody may see of it, before anything new is decided.
    pub(crate) fn published(&self) -> Published {
        let Self { committer, .. } = self;
        Published {
            revision: committer.revision(),
            tree: committer.tree().clone(),
            governing: committer.governing().clone(),
        }
    }
}
