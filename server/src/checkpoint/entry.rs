//! Entries of a store: how their keys are made, and how it is known that they are what was written.
//!
//! | key | entry |
//! |---|---|
//! | `c` database place `0` generation | a chunk: what stands from this place on |
//! | `d` database generation | a database: its name, revision, armed writes, chunks, rules |
//! | `m` slot | a manifest |
//!
//! Numbers are 8 bytes, the highest first; places are written so that their bytes sort as they do, so that chunks stand in
//! a store in the order in which they are read. An entry begins with the version of its format and ends with a CRC-32 of
//! its key and itself: an entry under another key is as wrong as one that was changed.

use super::load::Damage;
use hearth_engine::DatabaseId;
use hearth_tree::Key;

/// Of the format; a program reads the versions that it knows, and writes the newest. In version 1 databases have no rules,
/// and up to version 2 no settings.
pub(super) const VERSION: u8 = 3;
/// The oldest that is read.
pub(super) const VERSION_MIN: u8 = 1;

const CHUNK: u8 = b'c';
const DATABASE: u8 = b'd';
const MANIFEST: u8 = b'm';
const CRC_BYTES: usize = 4;

pub(super) fn chunk_key(database: DatabaseId, first: &[Key], generation: u64) -> Vec<u8> {
    let mut bytes = vec![CHUNK];
    bytes.extend_from_slice(&database.0.to_be_bytes());
    for key in first {
        key.put_ordered(&mut bytes);
    }
    // No key begins so: a place comes before what is below it.
    bytes.push(0);
    bytes.extend_from_slice(&generation.to_be_bytes());
    bytes
}

pub(super) fn database_key(database: DatabaseId, generation: u64) -> Vec<u8> {
    let mut bytes = vec![DATABASE];
    bytes.extend_from_slice(&database.0.to_be_bytes());
    bytes.extend_from_slice(&generation.to_be_bytes());
    bytes
}

/// Of the two that alternate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    First,
    Second,
}

impl Slot {
    pub(super) const BOTH: [Self; 2] = [Self::First, Self::Second];

    pub(super) const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    pub(super) fn key(self) -> Vec<u8> {
        let slot = match self {
            Self::First => 0,
            Self::Second => 1,
        };
        vec![MANIFEST, slot]
    }
}

/// In which generation an entry was written; nothing for manifests, and for what is no entry of ours.
pub(super) fn generation_of(key: &[u8]) -> Option<u64> {
    match key {
        [CHUNK | DATABASE, .., a, b, c, d, e, f, g, h] => {
            Some(u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))
        }
        _ => None,
    }
}

/// Ends an entry that begins with its version. Returns its checksum, too.
pub(super) fn seal(key: &[u8], mut entry: Vec<u8>) -> (Vec<u8>, u32) {
    let crc = crc(key, &entry);
    entry.extend_from_slice(&crc.to_le_bytes());
    (entry, crc)
}

/// What was sealed.
pub(super) struct Unsealed<'a> {
    pub(super) version: u8,
    pub(super) body: &'a [u8],
    pub(super) crc: u32,
}

/// Checks an entry and takes it apart.
pub(super) fn unseal<'a>(key: &[u8], entry: &'a [u8]) -> Result<Unsealed<'a>, Damage> {
    let (sealed, expected) = entry.split_last_chunk::<CRC_BYTES>().ok_or(Damage::Checksum)?;
    let expected = u32::from_le_bytes(*expected);
    if crc(key, sealed) != expected {
        return Err(Damage::Checksum);
    }
    match sealed.split_first() {
        Some((&version, body)) if (VERSION_MIN..=VERSION).contains(&version) => {
            Ok(Unsealed { version, body, crc: expected })
        }
        Some((&found, _)) => Err(Damage::Version { found }),
        None => Err(Damage::Checksum),
    }
}

fn crc(key: &[u8], entry: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(key);
    crc.update(entry);
    crc.finalize()
}
