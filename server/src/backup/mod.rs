//! Backups: all databases of a server at one place of its log, in one file.
//!
//! ```text
//! file    `hearth backup 1` and a line feed, then parts
//! part    kind, length, zstd, checksum                                     part
//! parts   head, then for each database: what it is, its armed writes, the
//!         items of its tree, its end; then the end of all                  source, reader
//! ```
//!
//! | kind | what a part holds before it is compressed |
//! |---|---|
//! | `h` | the time in milliseconds, how often the server had begun, how many databases follow, the version of hearth |
//! | `d` | the number of a database, its name, its revision, its rules, its settings |
//! | `a` | the number of a session and what it has armed, as in a checkpoint |
//! | `i` | how many items, and these as in a chunk of a checkpoint; about a mebibyte |
//! | `e` | how many items the database has |
//! | `z` | how many parts were before this |
//!
//! The length is 4 bytes, the lowest first, and that of what is compressed; the checksum is the CRC-32 of the one before,
//! of kind, length and what is compressed. So every byte of a file is covered, and so is the order of the parts: one that
//! is missing, doubled or of another file is found where it should stand. Nothing follows the last part.
//!
//! Why parts and not one stream of zstd: whoever reads knows what is wrong where, nothing is believed before it is checked,
//! and a part is all that is in memory at either end. Why the items of checkpoints: a restore then writes a checkpoint, and
//! needs no tree; so a backup may be larger than the memory of who restores it.

mod part;
mod reader;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use reader::{BackupError, BackupReader, Counted, Seen};
pub(crate) use source::{BackupSource, Moment};

/// How a file begins: with the version of its format.
const BEGIN: &str = "hearth backup ";
const VERSION: u32 = 1;

/// The first line of a file.
fn first_line() -> String {
    format!("{BEGIN}{VERSION}\n")
}
