//! Data on their way to many listens, encoded once.
//!
//! Why the tag comes last: all listens at a place are sent the same bytes up to it, so a tag costs a copy and not
//! another encoding, and untagged listens share the text itself.

use super::{RangeData, push};
use crate::number::Tag;
use crate::text::{PlaceBelow, Post, Shown, TooLong, Unrooted, encode, encode_received};
use hearth_tree::{Edit, Form, Json, Node, Part, Path, Scalar, To};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::borrow::Cow;

/// A `d`, `m` or `rm`, complete but for the tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The message without a tag.
    text: String,
}

/// What stands behind the place of the tag: the ends of the body, of the payload and of the message.
const END: &str = "}}}";

#[derive(Serialize)]
struct Fields<P, D> {
    p: P,
    d: D,
}

impl Body {
    /// `d`: what a place, or its priority, is now. O(nodes).
    pub fn set(edit: &Edit) -> Self {
        Self { text: encode(&message_of_set(edit)) }
    }

    /// As [`Body::set`], for clients.
    ///
    /// # Errors
    /// [`TooLong`], if they could not receive it.
    pub fn received_set(edit: &Edit) -> Result<Self, TooLong> {
        Ok(Self { text: encode_received(&message_of_set(edit))? })
    }

    /// `m`: what several places, all of them below `at`, are now. Clients apply all of it together. The priority of
    /// `at` itself may be among them; its value may not, that is a [`Body::set`]. O(nodes).
    pub fn merge(at: &Path, edits: &[Edit]) -> Self {
        Self { text: encode(&message_of_merge(at, edits)) }
    }

    /// As [`Body::merge`], for clients.
    ///
    /// # Errors
    /// [`TooLong`], if they could not receive it.
    pub fn received_merge(at: &Path, edits: &[Edit]) -> Result<Self, TooLong> {
        Ok(Self { text: encode_received(&message_of_merge(at, edits))? })
    }

    /// `rm`: what is in some ranges of the leaves below `at`. O(nodes).
    pub fn ranges(at: &Path, ranges: &[RangeData]) -> Self {
        Self { text: encode(&message_of_ranges(at, ranges)) }
    }

    /// As [`Body::ranges`], for clients.
    ///
    /// # Errors
    /// [`TooLong`], if they could not receive it.
    pub fn received_ranges(at: &Path, ranges: &[RangeData]) -> Result<Self, TooLong> {
        Ok(Self { text: encode_received(&message_of_ranges(at, ranges))? })
    }

    /// The message for one listen. Free without a tag, one copy with one.
    pub fn with_tag(&self, tag: Option<Tag>) -> Cow<'_, str> {
        Self::tagged(&self.text, tag)
    }

    /// As [`Body::with_tag`], for the text of a body that is kept elsewhere (`into_text(None)`).
    pub fn tagged(text: &str, tag: Option<Tag>) -> Cow<'_, str> {
        match tag {
            None => Cow::Borrowed(text),
            Some(tag) => {
                let start = text.strip_suffix(END).expect("a body ends with three closing braces");
                Cow::Owned(format!("{start},\"t\":{tag}{END}"))
            }
        }
    }

    /// The message for the only listen.
    pub fn into_text(mut self, tag: Option<Tag>) -> String {
        if let Some(tag) = tag {
            self.text.truncate(self.text.len() - END.len());
            self.text.push_str(&format!(",\"t\":{tag}{END}"));
        }
        self.text
    }
}

fn message_of_set(edit: &Edit) -> impl Serialize {
    push("d", Fields { p: Shown(EditedPlace(edit)), d: Content(&edit.to) })
}

fn message_of_merge<'a>(at: &'a Path, edits: &'a [Edit]) -> impl Serialize + use<'a> {
    assert!(!edits.is_empty(), "a merge says something");
    push("m", Fields { p: Shown(Unrooted(at)), d: Merged { at, edits } })
}

fn message_of_ranges<'a>(at: &'a Path, ranges: &'a [RangeData]) -> impl Serialize + use<'a> {
    push("rm", Fields { p: Shown(Unrooted(at)), d: ranges })
}

/// [`Body::set`] without what the place is, which [`crate::LongMessage`] writes.
pub(crate) fn set_of_nothing(edit: &Edit) -> impl Serialize {
    push("d", Fields { p: Shown(EditedPlace(edit)), d: () })
}

/// What a place is now, as a node: a priority is written as a leaf is.
pub(crate) fn node_of(to: &To) -> Option<Node> {
    match to {
        To::Node(node) => node.clone(),
        To::Priority(priority) => priority.clone().map(|priority| Scalar::from(priority).into()),
    }
}

/// A push of this name about what is below a place, without what it says.
pub(crate) fn news_of_nothing<'a>(name: &'static str, at: &'a Path) -> impl Serialize + use<'a> {
    push(name, Fields { p: Shown(Unrooted(at)), d: () })
}

/// What a merge says, by the names that it has there.
pub(crate) fn members_of_merge(at: &Path, edits: &[Edit]) -> Vec<(String, Option<Node>)> {
    assert!(!edits.is_empty(), "a merge says something");
    edits.iter().map(|edit| (place_below(at, edit).to_string(), node_of(&edit.to))).collect()
}

/// The place of an edit as one of a merge.
fn place_below(at: &Path, edit: &Edit) -> PlaceBelow {
    let below = edit.at.strip(at).expect("a listen is told of what is below it");
    let part = match edit.to {
        To::Node(_) => Part::Value,
        To::Priority(_) => Part::Priority,
    };
    assert!(part == Part::Priority || !below.is_here(), "the value of the place itself is set, not merged");
    PlaceBelow { below, part }
}

/// The place of an edit, as a server writes it.
struct EditedPlace<'a>(&'a Edit);

impl std::fmt::Display for EditedPlace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Edit { at, to } = self.0;
        match (to, at.keys()) {
            (To::Node(_), _) => Unrooted(at).fmt(f),
            (To::Priority(_), []) => f.write_str(".priority"),
            (To::Priority(_), _) => write!(f, "{}/.priority", Unrooted(at)),
        }
    }
}

/// What a place is now.
struct Content<'a>(&'a To);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            To::Node(node) => json(node.as_ref()).serialize(serializer),
            To::Priority(priority) => priority.serialize(serializer),
        }
    }
}

const fn json(node: Option<&Node>) -> Json<'_> {
    Json::new(node, Form::SOCKET)
}

/// Places below another, by their relative paths.
struct Merged<'a> {
    at: &'a Path,
    edits: &'a [Edit],
}

impl Serialize for Merged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(self.edits.len()))?;
        for edit in self.edits {
            members.serialize_entry(&Shown(place_below(self.at, edit)), &Content(&edit.to))?;
        }
        members.end()
    }
}

impl Serialize for RangeData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        if let Some(after) = &self.after {
            fields.serialize_entry("s", &Shown(Post(after)))?;
        }
        if let Some(up_to) = &self.up_to {
            fields.serialize_entry("e", &Shown(Post(up_to)))?;
        }
        fields.serialize_entry("m", &json(self.data.as_ref()))?;
        fields.end()
    }
}
