//! How often something took how long.

use super::Count;
use std::time::Duration;

/// Up to so many microseconds each: from what a fast disk takes to what makes people wait.
pub(super) const BOUNDS_US: [u64; 13] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000];

/// Times, by how long they are.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    /// Those above all bounds are only in `count`.
    by_bound: [Count; BOUNDS_US.len()],
    count: Count,
    sum_ns: Count,
}

impl Histogram {
    pub(super) fn observe(&self, took: Duration) {
        let us = took.as_nanos().div_ceil(1_000);
        if let Some(place) = BOUNDS_US.iter().position(|&bound| us <= bound.into()) {
            self.by_bound[place].add(1);
        }
        self.count.add(1);
        self.sum_ns.add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Each bound in microseconds, and how many were not longer.
    pub(super) fn up_to(&self) -> impl Iterator<Item = (u64, u64)> {
        BOUNDS_US.into_iter().zip(&self.by_bound).scan(0, |below, (bound, count)| {
            *below += count.get();
            Some((bound, *below))
        })
    }

    pub(super) fn count(&self) -> u64 {
        self.count.get()
    }

    pub(super) fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum_ns.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_up_to_their_bound() {
        let histogram = Histogram::default();
        for us in [1, 100, 101, 2_000, 999_999, 1_000_001] {
            histogram.observe(Duration::from_micros(us));
        }
        let counts: Vec<_> = histogram.up_to().map(|(_, count)| count).collect();
        assert_eq!(counts, [2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5]);
        assert_eq!((histogram.count(), histogram.sum()), (6, Duration::from_micros(2_002_202)));
    }
}
