//! What nobody may guess.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hearth_wire::SessionId;

/// 192 random bits, 32 characters that need no escaping in a URL.
///
/// # Errors
/// The system's own, if it has no random bytes to give.
pub(crate) fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// A session's name (wire reference 1.1).
///
/// # Errors
/// The system's own, if it has no random bytes to give.
pub(crate) fn session_name() -> Result<SessionId, getrandom::Error> {
    Ok(SessionId::parse(&token()?).expect("URL-safe Base64 has only characters of session ids"))
}

/// 128 random bits.
///
/// # Errors
/// The system's own, if it has no random bytes to give.
pub(crate) fn random_number() -> Result<u128, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_le_bytes(bytes))
}
