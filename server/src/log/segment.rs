//! A segment: one file of the log, as long as it will ever be from the beginning.
//!
//! Why of zeros and not empty: a write into blocks that exist changes no file size and allocates nothing, so that the
//! sync after it writes the data and nothing else, and a full disk is met when a segment is made and not in the middle
//! of a write. Why the length stands in the header: a file that somebody has cut is then told from one that was never
//! filled.
//!
//! | bytes | |
//! |---|---|
//! | 0..8 | `HEARTHLG` |
//! | 8..12 | version of the format |
//! | 16..32 | id of the log: 16 random bytes, the same in all of its segments |
//! | 32..40 | sequence of its first group |
//! | 40..48 | hash of the group before |
//! | 48..56 | length of the file |
//! | 60..64 | CRC-32 of what stands before |
//! | 512.. | groups, without gaps; zeros |

use super::group::Position;

/// Of the format; a program reads the versions that it knows, and writes the newest. Version 1 has no rules, up to version
/// 2 nodes stand in files beside the log and not whole writes, and up to version 3 there are no settings.
pub(super) const VERSION: u32 = 4;
/// The oldest that is read.
pub(super) const VERSION_MIN: u32 = 1;
/// What precedes the first group: a sector, which is written once and never again.
pub(super) const HEAD_BYTES: usize = 512;
const MAGIC: [u8; 8] = *b"HEARTHLG";
const SUFFIX: &str = ".log";
/// A segment that is being made.
pub(super) const UNFINISHED: &str = "unfinished";

/// Which log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogId(pub(crate) [u8; 16]);

/// The beginning of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) id: LogId,
    /// Where its first group stands.
    pub(super) first: Position,
    /// The length of the file.
    pub(super) bytes: u64,
}

/// Why a file is not a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeadError {
    #[error("it does not begin as a file of the log does")]
    Foreign,
    #[error(
        "it is of version {found} of the format, and this program reads versions {VERSION_MIN} to {VERSION}"
    )]
    Version { found: u32 },
    #[error("its beginning is damaged")]
    Damaged,
}

/// The name of the segment that begins with this group. Names sort as the segments follow each other.
pub(super) fn name_of(sequence: u64) -> String {
    format!("{sequence:020}{SUFFIX}")
}

/// The first group of a segment by its name; nothing, if it is no segment's.
pub(super) fn sequence_of(name: &str) -> Option<u64> {
    let sequence = name.strip_suffix(SUFFIX)?.parse().ok()?;
    (name_of(sequence) == name).then_some(sequence)
}

impl LogId {
    /// In 32 hexadecimal digits.
    pub(super) fn to_hex(self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }

    pub(super) fn of_hex(text: &str) -> Option<Self> {
        let is_canonical = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| is_canonical)?;
        Some(Self(number.to_be_bytes()))
    }
}

impl Head {
    pub(super) fn to_bytes(self) -> [u8; HEAD_BYTES] {
        self.to_bytes_of(VERSION)
    }

    fn to_bytes_of(self, version: u32) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.id.0);
        bytes[32..40].copy_from_slice(&self.first.sequence.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.first.predecessor.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.bytes.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..60]);
        bytes[60..64].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(super) fn read(segment: &[u8]) -> Result<Self, HeadError> {
        let Some(bytes) = segment.first_chunk::<HEAD_BYTES>() else {
            return Err(if segment.starts_with(&MAGIC) { HeadError::Damaged } else { HeadError::Foreign });
        };
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let is_sound = u32_at(60) == crc32fast::hash(&bytes[..60]);
        if bytes[..8] != MAGIC {
            // With one bit changed the rest still says what it is.
            return Err(if is_almost(&bytes[..8], &MAGIC) { HeadError::Damaged } else { HeadError::Foreign });
        }
        if !is_sound {
            return Err(HeadError::Damaged);
        }
        let version = u32_at(8);
        if !(VERSION_MIN..=VERSION).contains(&version) {
            return Err(HeadError::Version { found: version });
        }
        let mut id = LogId([0; 16]);
        id.0.copy_from_slice(&bytes[16..32]);
        let first = Position { sequence: u64_at(32), predecessor: u64_at(40) };
        let head = Self { id, first, bytes: u64_at(48) };
        if head.to_bytes_of(version) == *bytes { Ok(head) } else { Err(HeadError::Damaged) }
    }
}

fn is_almost(found: &[u8], expected: &[u8]) -> bool {
    found.iter().zip(expected).filter(|(found, expected)| found != expected).count() == 1
}
