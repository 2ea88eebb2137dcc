//! How much is logged: `HEARTH_LOG`.
//!
//! Why its levels are looked at before the filter is made: to the filter any other word is the name of a part of the
//! program, of which everything is logged, and so a word that is misspelt would change nothing without a word.

use std::env;
use tracing_subscriber::EnvFilter;

const VARIABLE: &str = "HEARTH_LOG";
/// If nothing is said.
const DEFAULT: &str = "warn";
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// It says something that means nothing.
#[derive(Debug, thiserror::Error)]
#[error(
    "the variable `{VARIABLE}` says `{found}`: error, warn, info, debug, trace and off are allowed, for a part of the program as `hearth=debug`"
)]
pub struct VerbosityError {
    found: String,
}

/// What the variable says.
///
/// # Errors
/// [`VerbosityError`], if it means nothing.
pub fn verbosity() -> Result<EnvFilter, VerbosityError> {
    parse(&env::var_os(VARIABLE).unwrap_or_default().to_string_lossy())
}

fn parse(text: &str) -> Result<EnvFilter, VerbosityError> {
    let text = if text.trim().is_empty() { DEFAULT } else { text };
    let is_known = |level: &str| LEVELS.iter().any(|known| level.trim().eq_ignore_ascii_case(known));
    let is_sound = |directive: &str| match directive.rsplit_once('=') {
        Some((part, level)) => !part.is_empty() && is_known(level),
        None => is_known(directive),
    };
    let wrong = || VerbosityError { found: text.into() };
    if !text.split(',').all(is_sound) {
        return Err(wrong());
    }
    EnvFilter::try_new(text).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_nothing_is_refused() {
        for (text, is_allowed) in [
            ("", true),
            (" ", true),
            ("warn", true),
            ("INFO", true),
            ("off", true),
            ("warn,hearth=debug", true),
            ("hearth::log=trace", true),
            ("loud", false),
            ("warn,loud", false),
            ("hearth=loud", false),
            ("=debug", false),
            ("warn,", false),
            ("2", false),
        ] {
            assert_eq!(parse(text).is_ok(), is_allowed, "{text}");
        }
        let said = parse("loud").unwrap_err().to_string();
        assert!(said.starts_with("the variable `HEARTH_LOG` says `loud`: error, warn, info"), "{said}");
    }
}
