//! What a credential proves, or why it proves nothing.

use hearth_engine::Identity;
use hearth_rules::Claim;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Who somebody is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proof {
    pub(crate) identity: Identity,
    /// What rules see as `auth`.
    pub(crate) auth: Arc<Value>,
    /// From when on it proves nothing any more, in milliseconds; nothing, if it always does.
    pub(crate) expires_ms: Option<i64>,
}

/// Why a credential proves nothing. Does not quote it, except for short parts that are no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CredentialError {
    /// Not a token.
    #[error("Could not parse auth token.")]
    Unreadable,
    /// A token of a kind that proves nothing of whoever has it.
    #[error("tokens of the type `{0}` do not say who somebody is")]
    Kind(String),
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
    /// A token that is signed in a way that nobody here signs, or not at all.
    #[error("Unsupported jwt algorithm: {0}")]
    Algorithm(String),
    /// A token that does not say with which key it is signed.
    #[error("Missing claim 'kid' in auth header.")]
    NoKeyId,
    /// A token that is signed with a key that its issuer does not have.
    #[error("Invalid claim 'kid' in auth header.")]
    UnknownKeyId,
    /// A token of somebody else, or a changed one.
    #[error("the signature of the token does not fit")]
    Signature,
    /// A token of an issuer that nobody has named.
    #[error("this server does not know the issuer of the token, `{0}`")]
    Issuer(String),
    /// A token for another server.
    #[error("the token is not for this server: its claim `aud` is not `{wanted}`")]
    Audience {
        /// What would do.
        wanted: String,
    },
    /// A token with which an app signs in, and gets another one that proves something.
    #[error(
        "this is a custom token, and an ID token is needed: an app gets one when it signs in with the custom token"
    )]
    Custom,
    /// A token that has proved something.
    #[error("Auth token is expired")]
    Expired,
    /// A claim that a token must have.
    #[error("the claim `{name}` of the token {problem}")]
    Claim {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A token that may be right: its issuer was not reached yet.
    #[error("the keys of the issuer of the token have not been fetched yet")]
    NoKeys,
}

impl CredentialError {
    /// Whether it is no fault of the credential, so that trying again may help.
    pub(crate) const fn may_pass(&self) -> bool {
        matches!(self, Self::NoKeys)
    }
}

impl Proof {
    /// Of an admin, for ever.
    pub(crate) fn admin() -> Self {
        Self { identity: Identity::Admin, auth: Arc::new(json!({})), expires_ms: None }
    }
}

/// Somebody with this `auth`, whoever that is.
///
/// # Errors
/// [`CredentialError::TooDeep`] if rules could not read it.
pub(crate) fn acting_as(auth: Map<String, Value>) -> Result<Identity, CredentialError> {
    let claim: Claim = serde_json::from_value(Value::Object(auth)).map_err(|_| CredentialError::TooDeep)?;
    Ok(Identity::User(Arc::new(claim)))
}
