//! A first checkpoint that is filled item by item: no tree stands behind it, so that it may be larger than memory.

use super::StoreKind;
use super::chunk::{ChunkRef, Sizes, Unsealed, is_long};
use super::database::{self, RecordRef};
use super::entry::Slot;
use super::load::{self, LoadError};
use super::manifest::Manifest;
use super::shelf::Shelf;
use super::store::{Batch, Store, StoreError};
use super::stores::{begin, make_folder, say};
use super::walk::Item;
use super::writer::Captured;
use crate::log::{LogId, Position};
use hearth_engine::DatabaseId;
use hearth_tree::Key;
use std::collections::BTreeMap;
use std::mem;
use std::path::{Path, PathBuf};

/// There are no others in that store.
const GENERATION: u64 = 1;
/// So much goes into the store between two syncs.
const SYNCED_BYTES: usize = 64 << 20;

/// A store that no server has begun with yet. Nothing counts before [`Filling::finish`].
pub(crate) struct Filling {
    folder: PathBuf,
    shelf: Shelf,
    store: Box<dyn Store>,
    sizes: Sizes,
    batch: Batch,
    unsynced: usize,
    /// Of the database that is being filled.
    chunk: Unsealed,
    chunks: Vec<ChunkRef>,
    databases: BTreeMap<DatabaseId, RecordRef>,
}

impl Filling {
    /// In a folder that has no checkpoints.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn begin(folder: &Path, kind: StoreKind) -> Result<Self, StoreError> {
        make_folder(folder)?;
        let shelf = Shelf::first(kind);
        Ok(Self {
            folder: folder.into(),
            shelf,
            store: begin(folder, shelf)?,
            sizes: Sizes::DEFAULT,
            batch: Batch::default(),
            unsynced: 0,
            chunk: Unsealed::default(),
            chunks: Vec::new(),
            databases: BTreeMap::new(),
        })
    }

    /// The next item of a database. They must come in order.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn add(&mut self, id: DatabaseId, keys: &[Key], item: Item<'_>) -> Result<(), StoreError> {
        let is_long = is_long(item, self.sizes);
        if is_long || self.sizes.chunk_bytes <= self.chunk.bytes() {
            self.seal(id)?;
        }
        self.chunk.add(keys, item);
        if is_long { self.seal(id) } else { Ok(()) }
    }

    fn seal(&mut self, id: DatabaseId) -> Result<(), StoreError> {
        let chunk = mem::take(&mut self.chunk);
        if chunk.is_empty() {
            return Ok(());
        }
        let (key, value, chunk) = chunk.seal(id, GENERATION);
        self.chunks.push(chunk);
        self.put(key, value)
    }

    fn put(&mut self, key: Vec<u8>, value: Vec<u8>) -> Result<(), StoreError> {
        self.batch.put(key, value);
        if self.sizes.batch_bytes <= self.batch.bytes() {
            self.unsynced += self.batch.bytes();
            self.store.write(mem::take(&mut self.batch))?;
        }
        if SYNCED_BYTES <= self.unsynced {
            self.store.sync()?;
            self.unsynced = 0;
        }
        Ok(())
    }

    /// Ends a database, of which `captured` has everything but the tree.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn end(&mut self, id: DatabaseId, captured: &Captured) -> Result<(), StoreError> {
        self.seal(id)?;
        let chunks = mem::take(&mut self.chunks);
        let (key, value, reference) = database::seal(id, GENERATION, captured, &chunks);
        self.databases.insert(id, reference);
        self.put(key, value)
    }

    /// Makes all of it durable, reads it back, and has it count: for all groups of a log before `position`.
    ///
    /// # Errors
    /// Those of the store, and if it is not what was written.
    pub(crate) fn finish(mut self, log: LogId, position: Position, starts: u64) -> Result<(), StoreError> {
        self.store.write(mem::take(&mut self.batch))?;
        self.store.sync()?;
        let manifest = Manifest { generation: GENERATION, log, position, starts, databases: self.databases };
        let mut batch = Batch::default();
        let (key, value) = manifest.seal(Slot::First);
        batch.put(key, value);
        self.store.write(batch)?;
        self.store.sync()?;
        let read = load::manifest(&*self.store, Slot::First, &log).and_then(|read| match read {
            Some(read) => load::verify(&*self.store, &read),
            None => Err(LoadError::Manifest(load::Damage::Other)),
        });
        read.map_err(|error| StoreError(error.to_string()))?;
        Ok(say(&self.folder, self.shelf)?)
    }
}
