//! What shall be written when the connection ends (wire reference 4.7).

use super::error::RequestError;
use super::place::place;
use super::write_body::{AssignmentFields, UpdateFields};
use crate::text::Shown;
use hearth_tree::{Assignment, Path, Update};
use serde::{Deserialize, Serialize, Serializer};

/// An operation on what is queued for the end of the connection.
#[derive(Clone, Debug, PartialEq)]
pub enum OnDisconnect {
    /// `o`: queues a write at one place. Server values stay what they are until then.
    Set(Assignment),
    /// `om`: queues writes at several places.
    Update(Update),
    /// `oc`: takes back what is queued at this place and below.
    Cancel(Path),
}

/// A body of which only the place matters.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct CancelFields {
    p: String,
}

impl OnDisconnect {
    pub(super) fn cancel(fields: &CancelFields) -> Result<Self, RequestError> {
        Ok(Self::Cancel(place(&fields.p)?))
    }
}

impl Serialize for OnDisconnect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            p: Shown<&'a Path>,
            d: (),
        }
        match self {
            Self::Set(set) => AssignmentFields { set, expected: None }.serialize(serializer),
            Self::Update(update) => UpdateFields(update).serialize(serializer),
            Self::Cancel(at) => Fields { p: Shown(at), d: () }.serialize(serializer),
        }
    }
}
