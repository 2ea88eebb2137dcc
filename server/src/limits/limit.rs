//! One limit: the places that it is for, and what it allows there.

use super::RefusedCount;
use super::bucket::Draw;
use super::over::OverLimit;
use super::tally::Tally;
use hearth_tree::Path;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A limit of the file.
#[derive(Debug)]
pub(super) struct Limit {
    /// As the file says them.
    pub(super) places: Arc<str>,
    /// Most bytes of one value, as [`super::tally`] weighs them.
    pub(super) value_bytes_max: Option<u32>,
    pub(super) rates: Vec<Rate>,
    too_large: Arc<AtomicU64>,
}

/// How much of something in a time.
#[derive(Debug)]
pub(super) struct Rate {
    pub(super) measure: Measure,
    pub(super) per: Per,
    /// Above 0.
    pub(super) per_second: f64,
    /// A whole number, at least 1.
    pub(super) burst: f64,
    /// Of its buckets, together with the subject.
    pub(super) name: u64,
    refused: Arc<AtomicU64>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Measure {
    Writes,
    Bytes,
    Reads,
}

/// By what it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Per {
    Connection,
    Address,
    Uid,
}

impl Measure {
    pub(super) const ALL: [Self; 3] = [Self::Writes, Self::Bytes, Self::Reads];

    /// The word of the file.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::Bytes => "bytes",
            Self::Reads => "reads",
        }
    }
}

impl Per {
    pub(super) const ALL: [Self; 3] = [Self::Connection, Self::Address, Self::Uid];

    /// The word of the file.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Address => "address",
            Self::Uid => "uid",
        }
    }
}

impl Limit {
    pub(super) fn new(places: &str, value_bytes_max: Option<u32>, rates: Vec<Rate>) -> Self {
        Self { places: places.into(), value_bytes_max, rates, too_large: Arc::default() }
    }

    /// Takes its place; `before` is the limit of the same places that held until now. A rate that is the same goes on with
    /// its buckets, another one begins with full ones.
    pub(super) fn begin(&mut self, names: &RandomState, before: Option<&Self>) {
        if let Some(before) = before {
            self.too_large = before.too_large.clone();
        }
        for rate in &mut self.rates {
            let Rate { measure, per, per_second, burst, .. } = *rate;
            rate.name = names.hash_one((&self.places, measure, per, per_second.to_bits(), burst.to_bits()));
            let same = |own: &&Rate| (own.measure, own.per) == (measure, per);
            if let Some(same) = before.and_then(|before| before.rates.iter().find(same)) {
                rate.refused = same.refused.clone();
            }
        }
    }

    /// Whether it must be known how large a value is.
    pub(super) fn weighs(&self) -> bool {
        self.value_bytes_max.is_some() || self.rates.iter().any(|rate| rate.measure == Measure::Bytes)
    }

    /// Refuses a value that is larger than any may be; `at` says where.
    pub(super) fn check_value(&self, bytes: u32, at: impl FnOnce() -> Path) -> Result<(), OverLimit> {
        match self.value_bytes_max {
            Some(bytes_max) if bytes_max < bytes => {
                self.too_large.fetch_add(1, Ordering::Relaxed);
                Err(OverLimit::Value { places: self.places.clone(), at: at(), bytes, bytes_max })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses what no bucket ever holds.
    pub(super) fn check_burst(&self, tally: &Tally) -> Result<(), OverLimit> {
        match self.rates.iter().find(|rate| rate.burst < tally.count(rate.measure).into()) {
            None => Ok(()),
            Some(rate) => {
                rate.refused.fetch_add(1, Ordering::Relaxed);
                let (measure, per) = (rate.measure.word(), rate.per.word());
                Err(OverLimit::Burst { places: self.places.clone(), burst: rate.burst, measure, per })
            }
        }
    }

    /// What refuses for now.
    pub(super) fn too_fast(&self, rate: &Rate, wait: Duration) -> OverLimit {
        rate.refused.fetch_add(1, Ordering::Relaxed);
        OverLimit::Rate {
            places: self.places.clone(),
            per_second: rate.per_second,
            burst: rate.burst,
            measure: rate.measure.word(),
            per: rate.per.word(),
            wait,
        }
    }

    pub(super) fn refused(&self) -> impl Iterator<Item = RefusedCount> {
        let count = |measure, per, count: &AtomicU64| RefusedCount {
            places: self.places.clone(),
            measure,
            per,
            count: count.load(Ordering::Relaxed),
        };
        let sizes = self.value_bytes_max.map(|_| count("value", "", &self.too_large));
        let rates =
            self.rates.iter().map(move |rate| count(rate.measure.word(), rate.per.word(), &rate.refused));
        sizes.into_iter().chain(rates)
    }
}

impl Rate {
    pub(super) fn new(measure: Measure, per: Per, per_second: f64, burst: f64) -> Self {
        Self { measure, per, per_second, burst, name: 0, refused: Arc::default() }
    }

    /// So much out of this bucket.
    pub(super) fn draw(&self, count: u32, bucket: u64) -> Draw {
        // A nanosecond for each that was taken: each cost is rounded, and the sum must not be more than the whole.
        let rounding = self.burst / 1e9;
        let time = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Draw {
            bucket,
            cost: time(f64::from(count) / self.per_second),
            whole: time(self.burst / self.per_second + rounding),
        }
    }
}
