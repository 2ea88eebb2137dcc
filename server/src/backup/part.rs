//! One part of a backup as bytes.

use std::io::{self, Read};

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Head,
    Database,
    Armed,
    Items,
    DatabaseEnd,
    End,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::Head, Self::Database, Self::Armed, Self::Items, Self::DatabaseEnd, Self::End];

    const fn byte(self) -> u8 {
        match self {
            Self::Head => b'h',
            Self::Database => b'd',
            Self::Armed => b'a',
            Self::Items => b'i',
            Self::DatabaseEnd => b'e',
            Self::End => b'z',
        }
    }

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.byte() == byte)
    }
}

/// What a part becomes: a mebibyte of items and one more, of 10 MB and 768 bytes for each key of its place; or what one
/// session may arm. More is no part of ours, and nobody makes room for it.
const PART_BYTES_MAX: usize = 64 << 20;
const HEAD_BYTES: usize = 5;

/// Why bytes are no part.
#[derive(Debug)]
pub(super) enum PartMistake {
    /// There are no more.
    Cut,
    /// They are not what was written.
    Changed,
    /// The system's own.
    Io(io::Error),
}

/// The checksum that the first part begins with.
pub(super) fn chain_of(first_line: &str) -> u32 {
    crc32fast::hash(first_line.as_bytes())
}

/// Appends a part, and moves the chain of checksums on.
pub(super) fn put_part(into: &mut Vec<u8>, chain: &mut u32, kind: Kind, plain: &[u8]) -> io::Result<()> {
    let packed = zstd::bulk::compress(plain, 0)?;
    let len = u32::try_from(packed.len()).expect("a part is some megabytes");
    let begin = into.len();
    into.push(kind.byte());
    into.extend_from_slice(&len.to_le_bytes());
    into.extend_from_slice(&packed);
    *chain = next(*chain, &into[begin..]);
    into.extend_from_slice(&chain.to_le_bytes());
    Ok(())
}

fn next(chain: u32, part: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&chain.to_le_bytes());
    crc.update(part);
    crc.finalize()
}

/// Reads the next part. Room is made as bytes come.
pub(super) fn take_part(
    from: &mut impl Read,
    chain: &mut u32,
    bytes: &mut u64,
) -> Result<(Kind, Vec<u8>), PartMistake> {
    let mut part = Vec::new();
    take(from, HEAD_BYTES, &mut part)?;
    let len = u32::from_le_bytes([part[1], part[2], part[3], part[4]]);
    let len = usize::try_from(len).ok().filter(|&len| len <= PART_BYTES_MAX).ok_or(PartMistake::Changed)?;
    take(from, len, &mut part)?;
    let mut crc = Vec::new();
    take(from, size_of::<u32>(), &mut crc)?;
    *chain = next(*chain, &part);
    if chain.to_le_bytes() != *crc {
        return Err(PartMistake::Changed);
    }
    *bytes += (part.len() + crc.len()) as u64;
    let kind = Kind::of(part[0]).ok_or(PartMistake::Changed)?;
    let plain = zstd::stream::read::Decoder::new(&part[HEAD_BYTES..]).and_then(|decoder| {
        let mut plain = Vec::new();
        decoder.take(PART_BYTES_MAX as u64).read_to_end(&mut plain)?;
        Ok(plain)
    });
    Ok((kind, plain.map_err(|_| PartMistake::Changed)?))
}

fn take(from: &mut impl Read, len: usize, into: &mut Vec<u8>) -> Result<(), PartMistake> {
    let read = from.take(len as u64).read_to_end(into).map_err(PartMistake::Io)?;
    if read < len { Err(PartMistake::Cut) } else { Ok(()) }
}
