//! The thread that writes checkpoints and trims the log.
//!
//! Why a thread of its own: nobody waits for a checkpoint. It asks for the databases when the log has become long, writes
//! what it is handed in small batches, and lets go of what is not needed any more: the old trees, which can be large, are
//! dropped here, and not where somebody waits.

use super::ToCommitter;
use crate::checkpoint::{Capture, Captured, StoreError, Written};
use crate::checkpoint_log::CheckpointLog;
use crate::log::{Checkpointing, Position, trim};
use hearth_engine::DatabaseId;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::WeakSender;

/// How often the length of the log is looked at: with the shortest that can be chosen, a disk that writes 100 MB per second
/// is not much further when it is noticed.
const TICK: Duration = Duration::from_millis(100);
/// After a failure the next try comes after this, and after each further one twice as late.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// Whoever has made room or put a disk right waits no longer than this.
const PAUSE_MAX: Duration = Duration::from_secs(5 * 60);

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

/// Why checkpoints do not do what they are there for. What is confirmed is kept all the same.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckpointTrouble {
    #[error("checkpoints cannot be written: {0}; until one is, the log grows")]
    Unwritten(StoreError),
    #[error("the beginning of the log cannot be removed: {0}; until it is, the log grows")]
    Untrimmed(io::Error),
}

/// What is wrong with the checkpoints, as long as it is. For whoever asks how the server is.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckpointHealth(Arc<Mutex<Option<Arc<CheckpointTrouble>>>>);

impl CheckpointHealth {
    /// What went wrong last, unless it went well since.
    pub(crate) fn trouble(&self) -> Option<Arc<CheckpointTrouble>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether something was wrong before.
    fn set(&self, trouble: Option<Arc<CheckpointTrouble>>) -> bool {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, trouble).is_some()
    }
}

/// When the next checkpoint is written, whatever the length of the log.
#[derive(Debug, Default)]
struct Retry {
    at: Option<Instant>,
    /// Before the next one.
    pause: Duration,
}

impl Retry {
    /// After a failure under a server before: at once, and another one then.
    fn due() -> Self {
        Self { at: Some(Instant::now()), pause: PAUSE_MIN }
    }

    fn is_due(&self) -> bool {
        self.at.is_some_and(|at| at <= Instant::now())
    }

    /// How long until then.
    fn failed(&mut self) -> Duration {
        self.pause = (2 * self.pause).clamp(PAUSE_MIN, PAUSE_MAX);
        self.at = Some(Instant::now() + self.pause);
        self.pause
    }

    /// After failures there is another one at once: the log is trimmed to where the one before stands, and it has grown.
    fn succeeded(&mut self) {
        let had_failed = self.pause != Duration::ZERO;
        *self = Self { at: had_failed.then(Instant::now), pause: Duration::ZERO };
    }
}

/// Writes checkpoints until nothing can come any more. While that fails, everything is kept in the log, and it is tried
/// again with growing pauses.
pub(super) fn run(
    mut checkpointing: Checkpointing,
    when: CheckpointLog,
    log_bytes: &LogBytes,
    health: &CheckpointHealth,
    inbox: &Receiver<Marked>,
    committer: &WeakSender<ToCommitter>,
) {
    let mut uncovered = Uncovered { before: checkpointing.log_bytes, covered: 0 };
    let mut retry = if checkpointing.writer.has_failed() { Retry::due() } else { Retry::default() };
    let mut is_asked = false;
    loop {
        match inbox.recv_timeout(TICK) {
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let is_long = when.bytes() <= uncovered.at(log_bytes.get());
                let is_due = if retry.at.is_some() { retry.is_due() } else { is_long };
                // A committer that has no room now is asked again.
                if is_due
                    && !is_asked
                    && let Some(committer) = committer.upgrade()
                {
                    is_asked = committer.try_send(ToCommitter::Capture).is_ok();
                }
            }
            Ok(marked) => {
                is_asked = false;
                let least = if marked.is_last { when.bytes_at_end() } else { when.bytes() };
                if uncovered.at(marked.log_bytes) < least && !retry.is_due() {
                    continue;
                }
                let covered = marked.log_bytes;
                let trouble = match write(&mut checkpointing, marked) {
                    Ok(written) => {
                        uncovered = Uncovered { before: 0, covered };
                        let trimmed = trim_to(&checkpointing, &written, when.tail_bytes());
                        trimmed.err().map(CheckpointTrouble::Untrimmed)
                    }
                    Err(error) => Some(CheckpointTrouble::Unwritten(error)),
                };
                tell(trouble, health, &mut retry);
            }
        }
    }
}

/// Plans the next try, and tells the operator: first whoever asks, so that what is said in the log can be asked for by then.
fn tell(trouble: Option<CheckpointTrouble>, health: &CheckpointHealth, retry: &mut Retry) {
    match trouble.map(Arc::new) {
        None => {
            retry.succeeded();
            if health.set(None) {
                // As loud as what it ends.
                tracing::error!("checkpoints are written again");
            }
        }
        Some(trouble) => {
            let pause_s = retry.failed().as_secs();
            health.set(Some(trouble.clone()));
            tracing::error!(%trouble, "everything is kept in the log, and this is tried again in {pause_s} s");
        }
    }
}

fn write(checkpointing: &mut Checkpointing, marked: Marked) -> Result<Written, StoreError> {
    let began = Instant::now();
    let capture = Capture { starts: checkpointing.starts, databases: marked.databases };
    let written = checkpointing.writer.write(marked.position, capture)?;
    tracing::info!(
        chunks = written.chunks,
        bytes = written.bytes,
        took_ms = began.elapsed().as_millis(),
        "a checkpoint is written"
    );
    Ok(written)
}

fn trim_to(checkpointing: &Checkpointing, written: &Written, tail_bytes: u64) -> io::Result<()> {
    if let Some(position) = written.trim {
        tracing::debug!("the log is to be trimmed");
        let segments = trim(&checkpointing.log, position.sequence, tail_bytes)?;
        tracing::debug!(segments, "the log is trimmed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_with_another_checkpoint_at_once() {
        let mut retry = Retry::default();
        retry.succeeded();
        assert!(retry.at.is_none(), "nothing has failed");
        let pauses: Vec<_> = (0..11).map(|_| retry.failed().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert!(!retry.is_due());
        retry.succeeded();
        assert!(retry.is_due());
        retry.succeeded();
        assert!(retry.at.is_none());
        assert_eq!(retry.failed(), PAUSE_MIN, "and from the beginning");
        let mut retry = Retry::due();
        assert!(retry.is_due());
        retry.succeeded();
        assert!(retry.is_due(), "the log is trimmed to the one before");
    }
}
