//! One child name, checked once, and the order of names.
//!
//! Why the order lives here: the SDKs sort children on their side, so every comparison of two names in Hearth must be
//! the one of the SDKs (wire reference 7.5), and there must be exactly one.

use crate::limits::KEY_BYTES_MAX;
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::fmt::{self, Write};

/// One child name: 1 to 768 bytes of UTF-8, none of `. $ # [ ] /`, no ASCII control character (0-31, 127).
///
/// Inline up to 23 bytes, so push ids and field names need no heap; longer ones are shared when cloned.
/// Ordered as the SDKs order children (wire reference 7.5): 32-bit integers by value, then texts by UTF-16 code unit.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key(SmolStr);

/// Why a text is not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text has no characters.
    #[error("a key cannot be empty")]
    Empty,
    /// The text is longer than [`KEY_BYTES_MAX`].
    #[error("key `{}…` has {bytes} bytes of UTF-8; at most {KEY_BYTES_MAX} are allowed", OneLine(.start))]
    TooLong {
        /// Length of the text in bytes of UTF-8.
        bytes: usize,
        /// Its first characters.
        start: String,
    },
    /// The text has a character that no key may have.
    #[error("key `{}` has {} at byte {at}; keys cannot contain . $ # [ ] / or ASCII control characters", Excerpt(.text), Named(*.ch))]
    Forbidden {
        /// The whole text.
        text: String,
        /// The first forbidden character.
        ch: char,
        /// Its offset in the text, in bytes.
        at: usize,
    },
}

impl Key {
    /// Checks once, O(length). Everything that holds a `Key` may rely on it.
    ///
    /// # Errors
    /// [`KeyError`] names the length or the first forbidden character.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if KEY_BYTES_MAX < text.len() {
            return Err(KeyError::TooLong { bytes: text.len(), start: text.chars().take(24).collect() });
        }
        // Every forbidden character is ASCII, and no byte of a longer UTF-8 sequence is, so bytes suffice.
        match text.bytes().position(is_forbidden) {
            Some(at) => {
                Err(KeyError::Forbidden { text: text.into(), ch: char::from(text.as_bytes()[at]), at })
            }
            None => Ok(Self(text.into())),
        }
    }

    /// The key of an array's element: `0`, `1`, …
    pub fn from_position(position: usize) -> Self {
        Self(itoa::Buffer::new().format(position).into())
    }

    /// The text of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The position in an array that this key can stand for: `0`, or digits without a leading zero (wire reference 7.2).
    pub fn as_position(&self) -> Option<usize> {
        let digits = self.0.as_bytes();
        let canonical = digits.iter().all(u8::is_ascii_digit) && (digits.len() == 1 || digits[0] != b'0');
        if canonical { self.0.parse().ok() } else { None }
    }

    /// Bytes that sort as keys do (wire reference 7.5), for stores that know only bytes: of two keys, and of what two
    /// keys are followed by, the bytes of the lesser one are less. Different for different keys, never a prefix of
    /// another key's, and never beginning with zero. O(length).
    pub fn put_ordered(&self, into: &mut Vec<u8>) {
        match integer_value(&self.0) {
            Some(value) => {
                into.push(ORDERED_INTEGER);
                // The sign turned over, negative numbers come first.
                into.extend_from_slice(&(value.cast_unsigned() ^ (1 << 31)).to_be_bytes());
                let length = u16::try_from(self.0.len()).expect("a key has at most 768 bytes");
                into.extend_from_slice(&length.to_be_bytes());
            }
            None => into.push(ORDERED_TEXT),
        }
        into.extend(self.0.bytes().map(utf16_rank));
        // No key has a NUL, so a key comes before the longer ones that it begins.
        into.push(0);
    }
}

const ORDERED_INTEGER: u8 = 1;
const ORDERED_TEXT: u8 = 2;

const fn is_forbidden(byte: u8) -> bool {
    matches!(byte, b'.' | b'$' | b'#' | b'[' | b']' | b'/' | 0..=31 | 127)
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        key_order(&self.0, &other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// The order of child names, for any two texts (bounds of queries need not be legal keys). Wire reference 7.5:
/// integer keys first, by value, then by length; the others by UTF-16 code unit. Total: equal only for equal texts.
pub fn key_order(a: &str, b: &str) -> Ordering {
    // Settles it for most field names,
    if let ([x, ..], [y, ..]) = (a.as_bytes(), b.as_bytes())
        && x != y
        && !begins_integers(*x)
        && !begins_integers(*y)
    {
        return utf16_rank(*x).cmp(&utf16_rank(*y));
    }
    // and this for push ids.
    if !starts_as_integer(a) && !starts_as_integer(b) {
        return text_order(a, b);
    }
    match (integer_value(a), integer_value(b)) {
        (None, None) => text_order(a, b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        // `-0` and `00` are equal in the SDKs; a total order needs the last step.
        (Some(x), Some(y)) => x.cmp(&y).then(a.len().cmp(&b.len())).then_with(|| text_order(a, b)),
    }
}

const fn begins_integers(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-')
}

const fn starts_as_integer(text: &str) -> bool {
    matches!(text.as_bytes(), [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..])
}

/// What an integer key (`^-?0*[0-9]{1,10}$`, 32 bits signed) is worth, whatever its leading zeros.
fn integer_value(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    if digits.is_empty() {
        return None;
    }
    let zeros = digits.iter().take_while(|&&byte| byte == b'0').count();
    let significant = &digits[zeros..];
    if 10 < significant.len() || !significant.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let magnitude = significant.iter().fold(0_i64, |sum, &digit| sum * 10 + i64::from(digit - b'0'));
    i32::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// Texts by UTF-16 code unit, as JavaScript and Java compare them (wire reference 7.4), on UTF-8 without decoding.
///
/// The two orders differ only where one text has a character above U+FFFF (in UTF-16 a surrogate, D800-DFFF) and the
/// other one of U+E000-U+FFFF, and there the first bytes that differ are the leads: F0-F4 against EE or EF.
pub fn text_order(a: &str, b: &str) -> Ordering {
    match first_difference(a.as_bytes(), b.as_bytes()) {
        None => a.len().cmp(&b.len()),
        Some((x, y)) => utf16_rank(x).cmp(&utf16_rank(y)),
    }
}

/// The first bytes at which two texts differ; nothing, if one begins with the other.
fn first_difference(a: &[u8], b: &[u8]) -> Option<(u8, u8)> {
    // Eight bytes at a time: keys of one list begin alike.
    let shared = a.len().min(b.len());
    let (a, b) = (&a[..shared], &b[..shared]);
    let (a_words, a_rest) = a.as_chunks();
    let (b_words, b_rest) = b.as_chunks();
    if let Some((x, y)) = a_words.iter().zip(b_words).find(|(x, y)| x != y) {
        return Some(first_difference_of_words(*x, *y));
    }
    match (a.last_chunk(), b.last_chunk()) {
        // The rest with some of what is known to be alike.
        (Some(x), Some(y)) => (x != y).then(|| first_difference_of_words(*x, *y)),
        (None, _) | (_, None) if is_same_by_halves(a_rest, b_rest) => None,
        (None, _) | (_, None) => a_rest.iter().zip(b_rest).find(|(x, y)| x != y).map(|(&x, &y)| (x, y)),
    }
}

/// Whether two texts of four to seven bytes are the same: by their first and their last four. Not said of others.
fn is_same_by_halves(a: &[u8], b: &[u8]) -> bool {
    match (a.first_chunk::<4>(), b.first_chunk(), a.last_chunk::<4>(), b.last_chunk()) {
        (Some(a_first), Some(b_first), Some(a_last), Some(b_last)) => a_first == b_first && a_last == b_last,
        _ => false,
    }
}

/// The first bytes that differ, of two words that do.
const fn first_difference_of_words(x: [u8; 8], y: [u8; 8]) -> (u8, u8) {
    let differing = u64::from_be_bytes(x) ^ u64::from_be_bytes(y);
    let at = (differing.leading_zeros() / 8) as usize;
    (x[at], y[at])
}

const fn utf16_rank(byte: u8) -> u8 {
    match byte {
        0xEE | 0xEF => byte + 0x10,
        _ => byte,
    }
}

/// Something for a message, on one line whatever it holds: keys may have controls above ASCII, and some of those break
/// lines or command a terminal.
#[derive(Clone, Copy, Debug)]
pub struct OneLine<T>(pub T);

/// Something for people, on as many lines as it has, without what a terminal would obey but the ends of its lines.
#[derive(Clone, Copy, Debug)]
pub struct Printable<T>(pub T);

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping { to: f, kept: "" }, "{}", self.0)
    }
}

impl<T: fmt::Display> fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping { to: f, kept: "\n\t" }, "{}", self.0)
    }
}

/// Passes on what is written, with escapes for what disturbs lines.
struct Escaping<'a, 'f> {
    to: &'a mut fmt::Formatter<'f>,
    /// What is passed on all the same.
    kept: &'static str,
}

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_plain = |ch: char| !disturbs_lines(ch) || self.kept.contains(ch);
        if text.chars().all(is_plain) {
            self.to.write_str(text)
        } else {
            text.chars().try_for_each(|ch| self.write_char(ch))
        }
    }

    fn write_char(&mut self, ch: char) -> fmt::Result {
        if disturbs_lines(ch) && !self.kept.contains(ch) {
            write!(self.to, "{}", ch.escape_default())
        } else {
            self.to.write_char(ch)
        }
    }
}

/// Whether a character, where people read it, would command a terminal, end its line, or turn what stands around it.
pub fn disturbs_lines(ch: char) -> bool {
    ch.is_control()
        || matches!(ch, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The start of a text for a message, on one line whatever it holds.
#[derive(Clone, Copy, Debug)]
pub struct Excerpt<'a>(pub &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CHARS_MAX: usize = 48;
        let end = self.0.char_indices().nth(CHARS_MAX).map(|(end, _)| end);
        write!(f, "{}", OneLine(&self.0[..end.unwrap_or(self.0.len())]))?;
        if end.is_some() { f.write_str("…") } else { Ok(()) }
    }
}

/// A character for a message: itself where it shows, its code where it does not.
pub(crate) struct Named(pub(crate) char);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_control() {
            write!(f, "control character U+{:04X}", u32::from(self.0))
        } else {
            write!(f, "`{}`", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_to_768_bytes_without_what_paths_and_bounds_are_made_of() {
        let long = "a".repeat(769);
        let emoji = "😀".repeat(193);
        for (report, text, refused) in [
            ("", "a", None),
            ("", "+ \\\"'?&%", None),
            ("", "-OfJOJtHRpRMarWw0KQi", None),
            ("", "é\u{80}\u{2028}", None),
            ("R025", &long[1..], None),
            ("R025", &emoji[4..], None),
            ("R027", "-Nab\\", None),
            ("", "", Some("a key cannot be empty")),
            (
                "R025",
                &long,
                Some("key `aaaaaaaaaaaaaaaaaaaaaaaa…` has 769 bytes of UTF-8; at most 768 are allowed"),
            ),
            (
                "",
                &format!("\u{1b}[2J\n{long}"),
                Some(
                    "key `\\u{1b}[2J\\naaaaaaaaaaaaaaaaaaa…` has 774 bytes of UTF-8; at most 768 are allowed",
                ),
            ),
            (
                "",
                "\u{202e}\u{85}.",
                Some(
                    "key `\\u{202e}\\u{85}.` has `.` at byte 5; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
            (
                "R025",
                &emoji,
                Some(
                    "key `😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀…` has 772 bytes of UTF-8; at most 768 are allowed",
                ),
            ),
            (
                "",
                "a.b",
                Some(
                    "key `a.b` has `.` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
            (
                "",
                "é$",
                Some(
                    "key `é$` has `$` at byte 2; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
            (
                "",
                "#",
                Some(
                    "key `#` has `#` at byte 0; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
            (
                "",
                "a[",
                Some(
                    "key `a[` has `[` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
            (
                "",
                "a]",
                Some(
                    "key `a]` has `]` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
            (
                "",
                "a/b",
                Some(
                    "key `a/b` has `/` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
            (
                "R025",
                "a\u{7}",
                Some(
                    "key `a\\u{7}` has control character U+0007 at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
            (
                "R025",
                "\u{7f}",
                Some(
                    "key `\\u{7f}` has control character U+007F at byte 0; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
        ] {
            let error = Key::parse(text).err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), refused, "{report} {text:?}");
        }
    }

    #[test]
    fn what_disturbs_lines_is_shown_as_what_it_is() {
        for (text, on_one_line, printable) in [
            ("a\tb\nc", "a\\tb\\nc", "a\tb\nc"),
            ("\u{1b}[2J\r\u{7f}", "\\u{1b}[2J\\r\\u{7f}", "\\u{1b}[2J\\r\\u{7f}"),
            ("\u{80}\u{85}\u{9f}", "\\u{80}\\u{85}\\u{9f}", "\\u{80}\\u{85}\\u{9f}"),
            ("\u{200e}\u{200f}\u{61c}", "\\u{200e}\\u{200f}\\u{61c}", "\\u{200e}\\u{200f}\\u{61c}"),
            ("\u{202a}\u{202e}", "\\u{202a}\\u{202e}", "\\u{202a}\\u{202e}"),
            ("\u{2066}\u{2069}", "\\u{2066}\\u{2069}", "\\u{2066}\\u{2069}"),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}", "\\u{2028}\\u{2029}"),
            ("ä \u{200d}😀 שלום", "ä \u{200d}😀 שלום", "ä \u{200d}😀 שלום"),
        ] {
            assert_eq!(OneLine(text).to_string(), on_one_line);
            assert_eq!(Printable(text).to_string(), printable);
        }
    }

    #[test]
    fn positions_are_digits_without_a_leading_zero() {
        for (text, position) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("10", Some(10)),
            ("2147483648", Some(2_147_483_648)),
            ("00", None),
            ("07", None),
            ("-1", None),
            ("+1", None),
            ("1 ", None),
            ("1e3", None),
            ("99999999999999999999", None),
            ("a", None),
        ] {
            assert_eq!(Key::parse(text).unwrap().as_position(), position, "{text:?}");
            if let Some(position) = position {
                assert_eq!(Key::from_position(position).as_str(), text);
            }
        }
    }

    #[test]
    fn texts_that_differ_at_any_byte_order_as_utf16() {
        let check = |a: &str, b: &str| {
            let expected = a.encode_utf16().cmp(b.encode_utf16());
            assert_eq!(text_order(a, b), expected, "{a:?} beside {b:?}");
            assert_eq!(text_order(b, a), expected.reverse(), "{b:?} beside {a:?}");
        };
        // Longer than two words, so that there are rests of every length.
        let text = "0123456789abcdefghij";
        for len in 0..=text.len() {
            check(&text[..len], text);
            for at in 0..len {
                for (x, y) in [("-", "-"), ("\u{1}", "~"), ("~", "é"), ("\u{FFFD}", "😀"), ("😀", "\u{E000}")]
                {
                    let with = |ch: &str| format!("{}{ch}{}", &text[..at], &text[at + 1..len]);
                    check(&with(x), &with(y));
                    check(&with(x), &text[..len]);
                }
            }
        }
    }
}
