//! A token taken apart (RFC 7515, 7519), and its signature.

use super::TOKEN_BYTES_MAX;
use super::claims::{self, Claims};
use crate::auth::CredentialError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hearth_tree::Excerpt;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;

/// What a token may call itself, in small letters; most call themselves `JWT`, or nothing. Other kinds are for something
/// else, as those that tell that somebody has signed out (RFC 8725, 3.11).
const KINDS: [&str; 2] = ["jwt", "at+jwt"];

/// A token whose signature is still to be checked.
pub(super) struct Jws<'t> {
    /// The name of its algorithm.
    pub(super) algorithm: String,
    /// The name of the key that has signed it.
    pub(super) key_id: Option<String>,
    pub(super) claims: Claims,
    message: &'t str,
    signature: &'t str,
}

impl<'t> Jws<'t> {
    /// # Errors
    /// [`CredentialError::Unreadable`] if it is no token, and [`CredentialError::Kind`] if it is one of another kind.
    pub(super) fn parse(token: &'t str) -> Result<Self, CredentialError> {
        let Parts { mut header, claims, message, signature } =
            Parts::of(token).ok_or(CredentialError::Unreadable)?;
        // Extensions that a reader must know; we know none.
        if header.contains_key("crit") {
            return Err(CredentialError::Unreadable);
        }
        let mut text = |name| match header.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Err(CredentialError::Unreadable)
            }
        };
        if let Some(kind) = text("typ")?.filter(|kind| !is_known(kind)) {
            return Err(CredentialError::Kind(Excerpt(&kind).to_string()));
        }
        let algorithm = text("alg")?.ok_or(CredentialError::Unreadable)?;
        let key_id = text("kid")?;
        Ok(Self { algorithm, key_id, claims, message, signature })
    }

    /// Whether who has the key has signed it.
    pub(super) fn is_signed_by(&self, key: &DecodingKey, algorithm: Algorithm) -> bool {
        jsonwebtoken::crypto::verify(self.signature, self.message.as_bytes(), key, algorithm).unwrap_or(false)
    }
}

/// What a token consists of.
struct Parts<'t> {
    header: Claims,
    claims: Claims,
    /// What is signed: both, as they came.
    message: &'t str,
    signature: &'t str,
}

impl<'t> Parts<'t> {
    /// Nothing, if it is no token, or longer than one.
    fn of(token: &'t str) -> Option<Self> {
        if TOKEN_BYTES_MAX < token.len() {
            return None;
        }
        let (message, signature) = token.rsplit_once('.')?;
        let (header, claims) = message.split_once('.')?;
        let read = |part: &str| claims::read(&URL_SAFE_NO_PAD.decode(part).ok()?);
        Some(Self { header: read(header)?, claims: read(claims)?, message, signature })
    }
}

fn is_known(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    KINDS.contains(&kind.strip_prefix("application/").unwrap_or(&kind))
}
