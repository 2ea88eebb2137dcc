//! How much log there may be before a checkpoint stands for it.
//!
//! Why it can be chosen: less of it makes a start after a crash faster and the folder smaller, more of it writes less where
//! the same data change over and over. Everything that follows from it is decided here, so that it fits together.

use crate::log::TAIL_BYTES;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// MiB that may be chosen. The most is read in about a minute.
const MIB: RangeInclusive<u64> = 1..=4_096;

/// A length of log for which a checkpoint is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckpointLog {
    mib: u64,
}

impl CheckpointLog {
    /// 64 MiB of log are read in about a second.
    pub(crate) const DEFAULT: Self = Self { mib: 64 };

    fn of_mib(mib: u64) -> Option<Self> {
        MIB.contains(&mib).then_some(Self { mib })
    }

    /// What a server that was cut off has to read before it serves.
    pub(crate) const fn bytes(self) -> u64 {
        self.mib << 20
    }

    /// The same where a server ends in order: then somebody waits for it.
    pub(crate) const fn bytes_at_end(self) -> u64 {
        self.bytes() / 4
    }

    /// How much of the log stays that nobody needs to recover. Less than the shortest segment is nothing.
    pub(crate) fn tail_bytes(self) -> u64 {
        (self.bytes() / 4).min(TAIL_BYTES)
    }
}

impl FromStr for CheckpointLog {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let chosen = text.parse().ok().and_then(Self::of_mib);
        chosen.ok_or_else(|| format!("`{text}` is not allowed: a whole number of MiB from 1 to 4096 is"))
    }
}

impl<'de> Deserialize<'de> for CheckpointLog {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(Mib)
    }
}

struct Mib;

impl Visitor<'_> for Mib {
    type Value = CheckpointLog;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of MiB from 1 to 4096")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<CheckpointLog, E> {
        let chosen = u64::try_from(number).ok().and_then(CheckpointLog::of_mib);
        chosen.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}
