//! What one step has to say, and how many commits it may be of.
//!
//! Why several commits in one step: to wake a session up costs more than what most commits say to it. Why not all that are
//! there: a delivery that is heavy waits in nobody's queue, and a tree of old is kept from where a round begins.

use crate::delivery::Delivery;
use crate::limits::{HEAVY_BYTES, LAG_BYTES_MAX, OUTDATED_BYTES};
use crate::request::SessionId;
use crate::weight::Scale;
use hearth_tree::{Change, Snapshot};
use std::collections::BTreeMap;

/// What one step has to say, by session.
pub(super) type Round = BTreeMap<SessionId, Delivery>;

/// Most that the commits of one round replace, in bytes, unless there is only one. Who finds no room for a round keeps what
/// it replaces alive beside what is counted for who lags, so this is little beside [`LAG_BYTES_MAX`]. A small commit counts
/// some 10 KB, so that hundreds have room.
const REPLACED_BYTES_MAX: usize = LAG_BYTES_MAX / 16;

const _: () =
    assert!(OUTDATED_BYTES < REPLACED_BYTES_MAX, "every commit that is not large has room in a round");

/// What the commits of one round weigh together, in bytes; a single one may weigh anything.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// What they say. No more than [`HEAVY_BYTES`] together.
    news: usize,
    /// What they replace. No more than [`REPLACED_BYTES_MAX`] together.
    replaced: usize,
    /// It is of one commit that replaces more than [`OUTDATED_BYTES`]: nothing else is in its round.
    is_outdating: bool,
}

impl Load {
    /// Of one commit. O([`OUTDATED_BYTES`]).
    pub(super) fn of(change: &Change, before: &Snapshot) -> Self {
        let mut news = Scale::up_to(HEAVY_BYTES);
        news.change(change);
        let mut replaced = Scale::up_to(OUTDATED_BYTES);
        replaced.replaced(change, before);
        let (news, replaced) = (news.bytes(), replaced.bytes());
        Self { news, replaced, is_outdating: OUTDATED_BYTES < replaced }
    }

    /// Whether what was there is so large that it should be dropped where nobody waits.
    pub(super) const fn is_outdating(self) -> bool {
        self.is_outdating
    }

    /// Adds another commit, if the round has room for it.
    pub(super) fn take(&mut self, more: Self) -> bool {
        let (news, replaced) = (self.news + more.news, self.replaced + more.replaced);
        let is_outdating = self.is_outdating || more.is_outdating;
        let has_room = news <= HEAVY_BYTES && replaced <= REPLACED_BYTES_MAX && !is_outdating;
        if has_room {
            (self.news, self.replaced) = (news, replaced);
        }
        has_room
    }
}
