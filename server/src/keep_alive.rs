//! How long an event stream says nothing (rest reference 5.2), and how often the client of a WebSocket is asked whether it
//! lives (wire reference 2.3).
//!
//! Why 25 seconds where the service takes 30: proxies often cut what is silent for 30, and clients that wait for the next
//! sign of life a little longer than 30 must not be kept waiting longer.

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// Seconds that may be chosen. Some clients give up after 35 without a sign of life.
const SECONDS: RangeInclusive<u64> = 1..=30;

/// A silence after which a stream says that it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeepAlive(Duration);

impl KeepAlive {
    /// What holds if nobody chooses.
    pub(crate) const DEFAULT: Self = Self(Duration::from_secs(25));

    fn of_seconds(seconds: u64) -> Option<Self> {
        SECONDS.contains(&seconds).then_some(Self(Duration::from_secs(seconds)))
    }

    /// As a time.
    pub(crate) const fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for KeepAlive {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let chosen = text.parse().ok().and_then(Self::of_seconds);
        chosen.ok_or_else(|| format!("`{text}` is not allowed: a whole number of seconds from 1 to 30 is"))
    }
}

impl<'de> Deserialize<'de> for KeepAlive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(Seconds)
    }
}

struct Seconds;

impl Visitor<'_> for Seconds {
    type Value = KeepAlive;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of seconds from 1 to 30")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<KeepAlive, E> {
        let chosen = u64::try_from(number).ok().and_then(KeepAlive::of_seconds);
        chosen.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}
