//! What a checkpoint needs of a store: entries by key, and a sync.
//!
//! Why so little: everything that makes checkpoints safe (which entries belong together, which of them count, whether they
//! are what was written) is decided above, once, and tested over all stores alike. A batch need not be atomic, and what
//! was written without a sync may be lost in any part.

use std::io;

/// Entries by key. Everything that fails is final: the store is not used any more.
pub(crate) trait Store: Send {
    /// Writes entries and removes others, in any order. Not durable before [`Store::sync`].
    fn write(&mut self, batch: Batch) -> Result<(), StoreError>;

    /// Returns when everything that was written is on stable storage.
    fn sync(&mut self) -> Result<(), StoreError>;

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Shows all keys, in ascending order.
    fn keys(&self, see: &mut dyn FnMut(&[u8])) -> Result<(), StoreError>;
}

/// Why a store cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct StoreError(pub(super) String);

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// What is written at once.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(super) puts: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) removals: Vec<Vec<u8>>,
    bytes: usize,
}

impl Batch {
    pub(super) fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.bytes += key.len() + value.len();
        self.puts.push((key, value));
    }

    pub(super) fn remove(&mut self, key: Vec<u8>) {
        self.bytes += key.len();
        self.removals.push(key);
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.puts.is_empty() && self.removals.is_empty()
    }
}
