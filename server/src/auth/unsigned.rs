//! What a developer's server believes: tokens that nobody has signed (wire reference 4.8, REST reference 6.6). Nothing
//! of this is reachable in production.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hearth_engine::Identity;
use hearth_rules::Claim;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Why a credential proves nothing. Does not quote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CredentialError {
    /// Not a token.
    #[error("Could not parse auth token.")]
    Unreadable,
    /// A token without a user.
    #[error("the token names no user: it has neither `sub` nor `user_id`")]
    Nobody,
    /// A token whose claims rules could not read.
    #[error("the claims of the token are nested too deeply")]
    TooDeep,
    /// One that would do, if it did not come from a page of somebody else.
    #[error("pages of other origins cannot use `owner` or unsigned tokens here")]
    Foreign,
    /// Not the admin's, and nothing else is believed.
    #[error("this server does not know the credential")]
    Unproven,
}

/// Who a token says to be, and what rules see as `auth`.
///
/// # Errors
/// [`CredentialError`] if it says nothing.
pub(super) fn of_development(token: &str) -> Result<(Identity, Value), CredentialError> {
    let claims = claims(token).ok_or(CredentialError::Unreadable)?;
    let uid = ["sub", "user_id"].into_iter().find_map(|name| claims.get(name)).and_then(Value::as_str);
    let uid = uid.ok_or(CredentialError::Nobody)?.to_owned();
    let provider = claims.get("firebase").and_then(|firebase| firebase.get("sign_in_provider"));
    let provider = provider.cloned().unwrap_or_else(|| json!("custom"));
    let auth = json!({"uid": uid, "provider": provider, "token": claims});
    let claim = serde_json::from_value(auth.clone()).map_err(|_| CredentialError::TooDeep)?;
    Ok((Identity::User(Arc::new(claim)), auth))
}

/// Somebody with this `auth`, whoever that is.
///
/// # Errors
/// [`CredentialError::TooDeep`] if rules could not read it.
pub(crate) fn acting_as(auth: Map<String, Value>) -> Result<Identity, CredentialError> {
    let claim: Claim = serde_json::from_value(Value::Object(auth)).map_err(|_| CredentialError::TooDeep)?;
    Ok(Identity::User(Arc::new(claim)))
}

fn claims(token: &str) -> Option<Map<String, Value>> {
    let mut parts = token.split('.');
    let (_header, payload) = (parts.next()?, parts.next()?);
    let payload = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&payload).ok()
}
