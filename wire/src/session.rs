//! The name of one connection's session.

use hearth_tree::Excerpt;
use std::fmt;

/// Most characters of a session id.
pub const SESSION_ID_CHARS_MAX: usize = 128;

/// A session id: 1 to 128 of the characters `A-Z a-z 0-9 . _ ~ -`. Clients put it into URLs without escaping it
/// (wire reference 1.1). Who knows it can end the session, so it must be unguessable.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SessionId(String);

/// A text that is not a session id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is not a session id: 1 to {SESSION_ID_CHARS_MAX} of A-Z a-z 0-9 . _ ~ - are allowed",
    Excerpt(.text)
)]
pub struct SessionIdError {
    /// The text.
    pub text: String,
}

impl SessionId {
    /// Checks the characters.
    ///
    /// # Errors
    /// [`SessionIdError`] if there are none, too many, or others.
    pub fn parse(text: &str) -> Result<Self, SessionIdError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
        if (1..=SESSION_ID_CHARS_MAX).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(SessionIdError { text: text.into() })
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Shows nothing: it ends up in logs.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(…)")
    }
}
