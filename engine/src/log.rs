//! The log step: what was decided becomes what no crash can take back.

use crate::commit::Commit;
use crate::request::{Refusal, Verdict};

/// Where commits are kept. Appending returns when they are on stable storage, in this order, all of them.
pub trait Log {
    /// Keeps commits.
    ///
    /// # Errors
    /// [`LogError`], after which nothing is known of what is stored: nothing may be appended any more.
    fn append(&mut self, commits: &[&Commit]) -> Result<(), LogError>;
}

/// Why the log could not keep commits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the commit log cannot be written: {reason}")]
pub struct LogError {
    /// What the system says.
    pub reason: String,
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

/// Appends groups of verdicts, one sync for each.
#[derive(Debug)]
pub struct LogStep<L> {
    log: L,
    stopped: bool,
}

impl<L: Log> LogStep<L> {
    /// A step that keeps commits there.
    pub const fn new(log: L) -> Self {
        Self { log, stopped: false }
    }

    /// Where the commits are kept.
    pub const fn log(&self) -> &L {
        &self.log
    }

    /// Makes a group durable. When the log has failed, every verdict is a refusal from then on, also those that were
    /// decided on top of what could not be kept: the committer must be thrown away, and the server started anew.
    pub fn keep(&mut self, mut group: Vec<Verdict>) -> Durable<Vec<Verdict>> {
        let commits: Vec<&Commit> = group.iter().filter_map(|verdict| verdict.commit.as_ref()).collect();
        if !self.stopped && !commits.is_empty() {
            self.stopped = self.log.append(&commits).is_err();
        }
        if self.stopped {
            // Other rules are not kept here, and so they hold all the same: readers are still served.
            for verdict in group.iter_mut().filter(|verdict| verdict.door.is_none()) {
                verdict.commit = None;
                verdict.outcome = Err(Refusal::LogStopped);
            }
        }
        Durable(group)
    }

    /// Whether the log has failed.
    pub const fn is_stopped(&self) -> bool {
        self.stopped
    }
}

/// A log that ends with the process: for `--memory` and for tests.
#[derive(Debug, Default)]
pub struct MemoryLog;

impl Log for MemoryLog {
    fn append(&mut self, _: &[&Commit]) -> Result<(), LogError> {
        Ok(())
    }
}
