//! Places that a session has stopped listening to: news of them may still be on their way to the client.
//!
//! Why: who listens anew takes that old news for true, and the hash that it sent says nothing of it. So it is told
//! everything, even if what is there now has that hash.

use crate::limits::FORGOTTEN_MAX;
use crate::standing::Tag;
use hearth_tree::Path;
use std::collections::BTreeSet;

/// The places of one session.
#[derive(Debug, Default)]
pub(crate) struct Forgotten {
    places: BTreeSet<(Path, Option<Tag>)>,
    /// There were too many to remember them: any place may be one.
    too_many: bool,
}

impl Forgotten {
    pub(crate) fn add(&mut self, at: &Path, tag: Option<Tag>) {
        if self.places.len() < FORGOTTEN_MAX {
            self.places.insert((at.clone(), tag));
        } else {
            self.too_many = true;
        }
    }

    /// Whether news of some earlier listener would be taken for news of this one. News with a tag counts for that
    /// listener alone, news without for all that have none, above and below. O([`FORGOTTEN_MAX`]).
    pub(crate) fn concerns(&self, at: &Path, tag: Option<Tag>) -> bool {
        let overlaps = |(own, own_tag): &(Path, Option<Tag>)| match (own_tag, tag) {
            (None, None) => own.covers(at) || at.covers(own),
            (own_tag, tag) => *own_tag == tag && own == at,
        };
        self.too_many || self.places.iter().any(overlaps)
    }

    /// All of a place has been told anew.
    pub(crate) fn told(&mut self, at: &Path, tag: Option<Tag>) {
        self.places.retain(|(own, own_tag)| *own_tag != tag || !at.covers(own));
    }
}
