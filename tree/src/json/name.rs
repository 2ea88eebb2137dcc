//! The keys of an object: names of children, and the few that say something about the node itself.

use super::error::Problem;
use super::read::Reader;
use crate::key::Key;
use serde::de::{self, DeserializeSeed, Deserializer, Visitor};
use std::fmt;

/// A key of an object (wire reference 7.1).
pub(super) enum Name {
    Child(Key),
    /// `.value`
    Value,
    /// `.priority`
    Priority,
    /// `.sv`
    ServerValue,
}

pub(super) const VALUE: &str = ".value";
pub(super) const PRIORITY: &str = ".priority";
pub(super) const SERVER_VALUE: &str = ".sv";

impl Name {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Child(key) => key.as_str(),
            Self::Value => VALUE,
            Self::Priority => PRIORITY,
            Self::ServerValue => SERVER_VALUE,
        }
    }
}

/// Reads a [`Name`].
pub(super) struct NameSeed<'r>(pub(super) &'r mut Reader);

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Name, E> {
        if !text.starts_with('.') {
            return match Key::parse(text) {
                Ok(key) => Ok(Name::Child(key)),
                Err(error) => Err(self.0.refuse(error.into())),
            };
        }
        match text {
            VALUE => Ok(Name::Value),
            PRIORITY => Ok(Name::Priority),
            SERVER_VALUE if self.0.allows_server_values() => Ok(Name::ServerValue),
            SERVER_VALUE => Err(self.0.refuse(Problem::ServerValueRefused)),
            _ => Err(self.0.refuse(Problem::DottedKey { key: text.into() })),
        }
    }
}
