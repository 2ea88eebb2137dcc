//! The thread that keeps what was decided.

use super::{Group, ToPublisher};
use hearth_engine::{LogStep, MemoryLog, Verdict};
use tokio::sync::mpsc;

/// Keeps groups in the order in which they were decided, and hands them on to be shown.
pub(super) fn run(mut inbox: mpsc::Receiver<Group<Vec<Verdict>>>, publisher: &mpsc::Sender<ToPublisher>) {
    let mut log = LogStep::new(MemoryLog);
    while let Some(group) = inbox.blocking_recv() {
        let durable = group.into_iter().map(|(id, verdicts)| (id, log.keep(verdicts))).collect();
        if publisher.blocking_send(ToPublisher::Publish(durable)).is_err() {
            return; // Nobody is left to be told.
        }
    }
}
