//! `hearth token`.

use super::run::RunError;
use super::tokens::secret;
use crate::auth::{Minted, UID_CHARS_MAX};
use crate::clock::now_ms;
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "For example: hearth token --token-secret-file secret.txt --uid sensor-7 --claim team='\"north\"' --expires 30d"
)]
pub(super) struct Arguments {
    /// The file with the secret that the server has, too (`hearth serve --token-secret-file`).
    #[arg(long, value_name = "FILE", env = "HEARTH_TOKEN_SECRET_FILE")]
    token_secret_file: PathBuf,
    /// Who has the token: `auth.uid` in rules.
    #[arg(long)]
    uid: Option<String>,
    /// A further member of `auth` in rules, with its value as JSON; may be said several times.
    #[arg(long = "claim", value_name = "NAME=JSON", value_parser = claim)]
    claims: Vec<(String, Value)>,
    /// Makes whoever has it an admin, for whom no rules count.
    #[arg(long, conflicts_with_all = ["uid", "claims"])]
    admin: bool,
    /// How long it holds: a number with s, m, h or d.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = seconds)]
    expires: i64,
}

fn claim(text: &str) -> Result<(String, Value), String> {
    let wrong =
        || format!("`{text}` is not allowed: a name, `=`, and a value as JSON are, as in team='\"north\"'");
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
    if name == "uid" {
        return Err("`uid` has an option of its own, --uid".into());
    }
    Ok((name.into(), serde_json::from_str(value).map_err(|_| wrong())?))
}

/// A time of 10 years at the most: who wants more wants another secret.
fn seconds(text: &str) -> Result<i64, String> {
    let read = || {
        let number: i64 = text.get(..text.len().checked_sub(1)?)?.parse().ok()?;
        let unit = match text.chars().last()? {
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            _ => return None,
        };
        number.checked_mul(unit).filter(|seconds| (1..=10 * 366 * 24 * 60 * 60).contains(seconds))
    };
    read().ok_or_else(|| {
        format!("`{text}` is not allowed: a time from 1s to 3660d is, as in 90s, 15m, 1h or 30d")
    })
}

impl Arguments {
    pub(super) fn print(self) -> Result<(), RunError> {
        let Self { token_secret_file, uid, claims, admin, expires } = self;
        if uid.is_none() && !admin {
            return Err(RunError::Token("`--uid UID` says for whom, or `--admin` for an admin".into()));
        }
        if uid.as_ref().is_some_and(|uid| !(1..=UID_CHARS_MAX).contains(&uid.encode_utf16().count())) {
            return Err(RunError::Token(format!("`--uid` has 1 to {UID_CHARS_MAX} characters")));
        }
        let issued_s = now_ms().div_euclid(1000);
        let mut auth: Map<String, Value> = claims.into_iter().collect();
        auth.extend(uid.map(|uid| ("uid".into(), Value::String(uid))));
        let minted = Minted { auth, is_admin: admin, issued_s, expires_s: issued_s + expires };
        let token = secret(&token_secret_file)?.mint(minted);
        let token = token.map_err(|error| RunError::Token(error.to_string()))?;
        writeln!(io::stdout(), "{token}")?;
        Ok(())
    }
}
