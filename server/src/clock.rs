//! The time, where the outside begins: everything below gets it as an argument.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; 0 on a machine whose clock stands before that.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
