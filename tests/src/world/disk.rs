//! A log that outlives a crash, and that can fail: then nobody knows how much of the last group it holds.

use hearth_engine::{Commit, Entry, Log, LogError, OwnRules, Verdict};
use std::cell::RefCell;
use std::rc::Rc;

/// What is on stable storage. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk(Rc<RefCell<Inner>>);

/// Something that the log keeps.
#[derive(Clone, Debug)]
pub(super) enum Thing {
    Commit(Commit),
    Rules(OwnRules),
}

#[derive(Debug, Default)]
struct Inner {
    things: Vec<Thing>,
    /// The next append fails after that many of them.
    fails_after: Option<usize>,
}

impl Thing {
    /// What is to be kept of a verdict.
    pub(super) fn of(verdict: &Verdict) -> Option<Self> {
        let mut things = verdict.entries(hearth_engine::DatabaseId(0)).filter_map(Self::of_entry);
        let thing = things.next();
        assert!(things.next().is_none(), "a request leads to one thing that is kept, or to none");
        thing
    }

    fn of_entry(entry: Entry<'_>) -> Option<Self> {
        match entry {
            Entry::Made(..) => None,
            Entry::Settings(..) => unreachable!("nobody in this world sets anything"),
            Entry::Commit(_, commit) => Some(Self::Commit(commit.clone())),
            Entry::Rules(_, own) => Some(Self::Rules(own.clone())),
        }
    }
}

impl Disk {
    /// How many commits it holds.
    pub(super) fn len(&self) -> usize {
        self.commits().len()
    }

    /// The commits that it holds.
    pub(super) fn commits(&self) -> Vec<Commit> {
        let commit = |thing: &Thing| match thing {
            Thing::Commit(commit) => Some(commit.clone()),
            Thing::Rules(_) => None,
        };
        self.0.borrow().things.iter().filter_map(commit).collect()
    }

    /// All rules that were ever stored.
    pub(super) fn rules(&self) -> Vec<OwnRules> {
        let rules = |thing: &Thing| match thing {
            Thing::Commit(_) => None,
            Thing::Rules(own) => Some(own.clone()),
        };
        self.0.borrow().things.iter().filter_map(rules).collect()
    }

    /// All that it holds.
    pub(super) fn things(&self) -> Vec<Thing> {
        self.0.borrow().things.clone()
    }

    /// Lets the next append fail after that many things.
    pub(super) fn fail_after(&self, things: usize) {
        self.0.borrow_mut().fails_after = Some(things);
    }

    /// Lets the next append succeed.
    pub(super) fn mend(&self) {
        self.0.borrow_mut().fails_after = None;
    }

    /// What still reaches it while everything breaks down.
    pub(super) fn keep(&self, things: impl IntoIterator<Item = Thing>) {
        self.0.borrow_mut().things.extend(things);
    }
}

impl Log for Disk {
    fn append(&mut self, entries: &[Entry<'_>]) -> Result<(), LogError> {
        let mut inner = self.0.borrow_mut();
        let things = entries.iter().copied().filter_map(Thing::of_entry);
        match inner.fails_after.take() {
            None => {
                inner.things.extend(things);
                Ok(())
            }
            Some(most) => {
                inner.things.extend(things.take(most));
                Err(LogError::InDoubt { reason: "the disk is gone".into() })
            }
        }
    }

    fn end(&mut self) -> Result<(), LogError> {
        Ok(())
    }
}
