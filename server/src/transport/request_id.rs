//! What a request is called in the log and in its answer, so that who has met a fault can say which one (`X-Request-Id`).
//!
//! Why one of the client's is kept: a proxy in front, or the app itself, has written it into a log of its own. Why not
//! any: it goes into lines of ours, and into an answer.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The header.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest that a client may choose, in bytes: identifiers in use have 16 to 64.
const BYTES_MAX: usize = 128;

/// One. ASCII without spaces, quotes and backslashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// That of the request, if it is well-formed, and otherwise a new one.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(REQUEST_ID).filter(|id| is_well_formed(id.as_bytes()));
        given.map_or_else(Self::new, |id| Self(id.clone()))
    }

    /// Unlike all of this server, and likely of any other: it needs to be told apart, and no more.
    fn new() -> Self {
        static START: LazyLock<u32> = LazyLock::new(|| {
            let bytes = RandomState::new().hash_one(()).to_le_bytes();
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        });
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = format!("{:08x}-{:x}", *START, NEXT.fetch_add(1, Ordering::Relaxed));
        Self(HeaderValue::try_from(id).expect("digits and a dash are a header"))
    }

    /// As a header says it.
    pub(super) fn to_header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_str().unwrap_or_default())
    }
}

/// What UUIDs, trace ids and Base64 consist of.
fn is_well_formed(id: &[u8]) -> bool {
    let may = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:=+/@~".contains(byte);
    !id.is_empty() && id.len() <= BYTES_MAX && id.iter().all(may)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_well_formed_is_kept() {
        let (longest, too_long) = ("x".repeat(BYTES_MAX), "x".repeat(BYTES_MAX + 1));
        for (given, is_kept) in [
            ("7f0c3f3e-2b1a-4a6e-9a59-0c4d3f5e6a7b", true),
            ("Root=1-67891233-abcdef012345678912345678", true),
            ("a/b+c==", true),
            (&*longest, true),
            (&*too_long, false),
            ("", false),
            ("a b", false),
            ("a`b", false),
            ("a\"b", false),
            ("a\\b", false),
            ("é", false),
        ] {
            let headers =
                HeaderMap::from_iter([(REQUEST_ID, HeaderValue::from_bytes(given.as_bytes()).unwrap())]);
            let (found, other) = (RequestId::of(&headers), RequestId::of(&headers));
            assert_eq!(found.to_string() == given, is_kept, "{given}");
            assert_eq!(found == other, is_kept, "{given}");
            assert!(is_well_formed(found.to_string().as_bytes()), "{given}");
        }
    }
}
