//! The thread that decides.

use super::{GROUP_REQUESTS_MAX, Group, Next, ToCommitter, next};
use crate::clock::now_ms;
use crate::database::DatabaseId;
use hearth_engine::{Committer, Revision, Verdict};
use hearth_tree::Snapshot;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// Decides what comes, a group at a time. Owning the committers is the lock; a full `log` queue is the backpressure.
pub(super) fn run(
    timer: &Runtime,
    mut inbox: mpsc::Receiver<ToCommitter>,
    log: &mpsc::Sender<Group<Vec<Verdict>>>,
) {
    let mut committers = BTreeMap::<DatabaseId, Committer>::new();
    loop {
        let mut group = Group::new();
        match next(timer, &mut inbox, wait(&committers)) {
            Next::End => return,
            Next::Message(first) => {
                follow(first, &mut committers, &mut group);
                // Whatever else is there by now shares the sync.
                while group.len() < GROUP_REQUESTS_MAX
                    && let Ok(message) = inbox.try_recv()
                {
                    follow(message, &mut committers, &mut group);
                }
            }
            Next::Deadline => {}
        }
        let expired = committers.iter_mut().map(|(&id, committer)| (id, committer.expire(now_ms())));
        group.extend(expired.filter(|(_, verdicts)| !verdicts.is_empty()));
        if !group.is_empty() && log.blocking_send(group).is_err() {
            return; // The log has stopped: nothing decided from here on could be kept.
        }
    }
}

fn follow(
    message: ToCommitter,
    committers: &mut BTreeMap<DatabaseId, Committer>,
    group: &mut Group<Vec<Verdict>>,
) {
    match message {
        ToCommitter::Open(id, door) => {
            committers.insert(id, Committer::new(door, Revision::default(), Snapshot::default()));
        }
        ToCommitter::Decide(id, request) => {
            let committer = committers.get_mut(&id).expect("a database is opened before it is used");
            group.push((id, committer.decide(now_ms(), request)));
        }
    }
}

/// How long until somebody's turn runs out.
fn wait(committers: &BTreeMap<DatabaseId, Committer>) -> Option<Duration> {
    let next_ms = committers.values().filter_map(Committer::next_ms).min()?;
    let wait_ms = next_ms.saturating_sub(now_ms()).max(1);
    Some(Duration::from_millis(wait_ms.unsigned_abs()))
}
