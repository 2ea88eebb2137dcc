//! Lone surrogates, made harmless before the text is parsed.
//!
//! Why: JavaScript strings may hold half of a surrogate pair and are sent with it, as `\ud800`. `serde_json` refuses the
//! whole message for that, and an SDK that loses its connection repeats the write for ever (wire reference 7.1).

use std::borrow::Cow;

/// The escape of U+FFFD, the replacement character. As long as any other, so every position in the text stays.
const REPLACEMENT: &str = "\\ufffd";

/// The text with every lone surrogate escape made `\ufffd`. Copies only if there is one; O(length).
pub fn repair_surrogates(text: &str) -> Cow<'_, str> {
    let mut repaired = String::new();
    let mut copied = 0;
    for lone in lone_surrogates(text.as_bytes()) {
        repaired.reserve(text.len() - copied);
        repaired.push_str(&text[copied..lone]);
        repaired.push_str(REPLACEMENT);
        copied = lone + REPLACEMENT.len();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    repaired.push_str(&text[copied..]);
    Cow::Owned(repaired)
}

/// Where the escapes of lone surrogates begin.
fn lone_surrogates(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            let at = next + memchr::memchr(b'\\', text.get(next..)?)?;
            let (width, lone) = match (escaped_unit(text, at), escaped_unit(text, at + REPLACEMENT.len())) {
                (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (2 * REPLACEMENT.len(), false),
                (Some(0xD800..=0xDFFF), _) => (REPLACEMENT.len(), true),
                // The backslash and what it escapes: a second backslash does not begin an escape.
                (Some(_) | None, _) => (2, false),
            };
            next = at + width;
            if lone {
                return Some(at);
            }
        }
    })
}

/// The UTF-16 unit that `\uXXXX` at this offset stands for.
fn escaped_unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + REPLACEMENT.len())?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}
