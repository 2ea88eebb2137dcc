//! Events that are told together.
//!
//! Why not one text: a client that listens to 60 MB and takes nothing would have the text of them in memory, and so would each
//! other one. What is long is written from its nodes as the client takes it, as answers are.

use super::outgoing::{PIECE_BYTES, length_of};
use crate::unhurried::unhurried;
use hearth_tree::{BoundedText, Form, JsonPieces, OverBound, Top};
use std::mem;

/// Texts, and what is long between them. It ends with a text, since an event does.
pub(super) struct EventText {
    parts: Vec<Part>,
    /// How long these are.
    bytes: usize,
    /// Behind these.
    text: BoundedText,
    bytes_max: usize,
}

pub(super) enum Part {
    Text(Vec<u8>),
    /// Of which nothing is written yet.
    Long(JsonPieces),
}

impl EventText {
    /// Nothing yet, and never more than so many bytes.
    pub(super) const fn up_to(bytes_max: usize) -> Self {
        Self { parts: Vec::new(), bytes: 0, text: BoundedText::up_to(bytes_max), bytes_max }
    }

    /// What is told behind all that is told by now.
    pub(super) const fn text(&mut self) -> &mut BoundedText {
        &mut self.text
    }

    /// Appends JSON that may be long. O(length): it must be known how long it is before any of it is told.
    ///
    /// # Errors
    /// [`OverBound`], if all would be too long.
    pub(super) fn append_long(&mut self, top: Top) -> Result<(), OverBound> {
        let mut pieces = JsonPieces::new(top, Form::REST, false);
        let mut begun = Vec::new();
        let is_longer = unhurried(|| pieces.append_to(&mut begun, PIECE_BYTES));
        self.text.append(&begun)?;
        if is_longer {
            let text = mem::replace(&mut self.text, BoundedText::up_to(0)).into_bytes();
            self.bytes += text.len();
            self.bytes += unhurried(|| length_of(pieces.clone(), self.bytes_max - self.bytes))?;
            self.text = BoundedText::up_to(self.bytes_max - self.bytes);
            self.parts.extend([Part::Text(text), Part::Long(pieces)]);
        }
        Ok(())
    }

    /// What is to be told, with the text behind it, which mostly is all, and how long it is.
    pub(super) fn into_parts(self) -> (Vec<Part>, Vec<u8>, usize) {
        let Self { parts, bytes, text, .. } = self;
        let text = text.into_bytes();
        let bytes = bytes + text.len();
        (parts, text, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearth_tree::{Key, Node, Scalar};

    fn node(children: usize) -> Node {
        let child =
            |number: usize| (Key::parse(&format!("k{number:06}")).unwrap(), Scalar::Bool(true).into());
        Node::inner((0..children).map(child)).unwrap()
    }

    #[test]
    fn what_is_long_is_not_written_before_it_is_taken_and_its_length_is_known() {
        // A child is 14 bytes and a comma.
        for (children, bytes_max, expected) in [
            (2, 1_000, Ok(0)),
            (2, 39, Ok(0)),
            (2, 38, Err(OverBound)),
            (100_000, 2_000_000, Ok(2)),
            (100_000, 1_500_009, Ok(2)),
            (100_000, 1_500_008, Err(OverBound)),
            (100_000, 100, Err(OverBound)),
        ] {
            let mut events = EventText::up_to(bytes_max);
            let told = events.text().append(b"data").and_then(|()| {
                events.append_long(Top::Node(Some(node(children))))?;
                events.text().append(b"end!")
            });
            assert_eq!(told.err(), expected.err(), "{children} within {bytes_max}");
            let (parts, last, bytes) = events.into_parts();
            let Ok(count) = expected else { continue };
            assert_eq!((parts.len(), bytes), (count, 4 + 1 + 15 * children + 4), "{children}");
            let mut text = Vec::new();
            for part in parts {
                match part {
                    Part::Text(own) => text.extend(own),
                    Part::Long(mut pieces) => while pieces.append_to(&mut text, PIECE_BYTES) {},
                }
            }
            text.extend(last);
            assert_eq!(text.len(), bytes, "{children}");
            assert!(text.starts_with(b"data{\"k000000\":true,") && text.ends_with(b":true}end!"));
        }
    }
}
