//! What one step has to say, and how many commits it may be of.
//!
//! Why several commits in one step: to wake a session up costs more than what most commits say to it. Why not all that are
//! there: a delivery that is heavy waits in nobody's queue, and a tree of old is kept from where a round begins.

use crate::delivery::Delivery;
use crate::limits::{HEAVY_BYTES, OUTDATED_BYTES};
use crate::request::SessionId;
use crate::weight::Scale;
use hearth_tree::{Change, Snapshot};
use std::collections::BTreeMap;

/// What one step has to say, by session.
pub(super) type Round = BTreeMap<SessionId, Delivery>;

/// What the commits of one round weigh together, in bytes; a single one may weigh anything.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// What they say. No more than [`HEAVY_BYTES`] together.
    news: usize,
    /// What they replace. No more than [`OUTDATED_BYTES`] together.
    replaced: usize,
}

impl Load {
    /// Of one commit. O([`OUTDATED_BYTES`]).
    pub(super) fn of(change: &Change, before: &Snapshot) -> Self {
        let mut news = Scale::up_to(HEAVY_BYTES);
        news.change(change);
        let mut replaced = Scale::up_to(OUTDATED_BYTES);
        replaced.replaced(change, before);
        Self { news: news.bytes(), replaced: replaced.bytes() }
    }

    /// Whether what was there is so large that it should be dropped where nobody waits.
    pub(super) const fn is_outdating(self) -> bool {
        OUTDATED_BYTES < self.replaced
    }

    /// Adds another commit, if the round has room for it.
    pub(super) fn take(&mut self, more: Self) -> bool {
        let together = Self { news: self.news + more.news, replaced: self.replaced + more.replaced };
        let has_room = together.news <= HEAVY_BYTES && !together.is_outdating();
        if has_room {
            *self = together;
        }
        has_room
    }
}
