//! The thread that decides.

use super::{GROUP_REQUESTS_MAX, Next, ToCommitter, ToLog, next};
use crate::backup::Moment;
use crate::checkpoint::Captured;
use crate::clock::now_ms;
use crate::log::{Kept, Staging};
use crate::meters::Meters;
use crate::rule_watch::RuleWatch;
use crate::study::Studies;
use hearth_engine::{Committer, DatabaseId, Decided, Revision, Verdict};
use hearth_tree::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};

/// A database as this thread has it.
struct Own {
    committer: Committer,
    name: String,
    /// Whether the log knows it: a database that nobody has written to leaves no trace.
    is_logged: bool,
}

/// Who is told of what is decided.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    /// In development.
    pub(super) studies: Option<&'a Studies>,
    pub(super) meters: &'a Meters,
    /// Nobody, where nothing is kept.
    pub(super) staging: Option<&'a Staging>,
}

impl Seen<'_> {
    fn decided(self, database: DatabaseId, now_ms: i64, verdicts: &[Verdict]) {
        if let Some(staging) = self.staging {
            verdicts.iter().for_each(|verdict| staging.decided(database, now_ms, verdict));
        }
    }
}

/// Decides what comes, a group at a time. Owning the committers is the lock; a full `log` queue is the backpressure.
pub(super) fn run(
    timer: &Runtime,
    kept: BTreeMap<DatabaseId, Kept>,
    seen: Seen<'_>,
    mut inbox: mpsc::Receiver<ToCommitter>,
    log: &mpsc::Sender<ToLog>,
) {
    let own = |(id, Kept { committer, name })| (id, Own::new(id, committer, name, true, seen));
    let mut databases: BTreeMap<_, _> = kept.into_iter().map(own).collect();
    // Those in which somebody waits for a turn: nobody else has anything to do when time passes.
    let mut waiting = BTreeSet::new();
    loop {
        let mut group = Vec::new();
        let mut wanted = Wanted::default();
        match next(timer, &mut inbox, wait(&databases, &waiting)) {
            Next::End => {
                // For a last checkpoint. Without a log there is nothing to capture for.
                drop(log.blocking_send(capture(&databases, true)));
                return;
            }
            Next::Message(first) => {
                follow(first, seen, (&mut databases, &mut waiting), &mut group, &mut wanted);
                // Whatever else is there by now shares the sync.
                while group.len() < GROUP_REQUESTS_MAX
                    && let Ok(message) = inbox.try_recv()
                {
                    follow(message, seen, (&mut databases, &mut waiting), &mut group, &mut wanted);
                }
            }
            Next::Deadline => {}
        }
        waiting.retain(|&id| {
            let (own, now_ms) = (opened(&mut databases, id), now_ms());
            let verdicts = own.committer.expire(now_ms);
            seen.decided(id, now_ms, &verdicts);
            own.add(id, verdicts, &mut group);
            own.committer.next_ms().is_some()
        });
        if !group.is_empty() && log.blocking_send(ToLog::Keep(group)).is_err() {
            return; // Nobody keeps what is decided from here on.
        }
        // Behind everything that is in it.
        if wanted.checkpoint && log.blocking_send(capture(&databases, false)).is_err() {
            return;
        }
        for answer in wanted.backups {
            // How often a server had begun is not known here.
            let moment = Moment { at_ms: now_ms(), starts: 0, databases: captured(&databases) };
            if log.blocking_send(ToLog::Backup(answer, moment)).is_err() {
                return;
            }
        }
    }
}

/// Who wants to have all that is decided.
#[derive(Default)]
struct Wanted {
    checkpoint: bool,
    backups: Vec<oneshot::Sender<Moment>>,
}

fn capture(databases: &BTreeMap<DatabaseId, Own>, is_last: bool) -> ToLog {
    ToLog::Captured { databases: captured(databases), is_last }
}

/// All databases that the log knows, as they are decided.
fn captured(databases: &BTreeMap<DatabaseId, Own>) -> BTreeMap<DatabaseId, Captured> {
    let logged = databases.iter().filter(|(_, own)| own.is_logged);
    logged.map(|(&id, own)| (id, Captured::of(&own.name, &own.committer))).collect()
}

fn follow(
    message: ToCommitter,
    seen: Seen<'_>,
    (databases, waiting): (&mut BTreeMap<DatabaseId, Own>, &mut BTreeSet<DatabaseId>),
    group: &mut Vec<Decided>,
    wanted: &mut Wanted,
) {
    match message {
        ToCommitter::Capture => wanted.checkpoint = true,
        ToCommitter::Backup(answer) => wanted.backups.push(answer),
        ToCommitter::Open(id, name, door) => {
            let committer = Committer::new(door, Revision::default(), Snapshot::default());
            databases.insert(id, Own::new(id, committer, name, false, seen));
        }
        ToCommitter::Decide(id, request, _credit) => {
            let (own, now_ms) = (opened(databases, id), now_ms());
            let verdicts = own.committer.decide(now_ms, request);
            seen.decided(id, now_ms, &verdicts);
            own.add(id, verdicts, group);
            if own.committer.next_ms().is_some() {
                waiting.insert(id);
            }
        }
    }
}

fn opened(databases: &mut BTreeMap<DatabaseId, Own>, id: DatabaseId) -> &mut Own {
    databases.get_mut(&id).expect("a database is opened before it is used")
}

impl Own {
    fn new(id: DatabaseId, mut committer: Committer, name: String, is_logged: bool, seen: Seen<'_>) -> Self {
        committer.seen_by(Arc::new(RuleWatch::new(seen.studies, seen.meters, id)));
        Self { committer, name, is_logged }
    }

    fn add(&mut self, database: DatabaseId, verdicts: Vec<Verdict>, group: &mut Vec<Decided>) {
        if verdicts.is_empty() {
            return;
        }
        let is_kept = verdicts.iter().any(Verdict::is_kept);
        let made = (is_kept && !self.is_logged).then(|| self.name.clone());
        self.is_logged |= is_kept;
        group.push(Decided { database, made, verdicts });
    }
}

/// How long until somebody's turn runs out.
fn wait(databases: &BTreeMap<DatabaseId, Own>, waiting: &BTreeSet<DatabaseId>) -> Option<Duration> {
    let next_ms = waiting.iter().filter_map(|id| databases.get(id)?.committer.next_ms()).min()?;
    let wait_ms = next_ms.saturating_sub(now_ms()).max(1);
    Some(Duration::from_millis(wait_ms.unsigned_abs()))
}
