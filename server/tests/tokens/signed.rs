//! Tokens, and who signs them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const PROJECT: &str = "hearth-tests";
pub(crate) const ISSUER: &str = "https://securetoken.google.com/hearth-tests";
pub(crate) const SECRET: &str = "a-secret-of-forty-characters-or-even-more";
pub(crate) const PRIVATE: &str = include_str!("keys/issuer.private.pem");
pub(crate) const PUBLIC: &str = include_str!("keys/issuer.public.pem");
pub(crate) const CERTIFICATE: &str = include_str!("keys/issuer.certificate.pem");
/// Of somebody whom nobody believes.
pub(crate) const OTHER_PRIVATE: &str = include_str!("keys/other.private.pem");
pub(crate) const OTHER_PUBLIC: &str = include_str!("keys/other.public.pem");

pub(crate) fn now_s() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

/// The claims of an ID token that is right for an hour, with changes: null takes a claim away.
pub(crate) fn claims(changes: &Value) -> Value {
    let now = now_s();
    let mut claims = json!({
        "iss": ISSUER, "aud": PROJECT, "sub": "kim", "user_id": "kim",
        "iat": now - 10, "auth_time": now - 10, "exp": now + 3600,
        "firebase": {"sign_in_provider": "password", "identities": {}},
    });
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

/// A token with this header, changed, and these claims.
pub(crate) fn sign(algorithm: Algorithm, id: Option<&str>, claims: &Value, key: &EncodingKey) -> String {
    let mut header = Header::new(algorithm);
    header.kid = id.map(Into::into);
    jsonwebtoken::encode(&header, claims, key).unwrap()
}

/// One of the issuer, by its key `k1`.
pub(crate) fn id_token(changes: &Value) -> String {
    let key = EncodingKey::from_rsa_pem(PRIVATE.as_bytes()).unwrap();
    sign(Algorithm::RS256, Some("k1"), &claims(changes), &key)
}

/// One that is signed with the secret.
pub(crate) fn legacy(claims: &Value) -> String {
    sign(Algorithm::HS256, None, claims, &EncodingKey::from_secret(SECRET.as_bytes()).unwrap())
}

/// A token with any header at all, signed by the issuer.
pub(crate) fn with_header(header: &Value, claims: &Value) -> String {
    signed(PRIVATE, &header.to_string(), &claims.to_string())
}

/// A token with these texts, signed with this key.
pub(crate) fn signed(private: &str, header: &str, claims: &str) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let key = EncodingKey::from_rsa_pem(private.as_bytes()).unwrap();
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::RS256).unwrap();
    format!("{message}.{signature}")
}
