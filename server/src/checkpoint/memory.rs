//! A store for tests: in memory, it forgets what was not synced, and it fails when it is told to.

use super::store::{Batch, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Its clones are one store.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryStore(Arc<Mutex<State>>);

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) entries: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What is on stable storage.
    synced: BTreeMap<Vec<u8>, Vec<u8>>,
    /// So many writes and syncs succeed, and then none.
    pub(super) left: Option<usize>,
    pub(super) steps: usize,
}

impl MemoryStore {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// The power fails: of what was not synced, the entries stay that `keeps` says. Works again afterwards.
    pub(super) fn crash(&self, mut keeps: impl FnMut() -> bool) {
        let State { entries, synced, left, .. } = &mut *self.state();
        let mut keys: Vec<_> = entries.keys().chain(synced.keys()).cloned().collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            if entries.get(&key) != synced.get(&key) && keeps() {
                match entries.get(&key).cloned() {
                    Some(value) => drop(synced.insert(key, value)),
                    None => drop(synced.remove(&key)),
                }
            }
        }
        *entries = synced.clone();
        *left = None;
    }

    fn step(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let mut state = self.state();
        state.steps += 1;
        if let Some(left) = &mut state.left {
            *left = left.checked_sub(1).ok_or(StoreError("the store was told to fail".into()))?;
        }
        Ok(state)
    }
}

impl Store for MemoryStore {
    fn write(&mut self, batch: Batch) -> Result<(), StoreError> {
        let mut state = self.step()?;
        state.entries.extend(batch.puts);
        for key in batch.removals {
            state.entries.remove(&key);
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        let mut state = self.step()?;
        state.synced = state.entries.clone();
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.state().entries.get(key).cloned())
    }

    fn keys(&self, see: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        self.state().entries.keys().for_each(|key| see(key));
        Ok(())
    }
}
