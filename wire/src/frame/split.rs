//! Splits a message for sending.

use super::{FRAME_UNITS_MAX, PARTS_MAX};
use std::borrow::Cow;

/// A message of more than [`PARTS_MAX`] parts. A server answers a read that comes to this with `too_big`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a message of {bytes} bytes needs more than {PARTS_MAX} parts of {FRAME_UNITS_MAX} UTF-16 units; clients cannot receive it"
)]
pub struct TooManyParts {
    /// Length of the message in bytes of UTF-8.
    pub bytes: usize,
}

/// The texts to send for one message, in order: the message itself, or a count and the parts. None is ever empty or
/// `0`, which would end a JavaScript client's connection for good (wire reference 2.2).
#[derive(Clone, Debug)]
pub struct Frames<'m> {
    /// The number of parts, until it has been taken off; nothing for a message that is not split.
    count: Option<usize>,
    rest: &'m str,
    /// Lengths of the parts still to come, in bytes, the next one last.
    lengths: Vec<usize>,
}

/// Splits a message, which is a JSON object, into texts of at most [`FRAME_UNITS_MAX`] UTF-16 units, never inside a
/// character. O(length); nothing is copied.
///
/// # Errors
/// [`TooManyParts`] above [`PARTS_MAX`] parts.
pub fn split(message: &str) -> Result<Frames<'_>, TooManyParts> {
    assert!(message.starts_with('{'), "a message is a JSON object, never empty and never a number");
    // A text has at most as many UTF-16 units as bytes of UTF-8, so the length settles it for nearly every message.
    if message.len() <= FRAME_UNITS_MAX {
        return Ok(Frames { count: None, rest: message, lengths: vec![message.len()] });
    }
    let mut lengths = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        if lengths.len() == PARTS_MAX {
            return Err(TooManyParts { bytes: message.len() });
        }
        let length = part_length(rest.as_bytes());
        lengths.push(length);
        rest = &rest[length..];
    }
    let count = Some(lengths.len()).filter(|&count| count != 1);
    lengths.reverse();
    Ok(Frames { count, rest: message, lengths })
}

/// How many bytes of a text, which is UTF-8, fit into one part.
pub(super) fn part_length(text: &[u8]) -> usize {
    // Nearly all text is ASCII, a unit a byte, and that is seen at memory speed.
    let start = text.get(..FRAME_UNITS_MAX).unwrap_or(text);
    if start.is_ascii() {
        return start.len();
    }
    let mut units = 0;
    for (at, &byte) in text.iter().enumerate() {
        // A character is counted at its first byte; those above U+FFFF, of four bytes, are two units.
        units += match byte {
            0x80..=0xBF => 0,
            0xF0.. => 2,
            _ => 1,
        };
        if FRAME_UNITS_MAX < units {
            return at;
        }
    }
    text.len()
}

impl<'m> Iterator for Frames<'m> {
    type Item = Cow<'m, str>;

    fn next(&mut self) -> Option<Cow<'m, str>> {
        if let Some(count) = self.count.take() {
            return Some(count.to_string().into());
        }
        let (part, rest) = self.rest.split_at(self.lengths.pop()?);
        self.rest = rest;
        Some(part.into())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::from(self.count.is_some()) + self.lengths.len();
        (left, Some(left))
    }
}

impl ExactSizeIterator for Frames<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lengths in UTF-16 units of the parts of a message whose content is `filler` repeated.
    fn check(filler: &str, times: usize, expected: &[usize]) {
        let message = format!("{{{}", filler.repeat(times));
        let mut frames: Vec<_> = split(&message).expect("small enough").collect();
        if 1 < frames.len() {
            let count = frames.remove(0);
            assert_eq!(count, expected.len().to_string(), "count for {times} times `{filler}`");
        }
        let units: Vec<_> = frames.iter().map(|frame| frame.encode_utf16().count()).collect();
        assert_eq!(units, expected, "{times} times `{filler}`");
        assert_eq!(frames.concat(), message, "{times} times `{filler}`");
    }

    #[test]
    fn a_message_is_split_where_the_sdks_split() {
        check("", 0, &[1]);
        check("x", 16_382, &[16_383]);
        check("x", 16_383, &[16_384]);
        check("x", 16_384, &[16_384, 1]);
        check("x", 2 * 16_384 - 1, &[16_384, 16_384]);
        check("x", 2 * 16_384, &[16_384, 16_384, 1]);
        // Two and three bytes of UTF-8, one unit each.
        check("é", 16_383, &[16_384]);
        check("€", 16_384, &[16_384, 1]);
        // Two units each: after the brace, the pair that would be cut goes into the next part.
        check("😀", 8_191, &[16_383]);
        check("😀", 8_192, &[16_383, 2]);
    }

    #[test]
    fn a_message_of_too_many_parts_is_refused() {
        let largest = format!("{{{}", "x".repeat(PARTS_MAX * FRAME_UNITS_MAX - 1));
        assert_eq!(split(&largest).map(|frames| frames.len()), Ok(1 + PARTS_MAX));
        let message = largest + "x";
        assert_eq!(split(&message).map(|frames| frames.len()), Err(TooManyParts { bytes: message.len() }));
    }

    proptest! {
        #[test]
        fn parts_are_small_and_whole(content in "[aé€😀]{0,40}", times in 0_usize..3_000) {
            let message = format!("{{{}", content.repeat(times));
            let frames: Vec<_> = split(&message).expect("small enough").collect();
            let parts = if frames.len() == 1 { &frames[..] } else { &frames[1..] };
            prop_assert_eq!(&parts.concat(), &message);
            for (at, part) in parts.iter().enumerate() {
                let units = part.encode_utf16().count();
                prop_assert!(0 < units && units <= FRAME_UNITS_MAX, "part {} has {} units", at, units);
            }
        }
    }
}
