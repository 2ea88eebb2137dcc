//! Reads a checkpoint back: all of it, or why not.

use super::chunk::{self, ChunkRef};
use super::database::{self, Record, RecordRef};
use super::entry::{self, Slot};
use super::growth::Growth;
use super::manifest::Manifest;
use super::store::{Store, StoreError};
use crate::log::LogId;
use crate::log::codec::DecodeError;
use hearth_engine::DatabaseId;
use hearth_tree::{Excerpt, Node, Snapshot};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Why an entry is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    #[error("it is not what was written")]
    Checksum,
    #[error(
        "it is of version {found} of the format, and this program reads versions {} to {}",
        entry::VERSION_MIN,
        entry::VERSION
    )]
    Version { found: u8 },
    #[error("another entry stands in its place")]
    Other,
    #[error("what it holds is not in order")]
    Unordered,
    #[error("a node has a priority and nothing else")]
    Childless,
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// Why a checkpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("its manifest is damaged: {0}")]
    Manifest(Damage),
    #[error("it belongs to other data")]
    OtherLog,
    #[error("what it says of database {database} is missing")]
    NoRecord { database: u64 },
    #[error("what it says of database {database} is damaged: {damage}")]
    Record { database: u64, damage: Damage },
    #[error("the chunk of `{name}` at `{}` is missing", Excerpt(.at))]
    NoChunk { name: String, at: String },
    #[error("the chunk of `{name}` at `{}` is damaged: {damage}", Excerpt(.at))]
    Chunk { name: String, at: String, damage: Damage },
    #[error("the tree of `{name}` is damaged: {damage}")]
    Tree { name: String, damage: Damage },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A checkpoint that was read.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) slot: Slot,
    pub(super) manifest: Manifest,
    pub(super) databases: BTreeMap<DatabaseId, LoadedDatabase>,
}

#[derive(Debug)]
pub(super) struct LoadedDatabase {
    pub(super) reference: RecordRef,
    pub(super) record: Record,
    pub(super) tree: Snapshot,
}

/// The manifest in a slot; nothing, if none was ever written there.
pub(super) fn manifest(store: &dyn Store, slot: Slot, log: &LogId) -> Result<Option<Manifest>, LoadError> {
    let Some(value) = store.get(&slot.key())? else { return Ok(None) };
    let manifest = Manifest::read(slot, &value).map_err(LoadError::Manifest)?;
    if manifest.log == *log { Ok(Some(manifest)) } else { Err(LoadError::OtherLog) }
}

/// The manifests that there are, the newest first, and why the others cannot be read.
pub(super) fn manifests(store: &dyn Store, log: &LogId) -> (Vec<(Slot, Manifest)>, Vec<LoadError>) {
    let mut manifests = Vec::new();
    let mut errors = Vec::new();
    for slot in Slot::BOTH {
        match manifest(store, slot, log) {
            Ok(None) => {}
            Ok(Some(manifest)) => manifests.push((slot, manifest)),
            Err(error) => errors.push(error),
        }
    }
    manifests.sort_by_key(|(_, manifest)| Reverse(manifest.generation));
    (manifests, errors)
}

/// Everything that a manifest leads to. O(size).
pub(super) fn load(store: &dyn Store, slot: Slot, manifest: Manifest) -> Result<Loaded, LoadError> {
    let mut databases = BTreeMap::new();
    for (&id, &reference) in &manifest.databases {
        let record = record(store, id, reference)?;
        let tree = Snapshot::new(tree(store, id, &record)?);
        databases.insert(id, LoadedDatabase { reference, record, tree });
    }
    Ok(Loaded { slot, manifest, databases })
}

/// Whether everything is there that a manifest leads to. Holds one chunk at a time.
pub(super) fn verify(store: &dyn Store, manifest: &Manifest) -> Result<(), LoadError> {
    for (&id, &reference) in &manifest.databases {
        let record = record(store, id, reference)?;
        for chunk in &record.chunks {
            read_chunk(store, id, &record.name, chunk, |key, value| chunk::verify(key, value, chunk))?;
        }
    }
    Ok(())
}

pub(super) fn record(store: &dyn Store, id: DatabaseId, reference: RecordRef) -> Result<Record, LoadError> {
    let key = entry::database_key(id, reference.generation);
    let value = store.get(&key)?.ok_or(LoadError::NoRecord { database: id.0 })?;
    let record = database::read(&key, &value, reference);
    record.map_err(|damage| LoadError::Record { database: id.0, damage })
}

fn tree(store: &dyn Store, id: DatabaseId, record: &Record) -> Result<Option<Node>, LoadError> {
    let mut growth = Growth::default();
    for chunk in &record.chunks {
        read_chunk(store, id, &record.name, chunk, |key, value| chunk::read(key, value, chunk, &mut growth))?;
    }
    growth.finish().map_err(|damage| LoadError::Tree { name: record.name.clone(), damage })
}

fn read_chunk(
    store: &dyn Store,
    id: DatabaseId,
    name: &str,
    chunk: &ChunkRef,
    read: impl FnOnce(&[u8], &[u8]) -> Result<(), Damage>,
) -> Result<(), LoadError> {
    let key = chunk.key(id);
    let (name, at) = (|| name.to_owned(), || chunk.first.to_string());
    let value = store.get(&key)?.ok_or_else(|| LoadError::NoChunk { name: name(), at: at() })?;
    read(&key, &value).map_err(|damage| LoadError::Chunk { name: name(), at: at(), damage })
}
