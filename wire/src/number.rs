//! The numbers by which a client tells its requests and its listens apart.
//!
//! Why whole doubles are accepted: some SDKs have one kind of number only and may write `3.0`. What is written here
//! is always an integer: Android drops the connection, or corrupts its cache, for anything else.

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use std::fmt;

/// The number of a request, which its response repeats. Android's first is 0 (wire reference 3.1); increasing over
/// all connections of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, DeriveDeserialize)]
#[serde(from = "Whole")]
pub struct RequestNumber(pub u64);

/// The number of a listen to part of the children, given by the client (wire reference 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, DeriveDeserialize)]
#[serde(from = "Whole")]
pub struct Tag(pub u64);

/// A number of 0, 1, 2, …, written as an integer or not.
pub(crate) struct Whole(pub(crate) u64);

impl From<Whole> for RequestNumber {
    fn from(number: Whole) -> Self {
        Self(number.0)
    }
}

impl From<Whole> for Tag {
    fn from(number: Whole) -> Self {
        Self(number.0)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor)
    }
}

struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, at least 0")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Whole, E> {
        Ok(Whole(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Whole, E> {
        let whole = u64::try_from(value);
        whole.map(Whole).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Whole, E> {
        /// 2^53: above it a double does not say which integer was meant.
        const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&value) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number from 0 to 2^53"
            )]
            return Ok(Whole(value as u64));
        }
        Err(E::invalid_value(de::Unexpected::Float(value), &self))
    }
}

impl fmt::Display for RequestNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
