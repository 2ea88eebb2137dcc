//! Getting a key set over the network.
//!
//! What stands between an address and us: https only, no redirects, a time and a size, and no address but the one that
//! the operator has written down.

use super::set::{KeySet, KeySetError};
use std::time::Duration;
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::http::header::CACHE_CONTROL;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long an answer may take, all in all.
const TIME: Duration = Duration::from_secs(10);
/// Longest answer, in bytes. Those of Google have less than 6,000.
const BYTES_MAX: u64 = 1024 * 1024;
/// For how long keys hold of which the issuer does not say it.
const AGE: Duration = Duration::from_secs(60 * 60);
/// For how long they hold at the least and at the most, whatever it says.
const AGE_MIN: Duration = Duration::from_secs(5 * 60);
const AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("{0}")]
    Network(#[from] Box<ureq::Error>),
    #[error("the answer is {0}, and 200 is wanted; redirects are not followed")]
    Status(StatusCode),
    #[error("the answer cannot be used: {0}")]
    Keys(#[from] KeySetError),
}

/// What gets key sets. Made once: it reads the certificates of the system.
pub(super) struct Fetcher(Agent);

/// Trusts whom the system trusts (`SSL_CERT_FILE` and `SSL_CERT_DIR` name others), and where the system trusts nobody, as in
/// an empty container, whom Mozilla trusts.
pub(crate) fn trust() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots = if found.is_empty() {
        RootCerts::WebPki
    } else {
        found
            .iter()
            .map(|certificate| Certificate::from_der(certificate).to_owned())
            .collect::<Vec<_>>()
            .into()
    };
    TlsConfig::builder().root_certs(roots).build()
}

impl Fetcher {
    pub(super) fn new() -> Self {
        let config = Agent::config_builder()
            .https_only(true)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_global(Some(TIME))
            .tls_config(trust())
            .user_agent("hearth")
            .build();
        Self(config.into())
    }

    /// The keys that are at an address now, and for how long they hold. Blocks.
    pub(super) fn fetch(&self, url: &str) -> Result<(KeySet, Duration), FetchError> {
        let mut response = self.0.get(url).call().map_err(Box::new)?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status()));
        }
        let cached = response.headers().get(CACHE_CONTROL).and_then(|value| value.to_str().ok());
        let age = age(cached);
        let body = response.body_mut().with_config().limit(BYTES_MAX);
        let text = body.read_to_string().map_err(Box::new)?;
        Ok((KeySet::parse(&text)?, age))
    }
}

/// For how long keys hold, by what their issuer says.
fn age(cached: Option<&str>) -> Duration {
    let seconds = cached.unwrap_or_default().split(',').find_map(|part| {
        let (name, seconds) = part.trim().split_once('=')?;
        name.trim().eq_ignore_ascii_case("max-age").then(|| seconds.trim().trim_matches('"').parse().ok())?
    });
    seconds.map_or(AGE, |seconds| Duration::from_secs(seconds).clamp(AGE_MIN, AGE_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_hold_as_long_as_their_issuer_says_and_neither_shorter_nor_longer_than_is_good() {
        for (cached, expected) in [
            (None, AGE),
            (Some(""), AGE),
            (Some("no-store"), AGE),
            (Some("public, max-age=22580, must-revalidate, no-transform"), Duration::from_secs(22_580)),
            (Some("Max-Age = 600"), Duration::from_secs(600)),
            (Some("max-age=\"600\""), Duration::from_secs(600)),
            (Some("s-maxage=600"), AGE),
            (Some("max-age=0"), AGE_MIN),
            (Some("max-age=-1"), AGE),
            (Some("max-age=18446744073709551615"), AGE_MAX),
            (Some("max-age=18446744073709551616"), AGE),
        ] {
            assert_eq!(age(cached), expected, "{cached:?}");
        }
    }
}
