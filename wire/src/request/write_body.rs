//! The bodies that carry values, which may be large: read in one pass, straight into nodes.
//!
//! What a value is depends on the place: at `…/.priority` it is a priority. All SDKs write the place first; where it
//! comes later, the value is kept as text until then.

use super::action::Written;
use super::error::RequestError;
use super::place;
use crate::hash::Held;
use crate::text::{PlaceBelow, Shown};
use hearth_tree::{
    Assigned, Assignment, Draft, Part, Path, Pending, Priority, ReadOptions, Reader, Target, Update,
    UpdateParts, read_priority, read_value,
};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A body that writes.
pub(crate) struct WriteBody<'de> {
    target: Result<Target, RequestError>,
    data: Data<'de>,
    pub(super) hash: Option<Cow<'de, str>>,
}

enum Data<'de> {
    Value(Option<Draft>),
    Priority(Option<Pending<Priority>>),
    Update(UpdateParts),
    /// A value of which it was not known yet what it is.
    Unread(&'de RawValue),
}

/// Reads a body that writes.
pub(crate) struct WriteBodySeed<'r> {
    pub(crate) reader: &'r mut Reader,
    pub(crate) written: Written,
}

#[derive(Deserialize)]
#[serde(field_identifier)]
enum Field {
    #[serde(rename = "p")]
    Place,
    #[serde(rename = "d")]
    Data,
    #[serde(rename = "h")]
    Hash,
    #[serde(other)]
    Other,
}

/// Reads a body that writes from a text of its own.
pub(super) fn read<'t>(
    written: Written,
    text: &'t str,
    options: &ReadOptions,
) -> Result<WriteBody<'t>, RequestError> {
    let mut reader = Reader::new(*options);
    let mut json = serde_json::Deserializer::from_str(text);
    let body = WriteBodySeed { reader: &mut reader, written }.deserialize(&mut json);
    body.map_err(|error| RequestError::read(reader.error(&error, text)))
}

impl<'de> DeserializeSeed<'de> for WriteBodySeed<'_> {
    type Value = WriteBody<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for WriteBodySeed<'_> {
    type Value = WriteBody<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut target, mut data, mut hash) = (None, None, None);
        while let Some(field) = members.next_key()? {
            match field {
                Field::Place => {
                    let path: Cow<'de, str> = members.next_value()?;
                    once(&mut target, "p", place::target(&path))?;
                }
                Field::Data => {
                    let read = self.read_data(target.as_ref(), &mut members)?;
                    once(&mut data, "d", read)?;
                }
                Field::Hash => {
                    let text: Option<Cow<'de, str>> = members.next_value()?;
                    once(&mut hash, "h", text)?;
                }
                Field::Other => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        let missing = <A::Error as de::Error>::missing_field;
        Ok(WriteBody {
            target: target.ok_or_else(|| missing("p"))?,
            data: data.ok_or_else(|| missing("d"))?,
            hash: hash.flatten(),
        })
    }
}

impl WriteBodySeed<'_> {
    fn read_data<'de, A: MapAccess<'de>>(
        &mut self,
        target: Option<&Result<Target, RequestError>>,
        members: &mut A,
    ) -> Result<Data<'de>, A::Error> {
        let Self { reader, written } = self;
        match (written, target) {
            (Written::Update, _) => members.next_value_seed(reader.update()).map(Data::Update),
            (Written::Set, None) => members.next_value().map(Data::Unread),
            (Written::Set, Some(Ok(Target { part: Part::Priority, .. }))) => {
                members.next_value_seed(reader.priority()).map(Data::Priority)
            }
            (Written::Set, Some(Ok(Target { part: Part::Value, .. }) | Err(_))) => {
                members.next_value_seed(reader.value()).map(Data::Value)
            }
        }
    }
}

/// Fills a field that may stand only once.
pub(crate) fn once<T, E: de::Error>(field: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(name)),
    }
}

impl WriteBody<'_> {
    pub(super) fn into_assignment(self, options: &ReadOptions) -> Result<Assignment, RequestError> {
        let Target { path, part } = self.target?;
        match (part, self.data) {
            (Part::Value, Data::Value(value)) => Ok(Assignment::value(path, value)?),
            (Part::Value, Data::Unread(text)) => {
                let value = read_value(text.get().as_bytes(), options).map_err(RequestError::read)?;
                Ok(Assignment::value(path, value)?)
            }
            (Part::Priority, Data::Priority(priority)) => Ok(Assignment::priority(path, priority)),
            (Part::Priority, Data::Unread(text)) => {
                let priority = read_priority(text.get().as_bytes(), options).map_err(RequestError::read)?;
                Ok(Assignment::priority(path, priority))
            }
            (Part::Value, Data::Priority(_) | Data::Update(_))
            | (Part::Priority, Data::Value(_) | Data::Update(_)) => {
                unreachable!("the data were read as what the place asks for")
            }
        }
    }

    pub(super) fn into_update(self) -> Result<Update, RequestError> {
        match (self.target?, self.data) {
            (Target { part: Part::Priority, .. }, _) => Err(RequestError::UpdateOfPriority),
            (Target { path, part: Part::Value }, Data::Update(parts)) => Ok(parts.at(&path)?),
            (Target { part: Part::Value, .. }, Data::Value(_) | Data::Priority(_) | Data::Unread(_)) => {
                unreachable!("the data of an update were read as one")
            }
        }
    }
}

/// Writes what [`WriteBodySeed`] reads of a set.
pub(super) struct AssignmentFields<'a> {
    pub(super) set: &'a Assignment,
    pub(super) expected: Option<Held>,
}

impl Serialize for AssignmentFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Set", 2 + usize::from(self.expected.is_some()))?;
        match self.set.part() {
            Part::Value => fields.serialize_field("p", &Shown(self.set.at()))?,
            Part::Priority => fields.serialize_field("p", &Shown(PriorityOf(self.set.at())))?,
        }
        fields.serialize_field("d", &To(self.set.to()))?;
        if let Some(expected) = self.expected {
            fields.serialize_field("h", &expected)?;
        }
        fields.end()
    }
}

/// Writes what [`WriteBodySeed`] reads of an update.
pub(super) struct UpdateFields<'a>(pub(super) &'a Update);

impl Serialize for UpdateFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Update", 2)?;
        fields.serialize_field("p", &Shown(self.0.at()))?;
        fields.serialize_field("d", &UpdateData(self.0))?;
        fields.end()
    }
}

struct UpdateData<'a>(&'a Update);

impl Serialize for UpdateData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let assignments = self.0.assignments();
        let mut members = serializer.serialize_map(Some(assignments.len()))?;
        for each in assignments {
            let below = each.at().strip(self.0.at()).expect("an update writes below its place");
            members.serialize_entry(&Shown(PlaceBelow { below, part: each.part() }), &To(each.to()))?;
        }
        members.end()
    }
}

/// What is written, in its own spelling.
struct To<'a>(&'a Assigned);

impl Serialize for To<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Assigned::Value(value) => value.serialize(serializer),
            Assigned::Priority(priority) => priority.serialize(serializer),
        }
    }
}

struct PriorityOf<'a>(&'a Path);

impl fmt::Display for PriorityOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.0.keys().is_empty() { "" } else { "/" };
        write!(f, "{}{slash}.priority", self.0)
    }
}
