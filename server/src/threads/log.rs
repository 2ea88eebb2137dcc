//! The thread that keeps what was decided.

use super::ToPublisher;
use hearth_engine::{Decided, Log, LogError, LogStep};
use std::sync::{Arc, OnceLock};
use tokio::sync::mpsc;

/// Why the log has stopped, once it has. For whoever asks how the server is.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogHealth(Arc<OnceLock<LogError>>);

impl LogHealth {
    /// Why nothing can be written any more.
    pub(crate) fn failure(&self) -> Option<&LogError> {
        self.0.get()
    }

    fn failed(&self, error: &LogError) {
        if self.0.set(error.clone()).is_ok() {
            tracing::error!(%error, "nothing can be written any more, reads go on; restart the server when the disk is well");
        }
    }
}

/// Keeps groups in the order in which they were decided, and hands them on to be shown.
pub(super) fn run(
    log: Box<dyn Log + Send>,
    health: &LogHealth,
    mut inbox: mpsc::Receiver<Vec<Decided>>,
    publisher: &mpsc::Sender<ToPublisher>,
) {
    let mut log = LogStep::new(log);
    while let Some(group) = inbox.blocking_recv() {
        let durable = log.keep(group);
        if let Some(error) = log.stopped() {
            health.failed(error);
        }
        if publisher.blocking_send(ToPublisher::Publish(durable)).is_err() {
            break; // Nobody is left to be told.
        }
    }
    if let Err(error) = log.end() {
        health.failed(&error);
    }
}
