//! Who asks (rest reference 6.1, 6.2, 6.5, 6.6). What is believed is the gate's to say.

use super::params::Params;
use super::refused::Refused;
use crate::auth::{Gate, acting_as};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use hearth_engine::Identity;
use serde_json::Value;

/// Who asks, and until when that is proved.
#[derive(Clone, Debug)]
pub(super) struct Asking {
    pub(super) identity: Identity,
    /// In milliseconds; nothing, if it always is.
    pub(super) expires_ms: Option<i64>,
    /// Whether the credential is an admin's, whoever they act as.
    pub(super) by_admin: bool,
}

/// Whoever the header says, otherwise `access_token`, otherwise `auth`; nobody, if none is given.
///
/// # Errors
/// A credential that proves nothing, even where nobody would need one.
pub(super) async fn identify(gate: &Gate, headers: &HeaderMap, params: &Params) -> Result<Asking, Refused> {
    let access_token = params.text("access_token")?;
    let auth = params.text("auth")?;
    let is_given = |token: &&str| !token.is_empty();
    let refused = |error| Refused::unproven(&error);
    let proof = match bearer(headers).or(access_token.as_deref()).filter(is_given) {
        Some(credential) => Some(gate.identify_admin(credential).await.map_err(refused)?),
        None => match auth.as_deref().filter(is_given) {
            Some(credential) => Some(gate.identify(credential).await.map_err(refused)?),
            None => None,
        },
    };
    let expires_ms = proof.as_ref().and_then(|proof| proof.expires_ms);
    let identity = proof.map_or_else(Identity::nobody, |proof| proof.identity);
    let by_admin = identity == Identity::Admin;
    let identity = match (&identity, params.text("auth_variable_override")?) {
        (Identity::Admin, Some(auth)) => acting(&auth)?,
        // Who is no admin cannot act as somebody else.
        (Identity::Admin | Identity::User(_), _) => identity,
    };
    Ok(Asking { identity, expires_ms, by_admin })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn acting(auth: &str) -> Result<Identity, Refused> {
    match serde_json::from_str(auth) {
        Ok(Value::Null) => Ok(Identity::nobody()),
        Ok(Value::Object(auth)) => acting_as(auth).map_err(|error| Refused::unproven(&error)),
        Ok(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) | Err(_) => {
            Err(Refused::bad("auth_variable_override must be a JSON object or null"))
        }
    }
}
