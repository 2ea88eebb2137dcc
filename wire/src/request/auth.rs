//! Who the client is (wire reference 4.8, 4.9).

use super::error::RequestError;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;

/// `auth` and `gauth`: proves who the client is. What follows on the connection waits for the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auth {
    /// The proof.
    pub credential: Credential,
    /// What it is said to be. JavaScript decides by its looks, so that an unusual token may come as the other.
    pub kind: CredentialKind,
    /// Whom an admin acts as.
    pub acting: ActingAs,
}

/// What a credential is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// `auth`: a token of a user.
    Token,
    /// `gauth`: an access token, a legacy secret, or `owner`.
    Admin,
}

/// Whom an admin acts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActingAs {
    /// Itself: rules do not apply.
    Itself,
    /// Nobody: rules apply.
    Nobody,
    /// Whoever has this `auth`: rules apply.
    Other(Map<String, Value>),
}

/// A token or secret. Never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential(String);

impl Credential {
    /// A credential of this text.
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(…)")
    }
}

/// `appcheck`: proves which app the client is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct AppCheck {
    /// The token.
    pub token: Credential,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct AuthFields {
    cred: Credential,
    #[serde(default)]
    noauth: bool,
    #[serde(default, deserialize_with = "present")]
    authvar: Option<Option<Map<String, Value>>>,
}

/// A field that is there, even if it is null: `null` is nobody, while no field at all would be the admin.
fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

impl Auth {
    pub(super) fn of(fields: AuthFields, kind: CredentialKind) -> Result<Self, RequestError> {
        let acting = match (fields.noauth, fields.authvar) {
            (false, None) => ActingAs::Itself,
            (true, None) | (_, Some(None)) => ActingAs::Nobody,
            (false, Some(Some(auth))) => ActingAs::Other(auth),
            (true, Some(Some(_))) => return Err(RequestError::ActingTwice),
        };
        Ok(Self { credential: fields.cred, kind, acting })
    }
}

impl Serialize for Auth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            cred: &'a Credential,
            #[serde(skip_serializing_if = "Option::is_none")]
            noauth: Option<bool>,
            #[serde(skip_serializing_if = "Option::is_none")]
            authvar: Option<&'a Map<String, Value>>,
        }
        let (noauth, authvar) = match &self.acting {
            ActingAs::Itself => (None, None),
            ActingAs::Nobody => (Some(true), None),
            ActingAs::Other(auth) => (None, Some(auth)),
        };
        Fields { cred: &self.credential, noauth, authvar }.serialize(serializer)
    }
}
