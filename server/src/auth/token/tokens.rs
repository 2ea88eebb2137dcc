//! All that is believed of signed tokens.

use super::believed::Believed;
use super::issuer::Issuer;
use super::jws::Jws;
use super::legacy::{self, LegacySecret};
use crate::auth::keys::ALGORITHMS;
use crate::auth::{CredentialError, Proof};
use hearth_tree::Excerpt;
use jsonwebtoken::Algorithm;
use serde_json::Value;
use std::str::FromStr;

/// The audience of a token with which a user could sign in, and which proves nothing yet (REST reference 6.3).
const CUSTOM: &str =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit";

/// Whose tokens are believed.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) issuers: Vec<Issuer>,
    /// Those of services and devices are signed with one of these.
    pub(crate) secrets: Vec<LegacySecret>,
    /// Those of issuers; one that is signed with a secret is checked as fast as it is found.
    believed: Believed,
}

impl Tokens {
    /// Whether nobody's are believed.
    pub(crate) const fn is_empty(&self) -> bool {
        self.issuers.is_empty() && self.secrets.is_empty()
    }

    /// Whose are believed, for people.
    pub(crate) fn names(&self) -> Vec<String> {
        let issuers = self.issuers.iter().map(Issuer::to_string);
        let own = match self.secrets.len() {
            0 => None,
            1 => Some("a secret of its own".into()),
            secrets => Some(format!("{secrets} secrets of its own")),
        };
        issuers.chain(own).collect()
    }

    /// Who a token proves its bearer to be. May wait some seconds where an issuer has a new key.
    ///
    /// # Errors
    /// [`CredentialError`] says why it proves nothing.
    pub(crate) async fn judge(&self, token: &str, now_ms: i64) -> Result<Proof, CredentialError> {
        if let Some(proof) = self.believed.find(token, now_ms) {
            return Ok(proof);
        }
        let jws = Jws::parse(token)?;
        match Algorithm::from_str(&jws.algorithm) {
            Ok(legacy::ALGORITHM) if !self.secrets.is_empty() => {
                let mut judged = Err(CredentialError::Signature);
                for secret in &self.secrets {
                    judged = secret.judge(&jws, now_ms);
                    if judged != Err(CredentialError::Signature) {
                        break;
                    }
                }
                judged
            }
            Ok(algorithm) if !self.issuers.is_empty() && ALGORITHMS.contains(&algorithm) => {
                let signed = self.issuer_of(&jws)?.judge(&jws, algorithm, now_ms).await?;
                self.believed.keep(token, signed.clone());
                Ok(signed.proof)
            }
            Ok(_) | Err(_) => Err(CredentialError::Algorithm(Excerpt(&jws.algorithm).to_string())),
        }
    }

    /// Who says to have made a token that is for this server.
    fn issuer_of(&self, jws: &Jws<'_>) -> Result<&Issuer, CredentialError> {
        let claims = &jws.claims;
        if claims.get("aud").and_then(Value::as_str) == Some(CUSTOM) {
            return Err(CredentialError::Custom);
        }
        let name = claims.get("iss").and_then(Value::as_str).unwrap_or_default();
        let mut named = self.issuers.iter().filter(|issuer| issuer.is(name)).peekable();
        let Some(first) = named.peek() else {
            return Err(CredentialError::Issuer(Excerpt(name).to_string()));
        };
        let audience = first.audience().to_owned();
        named.find(|issuer| issuer.is_for(claims)).ok_or(CredentialError::Audience { wanted: audience })
    }
}
