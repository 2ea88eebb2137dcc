//! The thread that keeps what was decided.

use super::{LogBytes, Marked, ToLog, ToPublisher};
use crate::log::KeptLog;
use crate::meters::Meters;
use hearth_engine::{LogError, LogStep};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
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
    log: Box<dyn KeptLog + Send>,
    (health, log_bytes, meters): (&LogHealth, &LogBytes, &Meters),
    mut inbox: mpsc::Receiver<ToLog>,
    publisher: &mpsc::Sender<ToPublisher>,
    checkpoint: Option<&SyncSender<Marked>>,
) {
    let mut log = LogStep::new(log);
    while let Some(message) = inbox.blocking_recv() {
        let group = match message {
            ToLog::Keep(group) => group,
            ToLog::Backup(answer, moment) => {
                // All of it is durable now, or never will be. Who has asked may be gone.
                if log.stopped().is_none() {
                    drop(answer.send(moment));
                }
                continue;
            }
            ToLog::Captured { databases, is_last } => {
                // All of it is durable now, or never will be.
                if log.stopped().is_none()
                    && let (Some(checkpoint), Some((position, log_bytes))) =
                        (checkpoint, log.log().end_position())
                    && checkpoint.try_send(Marked { databases, position, log_bytes, is_last }).is_err()
                {
                    tracing::debug!("nobody writes a checkpoint now");
                }
                continue;
            }
        };
        let begun = Instant::now();
        let durable = log.keep(group);
        if let Some((_, bytes)) = log.log().end_position() {
            meters.synced(begun.elapsed());
            log_bytes.set(bytes);
        }
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
