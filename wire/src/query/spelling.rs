//! A query in its client's own words.

use super::read::{QueryError, QueryFields, query_of};
use super::write::QueryObject;
use crate::text::encode;
use hearth_tree::Query;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A query as its client spelled it: JSON of an object. When a listen is revoked, the JavaScript SDK finds it by
/// comparing every key and value with its own, and older versions spell fewer keys than newer ones (no `sin`, say).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryText(Box<str>);

impl QueryText {
    /// The query as the JavaScript SDK of today spells it.
    pub fn of(query: &Query) -> Self {
        Self(encode(&QueryObject(query)).into())
    }

    /// The words of a client.
    pub(crate) fn said(text: &RawValue) -> Self {
        Self(text.get().into())
    }

    /// What it means.
    ///
    /// # Errors
    /// [`QueryError`] if it makes no sense.
    pub fn query(&self) -> Result<Query, QueryError> {
        let fields: QueryFields =
            serde_json::from_str(&self.0).map_err(|error| QueryError::unreadable(&error))?;
        query_of(fields)
    }

    /// The JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for QueryText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: &RawValue =
            serde_json::from_str(&self.0).expect("it was read from JSON, or written as such");
        text.serialize(serializer)
    }
}
