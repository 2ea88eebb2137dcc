//! Names of children: which texts are names (wire reference 7.3), and how names are ordered (7.5).

use super::Refusal;
use std::cmp::Ordering;

/// Accepts 1 to 768 bytes of UTF-8 without `. # $ [ ] /` and without control characters 0-31 and 127.
///
/// # Errors
/// [`Refusal::BadKey`].
pub fn check_key(text: &str) -> Result<(), Refusal> {
    let forbidden = |ch: char| ".#$[]/".contains(ch) || u32::from(ch) < 32 || u32::from(ch) == 127;
    if text.is_empty() || 768 < text.len() || text.contains(forbidden) {
        return Err(Refusal::BadKey(text.into()));
    }
    Ok(())
}

/// Rule by rule as 7.5 lists them.
pub fn key_order(a: &str, b: &str) -> Ordering {
    match (integer(a), integer(b)) {
        // 1 and 2: integer keys before all others, in numeric order, then by the length of the text.
        (Some(x), Some(y)) => {
            let by_length = a.chars().count().cmp(&b.chars().count());
            x.cmp(&y).then(by_length).then(text_order(a, b))
        }
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        // 3: the others by UTF-16 code unit.
        (None, None) => text_order(a, b),
    }
}

/// `^-?0*[0-9]{1,10}$` with a value of 32 bits.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.chars().all(|ch| ch.is_ascii_digit()) {
        return None;
    }
    // `0*` may take any number of zeros, so only what follows them has to fit in ten digits.
    let significant = digits.trim_start_matches('0');
    if 10 < significant.len() {
        return None;
    }
    let magnitude: i64 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    let value = if text.starts_with('-') { -magnitude } else { magnitude };
    (-2_147_483_648..=2_147_483_647).contains(&value).then_some(value)
}

/// As JavaScript and Java compare texts (7.4).
pub fn text_order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}
