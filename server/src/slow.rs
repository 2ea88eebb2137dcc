//! Requests that take long, for whoever runs the server.
//!
//! Why not each time: a query that is slow is slow whenever an app asks for it.

use crate::seldom::Seldom;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::fmt::{self, Display};
use std::hash::Hash;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// From how long a time on a request is slow, in milliseconds; 0, if none is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlowRequest(u32);

impl SlowRequest {
    /// What holds if nobody chooses: what people call a pause.
    pub(crate) const DEFAULT: Self = Self(1_000);
}

const ALLOWED: &str = "a whole number of milliseconds, or 0 for never";

impl FromStr for SlowRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("`{text}` is not allowed: {ALLOWED} is"))
    }
}

impl<'de> Deserialize<'de> for SlowRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(Milliseconds)
    }
}

struct Milliseconds;

impl Visitor<'_> for Milliseconds {
    type Value = SlowRequest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ALLOWED)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<SlowRequest, E> {
        let chosen = u32::try_from(number).map(SlowRequest);
        chosen.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }
}

/// What is told of slow and failed requests.
#[derive(Debug)]
pub(crate) struct Slow {
    from_ms: AtomicU32,
    slow: Seldom,
    failed: Seldom,
}

impl Default for Slow {
    fn default() -> Self {
        let from_ms = AtomicU32::new(SlowRequest::DEFAULT.0);
        Self { from_ms, slow: Seldom::default(), failed: Seldom::default() }
    }
}

impl Slow {
    /// From how long a time on.
    pub(crate) fn from(&self, SlowRequest(ms): SlowRequest) {
        self.from_ms.store(ms, Ordering::Relaxed);
    }

    /// Whether what took so long is slow.
    pub(crate) fn is_slow(&self, took: Duration) -> bool {
        let from_ms = self.from_ms.load(Ordering::Relaxed);
        from_ms != 0 && u128::from(from_ms) <= took.as_millis()
    }

    /// Tells of a slow request, unless one of this name was told of lately.
    pub(crate) fn tell_slow(&self, name: impl Hash, took: Duration, what: &impl Display) {
        if let Some(untold) = self.slow.is_due(name, Instant::now()) {
            tracing::warn!("slow request: {what} took {} ms{}", took.as_millis(), Others(untold));
        }
    }

    /// Tells of a request that failed through no fault of its client's, unless one of this name was told of lately.
    pub(crate) fn tell_failed(&self, name: impl Hash, status: u16, what: &impl Display) {
        if let Some(untold) = self.failed.is_due(name, Instant::now()) {
            tracing::warn!("failed request: {what} was answered {status}{}", Others(untold));
        }
    }
}

struct Others(u64);

impl Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            untold => write!(f, " ({untold} such requests before)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_slow_from_a_time_on() {
        for (from_ms, took_ms, expected) in
            [(1_000, 999, false), (1_000, 1_000, true), (1, 1, true), (1, 0, false), (0, 100_000, false)]
        {
            let slow = Slow::default();
            slow.from(SlowRequest(from_ms));
            let found = slow.is_slow(Duration::from_millis(took_ms));
            assert_eq!(found, expected, "{took_ms} ms, where {from_ms} are slow");
        }
    }

    #[test]
    fn a_time_is_a_whole_number_of_milliseconds() {
        for (text, expected) in [
            ("0", Some(0)),
            ("250", Some(250)),
            ("4294967295", Some(u32::MAX)),
            ("4294967296", None),
            ("-1", None),
            ("1.5", None),
            ("1s", None),
            ("", None),
        ] {
            assert_eq!(text.parse().ok(), expected.map(SlowRequest), "{text}");
        }
    }
}
