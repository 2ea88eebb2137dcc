//! How values become the text of a message.

use crate::frame::{FRAME_UNITS_MAX, PARTS_MAX};
use hearth_tree::{BoundedText, Compact, OverBound, Part, Path, RelativePath};
use serde::{Serialize, Serializer};
use std::fmt;

/// Longest message to a client, in bytes: whatever stands in it, it can be [split](crate::split) into parts that clients
/// receive. One part is left for a tag, and for characters that are not cut in two.
pub const RECEIVED_BYTES_MAX: usize = (PARTS_MAX - 1) * FRAME_UNITS_MAX;

/// A message of more than [`RECEIVED_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a message can have {RECEIVED_BYTES_MAX} bytes, and this one would have more; clients cannot receive it"
)]
pub struct TooLong;

/// The text of a message. O(length).
pub(crate) fn encode(message: &impl Serialize) -> String {
    encode_within(usize::MAX, message).expect("nothing is that long")
}

/// The text of a message to a client, if it can receive it. O(length), and no more memory than that of the longest.
pub(crate) fn encode_received(message: &impl Serialize) -> Result<String, TooLong> {
    encode_within(RECEIVED_BYTES_MAX, message)
}

fn encode_within(bytes_max: usize, message: &impl Serialize) -> Result<String, TooLong> {
    let mut text = BoundedText::up_to(bytes_max);
    text.append_json(message, Compact).map_err(|OverBound| TooLong)?;
    Ok(String::from_utf8(text.into_bytes()).expect("JSON of texts is UTF-8"))
}

/// A layer and its payload, or a kind of control message and its value (wire reference 2.1).
#[derive(Serialize)]
pub(crate) struct Envelope<D> {
    t: &'static str,
    d: D,
}

/// The layer of requests, responses and pushes.
pub(crate) const DATA: &str = "d";
/// The layer of control messages.
pub(crate) const CONTROL: &str = "c";

impl<D> Envelope<D> {
    pub(crate) const fn data(payload: D) -> Self {
        Self { t: DATA, d: payload }
    }
}

impl<D> Envelope<Envelope<D>> {
    pub(crate) const fn control(kind: &'static str, value: D) -> Self {
        Self { t: CONTROL, d: Envelope { t: kind, d: value } }
    }
}

/// `{}`. Written wherever a key must be there and has nothing to say.
#[derive(Serialize)]
pub(crate) struct Empty {}

/// Writes what can be displayed as a text.
pub(crate) struct Shown<T>(pub(crate) T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A path as the service writes it, without a slash in front (wire reference 3.3); the root is `/`.
pub(crate) struct Unrooted<'a>(pub(crate) &'a Path);

impl fmt::Display for Unrooted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut slash = "";
        for key in self.0.keys() {
            write!(f, "{slash}{key}")?;
            slash = "/";
        }
        if self.0.keys().is_empty() { f.write_str("/") } else { Ok(()) }
    }
}

/// A path from a listen on, as clients write the ends of ranges: the place itself is `/` (wire reference 6.5).
pub(crate) struct Post<'a>(pub(crate) &'a RelativePath);

impl fmt::Display for Post<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_here() { f.write_str("/") } else { self.0.fmt(f) }
    }
}

/// A place below another, or its priority, as a key of an update.
pub(crate) struct PlaceBelow {
    pub(crate) below: RelativePath,
    pub(crate) part: Part,
}

impl fmt::Display for PlaceBelow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.below.fmt(f)?;
        match (self.part, self.below.is_here()) {
            (Part::Value, _) => Ok(()),
            (Part::Priority, true) => f.write_str(".priority"),
            (Part::Priority, false) => f.write_str("/.priority"),
        }
    }
}
