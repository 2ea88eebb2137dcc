//! A chunk: the items of a contiguous part of a tree, in depth-first key order.
//!
//! | | |
//! |---|---|
//! | version | 1 byte |
//! | how many items | a number of 7 bits per byte |
//! | each item | how many keys its place shares with the one before, how many follow, these, what it is, what stands there |
//! | CRC-32 of the key of the entry and all this | 4 bytes |
//!
//! Keys, leaves and priorities are written as in the log. Bodies can be put one behind the other: an item that shares
//! nothing stands for itself.

use super::entry::{self, VERSION};
use super::growth::{Growth, Read};
use super::load::Damage;
use super::walk::Item;
use crate::log::codec::{
    DecodeError, Source, put_count, put_key, put_node, put_priority, take_key, take_node, take_priority,
};
use hearth_engine::DatabaseId;
use hearth_tree::{DEPTH_MAX, Key, Path, Scalar};
use std::mem;

/// How large chunks and batches are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// A chunk of so many bytes takes nothing more. One item may be longer, and then stands alone.
    pub(super) chunk_bytes: usize,
    /// So many bytes are handed to the store at once. One entry may be longer.
    pub(super) batch_bytes: usize,
}

impl Sizes {
    pub(super) const DEFAULT: Self = Self { chunk_bytes: 32 << 10, batch_bytes: 1 << 20 };

    /// Two neighbours that are not longer than this together are one. Twice a chunk: what is split is then far from being
    /// put together again.
    pub(super) const fn joined_bytes_max(self) -> usize {
        2 * self.chunk_bytes
    }

    /// A chunk that has become shorter takes in the next one.
    pub(super) const fn chunk_bytes_min(self) -> usize {
        self.chunk_bytes / 4
    }
}

const LEAF: u8 = 1;
const PRIORITY: u8 = 2;

/// Where a chunk is, and what it must be.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChunkRef {
    /// The place of its first item. It stands for all places from there to the next chunk; the first chunk of a database
    /// for those before, too.
    pub(super) first: Path,
    pub(super) generation: u64,
    pub(super) bytes: u64,
    pub(super) crc: u32,
}

impl ChunkRef {
    pub(super) fn key(&self, database: DatabaseId) -> Vec<u8> {
        entry::chunk_key(database, self.first.keys(), self.generation)
    }
}

/// A chunk that is being made.
#[derive(Default)]
pub(crate) struct Unsealed {
    first: Vec<Key>,
    last: Vec<Key>,
    items: usize,
    body: Vec<u8>,
}

impl Unsealed {
    pub(crate) const fn bytes(&self) -> usize {
        self.body.len()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// How many items there are, and how they are written.
    pub(crate) fn into_items(self) -> (usize, Vec<u8>) {
        (self.items, self.body)
    }

    pub(crate) fn add(&mut self, keys: &[Key], item: Item<'_>) {
        let shared = self.last.iter().zip(keys).take_while(|(a, b)| a == b).count();
        if self.is_empty() {
            self.first = keys.to_vec();
        }
        put_count(&mut self.body, shared);
        put_count(&mut self.body, keys.len() - shared);
        for key in &keys[shared..] {
            put_key(&mut self.body, key);
        }
        match item {
            Item::Leaf(node) => {
                self.body.push(LEAF);
                put_node(&mut self.body, node);
            }
            Item::Priority(priority) => {
                self.body.push(PRIORITY);
                put_priority(&mut self.body, priority);
            }
        }
        self.last.truncate(shared);
        self.last.extend_from_slice(&keys[shared..]);
        self.items += 1;
    }

    /// With the items of a chunk that follows this one.
    pub(super) fn joined(mut self, next: Self) -> Self {
        if self.is_empty() {
            return next;
        }
        self.body.extend_from_slice(&next.body);
        self.items += next.items;
        self
    }

    /// The entry, and the reference to it.
    pub(super) fn seal(self, database: DatabaseId, generation: u64) -> (Vec<u8>, Vec<u8>, ChunkRef) {
        let key = entry::chunk_key(database, &self.first, generation);
        let mut bytes = Vec::with_capacity(self.body.len() + 16);
        bytes.push(VERSION);
        put_count(&mut bytes, self.items);
        bytes.extend_from_slice(&self.body);
        let (value, crc) = entry::seal(&key, bytes);
        let first = self.first.into_iter().collect();
        let chunk = ChunkRef { first, generation, bytes: value.len() as u64, crc };
        (key, value, chunk)
    }
}

/// Whether an item is so long that it should stand alone.
pub(super) fn is_long(item: Item<'_>, sizes: Sizes) -> bool {
    match item {
        Item::Leaf(node) => match node.value() {
            Some(Scalar::Text(text)) => sizes.chunk_bytes <= text.as_str().len(),
            Some(Scalar::Bool(_) | Scalar::Number(_)) | None => false,
        },
        Item::Priority(_) => false,
    }
}

/// Whether an entry is what a reference says.
pub(super) fn verify(key: &[u8], value: &[u8], chunk: &ChunkRef) -> Result<(), Damage> {
    body(key, value, chunk).map(drop)
}

fn body<'a>(key: &[u8], value: &'a [u8], chunk: &ChunkRef) -> Result<&'a [u8], Damage> {
    let entry::Unsealed { body, crc, .. } = entry::unseal(key, value)?;
    let is_it = crc == chunk.crc && value.len() as u64 == chunk.bytes;
    if is_it { Ok(body) } else { Err(Damage::Other) }
}

/// Reads the entry that a reference leads to, and lets the tree grow by it.
pub(super) fn read(key: &[u8], value: &[u8], chunk: &ChunkRef, growth: &mut Growth) -> Result<(), Damage> {
    let mut is_first = true;
    read_items(Source::new(body(key, value, chunk)?), |keys, read| {
        if mem::take(&mut is_first) && keys != chunk.first.keys() {
            return Err(Damage::Other);
        }
        growth.add(keys, read)
    })
}

/// Shows items that were written one behind the other, their number before them. Whether they are in order is for who sees
/// them to say ([`Growth`], [`super::Order`]).
pub(crate) fn read_items(
    mut source: Source<'_>,
    mut see: impl FnMut(&[Key], Read) -> Result<(), Damage>,
) -> Result<(), Damage> {
    let items = source.varint("the number of items")?;
    let mut keys = Vec::with_capacity(DEPTH_MAX);
    for _ in 0..items {
        take_place(&mut source, &mut keys)?;
        let read = match source.byte("an item")? {
            // A leaf has nothing below: an inner node here goes too deep.
            LEAF => Read::Leaf(take_node(&mut source, 0)?),
            PRIORITY => Read::Priority(take_priority(&mut source)?),
            byte => return Err(DecodeError::Kind { what: "an item", byte }.into()),
        };
        see(&keys, read)?;
    }
    Ok(source.end()?)
}

/// The place of the next item, from that of the one before.
fn take_place(source: &mut Source<'_>, keys: &mut Vec<Key>) -> Result<(), DecodeError> {
    let shared = source.count("how much of a place is shared")?;
    let further = source.count("how much of a place follows")?;
    if keys.len() < shared {
        return Err(DecodeError::Unordered);
    }
    if DEPTH_MAX < shared.saturating_add(further) {
        return Err(DecodeError::TooDeep);
    }
    keys.truncate(shared);
    for _ in 0..further {
        keys.push(take_key(source)?);
    }
    Ok(())
}
