//! A log that outlives a crash, and that can fail: then nobody knows how much of the last group it holds.

use hearth_engine::{Commit, Log, LogError};
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
    fn append(&mut self, commits: &[&Commit]) -> Result<(), LogError> {
        let mut inner = self.0.borrow_mut();
        match inner.fails_after.take() {
            None => {
                inner.commits.extend(commits.iter().map(|&commit| commit.clone()));
                Ok(())
            }
            Some(most) => {
                inner.commits.extend(commits.iter().take(most).map(|&commit| commit.clone()));
                Err(LogError { reason: "the disk is gone".into() })
            }
        }
    }
}
