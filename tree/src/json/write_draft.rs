//! Writes values that the server has not filled in yet: what a client sends, and what waits for a disconnect.

use super::name::{PRIORITY, SERVER_VALUE, VALUE};
use super::server_value::{INCREMENT, TIMESTAMP};
use super::write::{Form, Json};
use crate::draft::{Draft, Pending, Shape};
use crate::scalar::Number;
use crate::server_value::ServerValue;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// In the form of [`Form::SOCKET`], with server values as `.sv`.
impl Serialize for Draft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.shape() {
            Shape::Resolved(node) => Json::new(Some(node), Form::SOCKET).serialize(serializer),
            Shape::Leaf { value, priority: None } => value.serialize(serializer),
            Shape::Leaf { value, priority: Some(priority) } => {
                let mut members = serializer.serialize_map(Some(2))?;
                members.serialize_entry(VALUE, value)?;
                members.serialize_entry(PRIORITY, priority)?;
                members.end()
            }
            Shape::Inner { children, priority } => {
                let len = children.len() + usize::from(priority.is_some());
                let mut members = serializer.serialize_map(Some(len))?;
                for (key, child) in children {
                    members.serialize_entry(key.as_str(), child)?;
                }
                if let Some(priority) = priority {
                    members.serialize_entry(PRIORITY, priority)?;
                }
                members.end()
            }
        }
    }
}

impl<T: Serialize> Serialize for Pending<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(value) => value.serialize(serializer),
            Self::Server(value) => value.serialize(serializer),
        }
    }
}

/// As `{".sv": …}` (wire reference 7.6).
impl Serialize for ServerValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(1))?;
        match self {
            Self::Timestamp => members.serialize_entry(SERVER_VALUE, TIMESTAMP)?,
            Self::Increment(delta) => members.serialize_entry(SERVER_VALUE, &Increment(*delta))?,
        }
        members.end()
    }
}

/// As `{"increment": δ}`.
struct Increment(Number);

impl Serialize for Increment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(1))?;
        members.serialize_entry(INCREMENT, &self.0)?;
        members.end()
    }
}
