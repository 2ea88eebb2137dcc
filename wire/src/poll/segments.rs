//! Puts together what a client says in pieces.
//!
//! Why a window: two requests of a client are under way at a time, and either may come first, so what has come too early
//! is kept. But a client that leaves a gap and goes on for ever must not fill the memory.

use crate::frame::{Assembled, FRAME_UNITS_MAX, FrameError, FrameLimits};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::BTreeMap;

/// Most characters of one segment. Clients send 1 840 (wire reference 14.4).
pub const SEGMENT_CHARS_MAX: usize = 4_096;

/// How far a segment may be ahead of those that are missing. A client's URL has room for some twenty, and two or three of
/// its requests are under way.
pub const SEGMENTS_AHEAD_MAX: u64 = 128;

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number, counted from 0 over the whole session.
    pub number: u64,
    /// How many segments its message has.
    pub of: u64,
    /// Base64 of the message with `-` and `_`, and `.` where it is padded; or a part of that.
    pub data: String,
}

/// Why a session must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// Something is missing before it, for too long.
    #[error("segment {number} has come, but {missing} has not; at most {SEGMENTS_AHEAD_MAX} may be ahead")]
    Ahead {
        /// What has come.
        number: u64,
        /// What has not.
        missing: u64,
    },
    /// The segments of one message contradict each other.
    #[error("segment {number} is one of {found}, but its message has {expected} segments")]
    Count {
        /// The segment.
        number: u64,
        /// What it says.
        found: u64,
        /// What its message has; at least 1.
        expected: u64,
    },
    /// Nobody can read it.
    #[error("the message up to segment {number} is not Base64 with - and _")]
    Encoding {
        /// Its last segment.
        number: u64,
    },
    /// It is longer than what is received.
    #[error(transparent)]
    TooBig(#[from] FrameError),
}

/// Receives the segments of one session. Holds at most one message and [`SEGMENTS_AHEAD_MAX`] segments.
#[derive(Debug)]
pub struct Segments {
    limits: FrameLimits,
    /// The first that has not come.
    missing: u64,
    ahead: BTreeMap<u64, Segment>,
    pending: Option<Pending>,
}

/// A message of which segments are missing.
#[derive(Debug)]
struct Pending {
    of: u64,
    left: u64,
    /// What has come, Base64 still; only the start of it, if it is too big.
    kept: String,
    /// How much has come.
    chars: usize,
}

impl Segments {
    /// Receives with these limits.
    pub const fn new(limits: FrameLimits) -> Self {
        Self { limits, missing: 0, ahead: BTreeMap::new(), pending: None }
    }

    /// Takes a segment, and gives the messages that it completes: none, mostly one, many if it has filled a gap. One that
    /// has come before is passed over: browsers may repeat a request whose answer was lost.
    ///
    /// # Errors
    /// [`SegmentError`] if the session must be closed.
    pub fn push(&mut self, segment: Segment) -> Result<Vec<Assembled<'static>>, SegmentError> {
        let Self { missing, ahead, .. } = self;
        let number = segment.number;
        if number < *missing {
            return Ok(Vec::new());
        }
        if SEGMENTS_AHEAD_MAX < number - *missing {
            return Err(SegmentError::Ahead { number, missing: *missing });
        }
        ahead.entry(number).or_insert(segment);
        let mut messages = Vec::new();
        while let Some(segment) = self.ahead.remove(&self.missing) {
            self.missing += 1;
            messages.extend(self.next(&segment)?);
        }
        Ok(messages)
    }

    /// How much is kept of what is not whole, in bytes.
    pub fn kept_bytes(&self) -> usize {
        let ahead: usize = self.ahead.values().map(|segment| segment.data.len()).sum();
        self.pending.as_ref().map_or(0, |pending| pending.kept.len()) + ahead
    }

    /// Takes the next one.
    fn next(&mut self, segment: &Segment) -> Result<Option<Assembled<'static>>, SegmentError> {
        let &Segment { number, of, .. } = segment;
        let pending =
            self.pending.get_or_insert_with(|| Pending { of, left: of, kept: String::new(), chars: 0 });
        if of != pending.of || of == 0 {
            return Err(SegmentError::Count { number, found: of, expected: pending.of.max(1) });
        }
        pending.take(&segment.data, self.limits.message_bytes_max);
        let bytes_max = self.limits.skipped_bytes_max;
        if chars_of(bytes_max) < pending.chars {
            return Err(FrameError::TooBig { bytes_max }.into());
        }
        let complete = self.pending.take_if(|pending| pending.left == 0);
        complete.map(|pending| pending.decoded(number, self.limits.message_bytes_max)).transpose()
    }
}

impl Pending {
    fn take(&mut self, data: &str, message_bytes_max: usize) {
        self.left -= 1;
        self.chars += data.len();
        if self.chars <= chars_of(message_bytes_max) {
            self.kept.push_str(data);
            return;
        }
        let room = chars_of(FRAME_UNITS_MAX).saturating_sub(self.kept.len());
        self.kept.extend(data.chars().take(room));
        self.kept.truncate(self.kept.floor_char_boundary(chars_of(FRAME_UNITS_MAX)));
        self.kept.shrink_to_fit();
    }

    fn decoded(&self, number: u64, message_bytes_max: usize) -> Result<Assembled<'static>, SegmentError> {
        let is_start = chars_of(message_bytes_max) < self.chars;
        let chars = if is_start { &self.kept } else { self.kept.trim_end_matches(['.', '=']) };
        let decoded = URL_SAFE_NO_PAD.decode(chars).map_err(|_| SegmentError::Encoding { number })?;
        if is_start {
            let bytes = self.chars / 4 * 3;
            return Ok(Assembled::TooBig { start: decoded.into(), bytes });
        }
        Ok(Assembled::Message(decoded.into()))
    }
}

/// How long so many bytes are in Base64, with padding.
const fn chars_of(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: FrameLimits = FrameLimits { message_bytes_max: 60_000, skipped_bytes_max: 120_000 };

    /// As the SDK writes a message.
    fn encoded(message: &[u8]) -> String {
        base64::engine::general_purpose::URL_SAFE.encode(message).replace('=', ".")
    }

    fn segment(number: u64, of: u64, data: &str) -> Segment {
        Segment { number, of, data: data.into() }
    }

    /// What segments come to: the messages, those that are too big by how much of them is kept.
    fn check(segments: &[(u64, u64, &str)], expected: Result<&[&str], SegmentError>) {
        let mut receiver = Segments::new(LIMITS);
        let outcome: Result<Vec<_>, _> =
            segments.iter().map(|&(number, of, data)| receiver.push(segment(number, of, data))).collect();
        let messages = outcome.map(|messages| {
            let text = |assembled| match assembled {
                Assembled::Message(message) => String::from_utf8(message.into_owned()).unwrap(),
                Assembled::TooBig { start, bytes } => format!("{}+{}", start.len(), bytes - start.len()),
            };
            messages.into_iter().flatten().map(text).collect::<Vec<_>>()
        });
        let messages =
            messages.as_ref().map(|messages| messages.iter().map(String::as_str).collect::<Vec<_>>());
        let row: Vec<_> =
            segments.iter().map(|(number, of, data)| (number, of, &data[..data.len().min(20)])).collect();
        assert_eq!(messages, expected.as_ref().map(|expected| expected.to_vec()), "{row:?}");
    }

    #[test]
    fn segments_become_messages() {
        check(&[(0, 1, "e30.")], Ok(&["{}"]));
        check(&[(0, 1, "e30=")], Ok(&["{}"]));
        check(&[(0, 1, "e30")], Ok(&["{}"]));
        check(&[(0, 1, "")], Ok(&[""]));
        check(&[(0, 1, "e30."), (1, 1, "eyJhIjoxfQ..")], Ok(&["{}", "{\"a\":1}"]));
        check(&[(0, 2, "eyJ"), (1, 2, "hIjoxfQ.."), (2, 1, "e30.")], Ok(&["{\"a\":1}", "{}"]));
        check(&[(0, 3, "e30."), (1, 3, "")], Ok(&[]));
        // Half a character in each.
        check(&[(0, 2, "4oK"), (1, 2, "s4oKs")], Ok(&["€€"]));
        // With - and _.
        check(&[(0, 1, "4oC-4oC_")], Ok(&["‾‿"]));
    }

    #[test]
    fn segments_may_overtake_each_other_and_come_twice() {
        check(&[(1, 1, "e30."), (0, 1, "eyJhIjoxfQ..")], Ok(&["{\"a\":1}", "{}"]));
        check(&[(2, 1, "e30."), (1, 2, "hIjoxfQ.."), (0, 2, "eyJ")], Ok(&["{\"a\":1}", "{}"]));
        check(&[(0, 1, "e30."), (0, 1, "e30."), (1, 1, "e30.")], Ok(&["{}", "{}"]));
        check(&[(1, 1, "e30."), (1, 1, "nonsense"), (0, 1, "e30.")], Ok(&["{}", "{}"]));
        check(&[(128, 1, "e30.")], Ok(&[]));
        check(&[(129, 1, "e30.")], Err(SegmentError::Ahead { number: 129, missing: 0 }));
        check(
            &[(0, 1, "e30."), (u64::MAX, 1, "e30.")],
            Err(SegmentError::Ahead { number: u64::MAX, missing: 1 }),
        );
    }

    #[test]
    fn what_cannot_be_a_message_is_refused() {
        check(&[(0, 0, "e30.")], Err(SegmentError::Count { number: 0, found: 0, expected: 1 }));
        check(
            &[(0, 3, "e30."), (1, 2, "e30.")],
            Err(SegmentError::Count { number: 1, found: 2, expected: 3 }),
        );
        for data in ["e30+", "e3/0", "e", "e30.e30.", "é", "e30 "] {
            check(&[(0, 1, data)], Err(SegmentError::Encoding { number: 0 }));
        }
    }

    #[test]
    fn a_message_above_the_limit_is_skipped_but_not_forgotten() {
        let part = "AAAA".repeat(1_000);
        let of = |parts: u64| (0..parts).map(|number| (number, parts, part.as_str())).collect::<Vec<_>>();
        let start = FRAME_UNITS_MAX.div_ceil(3) * 3;
        let skipped = |bytes: usize| format!("{start}+{}", bytes - start);
        check(&of(20), Ok(&[&"\0".repeat(60_000)]));
        check(&[of(21), vec![(21, 1, "e30.")]].concat(), Ok(&[&skipped(63_000), "{}"]));
        check(&of(40), Ok(&[&skipped(120_000)]));
        check(&of(41), Err(FrameError::TooBig { bytes_max: 120_000 }.into()));
    }

    proptest! {
        #[test]
        fn what_was_cut_is_put_together(
            contents in prop::collection::vec("[aé€😀{}]{0,12}", 0..8),
            size in 1_usize..7,
            swaps in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut segments = Vec::new();
            for content in &contents {
                let text = encoded(content.as_bytes());
                let parts: Vec<_> = text.as_bytes().chunks(size).map(|part| std::str::from_utf8(part).unwrap()).collect();
                let parts = if parts.is_empty() { vec![""] } else { parts };
                for part in &parts {
                    segments.push(segment(segments.len() as u64, parts.len() as u64, part));
                }
            }
            // Requests overtake each other, and some come twice.
            for swap in swaps {
                if segments.is_empty() {
                    break;
                }
                let at = swap.index(segments.len());
                let twice = segments[at].clone();
                segments.insert(swap.index(at + 1), twice);
            }
            let mut receiver = Segments::new(LIMITS);
            let mut messages = Vec::new();
            for segment in segments {
                for assembled in receiver.push(segment).unwrap() {
                    if let Assembled::Message(message) = assembled {
                        messages.push(String::from_utf8(message.into_owned()).unwrap());
                    }
                }
            }
            prop_assert_eq!(messages, contents);
        }
    }
}
