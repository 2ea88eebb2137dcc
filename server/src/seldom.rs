//! What is told once in a while, whoever brings it about however often.
//!
//! Why: what a client does as often as it likes must not fill the operator's disk.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the same is told at most.
const PAUSE: Duration = Duration::from_secs(600);
/// Most things that are told in such a time.
const TOLD_MAX: usize = 1_024;

/// What was told lately.
#[derive(Debug, Default)]
pub(crate) struct Seldom {
    names: RandomState,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    at: HashMap<u64, Instant>,
    /// What was not told since something was.
    untold: u64,
}

impl Seldom {
    /// Whether what has this name is to be told now, and how much was not before.
    pub(crate) fn is_due(&self, name: impl Hash, now: Instant) -> Option<u64> {
        let name = self.names.hash_one(name);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |then: &Instant| PAUSE <= now.duration_since(*then);
        let is_new = told.at.get(&name).is_none_or(is_over);
        if is_new && TOLD_MAX <= told.at.len() {
            told.at.retain(|_, then| !is_over(then));
        }
        if !is_new || TOLD_MAX <= told.at.len() {
            told.untold += 1;
            return None;
        }
        told.at.insert(name, now);
        Some(std::mem::take(&mut told.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_told_once_in_a_while_and_not_more_than_a_thousand_at_all() {
        let seldom = Seldom::default();
        let start = Instant::now();
        let due = |name: i32, seconds| seldom.is_due(name, start + Duration::from_secs(seconds));
        for (name, seconds, expected) in [
            (1, 0, Some(0)),
            (1, 1, None),
            (2, 1, Some(1)),
            (1, 599, None),
            (1, 600, Some(1)),
            (1, 601, None),
        ] {
            assert_eq!(due(name, seconds), expected, "{name} at {seconds} s");
        }
        let told = (10..10_000).filter(|&name| due(name, 700).is_some()).count();
        assert_eq!(told, TOLD_MAX - 1, "only one was told at 600 s and still counts");
        assert_eq!(due(10_000, 1_300).map(|untold| 8_000 < untold), Some(true));
    }
}
