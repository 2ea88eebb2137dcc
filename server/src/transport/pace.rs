//! How slowly a client may take what is long.
//!
//! Why a bound beside that on silence ([`super::pulse`]): a long answer holds on to the tree that it is written from, and a
//! client that takes a byte a second is never silent.

use std::time::Duration;
use tokio::time::Instant;

/// What is to be taken in [`TIME`], in bytes. A sixtieth of it a second, 140 kbit/s, is less than any network for data has
/// that is still built.
const BYTES: usize = 1024 * 1024;
const TIME: Duration = Duration::from_secs(60);

/// A client takes less than [`BYTES`] in [`TIME`] of something long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the client takes less than {} MiB of something long in {} s",
    BYTES / 1024 / 1024,
    TIME.as_secs()
)]
pub(super) struct TooSlow;

/// How far a client is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    until: Instant,
    /// What it has taken of what is to be taken until then.
    bytes: usize,
}

impl Pace {
    /// It begins to take something.
    pub(super) fn begin() -> Self {
        Self { until: Instant::now() + TIME, bytes: 0 }
    }

    /// It has taken so much more.
    pub(super) fn took(&mut self, bytes: usize) {
        self.bytes += bytes;
        if BYTES <= self.bytes {
            *self = Self::begin();
        }
    }

    /// Waits until it has taken something.
    ///
    /// # Errors
    /// [`TooSlow`], if it does not take it in time.
    pub(super) async fn keep<T>(&self, taken: impl Future<Output = T>) -> Result<T, TooSlow> {
        tokio::time::timeout_at(self.until, taken).await.map_err(|_| TooSlow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    #[tokio::test(start_paused = true)]
    async fn a_client_keeps_pace_that_takes_a_mebibyte_a_minute() {
        for (taken, is_kept) in [
            (&[(59, BYTES)][..], true),
            (&[(59, BYTES - 1), (2, 1)], false),
            (&[(59, BYTES), (59, BYTES)], true),
            (&[(30, BYTES / 2), (29, BYTES / 2), (59, BYTES)], true),
            (&[(30, BYTES / 2), (31, BYTES / 2)], false),
            (&[(1, 1); 61], false),
            (&[(1, 2 * BYTES); 200], true),
            (&[(1, 2 * BYTES), (61, 1)], false),
        ] {
            let mut pace = Pace::begin();
            let mut kept = Ok(());
            for &(seconds, bytes) in taken {
                kept = pace.keep(sleep(Duration::from_secs(seconds))).await;
                if kept.is_err() {
                    break;
                }
                pace.took(bytes);
            }
            assert_eq!(kept.is_ok(), is_kept, "{taken:?}");
        }
    }
}
