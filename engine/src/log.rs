//! The log step: what was decided becomes what no crash can take back.

use crate::commit::Commit;
use crate::own_rules::{Governed, OwnRules};
use crate::request::{Refusal, Verdict};
use crate::settings::Settings;

/// One database of a log. Never used for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DatabaseId(pub u64);

/// One entry of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'a> {
    /// A database begins, empty, under this name.
    Made(DatabaseId, &'a str),
    /// The next commit of a database that was made before.
    Commit(DatabaseId, &'a Commit),
    /// From here on a database has other rules of its own.
    Rules(DatabaseId, &'a OwnRules),
    /// From here on a database has other settings.
    Settings(DatabaseId, &'a Settings),
}

/// Where entries are kept. Appending returns when they are on stable storage, in this order, all of them.
pub trait Log {
    /// Keeps entries.
    ///
    /// # Errors
    /// [`LogError`], after which nothing may be appended any more.
    fn append(&mut self, entries: &[Entry<'_>]) -> Result<(), LogError>;

    /// Ends it in order: nothing will be appended any more, and whoever opens it again can tell.
    ///
    /// # Errors
    /// [`LogError`]; what was appended before is kept all the same.
    fn end(&mut self) -> Result<(), LogError>;
}

impl<L: Log + ?Sized> Log for Box<L> {
    fn append(&mut self, entries: &[Entry<'_>]) -> Result<(), LogError> {
        (**self).append(entries)
    }

    fn end(&mut self) -> Result<(), LogError> {
        (**self).end()
    }
}

/// Why the log could not keep entries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// Nothing of them is in the log, nor will it be after a restart.
    #[error("the commit log cannot be written: {reason}")]
    NotKept {
        /// What the system says.
        reason: String,
    },
    /// Nobody knows what of them is on stable storage: a restart will find out.
    #[error("the commit log failed in the middle of a write: {reason}")]
    InDoubt {
        /// What the system says.
        reason: String,
    },
}

/// What was decided of one database, to be kept together with that of others.
#[derive(Debug)]
pub struct Decided {
    /// Which one.
    pub database: DatabaseId,
    /// Its name, if the log does not know it yet.
    pub made: Option<String>,
    /// In the order in which it was decided.
    pub verdicts: Vec<Verdict>,
}

/// A value that no crash can take back. Only the log step can make one, so holding one is the proof.
#[derive(Debug)]
pub struct Durable<T>(T);

impl<T> Durable<T> {
    /// The value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Durable<Vec<T>> {
    /// Adds what was made durable after it.
    pub fn extend(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}

/// Appends groups of verdicts, one sync for each.
#[derive(Debug)]
pub struct LogStep<L> {
    log: L,
    stopped: Option<LogError>,
}

impl<L: Log> LogStep<L> {
    /// A step that keeps commits there.
    pub const fn new(log: L) -> Self {
        Self { log, stopped: None }
    }

    /// Where the commits are kept.
    pub const fn log(&self) -> &L {
        &self.log
    }

    /// Where the commits are kept, for who goes on with it.
    pub fn into_log(self) -> L {
        self.log
    }

    /// Ends the log in order, unless it has stopped before.
    ///
    /// # Errors
    /// [`LogError`]; what was kept is kept.
    pub fn end(mut self) -> Result<(), LogError> {
        if self.stopped.is_some() { Ok(()) } else { self.log.end() }
    }

    /// Makes a group durable, of however many databases. When the log has failed, every verdict of the group is refused or
    /// in doubt, and so is every later one, which was decided on top of what could not be kept: the committer must be
    /// thrown away, and the server started anew. Later ones are in doubt too, since a client that lost its connection over
    /// a write in doubt sends the same again, and the answer counts for both.
    pub fn keep(&mut self, mut group: Vec<Decided>) -> Vec<(DatabaseId, Durable<Vec<Verdict>>)> {
        let entries: Vec<Entry<'_>> = group.iter().flat_map(Decided::entries).collect();
        if self.stopped.is_none() && !entries.is_empty() {
            self.stopped = self.log.append(&entries).err();
        }
        if let Some(error) = &self.stopped {
            let refusal = match error {
                LogError::NotKept { .. } => Refusal::LogStopped,
                LogError::InDoubt { .. } => Refusal::InDoubt,
            };
            for verdict in group.iter_mut().flat_map(|decided| &mut decided.verdicts) {
                match verdict.governed {
                    // What is the default is not kept, and so it holds all the same: readers are still served.
                    Some(Governed::ByDefault(_)) => {}
                    Some(Governed::Own(..) | Governed::Set(_)) | None => {
                        verdict.governed = None;
                        verdict.commit = None;
                        verdict.outcome = Err(refusal.clone());
                    }
                }
            }
        }
        group.into_iter().map(|decided| (decided.database, Durable(decided.verdicts))).collect()
    }

    /// Why the log has stopped, if it has.
    pub const fn stopped(&self) -> Option<&LogError> {
        self.stopped.as_ref()
    }
}

impl Decided {
    /// What of it the log keeps.
    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let made = self.made.as_deref().map(|name| Entry::Made(self.database, name));
        made.into_iter().chain(self.verdicts.iter().flat_map(|verdict| verdict.entries(self.database)))
    }
}

impl Verdict {
    /// Whether the log keeps anything of it.
    pub fn is_kept(&self) -> bool {
        self.entries(DatabaseId(0)).next().is_some()
    }

    /// What of it the log keeps.
    pub fn entries(&self, database: DatabaseId) -> impl Iterator<Item = Entry<'_>> {
        let own = match &self.governed {
            Some(Governed::Own(own, _)) => Some(Entry::Rules(database, own)),
            Some(Governed::Set(settings)) => Some(Entry::Settings(database, settings)),
            Some(Governed::ByDefault(_)) | None => None,
        };
        self.commit.iter().map(move |commit| Entry::Commit(database, commit)).chain(own)
    }
}

/// A log that ends with the process: for `--memory` and for tests.
#[derive(Debug, Default)]
pub struct MemoryLog;

impl Log for MemoryLog {
    fn append(&mut self, _: &[Entry<'_>]) -> Result<(), LogError> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), LogError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Accepted, SessionId};
    use crate::revision::Revision;
    use hearth_tree::{Change, Snapshot};

    /// Fails with the second append.
    struct Failing(LogError, usize);

    impl Log for Failing {
        fn append(&mut self, entries: &[Entry<'_>]) -> Result<(), LogError> {
            assert!(!entries.is_empty(), "nothing is no reason to sync");
            self.1 += 1;
            match self.1 {
                1 => Ok(()),
                2 => Err(self.0.clone()),
                _ => panic!("written after a failure"),
            }
        }

        fn end(&mut self) -> Result<(), LogError> {
            panic!("ended in order after a failure")
        }
    }

    fn verdict(revision: u64, changes: bool) -> Verdict {
        let revision = Revision::new(revision);
        let commit = changes.then(|| Commit { revision, change: Change::default(), arming: None });
        Verdict {
            session: SessionId(1),
            ticket: None,
            outcome: Ok(Accepted { revision, rules_version: 0 }),
            commit,
            tree: Snapshot::default(),
            governed: None,
        }
    }

    fn keep(log: &mut LogStep<Failing>, verdicts: Vec<Verdict>) -> Vec<Result<Accepted, Refusal>> {
        let other = Decided { database: DatabaseId(2), made: None, verdicts: vec![verdict(1, false)] };
        let group = vec![Decided { database: DatabaseId(1), made: None, verdicts }, other];
        let kept = log.keep(group).into_iter().flat_map(|(_, durable)| durable.into_inner());
        kept.map(|verdict| verdict.outcome).collect()
    }

    #[test]
    fn nothing_is_confirmed_after_a_failure_and_nothing_in_doubt_is_refused() {
        let reason = || "the disk is tired".to_owned();
        for (error, expected) in [
            (LogError::InDoubt { reason: reason() }, Refusal::InDoubt),
            (LogError::NotKept { reason: reason() }, Refusal::LogStopped),
        ] {
            let mut log = LogStep::new(Failing(error.clone(), 0));
            assert!(keep(&mut log, vec![verdict(1, true)]).iter().all(Result::is_ok), "{error}");
            assert!(keep(&mut log, vec![verdict(1, false)]).iter().all(Result::is_ok), "{error}");
            assert_eq!(log.stopped(), None);
            // What was decided on top of what is in doubt is in doubt, also where nothing changes.
            let failed = keep(&mut log, vec![verdict(2, true), verdict(2, false)]);
            assert_eq!(failed, vec![Err(expected.clone()); 3], "{error}");
            assert_eq!(log.stopped(), Some(&error));
            let later = keep(&mut log, vec![verdict(3, true), verdict(3, false)]);
            assert_eq!(later, vec![Err(expected); 3], "{error}");
            assert_eq!(log.end(), Ok(()));
        }
    }
}
