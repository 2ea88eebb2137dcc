//! Checkpoints: so that neither reading the log when a server begins nor the log itself grows without end.
//!
//! ```text
//! tree    its leaves in depth-first key order                             walk, growth
//! chunk   a contiguous range of them, tens of KiB                         chunk, rewrite
//! record  a database: name, revision, armed writes, where its chunks are  database
//! manifest  the databases, and the part of the log that it all stands for  manifest
//! store   entries by key: fjall, sled, memory                             store, entry, kind, apart, anchors
//! stores  the one that counts, and the next when it fails                 stores, shelf
//! ```
//!
//! # What makes it safe
//!
//! **No entry is ever changed.** A checkpoint has a *generation*, one more than the one before, and the keys of all that it
//! writes end with it. What has not changed stays where it is: a record names the generation, length and checksum of each
//! of its chunks, a manifest those of each record. So two checkpoints share what they have in common, and neither can be
//! damaged by writing the next one.
//!
//! **Two manifests alternate**, and the newer one that verifies counts. A checkpoint is: chunks and records, sync, manifest
//! over the older one, sync. Only then the log is trimmed, and only to where the *other* manifest stands; and only then
//! entries are removed that neither of the two names, which are those that the overwritten one named alone. Wherever this
//! ends, the newest manifest that verifies leads to entries that are all there, with the log behind it.
//!
//! **Each step checks the next**: a manifest its records, a record its chunks, by checksum, length and key; so a chunk that is
//! missing, older, or another one is noticed, and not only one whose bits have changed. A checkpoint is used whole or not at
//! all. If the newest cannot be, the one before it is, and if neither can be, the log is read from its beginning; where that
//! has been trimmed, the server does not start, and says what is wrong where.
//!
//! What an unfinished checkpoint has left is looked for once, before the first one that a server writes: keys that no
//! manifest leads to.
//!
//! # What it stands for
//!
//! The committer hands over what it has decided, with all armed writes; the log thread passes that on when it is durable, and
//! says behind which group. So a checkpoint is exactly what the log comes to there, and commits go on meanwhile: trees are
//! shared and never change. Differences of two snapshots are found by pointer ([`hearth_tree::Change::between`]), so that
//! writing one costs what has changed, rounded up to chunks.
//!
//! # When a store fails
//!
//! Everything goes on with the log alone, which grows, the operator is told, and the next try writes all of it into another
//! store beside the one that has failed ([`stores`] says why). Only when that is whole, and is said to count, the former
//! goes. So at every moment there is the checkpoint that the log can be read behind. A store whose folder was removed under
//! the server has failed, too, although all that is written to it goes well ([`anchors`]).

mod anchors;
mod apart;
mod checkpoints;
mod chunk;
mod closing;
mod database;
mod entry;
mod filling;
mod fjall;
mod growth;
mod guarded;
mod kind;
mod load;
mod manifest;
#[cfg(test)]
mod memory;
mod order;
mod rewrite;
mod shelf;
mod sled;
mod store;
mod stores;
#[cfg(test)]
mod tests;
mod walk;
mod writer;

pub(crate) use checkpoints::{Checkpoints, Restored};
pub(crate) use chunk::{Unsealed, read_items};
pub(crate) use database::{put_armed, still_armed, take_armed};
pub(crate) use filling::Filling;
pub(crate) use growth::Read;
pub(crate) use kind::StoreKind;
pub(crate) use load::Damage;
pub(crate) use order::Order;
pub(crate) use store::StoreError;
pub(crate) use stores::Stores;
pub(crate) use walk::{Item, Walk};
pub(crate) use writer::{Capture, Captured, Written};
