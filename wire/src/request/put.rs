//! Writing at one place (wire reference 4.5).

use super::error::RequestError;
use super::write_body::{AssignmentFields, WriteBody};
use crate::hash::Held;
use hearth_tree::{Assignment, ReadOptions};
use serde::{Serialize, Serializer};

/// `p`: what a place, or its priority, becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// The place and what is written.
    pub set: Assignment,
    /// What the client believes to be there: the write is one of a transaction and fails with `datastale` if it is
    /// something else.
    pub expected: Option<Held>,
}

impl Put {
    pub(super) fn of(body: WriteBody<'_>, options: &ReadOptions) -> Result<Self, RequestError> {
        let expected = body.hash.as_deref().map(Held::parse).transpose()?;
        Ok(Self { set: body.into_assignment(options)?, expected })
    }
}

impl Serialize for Put {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AssignmentFields { set: &self.set, expected: self.expected }.serialize(serializer)
    }
}
