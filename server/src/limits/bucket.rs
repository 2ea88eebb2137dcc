//! Token buckets in bounded memory: a bucket is the time at which it will be full again, and one that is full need not be
//! kept.
//!
//! Why our own and no crate: the arithmetic is the ten lines of [`Buckets::look`]. What matters is around it, and the crate
//! for this job, governor, has none of it: buckets without a bound until somebody sweeps them, so that a flood of addresses
//! grows the table between two sweeps; and one limiter at a time, so that a request that passes the first of three and not
//! the third has used up what it was refused.

use std::collections::HashMap;
use std::time::Duration;

/// Most buckets. Each takes some 30 bytes.
pub(super) const BUCKETS_MAX: usize = 131_072;

/// What is to be taken out of one bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    pub(super) bucket: u64,
    /// How long the bucket takes to get back what is taken.
    pub(super) cost: Duration,
    /// How long an empty bucket takes until it is full.
    pub(super) whole: Duration,
}

/// The buckets that are not full. Times are since the start of the server.
#[derive(Debug)]
pub(super) struct Buckets {
    full_at: HashMap<u64, Duration>,
    most: usize,
}

impl Buckets {
    pub(super) fn up_to(most: usize) -> Self {
        Self { full_at: HashMap::new(), most }
    }

    pub(super) fn len(&self) -> usize {
        self.full_at.len()
    }

    /// Whether there is enough in each of them.
    ///
    /// # Errors
    /// The one that must be waited for longest, and how long.
    pub(super) fn look(&self, now: Duration, draws: &[Draw]) -> Result<(), (usize, Duration)> {
        let waits = draws.iter().enumerate().map(|(which, draw)| {
            let full_at = self.full_at(now, draw.bucket).saturating_add(draw.cost);
            (which, full_at.saturating_sub(now.saturating_add(draw.whole)))
        });
        match waits.max_by_key(|&(_, wait)| wait) {
            Some((which, wait)) if !wait.is_zero() => Err((which, wait)),
            Some(_) | None => Ok(()),
        }
    }

    /// Takes it out of all of them, or nothing out of any. O(draws) on average.
    ///
    /// # Errors
    /// As [`Buckets::look`].
    pub(super) fn take(&mut self, now: Duration, draws: &[Draw]) -> Result<(), (usize, Duration)> {
        self.look(now, draws)?;
        for draw in draws {
            if self.most <= self.full_at.len() && !self.full_at.contains_key(&draw.bucket) {
                self.make_room(now);
            }
            let full_at = self.full_at(now, draw.bucket).saturating_add(draw.cost);
            self.full_at.insert(draw.bucket, full_at);
        }
        Ok(())
    }

    fn full_at(&self, now: Duration, bucket: u64) -> Duration {
        self.full_at.get(&bucket).copied().unwrap_or_default().max(now)
    }

    /// Forgets those that are full. If a flood leaves few of these, then also the half that comes next: whoever is
    /// forgotten gets back what it would have got back soonest, and nobody has to be let in uncounted or turned away
    /// unheard. It takes a flood of as many others to be forgotten. O(buckets), once for each half of them.
    fn make_room(&mut self, now: Duration) {
        self.full_at.retain(|_, full_at| now < *full_at);
        if self.full_at.len() <= self.most / 2 {
            return;
        }
        let mut times: Vec<_> = self.full_at.values().copied().collect();
        let middle = times.len() / 2;
        let (_, median, _) = times.select_nth_unstable(middle);
        let median = *median;
        self.full_at.retain(|_, full_at| median < *full_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Tokens that are counted: a bucket begins full, gets one back each so many milliseconds, and never has more than fit.
    struct Naive {
        each_ms: u64,
        burst: u64,
        /// A token is as many of these as milliseconds that it takes to come back.
        parts: u64,
        last_ms: u64,
    }

    impl Naive {
        fn take(&mut self, now_ms: u64, count: u64) -> bool {
            self.parts = (self.parts + now_ms - self.last_ms).min(self.burst * self.each_ms);
            self.last_ms = now_ms;
            let is_there = count * self.each_ms <= self.parts;
            if is_there {
                self.parts -= count * self.each_ms;
            }
            is_there
        }
    }

    proptest! {
        #[test]
        fn what_is_let_through_is_what_counted_tokens_let_through(
            each_ms in 1..50_u64,
            burst in 1..8_u64,
            asked in vec((0..100_u64, 0..4_u64), 0..80),
        ) {
            let mut buckets = Buckets::up_to(4);
            let mut naive = Naive { each_ms, burst, parts: burst * each_ms, last_ms: 0 };
            let mut now_ms = 0;
            for (later_ms, count) in asked {
                now_ms += later_ms;
                let time = Duration::from_millis;
                let draw = Draw { bucket: 1, cost: time(count * each_ms), whole: time(burst * each_ms) };
                let taken = buckets.take(time(now_ms), &[draw]).is_ok();
                prop_assert_eq!(taken, naive.take(now_ms, count), "{} at {} ms", count, now_ms);
            }
        }
    }

    fn draw(bucket: u64, count: u32, per_second: u32, burst: u32) -> Draw {
        let second = Duration::from_secs(1);
        Draw { bucket, cost: second * count / per_second, whole: second * burst / per_second }
    }

    #[test]
    fn a_bucket_holds_its_burst_and_fills_at_its_rate() {
        let mut buckets = Buckets::up_to(10);
        for (at_ms, count, expected_wait_ms) in [
            (0, 3, 0),
            (0, 1, 0),
            (0, 1, 500),
            (0, 4, 2_000),
            (499, 1, 1),
            (500, 1, 0),
            (500, 1, 500),
            (1_500, 2, 0),
            (1_500, 1, 500),
            (9_000, 4, 0),
            (9_000, 1, 500),
        ] {
            let taken = buckets.take(Duration::from_millis(at_ms), &[draw(7, count, 2, 4)]);
            let wait = taken.err().map_or(Duration::ZERO, |(_, wait)| wait);
            assert_eq!(wait, Duration::from_millis(expected_wait_ms), "{count} at {at_ms} ms");
        }
    }

    #[test]
    fn what_one_bucket_refuses_is_taken_out_of_none() {
        let mut buckets = Buckets::up_to(10);
        let now = Duration::ZERO;
        assert_eq!(buckets.take(now, &[draw(1, 1, 1, 5), draw(2, 1, 1, 1)]), Ok(()));
        for _ in 0..10 {
            let refused = buckets.take(now, &[draw(1, 1, 1, 5), draw(2, 1, 1, 1)]);
            assert_eq!(refused, Err((1, Duration::from_secs(1))));
        }
        assert_eq!(buckets.take(now, &[draw(1, 4, 1, 5)]), Ok(()));
        assert!(buckets.take(now, &[draw(1, 1, 1, 5)]).is_err());
    }

    #[test]
    fn a_flood_of_others_stays_within_the_bound_and_leaves_the_emptiest() {
        let most = 1_000;
        let mut buckets = Buckets::up_to(most);
        let now = Duration::ZERO;
        assert_eq!(buckets.take(now, &[draw(0, 10, 1, 10)]), Ok(()));
        for bucket in 1..100_000 {
            assert_eq!(buckets.take(now, &[draw(bucket, 1, 1, 10)]), Ok(()));
            assert!(buckets.len() <= most, "{} buckets", buckets.len());
        }
        assert!(buckets.take(now, &[draw(0, 1, 1, 10)]).is_err(), "the emptiest was forgotten");
        // Later all are full, and the next that find no room clear the table.
        let later = Duration::from_secs(60);
        (0..2_000).for_each(|bucket| assert_eq!(buckets.take(later, &[draw(bucket, 1, 1, 10)]), Ok(())));
        assert!(buckets.len() <= most);
    }
}
