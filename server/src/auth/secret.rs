//! What makes somebody an admin.

use std::fmt;
use subtle::ConstantTimeEq;

/// Fewest characters of a secret that people choose: fewer can be tried one after the other.
pub(crate) const SECRET_CHARS_MIN: usize = 16;
/// Most characters: it travels in a header.
pub(crate) const SECRET_CHARS_MAX: usize = 1_024;

/// A credential that proves its bearer an admin. Never shown by accident.
#[derive(Clone)]
pub(crate) struct Secret(String);

/// Why a text cannot be an admin credential. Does not quote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SecretError {
    /// Too easy to find, or no header takes it.
    #[error(
        "the admin credential has {chars} characters: {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} are allowed"
    )]
    Length {
        /// How many there are.
        chars: usize,
    },
    /// No header takes it.
    #[error("the admin credential has a space, a control character or one outside of ASCII in it")]
    Forbidden,
}

impl Secret {
    /// Takes a text that somebody chose; white space around it, as editors leave it, does not count.
    ///
    /// # Errors
    /// [`SecretError`] says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        let chars = text.chars().count();
        if !(SECRET_CHARS_MIN..=SECRET_CHARS_MAX).contains(&chars) {
            return Err(SecretError::Length { chars });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SecretError::Forbidden);
        }
        Ok(Self(text.into()))
    }

    /// One that nobody can guess.
    ///
    /// # Errors
    /// The system's own, if it has no random bytes to give.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        crate::random::token().map(Self)
    }

    /// Whether somebody has it. Takes as long whichever characters differ; only the length shows.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }

    /// The text, to be shown on purpose.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_long_and_fits_into_a_header() {
        let length = |chars| Some(SecretError::Length { chars });
        for (text, expected) in [
            ("0123456789abcdef", None),
            ("0123456789abcdef\n", None),
            ("0123456789abcde", length(15)),
            (" \n", length(0)),
            (&"a".repeat(SECRET_CHARS_MAX), None),
            (&"a".repeat(SECRET_CHARS_MAX + 1), length(SECRET_CHARS_MAX + 1)),
            ("0123456789 abcdef", Some(SecretError::Forbidden)),
            ("0123456789äbcdef", Some(SecretError::Forbidden)),
        ] {
            assert_eq!(Secret::parse(text).err(), expected, "{text}");
        }
    }

    #[test]
    fn only_the_same_text_is_the_secret() {
        let secret = Secret::parse("0123456789abcdef").unwrap();
        for (text, expected) in [
            ("0123456789abcdef", true),
            ("0123456789abcdeF", false),
            ("0123456789abcde", false),
            ("0123456789abcdef0", false),
            ("", false),
        ] {
            assert_eq!(secret.is(text), expected, "{text}");
        }
        assert!(!format!("{secret:?}").contains("0123"));
    }
}
