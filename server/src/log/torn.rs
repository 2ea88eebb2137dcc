//! What stands where the next group should, if that is no group: nothing, a group that was never finished, or damage.
//!
//! A group is written only after the sync of the one before has returned. So when a machine loses its power, only the
//! last group can be unfinished, and nobody was told of it: it is cut. Anything else that does not verify was told to
//! somebody, and cutting it would lose that in silence: it is refused. How the two are told apart:
//!
//! - A disk writes sectors of 512 bytes wholly or not at all, in any order. A segment consists of zeros before it is
//!   written, and no group has a sector of zeros: each begins and ends with a byte that is not zero, and no record has as
//!   many as 64 zeros in a row ([`super::codec`]). So a sector was written if and only if any of the group's bytes in it
//!   is not zero.
//! - A group of which a sector was not written is unfinished. So is one that ends in zeros, where a process was stopped in
//!   the middle of a write (its last byte is missing, or everything behind a part of its header), and one that begins with
//!   them, where it was stopped in the middle of cutting. No single changed bit makes any of that of a whole group. One
//!   that has all its parts, and does not verify, is damaged.
//! - Nothing is ever written behind an unfinished group. Where a header of this log with a later sequence follows, what
//!   stands before it was finished, and is damaged.
//!
//! What this cannot tell: a disk that forgets whole sectors of the very last group after it has confirmed them. Every
//! following group, and the record of an orderly end, makes that plain too.

use super::group::{HEADER_BYTES, Header, Position};
use super::segment::LogId;
use std::ops::Range;

const SECTOR_BYTES: usize = 512;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing was written there.
    Clean,
    /// A group that was never finished; something of it stands up to this offset.
    Torn { to: usize },
    /// Anything else.
    Damaged(Damage),
}

/// What gives damage away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    #[error("group {sequence} of the log stands behind it, at byte {at}")]
    Followed { sequence: u64, at: usize },
    #[error("all of it was written, and it is not what was written")]
    Complete,
    #[error("its length leads beyond the end of the file")]
    Beyond,
    #[error("something stands behind it, where nothing was ever written")]
    Stray,
}

/// Judges what stands at `at`, where a group at this position does not.
pub(super) fn judge(segment: &[u8], at: usize, id: &LogId, expected: Position) -> Tail {
    let Some(last) = segment[at..].iter().rposition(|&byte| byte != 0) else {
        return Tail::Clean;
    };
    let to = at + last + 1;
    if let Some((at, later)) = later_header(segment, at..to, id, expected) {
        return Tail::Damaged(Damage::Followed { sequence: later.position.sequence, at });
    }
    match Header::read(&segment[at..], id) {
        None => {
            // The sectors that the header stands in decide.
            let end = (at + HEADER_BYTES).next_multiple_of(SECTOR_BYTES).min(segment.len());
            let is_cut_short = segment[at] == 0 || to < at + HEADER_BYTES;
            unfinished_if(is_cut_short || has_unwritten_sector(segment, at..end), to)
        }
        Some(header) => {
            let end = at.saturating_add(header.group_bytes());
            if segment.len() < end {
                return Tail::Damaged(Damage::Beyond);
            }
            if end < to {
                return Tail::Damaged(Damage::Stray);
            }
            unfinished_if(to < end || has_unwritten_sector(segment, at..end), to)
        }
    }
}

const fn unfinished_if(is_unfinished: bool, to: usize) -> Tail {
    if is_unfinished { Tail::Torn { to } } else { Tail::Damaged(Damage::Complete) }
}

fn has_unwritten_sector(segment: &[u8], group: Range<usize>) -> bool {
    let mut sectors = (group.start / SECTOR_BYTES..group.end.div_ceil(SECTOR_BYTES)).map(|sector| {
        let first = sector * SECTOR_BYTES;
        &segment[first.max(group.start)..(first + SECTOR_BYTES).min(group.end)]
    });
    sectors.any(|sector| sector.iter().all(|&byte| byte == 0))
}

/// The first header of a later group.
fn later_header(
    segment: &[u8],
    within: Range<usize>,
    id: &LogId,
    expected: Position,
) -> Option<(usize, Header)> {
    let is_later = |at: usize| {
        let header = Header::read(&segment[at..], id)?;
        (expected.sequence < header.position.sequence).then_some((at, header))
    };
    within.filter(|&at| segment[at] == b'H').find_map(is_later)
}
