//! What a developer's server believes: tokens that nobody has signed (wire reference 4.8, REST reference 6.6). Nothing
//! of this is reachable in production.

use super::proof::{CredentialError, Proof};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hearth_engine::Identity;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Who a token says to be, and what rules see as `auth`.
///
/// # Errors
/// [`CredentialError`] if it says nothing.
pub(super) fn of_development(token: &str) -> Result<Proof, CredentialError> {
    let claims = claims(token).ok_or(CredentialError::Unreadable)?;
    let uid = ["sub", "user_id"].into_iter().find_map(|name| claims.get(name)).and_then(Value::as_str);
    let uid = uid.ok_or(CredentialError::Nobody)?.to_owned();
    let provider = claims.get("firebase").and_then(|firebase| firebase.get("sign_in_provider"));
    let provider = provider.cloned().unwrap_or_else(|| json!("custom"));
    let auth = json!({"uid": uid, "provider": provider, "token": claims});
    let claim = serde_json::from_value(auth.clone()).map_err(|_| CredentialError::TooDeep)?;
    // Those of the SDK for tests are old from the beginning (REST reference 6.6).
    Ok(Proof { identity: Identity::User(Arc::new(claim)), auth: Arc::new(auth), expires_ms: None })
}

fn claims(token: &str) -> Option<Map<String, Value>> {
    let mut parts = token.split('.');
    let (_header, payload) = (parts.next()?, parts.next()?);
    let payload = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&payload).ok()
}
