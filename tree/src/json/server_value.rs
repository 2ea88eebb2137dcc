//! What stands behind `.sv` (wire reference 7.6).

use super::error::Problem;
use super::expected::{AN_ARRAY, Expected, NULL, Read, in_words};
use super::name::{Name, NameSeed};
use super::read::Reader;
use crate::key::Excerpt;
use crate::scalar::{Number, Scalar};
use crate::server_value::ServerValue;
use serde::de::{self, MapAccess, SeqAccess};

/// The value of a `.sv`.
pub(super) struct Operation<'r>(pub(super) &'r mut Reader);

pub(super) const TIMESTAMP: &str = "timestamp";
pub(super) const INCREMENT: &str = "increment";

impl Operation<'_> {
    fn unknown<E: de::Error>(self, found: impl Into<String>) -> E {
        self.0.refuse(Problem::ServerValue { found: found.into() })
    }
}

impl Expected for Operation<'_> {
    type Read = ServerValue;

    fn reader(&mut self) -> &mut Reader {
        self.0
    }

    fn null<E: de::Error>(self) -> Result<ServerValue, E> {
        Err(self.unknown(NULL))
    }

    fn scalar<E: de::Error>(self, value: Scalar) -> Result<ServerValue, E> {
        match value {
            Scalar::Text(text) if text.as_str() == TIMESTAMP => Ok(ServerValue::Timestamp),
            Scalar::Text(text) => Err(self.unknown(format!("`{}`", Excerpt(text.as_str())))),
            Scalar::Bool(_) | Scalar::Number(_) => Err(self.unknown(in_words(&value))),
        }
    }

    fn object<'de, A: MapAccess<'de>>(self, mut members: A) -> Result<ServerValue, A::Error> {
        let Some(name) = members.next_key_seed(NameSeed(&mut *self.0))? else {
            return Err(self.unknown("an empty object"));
        };
        if name.as_str() != INCREMENT {
            return Err(self.unknown(format!("operation `{}`", Excerpt(name.as_str()))));
        }
        let delta = members.next_value_seed(Read(Delta(&mut *self.0)))?;
        match members.next_key_seed(NameSeed(&mut *self.0))? {
            None => Ok(ServerValue::Increment(delta)),
            Some(name) => {
                Err(self.unknown(format!("an increment with `{}` beside it", Excerpt(name.as_str()))))
            }
        }
    }

    fn array<'de, A: SeqAccess<'de>>(self, _: A) -> Result<ServerValue, A::Error> {
        Err(self.unknown(AN_ARRAY))
    }
}

/// The number behind `increment`.
struct Delta<'r>(&'r mut Reader);

impl Delta<'_> {
    fn no_number<E: de::Error>(self, found: &str) -> E {
        Operation(self.0).unknown(format!("an increment by {found}"))
    }
}

impl Expected for Delta<'_> {
    type Read = Number;

    fn reader(&mut self) -> &mut Reader {
        self.0
    }

    fn null<E: de::Error>(self) -> Result<Number, E> {
        Err(self.no_number(NULL))
    }

    fn scalar<E: de::Error>(self, value: Scalar) -> Result<Number, E> {
        match value {
            Scalar::Number(number) => Ok(number),
            Scalar::Bool(_) | Scalar::Text(_) => Err(self.no_number(in_words(&value))),
        }
    }

    fn object<'de, A: MapAccess<'de>>(self, _: A) -> Result<Number, A::Error> {
        Err(self.no_number(super::expected::AN_OBJECT))
    }

    fn array<'de, A: SeqAccess<'de>>(self, _: A) -> Result<Number, A::Error> {
        Err(self.no_number(AN_ARRAY))
    }
}

/// The `.sv` that an object consists of, or nothing if it is empty. `otherwise` is wrong if it has other keys.
pub(super) fn only_server_value<'de, A: MapAccess<'de>>(
    reader: &mut Reader,
    mut members: A,
    otherwise: Problem,
) -> Result<Option<ServerValue>, A::Error> {
    match members.next_key_seed(NameSeed(reader))? {
        None => return Ok(None),
        Some(Name::ServerValue) => {}
        Some(Name::Child(_) | Name::Value | Name::Priority) => return Err(reader.refuse(otherwise)),
    }
    let value = members.next_value_seed(Read(Operation(reader)))?;
    match members.next_key_seed(NameSeed(reader))? {
        None => Ok(Some(value)),
        Some(name) => Err(reader.refuse(Problem::ServerValueBeside { key: name.as_str().into() })),
    }
}
