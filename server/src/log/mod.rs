//! What no crash can take back: a log of everything that was ever decided, in files of our own.
//!
//! ```text
//! record    what happened: a database was made, a commit, a server began or ended     record, codec
//! group     records that are written and synced as one, with sequence, checksums and
//!           the hash of the group before                                              group
//! segment   a file of groups, as long as it will ever be from the beginning            segment, segment_log
//! part      a file with the write of a large commit, written before it is ordered        staging
//! folder    the segments, and who may use them                                         data, files
//! ```
//!
//! Reading them back ends in one of two ways: all that was ever confirmed is there ([`recovery`], [`replay`]), or a sentence
//! says which file is wrong, where and how. Only a group that was never finished is cut, and [`torn`] says how that is
//! known. Each group names the hash of the one before, and each segment but the last says that the log goes on, so that
//! nothing can be missing at the beginning, in the middle or at the end.
//!
//! # Where checkpoints meet it
//!
//! A checkpoint is a way to begin reading later. It stands for a [`group::Position`]: all groups before it. What a
//! checkpoint has to hold is what [`replay::Replay`] has come to there: for each database its name, revision, tree and
//! armed writes, and how often a server was started. To recover from one:
//!
//! - [`recovery::recover_behind`] begins at the last segment whose first group is not behind the position, verifies what stands
//!   before it there without showing it, and refuses if the group at the position has another predecessor;
//! - `Replay` begins with what the checkpoint holds: all databases as they were exactly there.
//!
//! Trimming is unlinking from the front: a segment may go when the name of the next one says that it begins at or before
//! the position of the oldest checkpoint that is kept, and with it its parts; a tail of [`TAIL_BYTES`] stays. Names say where
//! segments begin and what parts belong to, so no file need be opened for it, and any thread may do it: appending touches
//! the last segment only.

pub(crate) mod codec;
mod data;
mod files;
mod group;
mod record;
mod recovery;
mod replay;
mod restoring;
mod segment;
mod segment_log;
mod staging;
mod torn;
mod trim;

pub(crate) use data::DataError;
pub(crate) use data::{Checkpointing, Data, Found};
#[cfg(test)]
pub(crate) use files::{Files, Folder};
pub(crate) use group::Position;
pub(crate) use replay::Kept;
pub(crate) use restoring::Restoring;
pub(crate) use restoring::RestoringError;
pub(crate) use segment::LogId;
pub(crate) use segment_log::KeptLog;
pub(crate) use staging::{NotStaged, Staged, Staging, WRITE_BYTES_MIN};
pub(crate) use trim::{TAIL_BYTES, trim};

#[cfg(test)]
mod tests;
