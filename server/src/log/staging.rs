//! Large writes go to the disk before they are decided.
//!
//! Why: a group is written and synced as one, and everybody whose writes come after it waits for that, so that a body of
//! 200 MB would keep all others waiting for seconds (ARCHITECTURE.md has the figures). In a file of its own it is written
//! and synced piece by piece, beside what others write; the record of the commit then only says which file that is.
//!
//! ```text
//! stage    the write -> log/<number>.staged, in pieces, synced     whoever has the body, where nobody waits
//! decide   who asked is noted with the revision and the time       the committer
//! append   the file gets the name log/<sequence>.<number>.part,
//!          then the group is written that refers to it             the log thread
//! ```
//!
//! Why the write as it was asked for, and not what it comes to: that is only known when it is decided, in its turn, and is as
//! long; a million objects with a timestamp in each would be made then, and written while everybody waits. What a write comes
//! to depends on it, on the time and on the tree before, and whoever reads the log has all three.
//!
//! How nothing is left over or lost: a part is named after its group. With the sequence of a group that the log has not come
//! to, or with that of one that was trimmed, it belongs to nothing and is removed, as one that was never named is. A part
//! that its group refers to and that is not there, or is not what was written, is damage and refused.

use super::codec::put_write_in_pieces;
use super::files::{Files, Folder, SegmentFile};
use super::record::Resolved;
use hearth_engine::{Commit, DatabaseId, Revision, SessionId, Ticket, Verdict};
use hearth_tree::Write;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is staged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// A write with less of it is kept with its group: up to here a group takes no longer than the sync.
    pub(super) write_bytes_min: u64,
    /// What is written and synced at once: so much others may have to wait for.
    pub(super) piece_bytes: usize,
    /// What has to be left of the disk. A log that cannot go on is lost until a restart, a large write can be sent again.
    pub(super) left_bytes: u64,
}

impl Bounds {
    /// Those of a log with segments of so many bytes: the next one finds room.
    pub(super) const fn beside(segment_bytes_max: u64) -> Self {
        Self { write_bytes_min: WRITE_BYTES_MIN as u64, piece_bytes: 2 << 20, left_bytes: segment_bytes_max }
    }
}

/// Shorter texts of requests are not worth a look.
pub(crate) const WRITE_BYTES_MIN: usize = 1 << 20;

const STAGED: &str = ".staged";
const PART: &str = ".part";

/// Of a file that nothing refers to yet.
pub(super) fn name_of_staged(number: u64) -> String {
    format!("{number:020}{STAGED}")
}

pub(super) fn is_staged(name: &str) -> bool {
    name.strip_suffix(STAGED).and_then(|number| number.parse().ok()).map(name_of_staged).as_deref()
        == Some(name)
}

/// Of a file that a group refers to, by its number there.
pub(super) fn name_of_part(sequence: u64, number: u64) -> String {
    format!("{sequence:020}.{number:03}{PART}")
}

/// The group that a part belongs to by its name; nothing, if it is no part's.
pub(super) fn group_of_part(name: &str) -> Option<u64> {
    let (sequence, number) = name.strip_suffix(PART)?.split_once('.')?;
    let (sequence, number) = (sequence.parse().ok()?, number.parse().ok()?);
    (name_of_part(sequence, number) == name).then_some(sequence)
}

/// What a record says of the file that it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartFile {
    /// Among the parts of its group, from 1 on.
    pub(super) number: u64,
    pub(super) bytes: u64,
    pub(super) crc: u32,
}

/// Why a part cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartError {
    #[error("`log/{file}`, which is missing")]
    Missing { file: String },
    #[error("`log/{file}`, which has {found} bytes and was written with {bytes}")]
    Length { file: String, found: u64, bytes: u64 },
    #[error("`log/{file}`, which is not what was written")]
    Damaged { file: String },
    #[error("`log/{file}`, which cannot be read: {error}")]
    Io { file: String, error: io::Error },
}

impl PartFile {
    /// All of it, if it is what was written.
    pub(super) fn read(self, files: &impl Files, sequence: u64) -> Result<Vec<u8>, PartError> {
        let file = name_of_part(sequence, self.number);
        let read = files.open(&file).and_then(|part| part.read());
        let part = match read {
            Ok(part) => part,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(PartError::Missing { file }),
            Err(error) => return Err(PartError::Io { file, error }),
        };
        if part.len() as u64 != self.bytes {
            return Err(PartError::Length { file, found: part.len() as u64, bytes: self.bytes });
        }
        if crc32fast::hash(&part) == self.crc { Ok(part) } else { Err(PartError::Damaged { file }) }
    }
}

/// A write that stands in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct StagedWrite {
    /// Of the file.
    pub(super) number: u64,
    pub(super) bytes: u64,
    pub(super) crc: u32,
    stage: Stage,
}

/// How far a write has come that stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Written,
    /// It is that request's.
    Asked(SessionId, Ticket),
    /// It is that commit, with every timestamp at that time.
    Decided(DatabaseId, Revision, i64),
}

/// Writes that are staged and that the log has not seen. No more than those that are under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Registry(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    files_made: u64,
    writes: Vec<StagedWrite>,
    /// What is being staged and not on the disk yet, in bytes.
    promised_bytes: u64,
}

impl Known {
    fn advance(&mut self, from: impl Fn(&StagedWrite) -> bool, to: Stage) {
        if let Some(write) = self.writes.iter_mut().find(|write| from(write)) {
            write.stage = to;
        }
    }
}

impl Registry {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_number(&self) -> u64 {
        let mut known = self.known();
        known.files_made += 1;
        known.files_made
    }

    /// Takes out the write that is this commit, if it was staged. O(1) while nothing is.
    pub(super) fn take(&self, database: DatabaseId, commit: &Commit) -> Option<(StagedWrite, Resolved)> {
        let mut known = self.known();
        let is_it = |write: &StagedWrite| match write.stage {
            Stage::Decided(own, revision, now_ms) if (own, revision) == (database, commit.revision) => {
                Some(now_ms)
            }
            Stage::Decided(..) | Stage::Asked(..) | Stage::Written => None,
        };
        let found = known.writes.iter().enumerate().find_map(|(at, write)| Some((at, is_it(write)?)));
        let (at, now_ms) = found?;
        let resolved = Resolved { now_ms, edits: commit.change.edits().len() as u64 };
        Some((known.writes.swap_remove(at), resolved))
    }

    fn remove(&self, number: u64) -> bool {
        let mut known = self.known();
        let before = known.writes.len();
        known.writes.retain(|write| write.number != number);
        known.writes.len() < before
    }
}

/// Why a write cannot be staged. Nothing is left of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotStaged {
    #[error(
        "the write takes {} MB of the disk, and {} MB of it are free, of which {} MB are left to the log",
        bytes.div_ceil(1_000_000), free / 1_000_000, left.div_ceil(1_000_000)
    )]
    NoRoom { bytes: u64, free: u64, left: u64 },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Who stages. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Staging<F = Folder> {
    files: F,
    registry: Registry,
    bounds: Bounds,
}

/// Something is staged, until this is dropped. What the log has not made its own by then is removed.
#[derive(Debug)]
pub(crate) struct Staged<F: Files = Folder> {
    files: F,
    registry: Registry,
    number: u64,
}

impl<F: Files + Clone> Staging<F> {
    pub(super) const fn new(files: F, registry: Registry, bounds: Bounds) -> Self {
        Self { files, registry, bounds }
    }

    /// Writes a write that is large, and returns when it is on stable storage; nothing, if it is not large. Takes as long as
    /// the disk does.
    ///
    /// # Errors
    /// [`NotStaged`], where there is too little room before anything is written.
    pub(crate) fn stage(&self, write: &Write) -> Result<Option<Staged<F>>, NotStaged> {
        let bytes = length_of(write);
        if bytes < self.bounds.write_bytes_min {
            return Ok(None);
        }
        let promise = self.promise(bytes)?;
        let number = self.registry.next_number();
        let written = self.write(number, write, promise).inspect_err(|_| remove(&self.files, number))?;
        self.registry.known().writes.push(written);
        Ok(Some(Staged { files: self.files.clone(), registry: self.registry.clone(), number }))
    }

    /// Notes what became of a request, if its write was staged. To be called in the order of the revisions, before the
    /// commit can reach the log. O(1) while nothing is staged.
    pub(crate) fn decided(&self, database: DatabaseId, now_ms: i64, verdict: &Verdict) {
        let mut known = self.registry.known();
        if known.writes.is_empty() {
            return;
        }
        if let (Some(commit), Some(ticket)) = (&verdict.commit, verdict.ticket)
            && commit.arming.is_none()
        {
            let asked = Stage::Asked(verdict.session, ticket);
            let decided = Stage::Decided(database, commit.revision, now_ms);
            known.advance(|write| write.stage == asked, decided);
        }
    }

    /// Takes so much of what is free, if that leaves enough.
    fn promise(&self, bytes: u64) -> Result<Promise, NotStaged> {
        let free = self.files.free_bytes()?;
        let mut known = self.registry.known();
        let (free, left) = (free.saturating_sub(known.promised_bytes), self.bounds.left_bytes);
        if free < bytes.saturating_add(left) {
            return Err(NotStaged::NoRoom { bytes, free, left });
        }
        known.promised_bytes += bytes;
        Ok(Promise { registry: self.registry.clone(), bytes })
    }

    fn write(&self, number: u64, write: &Write, promise: Promise) -> io::Result<StagedWrite> {
        let file = self.files.make(&name_of_staged(number), 0)?;
        let mut pieces = Pieces { file, at: 0, crc: crc32fast::Hasher::new(), promise };
        let mut buffer = Vec::with_capacity(2 * self.bounds.piece_bytes);
        put_write_in_pieces(
            &mut buffer,
            write,
            &mut |buffer| match self.bounds.piece_bytes <= buffer.len() {
                true => pieces.put(buffer),
                false => Ok(()),
            },
        )?;
        pieces.put(&mut buffer)?;
        Ok(StagedWrite { number, bytes: pieces.at, crc: pieces.crc.finalize(), stage: Stage::Written })
    }
}

impl<F: Files> Staged<F> {
    /// It is the write of that request, which is to be asked next.
    pub(crate) fn asked_by(&self, session: SessionId, ticket: Ticket) {
        let number = self.number;
        self.registry.known().advance(|write| write.number == number, Stage::Asked(session, ticket));
    }

    /// It is that commit.
    #[cfg(test)]
    pub(super) fn decided_as(&self, database: DatabaseId, revision: Revision, now_ms: i64) {
        let (number, decided) = (self.number, Stage::Decided(database, revision, now_ms));
        self.registry.known().advance(|write| write.number == number, decided);
    }
}

impl<F: Files> Drop for Staged<F> {
    fn drop(&mut self) {
        if self.registry.remove(self.number) {
            remove(&self.files, self.number);
        }
    }
}

fn remove(files: &impl Files, number: u64) {
    if let Err(error) = files.remove(&name_of_staged(number))
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "what was staged for a write cannot be removed before the next start");
    }
}

/// How long a write is in a file. O(size).
fn length_of(write: &Write) -> u64 {
    const AT_ONCE: usize = 64 << 10;
    let (mut bytes, mut buffer) = (0, Vec::with_capacity(2 * AT_ONCE));
    let Ok(()) = put_write_in_pieces::<Infallible>(&mut buffer, write, &mut |buffer| {
        if AT_ONCE <= buffer.len() {
            bytes += buffer.len() as u64;
            buffer.clear();
        }
        Ok(())
    });
    bytes + buffer.len() as u64
}

/// Room on the disk that nobody else counts on. What is written of it does not count twice.
struct Promise {
    registry: Registry,
    bytes: u64,
}

impl Promise {
    fn keep(&mut self, bytes: u64) {
        let kept = bytes.min(self.bytes);
        self.bytes -= kept;
        self.registry.known().promised_bytes -= kept;
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.keep(self.bytes);
    }
}

/// A file as it is written.
struct Pieces<F> {
    file: F,
    at: u64,
    crc: crc32fast::Hasher,
    promise: Promise,
}

impl<F: SegmentFile> Pieces<F> {
    /// Each with a sync of its own: written all at once, others would wait for all of it at theirs.
    fn put(&mut self, piece: &mut Vec<u8>) -> io::Result<()> {
        self.file.write(piece, self.at)?;
        self.file.sync()?;
        self.crc.update(piece);
        self.at += piece.len() as u64;
        self.promise.keep(piece.len() as u64);
        piece.clear();
        Ok(())
    }
}
