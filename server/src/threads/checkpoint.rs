//! The thread that writes checkpoints and trims the log.
//!
//! Why a thread of its own: nobody waits for a checkpoint. It asks for the databases when the log has become long, writes
//! what it is handed in small batches, and lets go of what is not needed any more: the old trees, which can be large, are
//! dropped here, and not where somebody waits.

use super::ToCommitter;
use crate::checkpoint::{Capture, Captured, StoreError};
use crate::checkpoint_log::CheckpointLog;
use crate::log::{Checkpointing, Position, trim};
use hearth_engine::DatabaseId;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::WeakSender;

/// How often the length of the log is looked at: with the shortest that can be chosen, a disk that writes 100 MB per second
/// is not much further when it is noticed.
const TICK: Duration = Duration::from_millis(100);

/// Databases with their place in the log, up to which everything is durable.
pub(crate) struct Marked {
    pub(crate) databases: BTreeMap<DatabaseId, Captured>,
    pub(crate) position: Position,
    /// Appended by this process, up to there.
    pub(crate) log_bytes: u64,
    /// Whether the server ends.
    pub(crate) is_last: bool,
}

/// How much this process has appended to the log, in bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogBytes(Arc<AtomicU64>);

impl LogBytes {
    pub(super) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How much log there is that no checkpoint stands for.
struct Uncovered {
    /// From before this process.
    before: u64,
    /// Of what this process has appended, so much is covered.
    covered: u64,
}

impl Uncovered {
    const fn at(&self, log_bytes: u64) -> u64 {
        self.before + log_bytes.saturating_sub(self.covered)
    }
}

/// Writes checkpoints until nothing can come any more, or the store fails.
pub(super) fn run(
    mut checkpointing: Checkpointing,
    when: CheckpointLog,
    log_bytes: &LogBytes,
    inbox: &Receiver<Marked>,
    committer: &WeakSender<ToCommitter>,
) {
    let mut uncovered = Uncovered { before: checkpointing.log_bytes, covered: 0 };
    let mut is_asked = false;
    loop {
        match inbox.recv_timeout(TICK) {
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let is_due = !is_asked && when.bytes() <= uncovered.at(log_bytes.get());
                // A committer that has no room now is asked again.
                if is_due && let Some(committer) = committer.upgrade() {
                    is_asked = committer.try_send(ToCommitter::Capture).is_ok();
                }
            }
            Ok(marked) => {
                is_asked = false;
                let least = if marked.is_last { when.bytes_at_end() } else { when.bytes() };
                if uncovered.at(marked.log_bytes) < least {
                    continue;
                }
                let covered = marked.log_bytes;
                if let Err(error) = write(&mut checkpointing, marked, when.tail_bytes()) {
                    tracing::error!(%error, "checkpoints cannot be written; everything is kept in the log, which grows until a restart");
                    return;
                }
                uncovered = Uncovered { before: 0, covered };
            }
        }
    }
}

fn write(checkpointing: &mut Checkpointing, marked: Marked, tail_bytes: u64) -> Result<(), StoreError> {
    let began = Instant::now();
    let capture = Capture { starts: checkpointing.starts, databases: marked.databases };
    let written = checkpointing.writer.write(marked.position, capture)?;
    tracing::info!(
        chunks = written.chunks,
        bytes = written.bytes,
        took_ms = began.elapsed().as_millis(),
        "a checkpoint is written"
    );
    if let Some(position) = written.trim {
        tracing::debug!("the log is to be trimmed");
        match trim(&checkpointing.log, position.sequence, tail_bytes) {
            Ok(segments) => tracing::debug!(segments, "the log is trimmed"),
            // It only takes room, and the next one tries again.
            Err(error) => tracing::warn!(%error, "the beginning of the log cannot be removed"),
        }
    }
    Ok(())
}
