//! What a connection tells those who look on at its database while it is done (rest reference 8.4).
//!
//! Why beside the slots: nearly always nobody looks on, and then nothing is kept of it.

use super::reading::Reading;
use crate::database::Database;
use crate::profile::{Operation, Record};
use hearth_engine::{Accepted, Begun, Listen, ListenRefusal, Push, Refusal, Tag, Ticket};
use hearth_tree::{Path, Query, Write};
use std::time::Instant;

/// Most that is kept; as many as requests may be under way.
const UNDER_WAY_MAX: usize = 1_024;

/// What is under way.
#[derive(Default)]
pub(super) struct Watched {
    writes: Vec<Writing>,
    listens: Vec<Listening>,
    /// The text of what is armed, in bytes; of what was ever armed, where some of it was taken back.
    armed_bytes: usize,
}

/// A write whose answer has not come.
pub(super) struct Writing {
    ticket: Ticket,
    began: Instant,
    operation: Operation,
    at: Path,
    bytes: usize,
}

/// A listen that has not been told what is there.
struct Listening {
    ticket: Ticket,
    began: Instant,
    at: Path,
    query: Query,
    tag: Option<Tag>,
    is_unindexed: bool,
}

impl Watched {
    /// Begins to watch a write under that name.
    pub(super) fn begin_write(&mut self, writing: Option<Writing>, ticket: Ticket) {
        let Some(writing) = writing else { return };
        if self.writes.len() < UNDER_WAY_MAX {
            self.writes.push(Writing { ticket, ..writing });
        }
    }

    /// Something was armed.
    pub(super) const fn armed(&mut self, bytes: usize) {
        self.armed_bytes = self.armed_bytes.saturating_add(bytes);
    }

    /// How much is armed, if anything is.
    pub(super) fn armed_bytes(&self) -> Option<usize> {
        (self.armed_bytes != 0).then_some(self.armed_bytes)
    }

    /// Begins to watch a listen, if anybody looks on.
    pub(super) fn begin_listen(&mut self, database: &Database, ticket: Ticket, listen: &Listen) {
        let Some(began) = database.began() else { return };
        if UNDER_WAY_MAX <= self.listens.len() {
            return;
        }
        let Listen { at, query, tag, .. } = listen;
        let (at, query, tag) = (at.clone(), query.clone(), *tag);
        self.listens.push(Listening { ticket, began, at, query, tag, is_unindexed: false });
    }

    /// Tells what became of a write: that it was made, or that rules do not allow it.
    pub(super) fn written(
        &mut self,
        database: &Database,
        ticket: Ticket,
        outcome: &Result<Accepted, Refusal>,
    ) {
        let Some(found) = self.writes.iter().position(|writing| writing.ticket == ticket) else { return };
        let Writing { began, operation, at, bytes, .. } = self.writes.swap_remove(found);
        let is_allowed = match outcome {
            Ok(_) => true,
            Err(Refusal::Denied(_)) => false,
            Err(
                Refusal::Stale { .. }
                | Refusal::OtherRules { .. }
                | Refusal::Resolve(_)
                | Refusal::Arm(_)
                | Refusal::LogStopped
                | Refusal::InDoubt,
            ) => return,
        };
        database.profile(|| {
            let record = Record::new(operation).at(&at).since(began);
            if operation == Operation::OnDisconnectCancel {
                record
            } else {
                record.bytes(bytes).allowed(is_allowed)
            }
        });
    }

    /// What became of a listen. What is there may be about to be spelled; then that is waited for.
    pub(super) fn listened(
        &mut self,
        database: &Database,
        ticket: Ticket,
        outcome: &Result<Begun, ListenRefusal>,
        is_told_first: bool,
    ) {
        let Some(found) = self.listens.iter().position(|listening| listening.ticket == ticket) else {
            return;
        };
        match outcome {
            Ok(begun) => {
                self.listens[found].is_unindexed = begun.missing_index.is_some();
                if !is_told_first {
                    self.listens.swap_remove(found).tell(database, 0, true);
                }
            }
            Err(ListenRefusal::Denied(_)) => self.listens.swap_remove(found).tell(database, 0, false),
            Err(ListenRefusal::TooMany | ListenRefusal::TooLong | ListenRefusal::Closed) => {
                drop(self.listens.swap_remove(found));
            }
        }
    }

    /// What is there where a listen begins was spelled.
    pub(super) fn listening(&mut self, database: &Database, push: &Push, bytes: usize) {
        let is_it = |listening: &Listening| listening.at == push.body.at && listening.tag == push.tag;
        if let Some(found) = self.listens.iter().position(is_it) {
            self.listens.swap_remove(found).tell(database, bytes, true);
        }
    }
}

impl Writing {
    /// A write that begins now; nothing, if nobody looks on.
    pub(super) fn new(database: &Database, operation: Operation, at: &Path, bytes: usize) -> Option<Self> {
        let began = database.began()?;
        Some(Self { ticket: Ticket(0), began, operation, at: at.clone(), bytes })
    }

    /// The same of a write that is made, or armed.
    pub(super) fn of(
        database: &Database,
        write: &Write,
        (set, update): (Operation, Operation),
        bytes: usize,
    ) -> Option<Self> {
        match write {
            Write::Set(assignment) => Self::new(database, set, assignment.at(), bytes),
            Write::Update(made) => Self::new(database, update, made.at(), bytes),
        }
    }
}

impl Listening {
    fn tell(self, database: &Database, bytes: usize, is_allowed: bool) {
        let Self { began, at, query, is_unindexed, .. } = self;
        database.profile(|| {
            let record = Record::new(Operation::Listen).at(&at).bytes(bytes).since(began);
            record.allowed(is_allowed).query(&query, is_unindexed)
        });
    }
}

/// Tells of a read: how much it gave, or that rules do not allow it.
pub(super) fn read(database: &Database, reading: &Reading, began: Option<Instant>, bytes: Option<usize>) {
    let Some(began) = began else { return };
    database.profile(|| {
        let record = Record::new(Operation::Read).at(&reading.get.at).since(began);
        let record = record.bytes(bytes.unwrap_or_default()).allowed(bytes.is_some());
        record.query(&reading.get.query, false)
    });
}
