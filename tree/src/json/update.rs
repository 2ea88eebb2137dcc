//! An update: an object whose keys are paths (wire reference 4.6).

use super::error::Problem;
use super::expected::{AN_ARRAY, Expected, NULL, Read, in_words};
use super::leaf::PriorityValue;
use super::object::Content;
use super::read::Reader;
use crate::draft::{Draft, Pending};
use crate::key::KeyError;
use crate::limits::UPDATE_KEYS_MAX;
use crate::path::{Path, PathError, RelativePath};
use crate::scalar::{Priority, Scalar};
use crate::write::{Assignment, Part, Target, Update, WriteError};
use serde::Deserializer;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// An update before it is known where it belongs: in a message the place may come after the values.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateParts(pub(super) Vec<(RelativePath, To)>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum To {
    Value(Option<Draft>),
    Priority(Option<Pending<Priority>>),
}

impl UpdateParts {
    /// The update of places below `at`.
    ///
    /// # Errors
    /// [`WriteError`] names a place that is too deep there, or two places of which one covers the other; or says that the
    /// paths would have more than [`UPDATE_KEYS_MAX`] keys.
    pub fn at(self, at: &Path) -> Result<Update, WriteError> {
        let keys = self.0.iter().map(|(below, _)| at.keys().len() + below.keys().len()).sum();
        if UPDATE_KEYS_MAX < keys {
            return Err(WriteError::TooManyKeys { keys });
        }
        let assign = |(below, to)| {
            let at = at.join(&below)?;
            match to {
                To::Value(value) => Assignment::value(at, value),
                To::Priority(priority) => Ok(Assignment::priority(at, priority)),
            }
        };
        let assignments = self.0.into_iter().map(assign).collect::<Result<_, _>>()?;
        Update::new(at.clone(), assignments)
    }
}

/// The object that an update is.
pub(super) struct Parts<'r>(pub(super) &'r mut Reader);

impl Parts<'_> {
    fn no_object<E: de::Error>(self, found: &'static str) -> E {
        self.0.refuse(Problem::NotObject { found })
    }

    fn read_part<'de, A: MapAccess<'de>>(
        &mut self,
        target: &Target<RelativePath>,
        members: &mut A,
    ) -> Result<To, A::Error> {
        match target.part {
            Part::Priority => {
                self.count(&target.path)?;
                members.next_value_seed(Read(PriorityValue(&mut *self.0))).map(To::Priority)
            }
            Part::Value => {
                let levels = self.begin_part(&target.path)?;
                let content = Content { reader: &mut *self.0, levels };
                members.next_value_seed(Read(content)).map(|found| To::Value(found.into()))
            }
        }
    }

    /// Each key of a path is a node, where nothing is by now.
    fn count<E: de::Error>(&mut self, path: &RelativePath) -> Result<(), E> {
        (0..path.keys().len().max(1)).try_for_each(|_| self.0.count())
    }

    /// Makes room for a value: how many levels it may have below it.
    pub(super) fn begin_part<E: de::Error>(&mut self, path: &RelativePath) -> Result<usize, E> {
        self.count(path)?;
        let levels_max = self.0.depth_max();
        levels_max
            .checked_sub(path.keys().len())
            .ok_or_else(|| self.0.refuse(Problem::TooDeep { levels_max }))
    }

    /// Reads the parts that a text has.
    pub(super) fn read_into<'de, A: MapAccess<'de>>(
        mut self,
        parts: &mut Vec<(RelativePath, To)>,
        mut members: A,
    ) -> Result<(), A::Error> {
        while let Some(target) = members.next_key_seed(TargetSeed(&mut *self.0))? {
            match self.read_part(&target, &mut members) {
                Ok(to) => parts.push((target.path, to)),
                Err(error) => {
                    target.path.keys().iter().rev().for_each(|key| self.0.leave(key.clone()));
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

impl Expected for Parts<'_> {
    type Read = UpdateParts;

    fn reader(&mut self) -> &mut Reader {
        self.0
    }

    fn null<E: de::Error>(self) -> Result<UpdateParts, E> {
        Err(self.no_object(NULL))
    }

    fn scalar<E: de::Error>(self, value: Scalar) -> Result<UpdateParts, E> {
        Err(self.no_object(in_words(&value)))
    }

    fn object<'de, A: MapAccess<'de>>(self, members: A) -> Result<UpdateParts, A::Error> {
        let mut parts = Vec::new();
        self.read_into(&mut parts, members)?;
        Ok(UpdateParts(parts))
    }

    fn array<'de, A: SeqAccess<'de>>(self, _: A) -> Result<UpdateParts, A::Error> {
        Err(self.no_object(AN_ARRAY))
    }
}

/// A key of an update. It must lead somewhere: `""` is a name that somebody forgot to fill in, and with null it would
/// delete everything.
pub(super) struct TargetSeed<'r>(pub(super) &'r mut Reader);

impl<'de> DeserializeSeed<'de> for TargetSeed<'_> {
    type Value = Target<RelativePath>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for TargetSeed<'_> {
    type Value = Target<RelativePath>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match Target::<RelativePath>::parse(text) {
            Ok(Target { path, part: Part::Value }) if path.is_here() => {
                let error = PathError::Key { path: text.into(), error: KeyError::Empty };
                Err(self.0.refuse(error.into()))
            }
            Ok(target) => Ok(target),
            Err(error) => Err(self.0.refuse(error.into())),
        }
    }
}
