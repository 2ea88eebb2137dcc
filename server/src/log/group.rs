//! A group: records that become durable together, by one write and one sync.
//!
//! Its header stands once for all of them, because the group is what is synced, what is torn, and what follows what:
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | `HGrp` |
//! | 4..8 | length of the records |
//! | 8..16 | sequence: 1 for the first group of the log, then one more each time |
//! | 16..24 | hash of the predecessor's header, which has its checksums: so of everything before |
//! | 24..28 | CRC-32 of the records |
//! | 28..32 | CRC-32 of the log's id and this header up to here |
//! | 32.. | the records |
//! | 1 | `0xED`: the last byte of a group is never zero ([`super::torn`]) |
//!
//! Numbers have their lowest byte first.

use super::segment::LogId;
use sha1::{Digest, Sha1};

pub(super) const HEADER_BYTES: usize = 32;
const MAGIC: [u8; 4] = *b"HGrp";
const END: u8 = 0xED;

/// A place between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Of the group behind it.
    pub(crate) sequence: u64,
    /// The hash of the group before it; before the first one that of the log's id.
    pub(crate) predecessor: u64,
}

/// What a group says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) records_bytes: u32,
    pub(super) position: Position,
    records_crc: u32,
}

/// Records that are too many for one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes are too many for one group of the log; at most {} are allowed", u32::MAX)]
pub(super) struct GroupTooLong {
    bytes: usize,
}

impl Position {
    /// Before the first group.
    pub(super) fn first(id: &LogId) -> Self {
        Self { sequence: 1, predecessor: hash(&id.0) }
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let digest: [u8; 20] = Sha1::digest(bytes).into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// Empties a buffer and leaves room for the header.
pub(super) fn begin(group: &mut Vec<u8>) {
    group.clear();
    group.resize(HEADER_BYTES, 0);
}

/// Whether records have been put into it.
pub(super) const fn is_empty(group: &[u8]) -> bool {
    group.len() <= HEADER_BYTES
}

/// Makes a group of what was put behind the header, and says where the next one stands.
pub(super) fn finish(group: &mut Vec<u8>, id: &LogId, position: Position) -> Result<Position, GroupTooLong> {
    let records = &group[HEADER_BYTES..];
    let bytes = records.len();
    let records_bytes = u32::try_from(bytes).map_err(|_| GroupTooLong { bytes })?;
    let header = Header { records_bytes, position, records_crc: crc32fast::hash(records) };
    let header = header.to_bytes(id);
    group[..HEADER_BYTES].copy_from_slice(&header);
    group.push(END);
    Ok(Position { sequence: position.sequence + 1, predecessor: hash(&header) })
}

impl Header {
    fn to_bytes(self, id: &LogId) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.records_bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.position.sequence.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.position.predecessor.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.records_crc.to_le_bytes());
        let crc = header_crc(id, &bytes[..28]);
        bytes[28..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The header at the beginning of these bytes; nothing, if none stands there that was written to this log.
    pub(super) fn read(bytes: &[u8], id: &LogId) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        if bytes[..4] != MAGIC || u32_at(28) != header_crc(id, &bytes[..28]) {
            return None;
        }
        let position = Position { sequence: u64_at(8), predecessor: u64_at(16) };
        Some(Self { records_bytes: u32_at(4), position, records_crc: u32_at(24) })
    }

    /// The length of the whole group.
    pub(super) fn group_bytes(&self) -> usize {
        let records = usize::try_from(self.records_bytes).unwrap_or(usize::MAX);
        records.saturating_add(HEADER_BYTES + 1)
    }

    /// The records of a group that begins with this header; nothing, if they are not those that were written.
    pub(super) fn records<'a>(&self, group: &'a [u8]) -> Option<&'a [u8]> {
        let (&end, group) = group.get(..self.group_bytes())?.split_last()?;
        let records = &group[HEADER_BYTES..];
        (end == END && crc32fast::hash(records) == self.records_crc).then_some(records)
    }

    /// Where the group behind this one stands.
    pub(super) fn next(&self, id: &LogId) -> Position {
        Position { sequence: self.position.sequence.saturating_add(1), predecessor: hash(&self.to_bytes(id)) }
    }
}

/// The id is part of it, so that no client can write a text that passes for a header.
fn header_crc(id: &LogId, header: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&id.0);
    crc.update(header);
    crc.finalize()
}
