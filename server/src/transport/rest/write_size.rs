//! How large a write may be, as its request or a setting of the database says (rest reference 3, `writeSizeLimit`).
//!
//! Why an estimate of time: names like `small` are targets in seconds. What a write takes is estimated from its text and from
//! the nodes that it becomes. What it removes costs nothing here, since that is let go of where nobody waits; so no delete is
//! too large, and the chunked remove of the official command line ends with its first step.

use super::Asked;
use super::refused::Refused;
use crate::connection::REQUEST_NODES_MAX;
use crate::transport::session::MESSAGE_BYTES_MAX;
use hearth_engine::{DefaultWriteSize, Settings};
use hearth_tree::{Problem, ReadError};

/// What a node takes to be read, judged and kept: 3 us of 2 million, and a byte of a long text 60 ns, on a disk and two cores that
/// six builds were using, with assertions on. So nodes are what counts.
const NODE_NS: u64 = 4_000;
/// What a byte of text takes to be read and written.
const BYTE_NS: u64 = 20;

/// How long a write may take as it is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteSize {
    Tiny,
    Small,
    Medium,
    Large,
    Unlimited,
}

impl WriteSize {
    /// The one that a request says.
    pub(super) fn parse<T>(asked: &Asked<T>) -> Result<Option<Self>, Refused> {
        match asked.params.text("writeSizeLimit")?.as_deref() {
            None => Ok(None),
            Some("tiny") => Ok(Some(Self::Tiny)),
            Some("small") => Ok(Some(Self::Small)),
            Some("medium") => Ok(Some(Self::Medium)),
            Some("large") => Ok(Some(Self::Large)),
            Some("unlimited") => Ok(Some(Self::Unlimited)),
            Some(_) => Err(Refused::bad("writeSizeLimit must be tiny, small, medium, large or unlimited")),
        }
    }

    /// Of a request that says nothing.
    pub(super) const fn by_default(settings: &Settings) -> Self {
        match settings.default_write_size {
            DefaultWriteSize::Small => Self::Small,
            DefaultWriteSize::Medium => Self::Medium,
            DefaultWriteSize::Large => Self::Large,
            DefaultWriteSize::Unlimited => Self::Unlimited,
        }
    }

    const fn ns_max(self) -> u64 {
        match self {
            Self::Tiny => 1_000_000_000,
            Self::Small => 10_000_000_000,
            Self::Medium => 30_000_000_000,
            Self::Large => 60_000_000_000,
            Self::Unlimited => u64::MAX,
        }
    }

    /// Most nodes that a text of that length may become.
    pub(super) fn nodes_max(self, bytes: usize) -> usize {
        let left_ns =
            self.ns_max().saturating_sub(u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(BYTE_NS));
        usize::try_from(left_ns / NODE_NS).unwrap_or(usize::MAX)
    }

    /// Refuses what takes longer, of a write or of as much of it as was read.
    pub(super) fn check(self, bytes: usize, nodes: usize) -> Result<(), Refused> {
        if nodes <= self.nodes_max(bytes) { Ok(()) } else { Err(Refused::bad(TOO_BIG)) }
    }

    /// Says of a text that was not read for all its nodes that it was too large.
    pub(super) fn or_too_big(self, error: &ReadError, refused: Refused) -> Refused {
        let is_for_size =
            matches!(error.problem, Problem::TooMany { nodes_max } if nodes_max < REQUEST_NODES_MAX);
        if is_for_size && self != Self::Unlimited { Refused::bad(TOO_BIG) } else { refused }
    }
}

/// As the service says it (rest reference 2.4).
const TOO_BIG: &str = "Data to write exceeds the maximum size that can be modified with a single request.";

// A message of an SDK is never larger than a setting lets pass, so nobody need look at it.
const _: () = {
    let message_ns = REQUEST_NODES_MAX as u64 * NODE_NS + MESSAGE_BYTES_MAX as u64 * BYTE_NS;
    assert!(message_ns < WriteSize::Small.ns_max(), "a message that may be sent may be written");
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_of_nodes_less_what_the_text_takes() {
        for (size, bytes, nodes, fits) in [
            (WriteSize::Tiny, 0, 250_000, true),
            (WriteSize::Tiny, 0, 250_001, false),
            (WriteSize::Tiny, 10_000_000, 200_000, true),
            (WriteSize::Tiny, 10_000_000, 200_001, false),
            (WriteSize::Tiny, 50_000_000, 1, false),
            (WriteSize::Tiny, usize::MAX, 1, false),
            (WriteSize::Small, 0, 2_500_000, true),
            (WriteSize::Small, 0, 2_500_001, false),
            (WriteSize::Medium, 0, 7_500_000, true),
            (WriteSize::Medium, 0, 7_500_001, false),
            (WriteSize::Large, 256 * 1024 * 1024, 10_000_000, true),
            (WriteSize::Large, 0, 15_000_001, false),
            (WriteSize::Unlimited, usize::MAX / 32, 1_000_000_000, true),
        ] {
            let found = size.check(bytes, nodes);
            assert_eq!(found.is_ok(), fits, "{size:?} of {bytes} bytes and {nodes} nodes: {found:?}");
        }
    }
}
