//! Who asks (rest reference 6.1, 6.2, 6.5, 6.6). What is believed is the gate's to say.

use super::params::Params;
use super::refused::Refused;
use crate::auth::{CredentialError, Gate, acting_as};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use hearth_engine::Identity;
use serde_json::Value;

/// Whoever the header says, otherwise `access_token`, otherwise `auth`; nobody, if none is given.
///
/// # Errors
/// A credential that proves nothing, even where nobody would need one.
pub(super) fn identity_of(gate: &Gate, headers: &HeaderMap, params: &Params) -> Result<Identity, Refused> {
    let access_token = params.text("access_token")?;
    let auth = params.text("auth")?;
    let is_given = |token: &&str| !token.is_empty();
    let identity = match bearer(headers).or(access_token.as_deref()).filter(is_given) {
        Some(credential) => gate.identify_admin(credential).map_err(unproven)?.0,
        None => match auth.as_deref().filter(is_given) {
            Some(credential) => gate.identify(credential).map_err(unproven)?.0,
            None => Identity::nobody(),
        },
    };
    match (&identity, params.text("auth_variable_override")?) {
        (Identity::Admin, Some(auth)) => acting(&auth),
        // Who is no admin cannot act as somebody else.
        (Identity::Admin | Identity::User(_), _) => Ok(identity),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn acting(auth: &str) -> Result<Identity, Refused> {
    match serde_json::from_str(auth) {
        Ok(Value::Null) => Ok(Identity::nobody()),
        Ok(Value::Object(auth)) => acting_as(auth).map_err(unproven),
        Ok(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) | Err(_) => {
            Err(Refused::bad("auth_variable_override must be a JSON object or null"))
        }
    }
}

fn unproven(error: CredentialError) -> Refused {
    Refused::new(StatusCode::UNAUTHORIZED, error.to_string())
}
