//! Who makes tokens that are believed, and what rules see of them.

use std::fmt;

use super::believed::Signed;
use super::claims::Claims;
use super::jws::Jws;
use super::{AHEAD_S_MAX, time_ms};
use crate::auth::keys::{KeySet, KeySource};
use crate::auth::{CredentialError, Proof};
use hearth_engine::Identity;
use jsonwebtoken::Algorithm;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What Firebase Authentication calls itself, before the name of a project (REST reference 6.3).
pub(crate) const FIREBASE_ISSUER: &str = "https://securetoken.google.com/";
/// Longest uid of Firebase Authentication, in UTF-16 units as the service counts (REST reference 6.3).
const FIREBASE_UID_CHARS_MAX: usize = 128;
/// The same of others (`OpenID` Connect Core 1.0, 2).
const UID_CHARS_MAX: usize = 255;

/// Somebody whose tokens are believed.
#[derive(Debug)]
pub(crate) struct Issuer {
    /// Its claim `iss`.
    name: String,
    audience: String,
    keys: Arc<KeySource>,
    /// The claim that is `auth.uid`.
    uid: String,
    /// Further members of `auth`, and the claims that they are.
    members: BTreeMap<String, String>,
    is_firebase: bool,
}

/// For people.
impl fmt::Display for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, audience, is_firebase, .. } = self;
        if *is_firebase {
            write!(f, "the Firebase project {audience}")
        } else {
            write!(f, "{name} for {audience}")
        }
    }
}

impl Issuer {
    /// Firebase Authentication, for one project.
    pub(crate) fn firebase(project: &str, keys: Arc<KeySource>) -> Self {
        Self {
            name: format!("{FIREBASE_ISSUER}{project}"),
            audience: project.into(),
            keys,
            uid: "sub".into(),
            members: BTreeMap::new(),
            is_firebase: true,
        }
    }

    /// Another one. `uid` is the claim that becomes `auth.uid`, `members` are further members of `auth` with their claims.
    pub(crate) const fn other(
        name: String,
        audience: String,
        keys: Arc<KeySource>,
        uid: String,
        members: BTreeMap<String, String>,
    ) -> Self {
        Self { name, audience, keys, uid, members, is_firebase: false }
    }

    const fn uid_chars_max(&self) -> usize {
        if self.is_firebase { FIREBASE_UID_CHARS_MAX } else { UID_CHARS_MAX }
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Whether a token is for this server. `aud` is one text, or several.
    pub(super) fn is_for(&self, claims: &Claims) -> bool {
        match claims.get("aud") {
            Some(Value::String(audience)) => *audience == self.audience,
            Some(Value::Array(audiences)) => audiences.iter().any(|each| *each == self.audience),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => false,
        }
    }

    pub(super) fn audience(&self) -> &str {
        &self.audience
    }

    /// Who a token names, if it is signed with a key of this issuer and holds now.
    pub(super) async fn judge(
        &self,
        jws: &Jws<'_>,
        algorithm: Algorithm,
        now_ms: i64,
    ) -> Result<Signed, CredentialError> {
        let keys = match self.keys_of(jws, algorithm) {
            // They may come any moment, and the issuer may have a new one.
            Err(CredentialError::NoKeys | CredentialError::UnknownKeyId) => {
                self.keys.look_again().await;
                self.keys_of(jws, algorithm)
            }
            judged => judged,
        }?;
        let expires_ms = check_times(&jws.claims, now_ms)?;
        let auth = self.auth(&jws.claims)?;
        let claim = serde_json::from_value(auth.clone()).map_err(|_| CredentialError::TooDeep)?;
        let identity = Identity::User(Arc::new(claim));
        let proof = Proof { identity, auth: Arc::new(auth), expires_ms: Some(expires_ms) };
        Ok(Signed { proof, begins_ms: begins_ms(&jws.claims), source: self.keys.clone(), keys })
    }

    /// The keys that are known, if one of them has signed it.
    fn keys_of(&self, jws: &Jws<'_>, algorithm: Algorithm) -> Result<Arc<KeySet>, CredentialError> {
        let keys = self.keys.current().ok_or(CredentialError::NoKeys)?;
        let found = keys.find(algorithm, jws.key_id.as_deref())?;
        let is_signed = found.iter().any(|key| jws.is_signed_by(&key.key, key.algorithm));
        if is_signed { Ok(keys) } else { Err(CredentialError::Signature) }
    }

    /// What rules see as `auth`.
    fn auth(&self, claims: &Claims) -> Result<Value, CredentialError> {
        let wrong = |problem| CredentialError::Claim { name: self.uid.clone(), problem };
        let uid = match claims.get(&self.uid) {
            None => return Err(wrong("is missing")),
            Some(Value::String(uid)) if uid.is_empty() => return Err(wrong("is empty")),
            Some(Value::String(uid)) if self.uid_chars_max() < uid.encode_utf16().count() => {
                return Err(wrong(if self.is_firebase {
                    "is longer than the 128 characters of a user id"
                } else {
                    "is longer than the 255 characters of a user id"
                }));
            }
            Some(Value::String(uid)) => uid,
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                return Err(wrong("is not text"));
            }
        };
        let provider = if self.is_firebase {
            let provider = claims.get("firebase").and_then(|firebase| firebase.get("sign_in_provider"));
            provider.cloned().unwrap_or_else(|| json!("custom"))
        } else {
            json!(self.name)
        };
        let members = self
            .members
            .iter()
            .filter_map(|(member, claim)| claims.get(claim).map(|value| (member.clone(), value.clone())));
        let mut auth: Map<String, Value> = members.collect();
        auth.insert("uid".into(), json!(uid));
        auth.insert("provider".into(), provider);
        auth.insert("token".into(), Value::Object(claims.clone()));
        Ok(Value::Object(auth))
    }
}

/// Until when a token holds, if it holds now. What says nothing of its end or its beginning is not believed.
fn check_times(claims: &Claims, now_ms: i64) -> Result<i64, CredentialError> {
    let wrong = |name: &str, problem| CredentialError::Claim { name: name.into(), problem };
    let Some(expires_ms) = time_ms(claims, "exp") else {
        return Err(wrong("exp", "is missing, or not a time in seconds"));
    };
    if expires_ms <= now_ms {
        return Err(CredentialError::Expired);
    }
    if time_ms(claims, "iat").is_none() {
        return Err(wrong("iat", "is missing, or not a time in seconds"));
    }
    check_begun(claims, now_ms)?;
    Ok(expires_ms)
}

/// The claims that say when a token begins to hold.
const BEGINNINGS: [&str; 3] = ["iat", "nbf", "auth_time"];

/// The latest time at which a token says to begin.
fn begins_ms(claims: &Claims) -> i64 {
    BEGINNINGS.into_iter().filter_map(|name| time_ms(claims, name)).max().unwrap_or(i64::MIN)
}

/// Whether a token has begun to hold, as far as it says when.
pub(super) fn check_begun(claims: &Claims, now_ms: i64) -> Result<(), CredentialError> {
    for name in BEGINNINGS {
        let wrong = |problem| CredentialError::Claim { name: name.into(), problem };
        match (claims.get(name), time_ms(claims, name)) {
            (None, _) => {}
            (Some(_), None) => return Err(wrong("is not a time in seconds")),
            (Some(_), Some(time)) if now_ms.saturating_add(AHEAD_S_MAX * 1000) < time => {
                return Err(wrong("is in the future"));
            }
            (Some(_), Some(_)) => {}
        }
    }
    Ok(())
}
