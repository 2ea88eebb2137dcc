//! Signed tokens: whom a server for production believes (REST reference 6.3, 6.4).
//!
//! Why nothing in a token chooses what it is checked against: its algorithm, its issuer and its key are only looked up among
//! those that the operator has named, a key has one algorithm, and addresses in a token (`jku`, `x5u`, `iss`) are never
//! followed.

mod believed;
mod claims;
mod issuer;
mod jws;
mod legacy;
mod tokens;

pub(crate) use issuer::{FIREBASE_ISSUER, Issuer};
pub(crate) use legacy::{LegacySecret, LegacySecretError, Minted, UID_CHARS_MAX};
pub(crate) use tokens::Tokens;

use claims::Claims;

/// How far a clock that made a token may be ahead of ours, in seconds.
const AHEAD_S_MAX: i64 = 60;
/// Longest token, in bytes. Those of Firebase have about 1,000.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// A claim that is a time, in milliseconds. Nothing, if it is none.
fn time_ms(claims: &Claims, name: &str) -> Option<i64> {
    let seconds = claims.get(name)?.as_f64()?;
    // Saturates: a time beyond all times is as good as the last one.
    #[expect(clippy::cast_possible_truncation, reason = "what is beyond an i64 is its end")]
    Some((seconds * 1000.0) as i64)
}
