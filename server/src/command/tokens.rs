//! Whose tokens a server for production believes, from what is said on the command line and in the file.

use super::run::RunError;
use crate::auth::{FIREBASE_ISSUER, Issuer, KeyPlace, KeySource, LegacySecret, Tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where Google has the keys of Firebase Authentication, as a JWK set (REST reference 6.3).
const FIREBASE_KEYS: &str =
    "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com";

/// The members of `auth` that the server makes.
const MEMBERS: [&str; 3] = ["uid", "provider", "token"];

/// An issuer of tokens as it stands in the file.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct IssuerInFile {
    issuer: String,
    audience: String,
    pub(super) keys: KeyPlace,
    /// The claim that becomes `auth.uid`.
    #[serde(default = "sub")]
    uid: String,
    /// Further members of `auth`, and the claims that they are.
    #[serde(default)]
    auth: BTreeMap<String, String>,
}

fn sub() -> String {
    "sub".into()
}

/// Everybody whose tokens are believed, and where the keys are that can be read again.
///
/// # Errors
/// A file that cannot be used.
pub(super) fn open(
    project: Option<String>,
    keys: Option<KeyPlace>,
    secrets: Vec<PathBuf>,
    others: Vec<IssuerInFile>,
) -> Result<(Tokens, Vec<Arc<KeySource>>), RunError> {
    check(project.as_deref(), &others)?;
    let mut tokens = Tokens::default();
    let mut sources = Vec::new();
    match (project, keys) {
        (None, None) => {}
        (None, Some(_)) => return Err(RunError::NoProject),
        (Some(project), keys) => {
            let source = KeySource::open(keys.unwrap_or_else(|| KeyPlace::Url(FIREBASE_KEYS.into())))?;
            tokens.issuers.push(Issuer::firebase(&project, source.clone()));
            sources.push(source);
        }
    }
    for IssuerInFile { issuer, audience, keys, uid, auth } in others {
        let source = KeySource::open(keys)?;
        tokens.issuers.push(Issuer::other(issuer, audience, source.clone(), uid, auth));
        sources.push(source);
    }
    for file in secrets {
        tokens.secrets.push(secret(&file)?);
    }
    Ok((tokens, sources))
}

/// Whether it can be told which tokens are meant, and what rules see of them.
fn check(project: Option<&str>, others: &[IssuerInFile]) -> Result<(), RunError> {
    let is_id = |project: &str| {
        !project.is_empty()
            && project.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.:".contains(&byte))
    };
    if let Some(project) = project.filter(|project| !is_id(project)) {
        return Err(RunError::Project { project: project.into() });
    }
    let mut known: BTreeSet<_> = project
        .map(|project| (format!("{FIREBASE_ISSUER}{project}"), project.to_owned()))
        .into_iter()
        .collect();
    for IssuerInFile { issuer, audience, auth, .. } in others {
        if issuer.is_empty() || audience.is_empty() {
            return Err(RunError::NoIssuer);
        }
        if !known.insert((issuer.clone(), audience.clone())) {
            return Err(RunError::SameIssuer { issuer: issuer.clone(), audience: audience.clone() });
        }
        if let Some(member) = MEMBERS.into_iter().find(|&member| auth.contains_key(member)) {
            return Err(RunError::Member { issuer: issuer.clone(), member: member.into() });
        }
    }
    Ok(())
}

/// The secret in a file.
///
/// # Errors
/// A file that cannot be read, or a secret that is too short.
pub(super) fn secret(file: &Path) -> Result<LegacySecret, RunError> {
    let text = fs::read_to_string(file).map_err(|error| RunError::Unreadable { file: file.into(), error })?;
    LegacySecret::parse(&text).map_err(|error| RunError::TokenSecret { file: file.into(), error })
}
