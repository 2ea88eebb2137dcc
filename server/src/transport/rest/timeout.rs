//! `timeout` (rest reference 3): how long a read may take.
//!
//! Why it is only checked: a read here takes its snapshot at once and waits for nobody, so there is nothing to cut short.

use super::params::Params;
use super::refused::Refused;

/// The longest, and what holds without the parameter.
const TIMEOUT_MS_MAX: f64 = 15.0 * 60.0 * 1000.0;

/// Refuses what is no time, or too long a one.
pub(super) fn check(params: &Params) -> Result<(), Refused> {
    match params.text("timeout")? {
        Some(text) if !is_timeout(&text) => {
            Err(Refused::bad("timeout must be a positive number and a unit (ms, s or min), at most 15min"))
        }
        Some(_) | None => Ok(()),
    }
}

fn is_timeout(text: &str) -> bool {
    let number = |unit: &str, unit_ms: f64| {
        let number = text.strip_suffix(unit)?.trim_end();
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        number.parse::<f64>().ok().filter(|_| is_plain).map(|number| number * unit_ms)
    };
    let ms = number("ms", 1.0).or_else(|| number("min", 60_000.0)).or_else(|| number("s", 1_000.0));
    ms.is_some_and(|ms| 0.0 < ms && ms <= TIMEOUT_MS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_a_number_and_a_unit() {
        for (text, expected) in [
            ("10s", true),
            ("1ms", true),
            ("0.5min", true),
            ("15min", true),
            ("900s", true),
            ("900.001s", false),
            ("16min", false),
            ("0s", false),
            ("-1s", false),
            ("1e2s", false),
            ("10", false),
            ("s", false),
            ("infs", false),
            ("", false),
        ] {
            assert_eq!(is_timeout(text), expected, "{text}");
        }
    }
}
