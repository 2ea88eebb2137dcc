//! Things at places, found by what a change touches.
//!
//! Why a trie: a commit at `/a/b` concerns what is above it, at it and below it. Walking down costs O(depth + what is
//! touched); a list would cost O(all) per commit, and most commits touch little.

use hearth_tree::{Edit, Key, Path, To};
use std::collections::BTreeMap;

/// A value for each place; places without one take no memory.
#[derive(Debug, Default)]
pub(crate) struct PathMap<T> {
    here: Option<T>,
    below: BTreeMap<Key, Self>,
}

impl<T> PathMap<T> {
    pub(crate) const fn new() -> Self {
        Self { here: None, below: BTreeMap::new() }
    }

    pub(crate) fn get(&self, at: &Path) -> Option<&T> {
        at.keys().iter().try_fold(self, |spot, key| spot.below.get(key))?.here.as_ref()
    }

    pub(crate) fn get_mut(&mut self, at: &Path) -> Option<&mut T> {
        at.keys().iter().try_fold(self, |spot, key| spot.below.get_mut(key))?.here.as_mut()
    }

    /// The value at a place, made if there is none.
    pub(crate) fn entry(&mut self, at: &Path) -> &mut T
    where
        T: Default,
    {
        let spot =
            at.keys().iter().fold(self, |spot, key| spot.below.entry(key.clone()).or_insert_with(Self::new));
        spot.here.get_or_insert_default()
    }

    pub(crate) fn remove(&mut self, at: &Path) -> Option<T> {
        self.remove_at(at.keys())
    }

    fn remove_at(&mut self, keys: &[Key]) -> Option<T> {
        let Some((key, below)) = keys.split_first() else {
            return self.here.take();
        };
        let spot = self.below.get_mut(key)?;
        let removed = spot.remove_at(below);
        if spot.here.is_none() && spot.below.is_empty() {
            self.below.remove(key);
        }
        removed
    }

    /// The places with a value that these edits may concern: above one, at it, or below a node that is replaced. From
    /// the root down, each once. The edits are those of a change, so they lie apart and in order.
    pub(crate) fn touched(&self, edits: &[Edit]) -> Vec<Path> {
        let mut found = Vec::new();
        self.collect_touched(edits, &mut Vec::new(), &mut found);
        found
    }

    fn collect_touched(&self, edits: &[Edit], keys: &mut Vec<Key>, found: &mut Vec<Path>) {
        if edits.is_empty() {
            return;
        }
        let own = edits.iter().take_while(|edit| edit.at.keys().len() == keys.len()).count();
        if edits[..own].iter().any(|edit| matches!(edit.to, To::Node(_))) {
            self.collect_all(keys, found);
            return;
        }
        if self.here.is_some() {
            found.push(keys.iter().cloned().collect());
        }
        let depth = keys.len();
        for edits in edits[own..].chunk_by(|a, b| a.at.keys()[depth] == b.at.keys()[depth]) {
            let key = &edits[0].at.keys()[depth];
            if let Some(spot) = self.below.get(key) {
                keys.push(key.clone());
                spot.collect_touched(edits, keys, found);
                keys.pop();
            }
        }
    }

    fn collect_all(&self, keys: &mut Vec<Key>, found: &mut Vec<Path>) {
        if self.here.is_some() {
            found.push(keys.iter().cloned().collect());
        }
        for (key, spot) in &self.below {
            keys.push(key.clone());
            spot.collect_all(keys, found);
            keys.pop();
        }
    }
}
