//! What a client receives.
//!
//! Why it is read here too: tests speak to the server with the same words as the client of this project.

use crate::control::ServerControl;
use crate::number::RequestNumber;
use crate::push::{self, Push};
use crate::response::{Reply, ReplyFields};
use crate::text::{CONTROL, DATA};
use hearth_tree::{Excerpt, PathError, ReadError, ReadOptions, Reader, repair_surrogates};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What a server sent.
#[derive(Clone, Debug)]
pub enum ServerMessage {
    /// Something about the connection.
    Control(ServerControl),
    /// The answer to a request.
    Reply(Reply),
    /// Something that was not asked for.
    Push(Push),
}

/// Why a client cannot follow a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// The bytes are not UTF-8.
    #[error("the message is not UTF-8")]
    NotUtf8,
    /// The message is not JSON, a field is missing or of the wrong type, or a value is none.
    #[error(transparent)]
    Unreadable(Box<ReadError>),
    /// A kind of message that this version does not know. Older clients pass over what is new.
    #[error("unknown {what} `{}`", Excerpt(.name))]
    Unknown {
        /// `layer`, `kind of control message` or `push`.
        what: &'static str,
        /// What it is called.
        name: String,
    },
    /// A place is none.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Data that are not filled in.
    #[error("the server sent a server value (`.sv`) instead of what it stands for")]
    ServerValue,
}

/// The place in the text is left out: it would be that in a part of the message.
impl From<ReadError> for ReceiveError {
    fn from(error: ReadError) -> Self {
        Self::Unreadable(Box::new(ReadError { place: None, ..error }))
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct EnvelopeFields<'a> {
    #[serde(borrow)]
    t: Cow<'a, str>,
    #[serde(borrow)]
    d: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct PayloadFields<'a> {
    r: Option<RequestNumber>,
    a: Option<String>,
    #[serde(borrow)]
    b: &'a RawValue,
}

impl ServerMessage {
    /// Reads one message. O(length).
    ///
    /// # Errors
    /// [`ReceiveError`] says what is wrong.
    pub fn parse(message: &[u8], options: &ReadOptions) -> Result<Self, ReceiveError> {
        let text = std::str::from_utf8(message).map_err(|_| ReceiveError::NotUtf8)?;
        let text = repair_surrogates(text);
        let EnvelopeFields { t, d } = fields(&text)?;
        match &*t {
            CONTROL => ServerControl::read(fields(d.get())?).map(Self::Control),
            DATA => Self::read_payload(fields(d.get())?, options),
            name => Err(ReceiveError::Unknown { what: "layer", name: name.into() }),
        }
    }

    fn read_payload(payload: PayloadFields<'_>, options: &ReadOptions) -> Result<Self, ReceiveError> {
        match payload {
            PayloadFields { r: Some(number), b, .. } => {
                Ok(Self::Reply(Reply::of(number, fields::<ReplyFields>(b.get())?)))
            }
            PayloadFields { a: Some(name), b, .. } => push::read(&name, b.get(), options).map(Self::Push),
            PayloadFields { r: None, a: None, .. } => {
                Err(ReceiveError::Unknown { what: "message", name: "neither `r` nor `a`".into() })
            }
        }
    }
}

impl ServerControl {
    fn read(EnvelopeFields { t, d }: EnvelopeFields<'_>) -> Result<Self, ReceiveError> {
        match &*t {
            "h" => fields(d.get()).map(Self::Handshake),
            "o" => Ok(Self::Pong),
            "r" => Ok(Self::Reset { host: fields(d.get())? }),
            "s" => Ok(Self::Shutdown { reason: fields(d.get())? }),
            "e" => Ok(Self::Error { text: fields(d.get())? }),
            "a" => Ok(Self::Upgraded),
            "n" => Ok(Self::End),
            name => Err(ReceiveError::Unknown { what: "kind of control message", name: name.into() }),
        }
    }
}

impl ReceiveError {
    /// What serde says about a text that holds no value of the tree.
    fn unreadable(error: &serde_json::Error, text: &str) -> Self {
        Reader::new(ReadOptions::default()).error(error, text).into()
    }
}

/// Reads one object.
pub(crate) fn fields<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, ReceiveError> {
    serde_json::from_str(text).map_err(|error| ReceiveError::unreadable(&error, text))
}
