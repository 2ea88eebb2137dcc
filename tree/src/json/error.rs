//! Why a text is not a value of the tree, for the person who has to correct it.

use super::place::{Place, repeated_key, string_before};
use crate::key::{Excerpt, Key, KeyError, Named, OneLine};
use crate::limits::DEPTH_MAX;
use crate::path::{PathError, RelativePath};
use crate::scalar::TextTooLong;
use crate::write::WriteError;
use std::fmt;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}{}", Whereabouts(self))]
pub struct ReadError {
    /// What is wrong.
    pub problem: Problem,
    /// The node it is wrong with, from the read value on.
    pub at: RelativePath,
    /// Where in the text: a key or a string where it begins, anything else where reading stopped. Nothing, if two
    /// places of the text do not go together.
    pub place: Option<Place>,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is not JSON.
    #[error("not valid JSON: {message}")]
    Syntax {
        /// What the parser met, or would have wanted.
        message: String,
    },
    /// It is JSON, but whoever reads around the value refuses it.
    #[error("unexpected JSON: {message}")]
    Shape {
        /// What was wanted.
        message: String,
    },
    /// A key that no child can have.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A key of an update that is not a path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A key that begins with a dot and means nothing.
    #[error(
        "key `{}` begins with a dot; only `.value`, `.priority` and `.sv` do, and each has a meaning",
        Excerpt(.key)
    )]
    DottedKey {
        /// The key.
        key: String,
    },
    /// The same key twice in one object, even if one of them is null.
    #[error("key `{}` stands twice in one object", Excerpt(.key))]
    Duplicate {
        /// The key.
        key: String,
    },
    /// A key below the deepest level.
    #[error(
        "the value goes below level {levels_max}; a tree has at most {DEPTH_MAX} levels, counted from its root"
    )]
    TooDeep {
        /// How many levels the value may have.
        levels_max: usize,
    },
    /// More nodes than the reader may hold in memory.
    #[error("the value has more than {nodes_max} nodes, leaves and objects together; write it in parts")]
    TooMany {
        /// How many are allowed.
        nodes_max: usize,
    },
    /// A string value above 10 MB.
    #[error(transparent)]
    TextTooLong(#[from] TextTooLong),
    /// A control character in a string value, where they are refused.
    #[error(
        "a string value has {} at byte {at}; ASCII control characters (U+0000 to U+001F, U+007F) are refused here",
        Named(*.ch)
    )]
    Control {
        /// The first control character.
        ch: char,
        /// Its offset in the string, in bytes.
        at: usize,
    },
    /// A `.value` that no leaf can have.
    #[error("`.value` must be true, false, a number, a text or a server value, not {found}")]
    Value {
        /// What it is.
        found: &'static str,
    },
    /// A `.value` in an object that has children.
    #[error("`.value` stands beside child `{}`; a place holds a value or children, not both", OneLine(.key))]
    ValueAndChildren {
        /// One of the children.
        key: Key,
    },
    /// A priority that no node can have.
    #[error("a priority must be a number, a text or a server value, not {found}")]
    Priority {
        /// What it is.
        found: &'static str,
    },
    /// A `.sv` that this server does not know.
    #[error("`.sv` must be \"timestamp\" or {{\"increment\": number}}, not {found}")]
    ServerValue {
        /// What it is, in words.
        found: String,
    },
    /// A `.sv` with something else in its object.
    #[error("`.sv` must stand alone in its object, without `{}`", Excerpt(.key))]
    ServerValueBeside {
        /// What else there is.
        key: String,
    },
    /// A `.sv` where only what is already known can stand.
    #[error("`.sv` asks the server to fill in a value; only values that are filled in are allowed here")]
    ServerValueRefused,
    /// An update that is not an object.
    #[error("an update must be an object whose keys are paths, not {found}")]
    NotObject {
        /// What it is.
        found: &'static str,
    },
    /// Parts of an update that do not go together, or that go too deep.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The part of the message that says where.
struct Whereabouts<'a>(&'a ReadError);

impl fmt::Display for Whereabouts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = OneLine(&self.0.at);
        match (self.0.place, self.0.at.is_here()) {
            (None, true) => Ok(()),
            (None, false) => write!(f, " (in `{at}`)"),
            (Some(place), true) => write!(f, " ({place})"),
            (Some(place), false) => write!(f, " ({place}, in `{at}`)"),
        }
    }
}

impl ReadError {
    /// The error of a parser that stopped over `problem`, or by itself.
    pub(super) fn new(
        problem: Option<Problem>,
        at: RelativePath,
        error: &serde_json::Error,
        text: &str,
    ) -> Self {
        let stopped = Place { line: error.line(), column: error.column() };
        let problem = problem.unwrap_or_else(|| unasked(error));
        let end = stopped.end_offset(text);
        let place = match problem.begins(text, end) {
            Some(offset) => Place::of_offset(text.as_bytes(), offset),
            None => Place { line: stopped.line.max(1), column: stopped.column.max(1) },
        };
        Self { problem, at, place: Some(place) }
    }
}

/// What the parser says, without the position, which has its own field.
fn unasked(error: &serde_json::Error) -> Problem {
    let mut message = error.to_string();
    if let Some(at) = message.rfind(" at line ") {
        message.truncate(at);
    }
    if error.is_data() { Problem::Shape { message } } else { Problem::Syntax { message } }
}

impl Problem {
    /// Where the string that this is about begins, if it is about one. `end` is how far the text was read.
    fn begins(&self, text: &str, end: usize) -> Option<usize> {
        match self {
            Self::Key(_)
            | Self::Path(_)
            | Self::DottedKey { .. }
            | Self::TextTooLong(_)
            | Self::Control { .. }
            | Self::ServerValueBeside { .. }
            | Self::ServerValueRefused => string_before(text, end),
            Self::Duplicate { key } => repeated_key(text, key, end),
            Self::Syntax { .. }
            | Self::Shape { .. }
            | Self::TooDeep { .. }
            | Self::TooMany { .. }
            | Self::Value { .. }
            | Self::ValueAndChildren { .. }
            | Self::Priority { .. }
            | Self::ServerValue { .. }
            | Self::NotObject { .. }
            | Self::Write(_) => None,
        }
    }
}
