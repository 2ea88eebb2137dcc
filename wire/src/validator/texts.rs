//! The texts by which a server sends its messages (wire reference 2.2).

use crate::frame::{FRAME_UNITS_MAX, PARTS_MAX};

/// Puts the server's messages together, as a client does.
#[derive(Debug, Default)]
pub(super) struct Texts {
    parts_left: usize,
    joined: Vec<u8>,
}

impl Texts {
    /// Takes the next text; a message, if it is complete.
    pub(super) fn take(&mut self, text: &[u8], faults: &mut Vec<String>) -> Option<Vec<u8>> {
        let units = String::from_utf8_lossy(text).encode_utf16().count();
        if std::str::from_utf8(text).is_err() {
            faults.push("a text is cut inside a character: Android fails".into());
        }
        if FRAME_UNITS_MAX < units {
            faults.push(format!(
                "a text has {units} UTF-16 units; longer ones than {FRAME_UNITS_MAX} must be split"
            ));
        }
        if text.is_empty() {
            faults.push("an empty text ends a JavaScript client's connection for good".into());
        }
        if 0 < self.parts_left {
            self.joined.extend_from_slice(text);
            self.parts_left -= 1;
            return (self.parts_left == 0).then(|| std::mem::take(&mut self.joined));
        }
        match (count(text), javascript_takes_it_for_a_count(text)) {
            (Some(parts), _) => {
                self.parts_left = parts;
                None
            }
            (None, true) if text.is_empty() => None,
            (None, true) => {
                faults.push(format!(
                    "JavaScript takes this text for a number of parts, which must be from 1 to {PARTS_MAX}, in digits only"
                ));
                None
            }
            (None, false) => Some(text.to_vec()),
        }
    }

    /// What is missing at the end.
    pub(super) fn unfinished(&self) -> Option<String> {
        (0 < self.parts_left).then(|| format!("the last message lacks {} of its parts", self.parts_left))
    }
}

fn count(text: &[u8]) -> Option<usize> {
    let is_count = (1..=4).contains(&text.len()) && text[0] != b'0' && text.iter().all(u8::is_ascii_digit);
    is_count.then(|| text.iter().fold(0, |count, digit| 10 * count + usize::from(digit - b'0')))
}

/// Texts of up to six characters that JavaScript's conversion makes a number of.
fn javascript_takes_it_for_a_count(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let trimmed = text.trim();
    let is_decimal = trimmed.parse::<f64>().is_ok_and(f64::is_finite);
    let has_radix = ["0x", "0X", "0o", "0O", "0b", "0B"].iter().any(|prefix| trimmed.starts_with(prefix));
    text.encode_utf16().count() <= 6 && (trimmed.is_empty() || is_decimal || has_radix)
}
