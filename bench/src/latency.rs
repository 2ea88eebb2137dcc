//! How long things took.

use std::time::Duration;

/// Times of the same thing, done often.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// How many there are.
    pub(crate) const fn count(&self) -> usize {
        self.0.len()
    }

    /// The time within which that part of all was done, by the nearest rank.
    pub(crate) fn percentile(&self, percent: usize) -> Option<Duration> {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let check = |times: &[u64], percent, expected: Option<u64>| {
            let latencies = Latencies::of(times.iter().copied().map(Duration::from_micros).collect());
            assert_eq!(
                latencies.percentile(percent),
                expected.map(Duration::from_micros),
                "{times:?} {percent}"
            );
        };
        check(&[], 50, None);
        check(&[7], 50, Some(7));
        check(&[7], 99, Some(7));
        check(&[3, 1, 2], 50, Some(2));
        check(&[4, 3, 1, 2], 50, Some(2));
        check(&[4, 3, 1, 2], 99, Some(4));
        check(&(1..=200).collect::<Vec<_>>(), 99, Some(198));
        check(&[1, 2], 100, Some(2));
    }
}
