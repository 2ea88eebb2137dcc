//! How much somebody may do at a place of the data, before rules and the committer have any work with it.
//!
//! Why beside the rules: rules know no time and no count, so that people build counters into their data, which anybody who
//! may write there can fill up. Why in front of them: what is refused here costs a look into a table, and nobody else
//! waits for it. Admins are not limited.
//!
//! What was armed for a disconnect was counted when it was armed. It is not counted or refused again when it is made: a
//! session can arm so much and no more, and what says that somebody has left must not be lost.

mod bucket;
mod file;
mod limit;
mod over;
mod places;
mod subject;
mod tally;

pub(crate) use file::{Mistake, parse};
pub(crate) use over::OverLimit;
pub(crate) use subject::{Line, Who, network_of, uid_of};
pub(crate) use tally::bytes_of_node;

use arc_swap::ArcSwap;
use bucket::{BUCKETS_MAX, Buckets, Draw};
use hearth_engine::Identity;
use hearth_tree::{Path, Write};
use limit::{Limit, Rate};
use places::Level;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tally::Tally;

/// What holds everywhere, from one file.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    all: Vec<Limit>,
    root: Level,
}

/// Whether somebody may do something, by the limits that hold now.
#[derive(Debug)]
pub(crate) struct Limiter {
    /// Whether there are limits at all: without any, this is all that is looked at.
    has_any: AtomicBool,
    limits: ArcSwap<Limits>,
    buckets: Mutex<Buckets>,
    /// Makes names of buckets that nobody outside can guess, or make two of the same of.
    names: RandomState,
    started: Instant,
}

/// How often one part of a limit has refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedCount {
    /// The places, as the file says them.
    pub(crate) places: Arc<str>,
    /// What there was too much of.
    pub(crate) measure: &'static str,
    /// What was counted by; nothing for the size of a value.
    pub(crate) per: &'static str,
    /// Since the start.
    pub(crate) count: u64,
}

impl Default for Limiter {
    fn default() -> Self {
        Self {
            has_any: AtomicBool::new(false),
            limits: ArcSwap::default(),
            buckets: Mutex::new(Buckets::up_to(BUCKETS_MAX)),
            names: RandomState::new(),
            started: Instant::now(),
        }
    }
}

impl Limiter {
    /// Lets others hold from now on. What is the same as before goes on counting where it was.
    pub(crate) fn replace(&self, mut limits: Limits) {
        let before = self.limits.load();
        for limit in &mut limits.all {
            let same = before.all.iter().find(|own| own.places == limit.places);
            limit.begin(&self.names, same);
        }
        self.has_any.store(!limits.all.is_empty(), Ordering::Relaxed);
        self.limits.store(Arc::new(limits));
    }

    /// Counts a write, or refuses it and counts nothing. O(the written value), and nothing without limits.
    ///
    /// # Errors
    /// [`OverLimit`] names the limit.
    pub(crate) fn write(&self, who: &Who<'_>, write: &Write) -> Result<(), OverLimit> {
        if self.is_free(who) {
            return Ok(());
        }
        let limits = self.limits.load();
        let tallies = tally::of_write(&limits, write)?;
        self.draw(&limits, who, &tallies, Buckets::take)
    }

    /// Counts a read or a listen of a place, or refuses it and counts nothing. O(depth).
    ///
    /// # Errors
    /// [`OverLimit`] names the limit.
    pub(crate) fn read(&self, who: &Who<'_>, at: &Path) -> Result<(), OverLimit> {
        if self.is_free(who) {
            return Ok(());
        }
        let limits = self.limits.load();
        let tallies: Vec<_> = limits.root.above(at.keys()).map(Tally::read).collect();
        self.draw(&limits, who, &tallies, Buckets::take)
    }

    /// Whether there is room for any write at or below a place, to be asked before its body is received. Counts nothing.
    ///
    /// # Errors
    /// [`OverLimit`], if the write would be refused whatever it is.
    pub(crate) fn forecast(&self, who: &Who<'_>, at: &Path) -> Result<(), OverLimit> {
        if self.is_free(who) {
            return Ok(());
        }
        let limits = self.limits.load();
        let tallies: Vec<_> = limits.root.above(at.keys()).map(Tally::any_write).collect();
        self.draw(&limits, who, &tallies, |buckets, now, draws| buckets.look(now, draws))
    }

    /// How often each limit that holds has refused.
    pub(crate) fn refused(&self) -> Vec<RefusedCount> {
        self.limits.load().all.iter().flat_map(Limit::refused).collect()
    }

    /// How many buckets are not known to be full.
    pub(crate) fn buckets_now(&self) -> usize {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn is_free(&self, who: &Who<'_>) -> bool {
        !self.has_any.load(Ordering::Relaxed) || *who.identity == Identity::Admin
    }

    /// All that was tallied, or nothing.
    fn draw(
        &self,
        limits: &Limits,
        who: &Who<'_>,
        tallies: &[Tally],
        take: impl FnOnce(&mut Buckets, Duration, &[Draw]) -> Result<(), (usize, Duration)>,
    ) -> Result<(), OverLimit> {
        let drawn = |tally: &Tally| {
            let (limit, tally) = (&limits.all[tally.limit], *tally);
            let rates = limit.rates.iter().filter(move |rate| 0 < tally.count(rate.measure));
            rates.map(move |rate| (limit, rate, rate.draw(tally.count(rate.measure), self.name(rate, who))))
        };
        let wanted: Vec<(&Limit, &Rate, Draw)> = tallies.iter().flat_map(drawn).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let draws: Vec<_> = wanted.iter().map(|&(_, _, draw)| draw).collect();
        let taken = {
            let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
            take(&mut buckets, self.started.elapsed(), &draws)
        };
        taken.map_err(|(which, wait)| {
            let (limit, rate, _) = &wanted[which];
            limit.too_fast(rate, wait)
        })
    }

    fn name(&self, rate: &Rate, who: &Who<'_>) -> u64 {
        self.names.hash_one((rate.name, who.database, who.subject(rate.per)))
    }
}

#[cfg(test)]
mod tests;
