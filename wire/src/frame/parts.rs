//! Splits a message while it is written.
//!
//! Why it is written twice: how many parts there are goes before the first of them (wire reference 2.2).

use super::FRAME_UNITS_MAX;
use super::split::part_length;
use crate::long::LongMessage;
use crate::number::Tag;
use crate::text::{RECEIVED_BYTES_MAX, TooLong};

/// Most bytes of UTF-8 in a part: none has more than three for a UTF-16 unit.
const PART_BYTES_MAX: usize = 3 * FRAME_UNITS_MAX;
/// So much of a message is written at once, if no leaf is longer.
const SLICE_BYTES: usize = 128 * 1024;

/// The parts of a message, as [`crate::split`] makes them of its text; the count is not among them.
#[derive(Clone, Debug)]
pub struct Parts {
    message: LongMessage,
    /// What is written and was not taken, behind `taken` bytes that were.
    text: Vec<u8>,
    taken: usize,
    is_longer: bool,
}

impl Parts {
    /// Nothing is written yet.
    pub const fn new(message: LongMessage) -> Self {
        Self { message, text: Vec::new(), taken: 0, is_longer: true }
    }

    /// The message, for whom it is not split; no part of it must have been written.
    pub fn message(&mut self) -> &mut LongMessage {
        assert!(self.text.is_empty() && self.is_longer, "nothing was written");
        &mut self.message
    }

    /// Whether more is to be [written](Parts::fill) before there is another part.
    pub const fn lacks_text(&self) -> bool {
        self.is_longer && self.text.len() - self.taken < PART_BYTES_MAX
    }

    /// Writes some more. O(128 KiB), or the longest leaf.
    pub fn fill(&mut self) {
        self.text.drain(..self.taken);
        self.taken = 0;
        self.is_longer = self.message.append_to(&mut self.text, SLICE_BYTES);
    }

    /// The next part; nothing at the end. O(part), if it lacks no text.
    pub fn next_part(&mut self) -> Option<&str> {
        while self.lacks_text() {
            self.fill();
        }
        let rest = &self.text[self.taken..];
        if rest.is_empty() {
            return None;
        }
        let part = &rest[..part_length(rest)];
        self.taken += part.len();
        Some(std::str::from_utf8(part).expect("JSON is UTF-8, and parts end between characters"))
    }
}

/// How long a message is that is not [ended](LongMessage::ended) yet: the same for all who are told it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// In bytes of UTF-8.
    pub bytes: usize,
    /// How many parts it has.
    pub parts: usize,
    /// The length of the last one, in UTF-16 units.
    pub last_units: usize,
}

impl Length {
    /// Measures it. O(length), and no memory to speak of.
    ///
    /// # Errors
    /// [`TooLong`], if clients could not receive it.
    pub fn of(message: LongMessage) -> Result<Self, TooLong> {
        let bytes_max = RECEIVED_BYTES_MAX - LongMessage::end(None).len();
        let (mut parts, mut length) = (Parts::new(message), Self::default());
        while let Some(part) = parts.next_part() {
            length.bytes += part.len();
            length.parts += 1;
            length.last_units = if part.is_ascii() { part.len() } else { part.encode_utf16().count() };
            if bytes_max < length.bytes {
                return Err(TooLong);
            }
        }
        Ok(length)
    }

    /// How many parts it has with its end.
    pub fn parts_with(&self, tag: Option<Tag>) -> usize {
        // The end is short, and ASCII.
        self.parts + usize::from(FRAME_UNITS_MAX < self.last_units + LongMessage::end(tag).len())
    }
}
