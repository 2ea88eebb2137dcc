//! Writes checkpoints, each from the difference to the one before.

use super::chunk::{ChunkRef, Sizes};
use super::database::{self, RecordRef};
use super::entry::{self, Slot};
use super::load::{self, Damage, LoadError, Loaded, LoadedDatabase};
use super::manifest::Manifest;
use super::rewrite::{Rewritten, rewrite};
use super::store::{Batch, Store, StoreError};
use crate::log::{LogId, Position};
use hearth_engine::{Armed, Committer, DatabaseId, OwnRules, Revision, SessionId, Settings};
use hearth_tree::{Change, Snapshot};
use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::sync::Arc;

/// All databases at one moment. Cheap to make, O(databases and sessions): trees and armed writes are shared, not copied.
#[derive(Debug)]
pub(crate) struct Capture {
    /// How often a server had begun on these data.
    pub(crate) starts: u64,
    pub(crate) databases: BTreeMap<DatabaseId, Captured>,
}

/// A database at that moment.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) name: String,
    pub(crate) revision: Revision,
    pub(crate) tree: Snapshot,
    pub(crate) armed: BTreeMap<SessionId, Arc<Armed>>,
    pub(crate) own_rules: OwnRules,
    pub(crate) settings: Settings,
}

impl Captured {
    /// What a committer has decided. To be kept only when that is durable.
    pub(crate) fn of(name: &str, committer: &Committer) -> Self {
        let (revision, tree) = (committer.revision(), committer.tree().clone());
        let (armed, governing) = (committer.armed().clone(), committer.governing());
        let (own_rules, settings) = (governing.own().clone(), governing.settings().clone());
        Self { name: name.into(), revision, tree, armed, own_rules, settings }
    }
}

/// What a checkpoint took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) chunks: usize,
    /// Of all entries.
    pub(crate) bytes: usize,
    /// Up to here no checkpoint that is kept needs the log.
    pub(crate) trim: Option<Position>,
}

/// A database as the newest checkpoint has it.
struct Held {
    revision: Revision,
    /// Of its own rules and of its settings, which change without a revision.
    versions: (u64, u64),
    tree: Snapshot,
    reference: RecordRef,
    chunks: Vec<ChunkRef>,
}

impl Held {
    /// Whether nothing has changed since.
    fn is(&self, now: &Captured) -> bool {
        let versions = (now.own_rules.version, now.settings.version);
        self.revision == now.revision && self.versions == versions
    }
}

/// Writes checkpoints into one store. After an error it is of no use any more.
pub(crate) struct Writer {
    store: Box<dyn Store>,
    pub(super) sizes: Sizes,
    log: LogId,
    /// Where the newest manifest is; nothing before the first one.
    slot: Option<Slot>,
    generation: u64,
    held: BTreeMap<DatabaseId, Arc<Held>>,
    /// What the newest checkpoint stands for.
    newest: Option<Position>,
    /// Keys of entries that the one before needs, and the newest does not.
    superseded: Vec<Vec<u8>>,
    /// Whether it is known what else is in the store.
    is_swept: bool,
}

impl Writer {
    /// Goes on from a checkpoint that was read, or from none.
    pub(super) fn new(store: Box<dyn Store>, log: LogId, loaded: Option<Loaded>) -> Self {
        let mut writer = Self {
            store,
            sizes: Sizes::DEFAULT,
            log,
            slot: None,
            generation: 0,
            held: BTreeMap::new(),
            newest: None,
            superseded: Vec::new(),
            is_swept: false,
        };
        if let Some(Loaded { slot, manifest, databases }) = loaded {
            writer.slot = Some(slot);
            writer.generation = manifest.generation;
            writer.newest = Some(manifest.position);
            let held = databases.into_iter().map(|(id, loaded)| {
                let LoadedDatabase { reference, record, tree } = loaded;
                let versions = (record.own_rules.version, record.settings.version);
                let held =
                    Held { revision: record.revision, versions, tree, reference, chunks: record.chunks };
                (id, Arc::new(held))
            });
            writer.held = held.collect();
        }
        writer
    }

    /// Writes a checkpoint that stands for all groups of the log before `position`. Cost follows what has changed since
    /// the one before. Until it returns, and if it fails, the two before are what they were.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn write(&mut self, position: Position, capture: Capture) -> Result<Written, StoreError> {
        tracing::debug!("a checkpoint begins");
        if !self.is_swept {
            self.sweep()?;
            self.is_swept = true;
        }
        let generation = self.generation + 1;
        let mut batches = Batches {
            store: &mut *self.store,
            sizes: self.sizes,
            batch: Batch::default(),
            unsynced: 0,
            written: Written::default(),
        };
        let mut held = BTreeMap::new();
        let mut superseded = Vec::new();
        for (id, captured) in capture.databases {
            let before = self.held.get(&id);
            let now = match before.filter(|before| before.is(&captured)) {
                Some(unchanged) => unchanged.clone(),
                None => Arc::new(batches.database(
                    id,
                    generation,
                    before.map(Arc::as_ref),
                    captured,
                    &mut superseded,
                )?),
            };
            held.insert(id, now);
        }
        let written = batches.finish()?;
        self.store.sync()?;
        tracing::debug!("the entries of a checkpoint are durable");
        let databases = held.iter().map(|(&id, held)| (id, held.reference)).collect();
        let manifest = Manifest { generation, log: self.log, position, starts: capture.starts, databases };
        let slot = self.slot.map_or(Slot::First, Slot::other);
        self.put_manifest(slot, &manifest)?;
        tracing::debug!("a checkpoint counts");
        // From here on it counts, and what only the one before the last needed is needed by none.
        self.slot = Some(slot);
        self.generation = generation;
        self.held = held;
        let trim = self.newest.replace(position);
        let garbage = mem::replace(&mut self.superseded, superseded);
        self.remove(garbage)?;
        Ok(Written { trim, ..written })
    }

    fn put_manifest(&mut self, slot: Slot, manifest: &Manifest) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        let (key, value) = manifest.seal(slot);
        batch.put(key, value);
        self.store.write(batch)?;
        self.store.sync()
    }

    /// Removes what belongs to no checkpoint that can be used: an unfinished one leaves entries, and a removal that was
    /// lost, too. Not durable by itself: what comes back is removed again.
    fn sweep(&mut self) -> Result<(), StoreError> {
        let own: HashSet<Vec<u8>> = self.own_keys().collect();
        let older = self.older()?;
        let mut known = own.clone();
        known.extend(
            Slot::BOTH.into_iter().filter(|&slot| self.slot == Some(slot) || older.is_some()).map(Slot::key),
        );
        if let Some(keys) = older {
            self.superseded = keys.iter().filter(|key| !own.contains(*key)).cloned().collect();
            known.extend(keys);
        }
        let mut unknown = Vec::new();
        let mut newest = self.generation;
        self.store.keys(&mut |key| {
            newest = newest.max(entry::generation_of(key).unwrap_or_default());
            if !known.contains(key) {
                unknown.push(key.to_vec());
            }
        })?;
        self.generation = newest;
        self.remove(unknown)
    }

    fn own_keys(&self) -> impl Iterator<Item = Vec<u8>> {
        self.held.iter().flat_map(|(&id, held)| keys(id, held.reference, &held.chunks))
    }

    /// What the checkpoint before the newest needs, if there is one that can be used.
    fn older(&self) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
        let Some(slot) = self.slot else { return Ok(None) };
        let all = || {
            let manifest = load::manifest(&*self.store, slot.other(), &self.log)?;
            // A newer one was tried before, and cannot be used.
            let Some(manifest) = manifest.filter(|older| older.generation < self.generation) else {
                return Ok(None);
            };
            let mut all = Vec::new();
            for (&id, &reference) in &manifest.databases {
                all.extend(keys(id, reference, &load::record(&*self.store, id, reference)?.chunks));
            }
            Ok(Some(all))
        };
        match all() {
            Ok(all) => Ok(all),
            Err(LoadError::Store(error)) => Err(error),
            Err(error) => {
                tracing::warn!(%error, "the checkpoint before the newest cannot be used and is dropped");
                Ok(None)
            }
        }
    }

    fn remove(&mut self, keys: Vec<Vec<u8>>) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        for key in keys {
            batch.remove(key);
            if self.sizes.batch_bytes <= batch.bytes() {
                self.store.write(mem::take(&mut batch))?;
            }
        }
        if batch.is_empty() { Ok(()) } else { self.store.write(batch) }
    }

    /// What the newest checkpoint takes.
    pub(super) fn bytes(&self) -> u64 {
        self.held.values().flat_map(|held| &held.chunks).map(|chunk| chunk.bytes).sum()
    }

    /// Reads the newest checkpoint back, one chunk at a time.
    ///
    /// # Errors
    /// [`LoadError`], if it is not what was written.
    pub(super) fn check(&self) -> Result<(), LoadError> {
        let Some(slot) = self.slot else { return Ok(()) };
        match load::manifest(&*self.store, slot, &self.log)? {
            Some(manifest) => load::verify(&*self.store, &manifest),
            None => Err(LoadError::Manifest(Damage::Other)),
        }
    }

    /// Puts something before the store.
    #[cfg(test)]
    pub(super) fn wrap(&mut self, wrap: impl FnOnce(Box<dyn Store>) -> Box<dyn Store>) {
        let store = mem::replace(&mut self.store, Box::new(super::memory::MemoryStore::default()));
        self.store = wrap(store);
    }

    /// The store, for who looks at what was written.
    #[cfg(test)]
    pub(super) fn into_store(self) -> Box<dyn Store> {
        self.store
    }
}

fn keys(id: DatabaseId, record: RecordRef, chunks: &[ChunkRef]) -> impl Iterator<Item = Vec<u8>> {
    let record = entry::database_key(id, record.generation);
    std::iter::once(record).chain(chunks.iter().map(move |chunk| chunk.key(id)))
}

/// Entries on their way into the store.
struct Batches<'a> {
    store: &'a mut dyn Store,
    sizes: Sizes,
    batch: Batch,
    /// Bytes that went into the store since it was synced.
    unsynced: usize,
    written: Written,
}

/// Synced all at once at the end, so much would keep everybody waiting whose writes are synced on the same disk meanwhile.
const SYNCED_BYTES: usize = 4 << 20;

impl Batches<'_> {
    fn put(&mut self, key: Vec<u8>, value: Vec<u8>) -> Result<(), StoreError> {
        self.written.bytes += value.len();
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

    /// A database that has changed.
    fn database(
        &mut self,
        id: DatabaseId,
        generation: u64,
        before: Option<&Held>,
        now: Captured,
        superseded: &mut Vec<Vec<u8>>,
    ) -> Result<Held, StoreError> {
        let root = now.tree.root();
        let change = Change::between(before.and_then(|before| before.tree.root()), root);
        let chunks = before.map_or(&[][..], |before| &before.chunks);
        let Rewritten { chunks, replaced } = rewrite(root, chunks, &change, self.sizes, &mut |unsealed| {
            let (key, value, chunk) = unsealed.seal(id, generation);
            self.written.chunks += 1;
            self.put(key, value)?;
            Ok(chunk)
        })?;
        superseded.extend(replaced.iter().map(|chunk| chunk.key(id)));
        superseded.extend(before.map(|before| entry::database_key(id, before.reference.generation)));
        let (key, value, reference) = database::seal(id, generation, &now, &chunks);
        self.put(key, value)?;
        let versions = (now.own_rules.version, now.settings.version);
        Ok(Held { revision: now.revision, versions, tree: now.tree, reference, chunks })
    }

    fn finish(mut self) -> Result<Written, StoreError> {
        if !self.batch.is_empty() {
            self.store.write(mem::take(&mut self.batch))?;
        }
        Ok(self.written)
    }
}
