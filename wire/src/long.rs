//! Messages that are written as somebody takes them.
//!
//! Why: the text of 160 MB of data would stand in memory for each who is told them, for as long as the slowest takes. A
//! long message holds on to its nodes instead. Joined, its pieces are the text that the other ways of writing it give.

use crate::number::Tag;
use crate::response::message_of_data;
use crate::text::encode;
use crate::{RequestNumber, push};
use hearth_tree::{Edit, Form, JsonPieces, Node, Path, Top};
use serde::Serialize;
use std::collections::VecDeque;

/// A message as it is still to be written.
#[derive(Clone, Debug)]
pub struct LongMessage {
    left: VecDeque<Stretch>,
}

#[derive(Clone, Debug)]
enum Stretch {
    Text(String),
    Json(JsonPieces),
}

/// What stands behind the data, or behind the tag: the ends of the body, of the payload and of the message.
const END: &str = "}}}";
/// How a message without data ends.
const NOTHING: &str = "null}}}";

impl LongMessage {
    /// `d`: what a place, or its priority, is now.
    pub fn set(edit: &Edit) -> Self {
        Self::beginning(&push::set_of_nothing(edit)).and(Top::Node(push::node_of(&edit.to)))
    }

    /// `m`: what several places are now; see [`crate::Body::merge`]. O(edits).
    pub fn merge(at: &Path, edits: &[Edit]) -> Self {
        Self::beginning(&push::news_of_nothing("m", at)).and(Top::Members(push::members_of_merge(at, edits)))
    }

    /// `rm`: what is in some ranges of the leaves below a place. O(ranges).
    pub fn ranges(at: &Path, ranges: Vec<push::RangeData>) -> Self {
        let mut message = Self::beginning(&push::news_of_nothing("rm", at));
        let mut before = "[";
        for mut range in ranges {
            let data = range.data.take();
            let text = encode(&range);
            let start = text.strip_suffix("null}").expect("a range ends with its data, and here is none");
            message = message.and_text(format!("{before}{start}")).and(Top::Node(data));
            before = "},";
        }
        // There is always a range.
        message.and_text("}]".into())
    }

    /// The answer to a read.
    pub fn data(number: RequestNumber, node: Option<Node>) -> Self {
        Self::beginning(&message_of_data(number)).and(Top::Node(node))
    }

    fn beginning(without_data: &impl Serialize) -> Self {
        let text = encode(without_data);
        let start = text.strip_suffix(NOTHING).expect("a message ends with its data, and here is none");
        Self { left: VecDeque::from([Stretch::Text(start.into())]) }
    }

    fn and(mut self, top: Top) -> Self {
        self.left.push_back(Stretch::Json(JsonPieces::new(top, Form::SOCKET, false)));
        self
    }

    fn and_text(mut self, text: String) -> Self {
        self.left.push_back(Stretch::Text(text));
        self
    }

    /// The whole message, for one listen or for a request.
    #[must_use]
    pub fn ended(self, tag: Option<Tag>) -> Self {
        self.and_text(Self::end(tag))
    }

    pub(crate) fn end(tag: Option<Tag>) -> String {
        tag.map_or_else(|| END.into(), |tag| format!(",\"t\":{tag}{END}"))
    }

    /// Appends the next piece, which ends between two tokens of JSON and is longer than `bytes` by no more than one leaf
    /// and what stands around it, unless the message ends before. Whether there is more. O(length).
    pub fn append_to(&mut self, text: &mut Vec<u8>, bytes: usize) -> bool {
        let end = text.len().saturating_add(bytes);
        while text.len() < end
            && let Some(stretch) = self.left.pop_front()
        {
            match stretch {
                Stretch::Text(own) => text.extend_from_slice(own.as_bytes()),
                Stretch::Json(mut pieces) => {
                    if pieces.append_to(text, end - text.len()) {
                        self.left.push_front(Stretch::Json(pieces));
                    }
                }
            }
        }
        !self.left.is_empty()
    }
}
