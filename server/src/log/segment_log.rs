//! Appends groups to the last segment, and begins the next one when it is full.

use super::files::{Files, Folder, SegmentFile};
use super::group::{self, HEADER_BYTES, Position};
use super::record::{TooLong, put_entry, put_sealed, put_started, put_stopped, put_written};
use super::segment::{HEAD_BYTES, Head, LogId, UNFINISHED, name_of};
use super::staging::{Bounds, PartFile, Registry, Staging, name_of_part, name_of_staged};
use crate::checkpoint_log::CheckpointLog;
use hearth_engine::{Entry, Log, LogError, MemoryLog};
use std::io;

/// How large the files and groups of a log are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// The first segment: what a database that holds next to nothing takes.
    pub(super) segment_bytes_min: u64,
    /// Each segment is twice as long as the one before, up to here. A longer one takes as long to fill with zeros as
    /// everybody waits for it: 16 MiB are some 20 ms.
    pub(super) segment_bytes_max: u64,
    /// A group of this many bytes is synced before more is added: a bound on the buffer. One commit may be larger.
    pub(super) group_bytes_max: usize,
}

impl Sizes {
    pub(crate) const DEFAULT: Self =
        Self { segment_bytes_min: 1 << 20, segment_bytes_max: 16 << 20, group_bytes_max: 16 << 20 };

    /// Those that fit to checkpoints after so much log: what is trimmed are whole segments, so some of them lie between two
    /// checkpoints.
    pub(super) fn between(checkpoints: CheckpointLog) -> Self {
        let segment_bytes_max =
            (checkpoints.bytes() / 4).clamp(Self::DEFAULT.segment_bytes_min, Self::DEFAULT.segment_bytes_max);
        Self { segment_bytes_max, ..Self::DEFAULT }
    }
}

/// What is kept of the buffer between groups.
const BUFFER_BYTES_KEPT: usize = 1 << 20;
/// The group that ends a segment, with its one record: there is always room for it.
const SEAL_BYTES: u64 = HEADER_BYTES as u64 + 5 + 1;

/// A log that knows how far it has come.
pub(crate) trait KeptLog: Log {
    /// Behind everything that was appended, and how many bytes this process has appended. Nothing, where nothing is
    /// kept.
    fn end_position(&self) -> Option<(Position, u64)>;

    /// Who stages large bodies for it. Nothing, where nothing is kept.
    fn staging(&self) -> Option<Staging> {
        None
    }
}

impl KeptLog for MemoryLog {
    fn end_position(&self) -> Option<(Position, u64)> {
        None
    }
}

impl KeptLog for SegmentLog<Folder> {
    fn end_position(&self) -> Option<(Position, u64)> {
        Some((self.next, self.bytes))
    }

    fn staging(&self) -> Option<Staging> {
        Some(Staging::new(
            self.files.clone(),
            self.staged.clone(),
            Bounds::beside(self.sizes.segment_bytes_max),
        ))
    }
}

/// A log in files. Nothing may be appended after an error.
#[derive(Debug)]
pub(crate) struct SegmentLog<F: Files> {
    files: F,
    id: LogId,
    sizes: Sizes,
    last: Segment<F::File>,
    next: Position,
    group: Vec<u8>,
    /// Files that the group refers to and that have no name of its yet, with their lengths.
    parts: Vec<(u64, u64)>,
    staged: Registry,
    /// Appended by this process, parts included.
    bytes: u64,
}

/// The segment that is being filled.
#[derive(Debug)]
pub(super) struct Segment<T> {
    pub(super) file: T,
    pub(super) bytes: u64,
    /// Where the next group is put; zeros from there on.
    pub(super) end: u64,
    /// Of the parts of its groups, as far as this process has named them.
    pub(super) part_bytes: u64,
}

impl<F: Files> SegmentLog<F> {
    /// The log of files that hold nothing yet.
    pub(super) fn begin(files: F, id: LogId, sizes: Sizes) -> io::Result<Self> {
        let first = Position::first(&id);
        Self::begin_at(files, id, sizes, first)
    }

    /// The same, for who has read all before that somewhere else.
    pub(super) fn begin_at(files: F, id: LogId, sizes: Sizes, next: Position) -> io::Result<Self> {
        let last = make_segment(&files, Head { id, first: next, bytes: sizes.segment_bytes_min })?;
        Ok(Self::resume(files, id, sizes, last, next))
    }

    /// Goes on behind what was read.
    pub(super) fn resume(files: F, id: LogId, sizes: Sizes, last: Segment<F::File>, next: Position) -> Self {
        let staged = Registry::default();
        Self { files, id, sizes, last, next, group: Vec::new(), parts: Vec::new(), staged, bytes: 0 }
    }

    /// Who stages for it on the same files.
    #[cfg(test)]
    pub(super) fn staging_with(&self, bounds: Bounds) -> Staging<F>
    where
        F: Clone,
    {
        Staging::new(self.files.clone(), self.staged.clone(), bounds)
    }

    /// A server begins: also the proof that the log can be written.
    pub(crate) fn start(&mut self, start: u64) -> Result<(), LogError> {
        group::begin(&mut self.group);
        put_started(&mut self.group, start);
        self.write()
    }

    /// Behind everything that was appended.
    pub(crate) const fn position(&self) -> Position {
        self.next
    }

    /// Writes the group in the buffer, and syncs.
    fn write(&mut self) -> Result<(), LogError> {
        let not_kept = |error: String| LogError::NotKept { reason: error };
        let in_doubt = |error: io::Error| LogError::InDoubt { reason: error.to_string() };
        let mut group = std::mem::take(&mut self.group);
        let bytes = group.len() as u64 + 1;
        let is_full = self.last.bytes < self.last.end + bytes + SEAL_BYTES;
        // Parts go with their segment, which would not be full for years.
        if is_full || self.sizes.segment_bytes_max <= self.last.part_bytes {
            self.seal(bytes, is_full).map_err(|error| not_kept(error.to_string()))?;
        }
        let part_bytes = self.name_parts().map_err(|error| not_kept(error.to_string()))?;
        let next = group::finish(&mut group, &self.id, self.next);
        let next = next.map_err(|error| not_kept(error.to_string()))?;
        self.last.file.check().map_err(|error| not_kept(error.to_string()))?;
        self.last.file.write(&group, self.last.end).map_err(in_doubt)?;
        self.last.file.sync().map_err(in_doubt)?;
        // Nobody may be told of what has been removed meanwhile.
        self.last.file.check().map_err(in_doubt)?;
        self.last.end += bytes;
        self.last.part_bytes += part_bytes;
        self.bytes += bytes + part_bytes;
        self.next = next;
        group.clear();
        group.shrink_to(BUFFER_BYTES_KEPT);
        self.group = group;
        Ok(())
    }

    /// Gives the files that the group refers to the names by which it does, durably; gives their length.
    fn name_parts(&mut self) -> io::Result<u64> {
        if self.parts.is_empty() {
            return Ok(0);
        }
        let mut bytes = 0;
        for (number, (staged, part_bytes)) in (1..).zip(self.parts.drain(..)) {
            self.files.rename(&name_of_staged(staged), &name_of_part(self.next.sequence, number))?;
            bytes += part_bytes;
        }
        self.files.sync()?;
        Ok(bytes)
    }

    fn put(&mut self, entry: &Entry<'_>) -> Result<(), TooLong> {
        if let Entry::Commit(database, commit) = entry
            && let Some((staged, resolved)) = self.staged.take(*database, commit)
        {
            let number = self.parts.len() as u64 + 1;
            let file = PartFile { number, bytes: staged.bytes, crc: staged.crc };
            self.parts.push((staged.number, staged.bytes));
            put_written(&mut self.group, file, (*database, commit.revision), resolved);
            return Ok(());
        }
        put_entry(&mut self.group, entry)
    }

    /// Ends the segment, and begins one that has room for a group of so many bytes. The new one is durable before the old
    /// one points to it: whatever happens in between, the last segment that is pointed to is there.
    fn seal(&mut self, group_bytes: u64, is_full: bool) -> io::Result<()> {
        let mut seal = Vec::new();
        group::begin(&mut seal);
        put_sealed(&mut seal);
        let first = group::finish(&mut seal, &self.id, self.next).map_err(io::Error::other)?;
        let needed = (HEAD_BYTES as u64 + group_bytes + SEAL_BYTES).next_multiple_of(HEAD_BYTES as u64);
        let wanted = if is_full { 2 * self.last.bytes } else { self.sizes.segment_bytes_min };
        let bytes = wanted.min(self.sizes.segment_bytes_max).max(needed);
        let made = make_segment(&self.files, Head { id: self.id, first, bytes })?;
        self.last.file.write(&seal, self.last.end)?;
        self.last.file.sync()?;
        self.last = made;
        self.next = first;
        Ok(())
    }
}

/// A new segment, durable under its name. Where that fails, nothing is left that takes room.
fn make_segment<F: Files>(files: &F, head: Head) -> io::Result<Segment<F::File>> {
    let make = || -> io::Result<F::File> {
        let file = files.make(UNFINISHED, head.bytes)?;
        file.write(&head.to_bytes(), 0)?;
        file.sync()?;
        files.rename(UNFINISHED, &name_of(head.first.sequence))?;
        files.sync()?;
        Ok(file)
    };
    let file = make().inspect_err(|_| {
        // It may never have been made, and the next start removes it, too.
        drop(files.remove(UNFINISHED));
    })?;
    Ok(Segment { file, bytes: head.bytes, end: HEAD_BYTES as u64, part_bytes: 0 })
}

impl<F: Files> Log for SegmentLog<F> {
    /// One group, one write, one sync; more of them only above [`Sizes::group_bytes_max`].
    fn append(&mut self, entries: &[Entry<'_>]) -> Result<(), LogError> {
        let mut is_written = false;
        // What was written before is kept: then nobody may be told that nothing was.
        let doubted = |error, is_written| match error {
            LogError::NotKept { reason } if is_written => LogError::InDoubt { reason },
            LogError::NotKept { .. } | LogError::InDoubt { .. } => error,
        };
        group::begin(&mut self.group);
        for entry in entries {
            let put = self.put(entry);
            put.map_err(|error| doubted(LogError::NotKept { reason: error.to_string() }, is_written))?;
            if self.sizes.group_bytes_max <= self.group.len() {
                self.write().map_err(|error| doubted(error, is_written))?;
                is_written = true;
                group::begin(&mut self.group);
            }
        }
        if group::is_empty(&self.group) {
            return Ok(());
        }
        self.write().map_err(|error| doubted(error, is_written))
    }

    fn end(&mut self) -> Result<(), LogError> {
        group::begin(&mut self.group);
        put_stopped(&mut self.group);
        self.write()
    }
}
