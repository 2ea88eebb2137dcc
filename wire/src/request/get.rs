//! Reading once (wire reference 4.4).

use super::error::RequestError;
use super::place::place;
use crate::query::{QueryFields, QueryObject, query_of};
use crate::text::Shown;
use hearth_tree::{Path, Query};
use serde::{Deserialize, Serialize, Serializer};

/// `g`: the data at a place. The whole query is the server's to apply: the client takes the answer as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Get {
    /// The place.
    pub at: Path,
    /// What of its children.
    pub query: Query,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct GetFields {
    p: String,
    #[serde(default)]
    q: QueryFields,
}

impl Get {
    pub(super) fn of(fields: GetFields) -> Result<Self, RequestError> {
        Ok(Self { at: place(&fields.p)?, query: query_of(fields.q)? })
    }
}

impl Serialize for Get {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            p: Shown<&'a Path>,
            q: QueryObject<'a>,
        }
        Fields { p: Shown(&self.at), q: QueryObject(&self.query) }.serialize(serializer)
    }
}
