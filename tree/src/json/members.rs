//! An object or array of which the members come in several texts.

use super::error::Problem;
use super::incoming::Done;
use super::name::NameSeed;
use super::object::{Found, Object, Open};
use super::read::Reader;
use super::update::{Parts, To, UpdateParts};
use crate::key::Key;
use crate::path::RelativePath;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::mem;

/// An object or array that is longer than what is waited for, or the outermost one.
pub(super) struct Frame {
    pub(super) name: Standing,
    pub(super) own: Own,
    pub(super) state: State,
}

/// Where a frame stands in the one around it.
pub(super) enum Standing {
    Outermost,
    Child(Key),
    Element(usize),
    Part(RelativePath),
}

/// What a frame has by now.
pub(super) enum Own {
    Object(Open),
    /// With the position of the next element.
    Array(Open, usize),
    Update(Vec<(RelativePath, To)>),
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Update,
}

/// What comes next in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A member, or the end.
    Member,
    /// There was a comma: a member.
    Comma,
    /// There was a value that was a frame of its own: a comma, or the end.
    Value,
}

impl Standing {
    /// Notes on the way out that a problem is below it.
    pub(super) fn leave(&self, reader: &mut Reader) {
        match self {
            Self::Outermost => {}
            Self::Child(key) => reader.leave(key.clone()),
            Self::Element(position) => reader.leave(Key::from_position(*position)),
            Self::Part(path) => path.keys().iter().rev().for_each(|key| reader.leave(key.clone())),
        }
    }
}

impl Own {
    pub(super) const fn kind(&self) -> Kind {
        match self {
            Self::Object(_) => Kind::Object,
            Self::Array(..) => Kind::Array,
            Self::Update(_) => Kind::Update,
        }
    }

    pub(super) const fn bracket(&self) -> u8 {
        match self {
            Self::Object(_) | Self::Update(_) => b'{',
            Self::Array(..) => b'[',
        }
    }

    pub(super) const fn closing(&self) -> u8 {
        match self {
            Self::Object(_) | Self::Update(_) => b'}',
            Self::Array(..) => b']',
        }
    }
}

impl Frame {
    /// Begins a member that becomes a frame of its own: its name, unless it is the next element, and how many levels it may
    /// have below it.
    pub(super) fn begin_member<E: de::Error>(
        &mut self,
        reader: &mut Reader,
        name: Option<Standing>,
    ) -> Result<(Standing, usize), E> {
        self.state = State::Value;
        let levels = match (&mut self.own, &name) {
            (Own::Object(open), Some(Standing::Child(key))) => {
                Object::resume(reader, open).begin_child(key)?
            }
            (Own::Array(open, position), None) => {
                let levels = Object::resume(reader, open).begin_element(*position)?;
                *position += 1;
                return Ok((Standing::Element(*position - 1), levels));
            }
            (Own::Update(_), Some(Standing::Part(path))) => Parts(reader).begin_part(path)?,
            _ => unreachable!("the name is of its kind"),
        };
        Ok((name.unwrap_or(Standing::Outermost), levels))
    }

    /// Takes in a member that was a frame of its own.
    pub(super) fn join(&mut self, reader: &mut Reader, name: Standing, found: Found) {
        match (&mut self.own, name) {
            (Own::Object(_), Standing::Child(key)) => reader.keep(key, found),
            (Own::Array(..), Standing::Element(position)) => match found {
                Found::Nothing => {}
                Found::Node(_) | Found::Draft(_) => reader.keep(Key::from_position(position), found),
            },
            (Own::Update(parts), Standing::Part(path)) => parts.push((path, To::Value(found.into()))),
            _ => unreachable!("the name is of its kind"),
        }
    }
}

/// Whether these are the last members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    Some,
    Last,
}

/// What has come of a batch.
pub(super) enum Progress {
    Open,
    Done(Done),
}

/// Reads members into a frame, from a text that has its brackets around them.
pub(super) struct Members<'a> {
    pub(super) reader: &'a mut Reader,
    pub(super) own: &'a mut Own,
    pub(super) batch: Batch,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Progress;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Progress, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Progress;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("members")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Progress, A::Error> {
        let Self { reader, own, batch } = self;
        match own {
            Own::Object(open) => {
                let mut object = Object::resume(reader, open);
                while let Some(name) = members.next_key_seed(NameSeed(&mut *object.reader))? {
                    object.read_member(name, &mut members)?;
                }
                match batch {
                    Batch::Some => Ok(Progress::Open),
                    Batch::Last => Ok(Progress::Done(Done::Value(object.end()?))),
                }
            }
            Own::Update(parts) => {
                Parts(reader).read_into(parts, members)?;
                match batch {
                    Batch::Some => Ok(Progress::Open),
                    Batch::Last => Ok(Progress::Done(Done::Update(UpdateParts(mem::take(parts))))),
                }
            }
            Own::Array(..) => Err(reader.refuse(Problem::Shape { message: "expected elements".into() })),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Progress, A::Error> {
        let Self { reader, own, batch } = self;
        let Own::Array(open, position) = own else {
            return Err(reader.refuse(Problem::Shape { message: "expected members".into() }));
        };
        let mut object = Object::resume(reader, open);
        while object.read_element(*position, &mut elements)? {
            *position += 1;
        }
        match batch {
            Batch::Some => Ok(Progress::Open),
            Batch::Last => Ok(Progress::Done(Done::Value(object.end()?))),
        }
    }
}

/// Reads the first key of an object, whatever its value.
pub(super) struct Head<S>(pub(super) S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Head<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Head<S> {
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key and its value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<S::Value, A::Error> {
        let key = members.next_key_seed(self.0)?;
        members.next_value::<IgnoredAny>()?;
        key.ok_or_else(|| de::Error::custom("a key is missing"))
    }
}
