//! How values become the text of a message.

use hearth_tree::{Compact, Part, Path, RelativePath};
use serde::{Serialize, Serializer};
use std::fmt;

/// The text of a message. O(length).
pub(crate) fn encode(message: &impl Serialize) -> String {
    let mut bytes = Vec::with_capacity(128);
    message
        .serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Compact))
        .expect("a vector takes all bytes, and every key is a text");
    String::from_utf8(bytes).expect("JSON of texts is UTF-8")
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
