//! Why something is more than a limit allows, for whoever meets it: the limit is no secret, as it can be found out anyway.

use hearth_tree::{Excerpt, Path};
use std::sync::Arc;
use std::time::Duration;

/// What a limit refuses.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum OverLimit {
    /// Too much in too short a time.
    #[error(
        "the limit for `{places}` is {per_second} {measure} per second and {per}, {burst} at once; try again in {} s",
        seconds(*.wait)
    )]
    Rate {
        places: Arc<str>,
        per_second: f64,
        burst: f64,
        measure: &'static str,
        per: &'static str,
        wait: Duration,
    },
    /// More in one request than is ever allowed.
    #[error(
        "the limit for `{places}` is {burst} {measure} at once from one {per}, and this has more: write it in parts"
    )]
    Burst { places: Arc<str>, burst: f64, measure: &'static str, per: &'static str },
    /// A value that is larger than any may be.
    #[error(
        "the limit for `{places}` is {bytes_max} bytes of keys and values, and what is written at `{}` has {bytes}",
        Excerpt(&.at.to_string())
    )]
    Value { places: Arc<str>, at: Path, bytes: u32, bytes_max: u32 },
}

impl OverLimit {
    /// After how many seconds it may be tried again; nothing, if that is of no use.
    pub(crate) fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::Rate { wait, .. } => Some(seconds(*wait)),
            Self::Burst { .. } | Self::Value { .. } => None,
        }
    }
}

/// Rounded up: whoever comes back then is not early.
fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(0 < wait.subsec_nanos())
}
