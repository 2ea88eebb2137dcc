//! Databases that are asked for and are not there.
//!
//! Why they are told: an app that names another database than the server has waits without a word, as the SDKs try again
//! for ever. Why not each time: whoever asks needs to be nobody for it, and tries again for ever.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often one is named at most.
const PAUSE: Duration = Duration::from_secs(10);

/// Who was asked for, and when that was told last.
#[derive(Debug, Default)]
pub(crate) struct InVain(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    told: Option<Instant>,
    /// How often it was not told since.
    untold: u64,
}

impl InVain {
    /// A database of that name was asked for.
    pub(crate) fn asked(&self, name: &str) {
        if let Some(untold) = self.is_due(Instant::now()) {
            let others =
                if untold == 0 { String::new() } else { format!(" ({untold} such requests before)") };
            tracing::warn!(
                "a client asks for the database `{name}`, which is not here{others}; `--namespace {name}` makes it"
            );
        }
    }

    /// Whether it is to be told now, and how often it was not since.
    fn is_due(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.told.is_some_and(|told| now.duration_since(told) < PAUSE) {
            state.untold += 1;
            return None;
        }
        state.told = Some(now);
        Some(std::mem::take(&mut state.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_every_few_seconds_at_most() {
        let in_vain = InVain::default();
        let start = Instant::now();
        for (ms, expected) in
            [(0, Some(0)), (1, None), (9_999, None), (10_000, Some(2)), (19_999, None), (50_000, Some(1))]
        {
            assert_eq!(in_vain.is_due(start + Duration::from_millis(ms)), expected, "{ms}");
        }
    }
}
