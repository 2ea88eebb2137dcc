//! Commits as bytes: compact, exact, and read back without trust.
//!
//! Why no JSON between: it costs several times the encoding, and cannot say a 64-bit integer, a double and a priority
//! each for itself. Why every limit is checked again when bytes are read: the tree's own types take depth and order for
//! granted, and what a checksum lets pass can still come from a program with a mistake in it. Reading allocates no more
//! than in proportion to the bytes, recurses no deeper than the tree may, and never panics.
//!
//! Why no byte that says what follows is ever zero, and long runs of NUL in texts are broken up
//! ([`bytes::put_text`]): a part of a file that was never written reads as zeros, and must not look like data
//! ([`super::torn`]).

mod bytes;
mod change;
mod claim;
mod node;
mod rules;
mod settings;
mod write;

pub(crate) use bytes::{Source, put_count, put_integer, put_text, put_varint};
pub(crate) use change::{put_change, take_change};
pub(crate) use change::{put_path, take_path};
pub(crate) use claim::{put_identity, take_identity};
pub(crate) use node::{put_key, put_node, put_priority, take_key, take_node, take_priority};
pub(crate) use rules::{put_own_rules, take_own_rules};
pub(crate) use settings::{put_settings, take_settings};
pub(crate) use write::{put_write, put_write_in_pieces, take_write};

use hearth_tree::{Conflict, DEPTH_MAX, KeyError, NotFinite, TextTooLong, WriteError};
use std::str::Utf8Error;

/// Why bytes are not what they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("it ends in the middle of {what}")]
    Short { what: &'static str },
    #[error("{bytes} bytes are left behind its end")]
    Left { bytes: usize },
    #[error("{byte} stands where the kind of {what} should")]
    Kind { what: &'static str, byte: u8 },
    #[error("a number has more than 64 bits")]
    Varint,
    #[error("a text is not UTF-8: {0}")]
    Utf8(#[from] Utf8Error),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Text(#[from] TextTooLong),
    #[error(transparent)]
    Double(#[from] NotFinite),
    #[error("a whole number is written as a double")]
    WholeDouble,
    #[error("it goes deeper than {DEPTH_MAX} levels")]
    TooDeep,
    #[error("claims are nested deeper than they may be")]
    ClaimTooDeep,
    #[error("the children of a node are not in order")]
    Unordered,
    #[error("a node has neither a value nor children")]
    Empty,
    #[error(transparent)]
    Conflict(#[from] Conflict),
    #[error(transparent)]
    Write(#[from] WriteError),
}
