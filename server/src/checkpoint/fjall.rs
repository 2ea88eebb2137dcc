//! Checkpoints in fjall, the default.
//!
//! Its own journal is synced when a checkpoint is, before and after the manifest flips; nothing in between matters.

use super::closing;
use super::store::{Batch, Store, StoreError};
use ::fjall::{Database, Error, Keyspace, KeyspaceCreateOptions, PersistMode};
use std::path::Path;

/// What is read is read once, when a server begins.
const CACHE_BYTES: u64 = 8 << 20;
/// What it keeps in memory before it writes a table: chunks come in order, and most of them in one go.
const MEMTABLE_BYTES: u64 = 16 << 20;
/// The least that it takes.
const JOURNALS_BYTES: u64 = 64 << 20;

pub(super) struct FjallStore {
    database: Database,
    entries: Keyspace,
}

impl FjallStore {
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        closing::wait(&folder.join("lock"))?;
        let database = Database::builder(folder)
            .cache_size(CACHE_BYTES)
            .max_journaling_size(JOURNALS_BYTES)
            .worker_threads(1)
            .open()?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE_BYTES);
        let entries = database.keyspace("entries", options)?;
        Ok(Self { database, entries })
    }
}

impl Store for FjallStore {
    fn write(&mut self, batch: Batch) -> Result<(), StoreError> {
        let mut own = self.database.batch();
        for (key, value) in batch.puts {
            own.insert(&self.entries, key, value);
        }
        for key in batch.removals {
            own.remove(&self.entries, key);
        }
        Ok(own.commit()?)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.entries.get(key)?.map(|value| value.to_vec()))
    }

    fn keys(&self, see: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        for entry in self.entries.iter() {
            see(&entry.key()?);
        }
        Ok(())
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        // Its own words name its types; those of the system are for people.
        Self(if let Error::Io(error) = error {
            error.to_string()
        } else if matches!(error, Error::Poisoned) {
            "a write or a sync of it has failed before".into()
        } else if matches!(error, Error::Locked) {
            "another process uses it".into()
        } else {
            error.to_string()
        })
    }
}
