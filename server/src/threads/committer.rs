//! The thread that decides.

use super::{GROUP_REQUESTS_MAX, Next, ToCommitter, next};
use crate::clock::now_ms;
use crate::log::Kept;
use hearth_engine::{Committer, DatabaseId, Decided, Revision, Verdict};
use hearth_tree::Snapshot;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// A database as this thread has it.
struct Own {
    committer: Committer,
    /// Its name, until the log knows it: a database that nobody has written to leaves no trace.
    unlogged: Option<String>,
}

/// Decides what comes, a group at a time. Owning the committers is the lock; a full `log` queue is the backpressure.
pub(super) fn run(
    timer: &Runtime,
    kept: BTreeMap<DatabaseId, Kept>,
    mut inbox: mpsc::Receiver<ToCommitter>,
    log: &mpsc::Sender<Vec<Decided>>,
) {
    let own = |Kept { committer, .. }| Own { committer, unlogged: None };
    let mut databases: BTreeMap<_, _> = kept.into_iter().map(|(id, kept)| (id, own(kept))).collect();
    loop {
        let mut group = Vec::new();
        match next(timer, &mut inbox, wait(&databases)) {
            Next::End => return,
            Next::Message(first) => {
                follow(first, &mut databases, &mut group);
                // Whatever else is there by now shares the sync.
                while group.len() < GROUP_REQUESTS_MAX
                    && let Ok(message) = inbox.try_recv()
                {
                    follow(message, &mut databases, &mut group);
                }
            }
            Next::Deadline => {}
        }
        for (&id, own) in &mut databases {
            let verdicts = own.committer.expire(now_ms());
            own.add(id, verdicts, &mut group);
        }
        if !group.is_empty() && log.blocking_send(group).is_err() {
            return; // Nobody keeps what is decided from here on.
        }
    }
}

fn follow(message: ToCommitter, databases: &mut BTreeMap<DatabaseId, Own>, group: &mut Vec<Decided>) {
    match message {
        ToCommitter::Open(id, name, door) => {
            let committer = Committer::new(door, Revision::default(), Snapshot::default());
            databases.insert(id, Own { committer, unlogged: Some(name) });
        }
        ToCommitter::Decide(id, request) => {
            let own = databases.get_mut(&id).expect("a database is opened before it is used");
            let verdicts = own.committer.decide(now_ms(), request);
            own.add(id, verdicts, group);
        }
    }
}

impl Own {
    fn add(&mut self, database: DatabaseId, verdicts: Vec<Verdict>, group: &mut Vec<Decided>) {
        if verdicts.is_empty() {
            return;
        }
        let has_commits = verdicts.iter().any(|verdict| verdict.commit.is_some());
        let made = if has_commits { self.unlogged.take() } else { None };
        group.push(Decided { database, made, verdicts });
    }
}

/// How long until somebody's turn runs out.
fn wait(databases: &BTreeMap<DatabaseId, Own>) -> Option<Duration> {
    let next_ms = databases.values().filter_map(|own| own.committer.next_ms()).min()?;
    let wait_ms = next_ms.saturating_sub(now_ms()).max(1);
    Some(Duration::from_millis(wait_ms.unsigned_abs()))
}
