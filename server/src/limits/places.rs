//! Which limits are for a place: found as rules are, from the root down, each level by its name or else by its `$variable`.

use hearth_tree::Key;
use std::collections::BTreeMap;
use std::iter;

/// One level of the places that limits are for.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// The limit for what is here and below, by its number.
    pub(super) own: Option<usize>,
    pub(super) named: BTreeMap<Key, Self>,
    /// For all that have no name of their own here.
    pub(super) any: Option<Box<Self>>,
}

/// A part of the places of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Named(Key),
    Any,
}

impl Level {
    /// Where a limit for these places belongs.
    pub(super) fn make(&mut self, steps: impl IntoIterator<Item = Step>) -> &mut Self {
        steps.into_iter().fold(self, |level, step| match step {
            Step::Named(key) => level.named.entry(key).or_default(),
            Step::Any => level.any.get_or_insert_default(),
        })
    }

    /// What is for children of that name.
    pub(super) fn child(&self, key: &Key) -> Option<&Self> {
        self.named.get(key).or(self.any.as_deref())
    }

    pub(super) fn has_children(&self) -> bool {
        self.any.is_some() || !self.named.is_empty()
    }

    /// The levels on the way to a place, the root first and its own last; fewer, if nothing is for it or below it.
    pub(super) fn way(&self, keys: &[Key]) -> impl Iterator<Item = &Self> {
        let mut next = Some(self);
        let mut keys = keys.iter();
        iter::from_fn(move || {
            let level = next?;
            next = keys.next().and_then(|key| level.child(key));
            Some(level)
        })
    }

    /// The limits at a place and above it.
    pub(super) fn above(&self, keys: &[Key]) -> impl Iterator<Item = usize> {
        self.way(keys).filter_map(|level| level.own)
    }
}
