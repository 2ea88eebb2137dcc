//! JSON as it was written: whether a number is an integer, and which keys stand twice.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// Written without a point or an exponent.
    Integer(i128),
    /// Written with one, or beyond 64 bits.
    Double(f64),
    Text(String),
    Array(Vec<Self>),
    /// In the order in which they stand, repeated keys included.
    Object(Vec<(String, Self)>),
}

impl Json {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The first member of that name.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// What these names lead to.
    pub(super) fn at(&self, names: &[&str]) -> Option<&Self> {
        names.iter().try_fold(self, |json, name| json.member(name))
    }

    /// The members of an object; none of anything else.
    pub(super) fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            Self::Null
            | Self::Bool(_)
            | Self::Integer(_)
            | Self::Double(_)
            | Self::Text(_)
            | Self::Array(_) => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null
            | Self::Bool(_)
            | Self::Integer(_)
            | Self::Double(_)
            | Self::Array(_)
            | Self::Object(_) => None,
        }
    }

    pub(super) const fn integer(&self) -> Option<i128> {
        match self {
            Self::Integer(integer) => Some(*integer),
            Self::Null
            | Self::Bool(_)
            | Self::Double(_)
            | Self::Text(_)
            | Self::Array(_)
            | Self::Object(_) => None,
        }
    }

    pub(super) const fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// What it is, for a sentence.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Integer(_) => "an integer",
            Self::Double(_) => "a number that is not written as an integer",
            Self::Text(_) => "a text",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// A key that stands twice in one object.
    pub(super) fn repeated_key(&self) -> Option<&str> {
        match self {
            Self::Null | Self::Bool(_) | Self::Integer(_) | Self::Double(_) | Self::Text(_) => None,
            Self::Array(elements) => elements.iter().find_map(Self::repeated_key),
            Self::Object(members) => {
                let mut keys: Vec<_> = members.iter().map(|(key, _)| key.as_str()).collect();
                keys.sort_unstable();
                let twin = keys.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
                twin.or_else(|| members.iter().find_map(|(_, value)| value.repeated_key()))
            }
        }
    }

    /// Whether both have the same keys and values, in whatever order.
    pub(super) fn means(&self, other: &Self) -> bool {
        match (self, other) {
            #[expect(clippy::cast_precision_loss, reason = "JavaScript compares doubles")]
            (Self::Integer(integer), Self::Double(double))
            | (Self::Double(double), Self::Integer(integer)) => *integer as f64 == *double,
            (Self::Array(a), Self::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.means(b))
            }
            (Self::Object(a), Self::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, value)| other.member(key).is_some_and(|other| value.means(other)))
            }
            (
                Self::Null
                | Self::Bool(_)
                | Self::Integer(_)
                | Self::Double(_)
                | Self::Text(_)
                | Self::Array(_)
                | Self::Object(_),
                _,
            ) => self == other,
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Integer(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Double(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(element) = elements.next_element()? {
            array.push(element);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Json::Object(object))
    }
}
