//! What may stand at one place of a text, and how serde gets it.
//!
//! Why a trait of our own: serde asks nine questions about a JSON value (three kinds of number, two of text), the data
//! model four.

use super::read::Reader;
use crate::scalar::{Number, Scalar};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// What may stand at one place of a text.
pub(super) trait Expected: Sized {
    type Read;

    /// Who keeps the limits and the error.
    fn reader(&mut self) -> &mut Reader;

    fn null<E: de::Error>(self) -> Result<Self::Read, E>;

    fn scalar<E: de::Error>(self, value: Scalar) -> Result<Self::Read, E>;

    fn object<'de, A: MapAccess<'de>>(self, members: A) -> Result<Self::Read, A::Error>;

    fn array<'de, A: SeqAccess<'de>>(self, elements: A) -> Result<Self::Read, A::Error>;
}

/// Reads what is expected, as serde has it.
pub(super) struct Read<X>(pub(super) X);

impl<'de, X: Expected> DeserializeSeed<'de> for Read<X> {
    type Value = X::Read;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<X::Read, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, X: Expected> Visitor<'de> for Read<X> {
    type Value = X::Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<X::Read, E> {
        self.0.null()
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<X::Read, E> {
        self.0.scalar(Scalar::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<X::Read, E> {
        self.0.scalar(Scalar::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<X::Read, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            #[expect(
                clippy::cast_precision_loss,
                reason = "above 64 bits signed, the nearest double is the value"
            )]
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<X::Read, E> {
        let number = Number::from_f64(value).map_err(E::custom)?;
        self.0.scalar(Scalar::Number(number))
    }

    fn visit_str<E: de::Error>(mut self, value: &str) -> Result<X::Read, E> {
        let text = self.0.reader().text(value)?;
        self.0.scalar(Scalar::Text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<X::Read, A::Error> {
        self.0.object(members)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<X::Read, A::Error> {
        self.0.array(elements)
    }
}

pub(super) const AN_ARRAY: &str = "an array";
pub(super) const AN_OBJECT: &str = "an object";
pub(super) const NULL: &str = "null";

/// A scalar in a message that says what was found instead of something else.
pub(super) const fn in_words(value: &Scalar) -> &'static str {
    match value {
        Scalar::Bool(true) => "true",
        Scalar::Bool(false) => "false",
        Scalar::Number(_) => "a number",
        Scalar::Text(_) => "a text",
    }
}
