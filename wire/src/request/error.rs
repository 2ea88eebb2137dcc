//! Why a request cannot be carried out, whatever the database holds.

use super::action::Action;
use crate::hash::CompoundHashError;
use crate::query::QueryError;
use crate::status::Status;
use hearth_tree::{Excerpt, HashError, PathError, Problem, ReadError, ReadOptions, Reader, WriteError};

/// Longest body of a request that writes nothing, in bytes of its JSON text: room for the longest path with every
/// character escaped (148 KB), for bounds that long, for a compound hash of 4 000 ranges, and for any token. What is
/// kept of a listen while it runs is less than its body.
pub const BODY_BYTES_MAX: usize = 512 * 1024;

/// Why a request cannot be carried out. To be answered with [`RequestError::status`] and its own text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// There is no such action.
    #[error("there is no action `{}`", Excerpt(.name))]
    UnknownAction {
        /// What was asked for.
        name: String,
    },
    /// A field of the message itself is missing.
    #[error("the message has no `{field}`")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// The message is not JSON, a field is missing or of the wrong type, or a value is none.
    #[error(transparent)]
    Unreadable(Box<ReadError>),
    /// The bytes are not UTF-8.
    #[error("the message is not UTF-8")]
    NotUtf8,
    /// A body that is longer than any such request needs.
    #[error("the body of `{action}` has {bytes} bytes; at most {BODY_BYTES_MAX} are allowed")]
    BodyTooLong {
        /// What is asked for.
        action: Action,
        /// Length of the body in bytes.
        bytes: usize,
    },
    /// The place is none.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A place that only exists in clients.
    #[error("`.info` is made up by each client for itself; the server holds nothing there")]
    Info,
    /// What is written cannot be written there.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The hash is none.
    #[error("in `h`: {0}")]
    Hash(#[from] HashError),
    /// The compound hash is none.
    #[error(transparent)]
    CompoundHash(#[from] CompoundHashError),
    /// The query makes no sense.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A priority cannot be updated, only set.
    #[error("an update needs the path of a node, not of its priority")]
    UpdateOfPriority,
    /// Without a tag the client could not tell part of the children from all of them.
    #[error("a listen to part of the children needs a tag, `t`")]
    TagMissing,
    /// Two answers to the question whom the client acts as.
    #[error("`noauth` and `authvar` exclude each other")]
    ActingTwice,
}

impl RequestError {
    /// What serde says about a text that holds no value of the tree.
    pub(crate) fn unreadable(error: &serde_json::Error, text: &str) -> Self {
        Self::read(Reader::new(ReadOptions::default()).error(error, text))
    }

    /// The place in the text is left out: nobody who uses an SDK has seen the text.
    pub(crate) fn read(error: ReadError) -> Self {
        Self::Unreadable(Box::new(ReadError { place: None, ..error }))
    }

    /// The status to answer with.
    pub fn status(&self) -> Status {
        match self {
            Self::Unreadable(error) => match error.problem {
                Problem::TooMany { .. }
                | Problem::TextTooLong(_)
                | Problem::Write(WriteError::TooManyKeys { .. }) => Status::WriteTooBig,
                Problem::Syntax { .. }
                | Problem::Shape { .. }
                | Problem::Key(_)
                | Problem::Path(_)
                | Problem::DottedKey { .. }
                | Problem::Duplicate { .. }
                | Problem::TooDeep { .. }
                | Problem::Control { .. }
                | Problem::Value { .. }
                | Problem::ValueAndChildren { .. }
                | Problem::Priority { .. }
                | Problem::ServerValue { .. }
                | Problem::ServerValueBeside { .. }
                | Problem::ServerValueRefused
                | Problem::NotObject { .. }
                | Problem::Write(_) => Status::Invalid,
            },
            Self::Write(WriteError::TooManyKeys { .. }) => Status::WriteTooBig,
            Self::Info => Status::PermissionDenied,
            Self::UnknownAction { .. }
            | Self::Missing { .. }
            | Self::NotUtf8
            | Self::BodyTooLong { .. }
            | Self::Path(_)
            | Self::Write(_)
            | Self::Hash(_)
            | Self::CompoundHash(_)
            | Self::Query(_)
            | Self::UpdateOfPriority
            | Self::TagMissing
            | Self::ActingTwice => Status::Invalid,
        }
    }
}
