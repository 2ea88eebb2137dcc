//! A log that outlives a crash, and that can fail: then nobody knows how much of the last group it holds.

use hearth_engine::{Commit, Entry, Log, LogError};
use std::cell::RefCell;
use std::rc::Rc;

/// The commits on stable storage. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk(Rc<RefCell<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    commits: Vec<Commit>,
    /// The next append fails after that many commits.
    fails_after: Option<usize>,
}

impl Disk {
    /// How many commits it holds.
    pub(super) fn len(&self) -> usize {
        self.0.borrow().commits.len()
    }

    /// All that it holds.
    pub(super) fn commits(&self) -> Vec<Commit> {
        self.0.borrow().commits.clone()
    }

    /// Lets the next append fail after that many commits.
    pub(super) fn fail_after(&self, commits: usize) {
        self.0.borrow_mut().fails_after = Some(commits);
    }

    /// Lets the next append succeed.
    pub(super) fn mend(&self) {
        self.0.borrow_mut().fails_after = None;
    }

    /// What still reaches it while everything breaks down.
    pub(super) fn keep(&self, commits: impl IntoIterator<Item = Commit>) {
        self.0.borrow_mut().commits.extend(commits);
    }
}

impl Log for Disk {
    fn append(&mut self, entries: &[Entry<'_>]) -> Result<(), LogError> {
        let mut inner = self.0.borrow_mut();
        let commits = entries.iter().filter_map(|entry| match entry {
            Entry::Made(..) => None,
            Entry::Commit(_, commit) => Some((*commit).clone()),
        });
        match inner.fails_after.take() {
            None => {
                inner.commits.extend(commits);
                Ok(())
            }
            Some(most) => {
                inner.commits.extend(commits.take(most));
                Err(LogError::InDoubt { reason: "the disk is gone".into() })
            }
        }
    }

    fn end(&mut self) -> Result<(), LogError> {
        Ok(())
    }
}
