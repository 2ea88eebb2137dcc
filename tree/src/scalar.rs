//! What a leaf can hold, and what can be a priority.
//!
//! Why two kinds of number behind one type: the SDKs keep 64-bit integers on Android and Apple, and the service adds
//! integers exactly; everything else (order, hash, JavaScript) sees doubles. A value has one representation only, so
//! that equal numbers are equal values.

use crate::limits::TEXT_BYTES_MAX;
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The value of a leaf. Absence is never a scalar: a node that holds nothing does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `true` or `false`.
    Bool(bool),
    /// An integer or a double.
    Number(Number),
    /// Any text of Unicode scalar values, up to 10 MB.
    Text(Text),
}

impl Scalar {
    /// The number, if it is one.
    pub const fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Bool(_) | Self::Text(_) => None,
        }
    }
}

/// A finite number: every `i64` and every finite `f64`, without loss.
///
/// A double that is a whole number within 64 bits is held as that integer, so `1.0` is `1` and `-0.0` is `0`
/// (wire reference 7.1). Equality is exact; [`Number::order`] is the order of the SDKs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(Repr);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Repr {
    Integer(i64),
    /// Finite, and not a whole number within 64 bits: neither NaN nor a zero, so equality is one of bits.
    Double(f64),
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Repr::Integer(integer) => integer.hash(state),
            Repr::Double(double) => double.to_bits().hash(state),
        }
    }
}

/// A number that the tree cannot hold: NaN or an infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a number must be finite: neither NaN nor beyond 1.797e308 can be stored")]
pub struct NotFinite;

impl Number {
    /// Holds a double exactly; -0 becomes 0.
    ///
    /// # Errors
    /// [`NotFinite`] for NaN and the infinities.
    pub fn from_f64(value: f64) -> Result<Self, NotFinite> {
        /// 2^63, the first double above the integers; its negative is the lowest integer.
        const BEYOND: f64 = 9_223_372_036_854_775_808.0;
        if !value.is_finite() {
            return Err(NotFinite);
        }
        if value.fract() == 0.0 && (-BEYOND..BEYOND).contains(&value) {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number within the range of i64")]
            return Ok(Self(Repr::Integer(value as i64)));
        }
        Ok(Self(Repr::Double(value)))
    }

    /// The nearest double: what the order, the hash and JavaScript see.
    pub fn as_f64(self) -> f64 {
        match self.0 {
            #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
            Repr::Integer(integer) => integer as f64,
            Repr::Double(double) => double,
        }
    }

    /// The value as a 64-bit integer, if it is one.
    pub const fn as_i64(self) -> Option<i64> {
        match self.0 {
            Repr::Integer(integer) => Some(integer),
            Repr::Double(_) => None,
        }
    }

    /// The sum, as the service increments (wire reference 7.6): exact for two integers; a double where one is, or
    /// where 64 bits do not hold the sum.
    ///
    /// # Errors
    /// [`NotFinite`] if the sum is beyond the largest double.
    pub fn plus(self, other: Self) -> Result<Self, NotFinite> {
        match (self.as_i64(), other.as_i64()) {
            (Some(a), Some(b)) if a.checked_add(b).is_some() => Ok(Self(Repr::Integer(a + b))),
            _ => Self::from_f64(self.as_f64() + other.as_f64()),
        }
    }

    /// The order of the SDKs and of the hash: by nearest double. Two integers above 2^53 may be equal here and yet
    /// differ; ties of children go to their keys.
    pub fn order(self, other: Self) -> Ordering {
        self.as_f64().total_cmp(&other.as_f64())
    }
}

impl From<i64> for Number {
    fn from(integer: i64) -> Self {
        Self(Repr::Integer(integer))
    }
}

/// As JavaScript spells it, but integers within 64 bits in full: `1`, `-2.5`, `1e+21`, `9007199254740993`.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Integer(integer) => write!(f, "{integer}"),
            Repr::Double(double) => f.write_str(ryu_js::Buffer::new().format_finite(double)),
        }
    }
}

/// A string value: at most 10 485 760 bytes of UTF-8. Inline up to 23 bytes, shared above when cloned.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text(SmolStr);

/// A string value that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a string value has {bytes} bytes of UTF-8; at most {TEXT_BYTES_MAX} are allowed")]
pub struct TextTooLong {
    /// Its length in bytes of UTF-8.
    pub bytes: usize,
}

impl Text {
    /// Checks the length.
    ///
    /// # Errors
    /// [`TextTooLong`] above [`TEXT_BYTES_MAX`].
    pub fn new(text: &str) -> Result<Self, TextTooLong> {
        if TEXT_BYTES_MAX < text.len() {
            return Err(TextTooLong { bytes: text.len() });
        }
        Ok(Self(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ASCII control character (0-31, 127) and its offset in bytes. Firebase's documentation forbids them
    /// in values, the service and its SDKs pass them; who wants the documented rule asks here.
    pub fn first_control(&self) -> Option<(usize, char)> {
        let at = self.0.bytes().position(|byte| byte.is_ascii_control())?;
        Some((at, char::from(self.0.as_bytes()[at])))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// What orders children before their keys do: nothing, a number or a text (wire reference 7.1). "None" is `Option`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Priority {
    /// Before every text.
    Number(Number),
    /// By UTF-16 code unit.
    Text(Text),
}

impl Priority {
    /// The number, if it is one.
    pub const fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }
}

impl From<Priority> for Scalar {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Number(number) => Self::Number(number),
            Priority::Text(text) => Self::Text(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form_and_are_spelled_as_in_javascript() {
        for (report, value, integer, shown) in [
            ("", 0.0, Some(0), "0"),
            ("R033", -0.0, Some(0), "0"),
            ("", 1.0, Some(1), "1"),
            ("", -2.5, None, "-2.5"),
            ("R033", 1e21, None, "1e+21"),
            ("", 1e20, None, "100000000000000000000"),
            ("R033", 1e-7, None, "1e-7"),
            ("R033", 0.1 + 0.2, None, "0.30000000000000004"),
            ("R033", 1e308, None, "1e+308"),
            ("R033", 4_503_599_627_370_497.5, Some(4_503_599_627_370_498), "4503599627370498"),
            ("R033", 9_007_199_254_740_994.0, Some(9_007_199_254_740_994), "9007199254740994"),
            ("", -9_223_372_036_854_775_808.0, Some(i64::MIN), "-9223372036854775808"),
            ("", 9_223_372_036_854_775_808.0, None, "9223372036854776000"),
            ("", 5e-324, None, "5e-324"),
        ] {
            let number = Number::from_f64(value).unwrap();
            assert_eq!(
                (number.as_i64(), number.to_string().as_str()),
                (integer, shown),
                "{report} {value:e}"
            );
            assert_eq!(number.as_f64(), value);
            assert_eq!(number.to_string().parse(), Ok(value), "{report} {value:e}");
        }
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Number::from_f64(value), Err(NotFinite));
        }
    }

    #[test]
    fn sums_are_exact_while_they_can_be() {
        let double = |value| Number::from_f64(value).unwrap();
        for (report, a, b, sum) in [
            ("R035", Number::from(1), Number::from(-3), "-2"),
            ("", Number::from(9_007_199_254_740_992), Number::from(1), "9007199254740993"),
            ("", Number::from(i64::MAX), Number::from(1), "9223372036854776000"),
            ("", Number::from(i64::MIN), Number::from(-1), "-9223372036854775808"),
            ("", Number::from(i64::MAX), Number::from(i64::MIN), "-1"),
            ("", Number::from(1), double(0.5), "1.5"),
            ("", double(0.5), double(0.5), "1"),
            ("", double(1e300), Number::from(1), "1e+300"),
        ] {
            assert_eq!(a.plus(b).map(|sum| sum.to_string()).as_deref(), Ok(sum), "{report} {a} + {b}");
        }
        assert_eq!(double(1.7e308).plus(double(1.7e308)), Err(NotFinite));
    }

    #[test]
    fn a_text_holds_ten_megabytes_and_knows_its_control_characters() {
        let text = "x".repeat(TEXT_BYTES_MAX + 1);
        assert!(Text::new(&text[1..]).is_ok());
        assert_eq!(
            Text::new(&text).map_err(|error| error.to_string()),
            Err("a string value has 10485761 bytes of UTF-8; at most 10485760 are allowed".into())
        );
        for (text, control) in
            [("a\nb", Some((1, '\n'))), ("ä\u{7f}", Some((2, '\u{7f}'))), ("\u{80}\u{2028}", None)]
        {
            assert_eq!(Text::new(text).unwrap().first_control(), control, "{text:?}");
        }
    }
}
