//! Reads queries.

use crate::number::Whole;
use hearth_tree::{
    ChildPath, ChildPathError, Excerpt, KeyBound, LimitError, Number, Order, Position, Priority, Query,
    Range, Scalar, Text, Window,
};
use serde::Deserialize as DeriveDeserialize;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::fmt;
use std::ops::Bound;

/// Why a query makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It is no object, or a field is of the wrong type.
    #[error("in the query: {message}")]
    Unreadable {
        /// What was wanted.
        message: String,
    },
    /// What it orders by is not a path.
    #[error("in the query, `i`: {0}")]
    Index(#[from] ChildPathError),
    /// A bound in the order of keys that is no text.
    #[error("in the query, `{field}` must be a text, for the order is by key")]
    KeyBound {
        /// `sp` or `ep`.
        field: &'static str,
    },
    /// A bound in the order of priorities that no priority can be.
    #[error("in the query, `{field}` must be null, a number or a text, for the order is by priority")]
    PriorityBound {
        /// `sp` or `ep`.
        field: &'static str,
    },
    /// A key that breaks ties with nothing.
    #[error("in the query, `{name}` says which key among those of value `{field}`, which is missing")]
    NameAlone {
        /// `sn` or `en`.
        name: &'static str,
        /// `sp` or `ep`.
        field: &'static str,
    },
    /// No children, or more than a limit may be.
    #[error("in the query, `l` must be from 1 to {}, not {found}", u32::MAX)]
    Limit {
        /// What it is.
        found: u64,
    },
    /// The limit counts from neither end.
    #[error("in the query, `vf` must be \"l\" or \"r\", not `{}`", Excerpt(.found))]
    ViewFrom {
        /// What it is.
        found: String,
    },
}

impl QueryError {
    /// What serde says, without the position in a text that nobody has seen.
    pub(crate) fn unreadable(error: &serde_json::Error) -> Self {
        let mut message = error.to_string();
        if let Some(at) = message.rfind(" at line ") {
            message.truncate(at);
        }
        Self::Unreadable { message }
    }
}

/// The object that a query is.
#[derive(Default, DeriveDeserialize)]
#[serde(default, expecting = "an object")]
pub(crate) struct QueryFields {
    i: Option<String>,
    #[serde(deserialize_with = "present")]
    sp: Option<BoundValue>,
    sn: Option<String>,
    sin: Option<bool>,
    #[serde(deserialize_with = "present")]
    ep: Option<BoundValue>,
    en: Option<String>,
    ein: Option<bool>,
    l: Option<Whole>,
    vf: Option<String>,
}

/// A field that is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BoundValue>, D::Error> {
    BoundValue::deserialize(deserializer).map(Some)
}

/// The query of these fields.
pub(crate) fn query_of(fields: QueryFields) -> Result<Query, QueryError> {
    let QueryFields { i, sp, sn, sin, ep, en, ein, l, vf } = fields;
    let window = window(l, vf.as_deref(), sp.is_some())?;
    let start = End { value: sp, name: sn, inclusive: sin.unwrap_or(true), fields: ("sp", "sn") };
    let end = End { value: ep, name: en, inclusive: ein.unwrap_or(true), fields: ("ep", "en") };
    let order = match i.as_deref() {
        Some(".key") => Order::Key(Range { start: start.key()?, end: end.key()? }),
        Some(".value") => Order::Value(Range { start: start.value()?, end: end.value()? }),
        None | Some(".priority") => Order::Priority(Range { start: start.priority()?, end: end.priority()? }),
        Some(path) => {
            Order::Child(ChildPath::parse(path)?, Range { start: start.value()?, end: end.value()? })
        }
    };
    Ok(Query { order, window })
}

fn window(limit: Option<Whole>, from: Option<&str>, has_start: bool) -> Result<Window, QueryError> {
    let from_left = match from {
        Some("l") => true,
        Some("r") => false,
        // Legacy: such a limit counts from the end that is fixed.
        None => has_start,
        Some(found) => return Err(QueryError::ViewFrom { found: found.into() }),
    };
    let Some(Whole(found)) = limit else { return Ok(Window::All) };
    let limit = u32::try_from(found).map_err(|_| QueryError::Limit { found })?;
    let window = if from_left { Window::first(limit) } else { Window::last(limit) };
    window.map_err(|LimitError| QueryError::Limit { found })
}

/// One end of a range.
struct End {
    value: Option<BoundValue>,
    name: Option<String>,
    inclusive: bool,
    /// What value and name are called.
    fields: (&'static str, &'static str),
}

impl End {
    /// In the order of keys the value is the key, and a name says nothing.
    fn key(self) -> Result<Bound<KeyBound>, QueryError> {
        let (field, _) = self.fields;
        match self.value {
            None => Ok(Bound::Unbounded),
            Some(BoundValue(Some(Scalar::Text(text)))) => {
                Ok(bound(KeyBound::parse(text.as_str()), self.inclusive))
            }
            Some(BoundValue(None | Some(Scalar::Bool(_) | Scalar::Number(_)))) => {
                Err(QueryError::KeyBound { field })
            }
        }
    }

    fn value(self) -> Result<Bound<Position<Option<Scalar>>>, QueryError> {
        self.position(Ok)
    }

    fn priority(self) -> Result<Bound<Position<Option<Priority>>>, QueryError> {
        let (field, _) = self.fields;
        self.position(|value| match value {
            None => Ok(None),
            Some(Scalar::Number(number)) => Ok(Some(Priority::Number(number))),
            Some(Scalar::Text(text)) => Ok(Some(Priority::Text(text))),
            Some(Scalar::Bool(_)) => Err(QueryError::PriorityBound { field }),
        })
    }

    fn position<V>(
        self,
        read: impl Fn(Option<Scalar>) -> Result<V, QueryError>,
    ) -> Result<Bound<Position<V>>, QueryError> {
        let (field, name) = self.fields;
        match (self.value, self.name) {
            (None, None) => Ok(Bound::Unbounded),
            (None, Some(_)) => Err(QueryError::NameAlone { name, field }),
            (Some(BoundValue(value)), key) => {
                let position = Position { value: read(value)?, key: key.map(|key| KeyBound::parse(&key)) };
                Ok(bound(position, self.inclusive))
            }
        }
    }
}

fn bound<B>(at: B, inclusive: bool) -> Bound<B> {
    if inclusive { Bound::Included(at) } else { Bound::Excluded(at) }
}

/// What `sp` and `ep` may be: null or a value of a leaf.
struct BoundValue(Option<Scalar>);

impl<'de> Deserialize<'de> for BoundValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BoundVisitor).map(Self)
    }
}

struct BoundVisitor;

impl Visitor<'_> for BoundVisitor {
    type Value = Option<Scalar>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, true, false, a number or a text")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Bool(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Number(value.into())))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            #[expect(
                clippy::cast_precision_loss,
                reason = "above 64 bits signed, the nearest double is the value"
            )]
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Number::from_f64(value).map(|number| Some(Scalar::Number(number))).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        Text::new(value).map(|text| Some(Scalar::Text(text))).map_err(E::custom)
    }
}
