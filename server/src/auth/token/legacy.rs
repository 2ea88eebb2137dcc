//! Tokens signed with a secret that their makers share with the server (REST reference 6.4): services and devices make
//! them without any account, and `hearth token` does.

use super::claims::Claims;
use super::issuer::check_begun;
use super::jws::Jws;
use super::time_ms;
use crate::auth::{CredentialError, Proof, acting_as};
use hearth_engine::Identity;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// How tokens are signed with a secret.
pub(super) const ALGORITHM: Algorithm = Algorithm::HS256;
/// Fewest bytes of a secret: as many as the digest has (RFC 7518, 3.2).
pub(crate) const SECRET_BYTES_MIN: usize = 32;
/// Most bytes.
pub(crate) const SECRET_BYTES_MAX: usize = 1_024;
/// Longest uid (REST reference 6.4).
pub(crate) const UID_CHARS_MAX: usize = 256;

/// With it tokens are signed and checked. Never shown by accident.
#[derive(Clone)]
pub(crate) struct LegacySecret(String);

/// Why a text cannot sign tokens. Does not quote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secret for tokens has {bytes} bytes: {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} are allowed")]
pub struct LegacySecretError {
    /// How many there are.
    pub bytes: usize,
}

/// What a token is to say.
#[derive(Debug)]
pub(crate) struct Minted {
    /// What rules see as `auth`.
    pub(crate) auth: Map<String, Value>,
    pub(crate) is_admin: bool,
    pub(crate) issued_s: i64,
    pub(crate) expires_s: i64,
}

impl LegacySecret {
    /// Takes a text that somebody chose; white space around it, as editors leave it, does not count.
    ///
    /// # Errors
    /// [`LegacySecretError`], if it is too short to keep a secret.
    pub(crate) fn parse(text: &str) -> Result<Self, LegacySecretError> {
        let text = text.trim();
        if (SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&text.len()) {
            Ok(Self(text.into()))
        } else {
            Err(LegacySecretError { bytes: text.len() })
        }
    }

    /// A token that says this.
    ///
    /// # Errors
    /// Those of signing.
    pub(crate) fn mint(&self, minted: Minted) -> Result<String, jsonwebtoken::errors::Error> {
        let Minted { auth, is_admin, issued_s, expires_s } = minted;
        let mut claims = json!({"v": 0, "iat": issued_s, "exp": expires_s, "d": auth});
        if is_admin {
            claims["admin"] = Value::Bool(true);
        }
        jsonwebtoken::encode(&Header::new(ALGORITHM), &claims, &EncodingKey::from_secret(self.0.as_bytes())?)
    }

    /// Who a token names, if it is signed with this secret and holds now.
    pub(super) fn judge(&self, jws: &Jws<'_>, now_ms: i64) -> Result<Proof, CredentialError> {
        let is_signed =
            DecodingKey::from_secret(self.0.as_bytes()).is_ok_and(|key| jws.is_signed_by(&key, ALGORITHM));
        if !is_signed {
            return Err(CredentialError::Signature);
        }
        let wrong = |name: &str, problem| CredentialError::Claim { name: name.into(), problem };
        let claims = &jws.claims;
        if claims.get("v").and_then(Value::as_f64) != Some(0.0) {
            return Err(wrong("v", "is not 0, the version of tokens that are signed with a secret"));
        }
        let expires_ms = match (claims.get("exp"), time_ms(claims, "exp")) {
            (None, _) => None,
            (Some(_), None) => return Err(wrong("exp", "is not a time in seconds")),
            (Some(_), Some(expires)) if expires <= now_ms => return Err(CredentialError::Expired),
            (Some(_), Some(expires)) => Some(expires),
        };
        check_begun(claims, now_ms)?;
        // It would ask for writes that are not made, and be told that they are.
        if is_set(claims, "simulate") {
            return Err(wrong("simulate", "is not supported here"));
        }
        let auth = auth_of(claims)?;
        let identity = if is_set(claims, "admin") { Identity::Admin } else { acting_as(auth.clone())? };
        Ok(Proof { identity, auth: Arc::new(Value::Object(auth)), expires_ms })
    }
}

fn is_set(claims: &Claims, name: &str) -> bool {
    claims.get(name) == Some(&Value::Bool(true))
}

/// The claim `d`. An admin's token may have none.
fn auth_of(claims: &Claims) -> Result<Map<String, Value>, CredentialError> {
    let wrong = |name: &str, problem| CredentialError::Claim { name: name.into(), problem };
    let auth = match claims.get("d") {
        Some(Value::Object(auth)) => auth.clone(),
        None | Some(Value::Null) if is_set(claims, "admin") => Map::new(),
        None | Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            return Err(wrong("d", "is not an object: it is what rules see as `auth`"));
        }
    };
    match auth.get("uid") {
        Some(Value::String(uid)) if UID_CHARS_MAX < uid.encode_utf16().count() => {
            Err(wrong("d.uid", "is longer than the 256 characters of a user id"))
        }
        Some(Value::String(_)) | None => Ok(auth),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(wrong("d.uid", "is not text"))
        }
    }
}

impl fmt::Debug for LegacySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LegacySecret(…)")
    }
}
