//! Puts a client's messages together.
//!
//! Why bytes: the C++ SDK splits between any two bytes, so a part need not be UTF-8 (wire reference 2.2). Why one buffer
//! and not a list of parts: a part of one byte must not cost more than one byte.

use super::FRAME_UNITS_MAX;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// How much of one client's message is kept, and how much is received at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLimits {
    /// Longest message, in bytes: what one request may write, and some room for what stands around the value.
    pub message_bytes_max: usize,
    /// Longest message that is received to its end and thrown away, in bytes, so that its request can be answered.
    /// Closing the connection instead makes the client connect again and repeat the write, for ever.
    pub skipped_bytes_max: usize,
}

/// What the texts of a client have come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assembled<'f> {
    /// One message: JSON, if the client is right. Borrowed if it came as one text.
    Message(Cow<'f, [u8]>),
    /// A message above [`FrameLimits::message_bytes_max`]. Its start usually has the request number in it, see
    /// [`crate::number_of`]; answer with `write_too_big`.
    TooBig {
        /// The first [`FRAME_UNITS_MAX`] bytes.
        start: Cow<'f, [u8]>,
        /// The length of all of it, in bytes.
        bytes: usize,
    },
}

/// Why a connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The client means to send more than is received.
    #[error("a message of {parts} parts was announced; at most {parts_max} are received")]
    Announced {
        /// How many parts.
        parts: usize,
        /// How many are allowed.
        parts_max: usize,
    },
    /// The client sent more than is received.
    #[error("a message has more than {bytes_max} bytes; it is not received to its end")]
    TooBig {
        /// How many bytes are allowed.
        bytes_max: usize,
    },
}

/// Receives the texts of one WebSocket. Holds at most [`FrameLimits::message_bytes_max`] bytes and one part, however
/// much is announced.
#[derive(Debug)]
pub struct Assembler {
    limits: FrameLimits,
    pending: Option<Pending>,
}

/// A message of which parts are missing.
#[derive(Debug)]
struct Pending {
    parts_left: usize,
    /// What was received so far; only the start of it, if it is too big.
    kept: Vec<u8>,
    /// How much was received so far.
    bytes: usize,
    /// Whether every part so far is as long as the C++ SDK makes them.
    parts_are_full: bool,
}

impl Assembler {
    /// Receives with these limits.
    pub const fn new(limits: FrameLimits) -> Self {
        Self { limits, pending: None }
    }

    /// Takes the next text. Nothing, if a message is not complete yet or the text was a keepalive.
    ///
    /// # Errors
    /// [`FrameError`] if the connection must be closed.
    pub fn push<'f>(&mut self, text: &'f [u8]) -> Result<Option<Assembled<'f>>, FrameError> {
        if self.pending.is_some() {
            return self.push_part(text);
        }
        match count(text) {
            // The C++ SDK may send an empty last part of a message that was complete before it.
            Some(0) => Ok(None),
            None if text.is_empty() => Ok(None),
            Some(parts) => self.announce(parts).map(|()| None),
            None => self.whole(text).map(Some),
        }
    }

    /// How much is kept of a message of which parts are missing, in bytes.
    pub fn kept_bytes(&self) -> usize {
        self.pending.as_ref().map_or(0, |pending| pending.kept.len())
    }

    fn announce(&mut self, parts: usize) -> Result<(), FrameError> {
        // One part of the announced ones may be short and, with C++, another one missing.
        let parts_max = self.limits.skipped_bytes_max / FRAME_UNITS_MAX + 2;
        if parts_max < parts {
            return Err(FrameError::Announced { parts, parts_max });
        }
        self.pending = Some(Pending { parts_left: parts, kept: Vec::new(), bytes: 0, parts_are_full: true });
        Ok(())
    }

    fn whole<'f>(&self, text: &'f [u8]) -> Result<Assembled<'f>, FrameError> {
        let FrameLimits { message_bytes_max, skipped_bytes_max } = self.limits;
        match text.len() {
            bytes if skipped_bytes_max < bytes => Err(FrameError::TooBig { bytes_max: skipped_bytes_max }),
            bytes if message_bytes_max < bytes => {
                Ok(Assembled::TooBig { start: text[..bytes.min(FRAME_UNITS_MAX)].into(), bytes })
            }
            _ => Ok(Assembled::Message(text.into())),
        }
    }

    fn push_part(&mut self, part: &[u8]) -> Result<Option<Assembled<'static>>, FrameError> {
        let FrameLimits { message_bytes_max, skipped_bytes_max } = self.limits;
        let Some(pending) = &mut self.pending else { return Ok(None) };
        pending.take(part, message_bytes_max);
        if skipped_bytes_max < pending.bytes {
            return Err(FrameError::TooBig { bytes_max: skipped_bytes_max });
        }
        if 0 < pending.parts_left && !pending.is_complete_before_its_end(message_bytes_max) {
            return Ok(None);
        }
        let Some(Pending { kept, bytes, .. }) = self.pending.take() else { return Ok(None) };
        Ok(Some(if message_bytes_max < bytes {
            Assembled::TooBig { start: kept.into(), bytes }
        } else {
            Assembled::Message(kept.into())
        }))
    }
}

impl Pending {
    fn take(&mut self, part: &[u8], message_bytes_max: usize) {
        self.parts_left -= 1;
        self.bytes += part.len();
        self.parts_are_full &= part.len() == FRAME_UNITS_MAX;
        if self.bytes <= message_bytes_max {
            self.kept.extend_from_slice(part);
            return;
        }
        let room = FRAME_UNITS_MAX.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&part[..room.min(part.len())]);
        self.kept.truncate(FRAME_UNITS_MAX);
        self.kept.shrink_to_fit();
    }

    /// Whether the last part will not come: the C++ SDK announces one too many for a message of full parts only. The
    /// request must not wait for whatever the client sends next, so the text itself decides. O(length), once a message.
    fn is_complete_before_its_end(&self, message_bytes_max: usize) -> bool {
        self.parts_left == 1
            && self.parts_are_full
            && self.bytes <= message_bytes_max
            && self.kept.last() == Some(&b'}')
            && serde_json::from_slice::<IgnoredAny>(&self.kept).is_ok()
    }
}

/// The number of parts that a text announces, if that is what it does; 0 is a keepalive.
fn count(text: &[u8]) -> Option<usize> {
    let is_count = (1..=6).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    is_count.then(|| text.iter().fold(0, |count, digit| count * 10 + usize::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::split;
    use proptest::prelude::*;

    const LIMITS: FrameLimits = FrameLimits { message_bytes_max: 100_000, skipped_bytes_max: 200_000 };

    /// What texts come to: the messages by their length, too big ones with a plus.
    fn check(texts: &[&[u8]], expected: Result<&[&str], FrameError>) {
        let mut assembler = Assembler::new(LIMITS);
        let outcome = texts.iter().filter_map(|text| assembler.push(text).transpose());
        let lengths: Result<Vec<_>, _> = outcome
            .map(|assembled| {
                assembled.map(|assembled| match assembled {
                    Assembled::Message(message) => message.len().to_string(),
                    Assembled::TooBig { start, bytes } => format!("{}+{}", start.len(), bytes - start.len()),
                })
            })
            .collect();
        let row: Vec<_> =
            texts.iter().map(|text| String::from_utf8_lossy(&text[..text.len().min(20)])).collect();
        let lengths = lengths.as_ref().map(|lengths| lengths.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(lengths, expected.as_ref().map(|expected| expected.to_vec()), "{row:?}");
    }

    #[test]
    fn texts_become_messages() {
        check(&[b"{}"], Ok(&["2"]));
        check(&[b"{}", b"{\"t\":1}"], Ok(&["2", "7"]));
        // Keepalives, at any time between messages.
        check(&[b"0", b"{}", b"0", b"000000", b"{}"], Ok(&["2", "2"]));
        check(&[b""], Ok(&[]));
        // Counts; a leading zero is no reason to refuse one.
        check(&[b"1", b"{}"], Ok(&["2"]));
        check(&[b"3", b"{", b"\"t\"", b":1}", b"{}"], Ok(&["7", "2"]));
        check(&[b"02", b"{", b"}"], Ok(&["2"]));
        // Within a message digits are content.
        check(&[b"3", b"{\"t\":", b"0", b"}"], Ok(&["7"]));
        // Not counts.
        check(&[b"1234567"], Ok(&["7"]));
        check(&[b"-1"], Ok(&["2"]));
        check(&[b"1.0"], Ok(&["3"]));
        check(&[b"2 "], Ok(&["2"]));
        // Half a character in each part.
        check(&[b"2", b"\"\xC3", b"\xA9\""], Ok(&["4"]));
    }

    #[test]
    fn a_count_that_is_one_too_high_is_noticed_when_the_text_is_complete() {
        let full = |end: &str| format!("{{\"t\":\"{}{end}", "x".repeat(FRAME_UNITS_MAX - 6 - end.len()));
        let complete = full("\"}");
        assert_eq!(complete.len(), FRAME_UNITS_MAX);
        check(&[b"2", complete.as_bytes(), b"{}"], Ok(&["16384", "2"]));
        check(&[b"2", complete.as_bytes(), b"", b"{}"], Ok(&["16384", "2"]));
        // Complete only with the second part, although the first ends in a brace.
        check(&[b"2", full("}").as_bytes(), b"\"}"], Ok(&["16386"]));
        // Not full, so not from C++: the second part is waited for, whatever it is.
        check(&[b"2", b"{}", b" "], Ok(&["3"]));
        check(&[b"3", complete.as_bytes()], Ok(&[]));
    }

    #[test]
    fn a_message_above_the_limit_is_skipped_but_not_forgotten() {
        let text = |bytes: usize| vec![b'x'; bytes];
        check(&[&text(100_000)], Ok(&["100000"]));
        check(&[&text(100_001), b"{}"], Ok(&["16384+83617", "2"]));
        check(&[&text(200_000)], Ok(&["16384+183616"]));
        check(&[&text(200_001)], Err(FrameError::TooBig { bytes_max: 200_000 }));
        let part = text(50_000);
        check(&[b"2", &part, &part, b"{}"], Ok(&["100000", "2"]));
        check(&[b"3", &part, &part, b"x", b"{}"], Ok(&["16384+83617", "2"]));
        check(&[b"4", &part, &part, &part, &part], Ok(&["16384+183616"]));
        check(&[b"5", &part, &part, &part, &part, b"x"], Err(FrameError::TooBig { bytes_max: 200_000 }));
        // 200 000 bytes are 12 parts and a bit; one more may be announced by C++.
        check(&[b"14", b"x"], Ok(&[]));
        check(&[b"15"], Err(FrameError::Announced { parts: 15, parts_max: 14 }));
        check(&[b"999999"], Err(FrameError::Announced { parts: 999_999, parts_max: 14 }));
    }

    proptest! {
        #[test]
        fn what_was_split_is_put_together(content in "[aé€😀]{0,30}", times in 0_usize..3_000) {
            let message = format!("{{{}", content.repeat(times));
            let mut assembler = Assembler::new(FrameLimits { message_bytes_max: 1 << 20, skipped_bytes_max: 1 << 20 });
            let mut messages = Vec::new();
            for frame in split(&message).expect("small enough") {
                if let Some(assembled) = assembler.push(frame.as_bytes()).expect("within the limits") {
                    messages.push(match assembled {
                        Assembled::Message(message) => message.into_owned(),
                        Assembled::TooBig { .. } => Vec::new(),
                    });
                }
            }
            prop_assert_eq!(messages, vec![message.into_bytes()]);
        }

        #[test]
        fn memory_stays_within_the_limit(
            texts in prop::collection::vec(
                prop_oneof![
                    "[0-9]{1,6}".prop_map(String::into_bytes),
                    prop::collection::vec(any::<u8>(), 0..40),
                    (0_usize..300).prop_map(|len| vec![b'}'; len]),
                ],
                0..60,
            ),
            message_bytes_max in 0_usize..400,
            skipped_bytes_max in 0_usize..2_000_000,
        ) {
            let mut assembler = Assembler::new(FrameLimits { message_bytes_max, skipped_bytes_max });
            for text in &texts {
                // The growth of a vector at most doubles it.
                let capacity_max = 2 * (message_bytes_max.max(FRAME_UNITS_MAX) + text.len()).max(8);
                let outcome = assembler.push(text);
                if let Ok(Some(Assembled::Message(message))) = &outcome {
                    prop_assert!(message.len() <= message_bytes_max);
                }
                let stop = outcome.is_err();
                let held = assembler.pending.as_ref().map_or(0, |pending| pending.kept.capacity());
                prop_assert!(held <= capacity_max, "{} bytes are held", held);
                if stop {
                    break;
                }
            }
        }
    }
}
