//! What stands behind `.value` and `.priority` (wire reference 7.1).

use super::error::Problem;
use super::expected::{AN_ARRAY, AN_OBJECT, Expected, in_words};
use super::read::Reader;
use super::server_value::only_server_value;
use crate::draft::Pending;
use crate::scalar::{Priority, Scalar};
use serde::Deserializer;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess};

/// The value of a `.value`; null, `{}` and `[]` are none.
pub(super) struct LeafValue<'r>(pub(super) &'r mut Reader);

impl Expected for LeafValue<'_> {
    type Read = Option<Pending<Scalar>>;

    fn reader(&mut self) -> &mut Reader {
        self.0
    }

    fn null<E: de::Error>(self) -> Result<Self::Read, E> {
        Ok(None)
    }

    fn scalar<E: de::Error>(self, value: Scalar) -> Result<Self::Read, E> {
        Ok(Some(Pending::Known(value)))
    }

    fn object<'de, A: MapAccess<'de>>(self, members: A) -> Result<Self::Read, A::Error> {
        let value = only_server_value(self.0, members, Problem::Value { found: "an object with keys" })?;
        Ok(value.map(Pending::Server))
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Read, A::Error> {
        let problem = Problem::Value { found: "an array with elements" };
        elements.next_element_seed(Refuse(self.0, problem))?;
        Ok(None)
    }
}

/// The value of a `.priority`.
pub(super) struct PriorityValue<'r>(pub(super) &'r mut Reader);

impl PriorityValue<'_> {
    fn no_priority<E: de::Error>(self, found: &'static str) -> E {
        self.0.refuse(Problem::Priority { found })
    }
}

impl Expected for PriorityValue<'_> {
    type Read = Option<Pending<Priority>>;

    fn reader(&mut self) -> &mut Reader {
        self.0
    }

    fn null<E: de::Error>(self) -> Result<Self::Read, E> {
        Ok(None)
    }

    fn scalar<E: de::Error>(self, value: Scalar) -> Result<Self::Read, E> {
        match value {
            Scalar::Number(number) => Ok(Some(Pending::Known(Priority::Number(number)))),
            Scalar::Text(text) => Ok(Some(Pending::Known(Priority::Text(text)))),
            Scalar::Bool(_) => Err(self.no_priority(in_words(&value))),
        }
    }

    fn object<'de, A: MapAccess<'de>>(self, members: A) -> Result<Self::Read, A::Error> {
        let problem = Problem::Priority { found: AN_OBJECT };
        match only_server_value(self.0, members, problem)? {
            Some(value) => Ok(Some(Pending::Server(value))),
            None => Err(self.no_priority(AN_OBJECT)),
        }
    }

    fn array<'de, A: SeqAccess<'de>>(self, _: A) -> Result<Self::Read, A::Error> {
        Err(self.no_priority(AN_ARRAY))
    }
}

/// Refuses whatever stands there, unread.
pub(super) struct Refuse<'r>(pub(super) &'r mut Reader, pub(super) Problem);

impl<'de> DeserializeSeed<'de> for Refuse<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<(), D::Error> {
        Err(self.0.refuse(self.1))
    }
}
