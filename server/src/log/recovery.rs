//! Reads a log from its beginning: everything that was kept, or a refusal that says what is wrong and where.

use super::codec::{DecodeError, Source};
use super::files::{Files, SegmentFile};
use super::group::{Header, Position};
use super::record::{Framed, Record};
use super::segment::{HEAD_BYTES, Head, HeadError, LogId, UNFINISHED, name_of, sequence_of};
use super::segment_log::{Segment, SegmentLog, Sizes};
use super::staging::{PartError, group_of_part, is_staged};
use super::torn::{Damage, Tail, judge};
use std::io;

/// Why a log is not read any further. Nothing was changed on the disk.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoverError {
    #[error("`log/{file}` is no file of the log; move it elsewhere")]
    Foreign { file: String },
    #[error("the files of the log are missing from `log`; {PUT_BACK}")]
    NoSegments,
    #[error("the log begins with group {first}: what was before `log/{file}` is missing; {PUT_BACK}")]
    NoBeginning { file: String, first: u64 },
    #[error("the log goes on in `log/{file}`, and that is missing; {PUT_BACK}")]
    Missing { file: String },
    #[error("`log/{file}` follows what should go on in `log/{expected}`; {PUT_BACK}")]
    Gap { file: String, expected: String },
    #[error("`log/{file}` cannot be used: {error}; {PUT_BACK}")]
    Head { file: String, error: HeadError },
    #[error("`log/{file}` belongs to other data; {PUT_BACK}")]
    OtherLog { file: String },
    #[error("`log/{file}` does not follow the file before it; {PUT_BACK}")]
    NotNext { file: String },
    #[error("`log/{file}` has another name than it was made with; {PUT_BACK}")]
    Renamed { file: String },
    #[error("`log/{file}` has {found} bytes and was made with {bytes}; {PUT_BACK}")]
    Length { file: String, found: u64, bytes: u64 },
    #[error(
        "`log/{file}`, byte {at}: what should be group {sequence} of the log is damaged: {damage}; {PUT_BACK}"
    )]
    Damaged { file: String, at: usize, sequence: u64, damage: Damage },
    #[error(
        "`log/{file}`, byte {at}: group {found} of the log stands where group {sequence} should; {PUT_BACK}"
    )]
    Order { file: String, at: usize, sequence: u64, found: u64 },
    #[error("`log/{file}`, byte {at}: the log ends here, and yet `log/{next}` follows; {PUT_BACK}")]
    Unsealed { file: String, at: usize, next: String },
    #[error(
        "`log/{file}`, byte {at}: group {sequence} of the log holds what cannot be: {mistake}; {PUT_BACK}"
    )]
    Record { file: String, at: usize, sequence: u64, mistake: Mistake },
    #[error("`log/{file}`, byte {at}: group {sequence} of the log needs {error}; {PUT_BACK}")]
    Part { file: String, at: usize, sequence: u64, error: PartError },
    #[error(
        "`log/{file}`: the log ends before group {found}, and a checkpoint stands for all before group {sequence}; {PUT_BACK}"
    )]
    BeforeCheckpoint { file: String, found: u64, sequence: u64 },
    #[error(
        "`log/{file}`, byte {at}: group {sequence} of the log is not the one that a checkpoint stands before; {PUT_BACK}"
    )]
    OtherCheckpoint { file: String, at: usize, sequence: u64 },
    #[error("`log/{file}`: {error}")]
    Io { file: String, error: io::Error },
    #[error("`log`: {0}")]
    Names(io::Error),
}

/// What can be done.
pub(super) const PUT_BACK: &str = "put the folder back from a copy, or move it away to begin with nothing";

/// Why a record cannot be, though its bytes are those that were written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Mistake {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("something follows the end of the file's records")]
    AfterSeal,
    #[error("start {found} of the server after start {before}")]
    Start { before: u64, found: u64 },
    #[error("database {database} is made a second time")]
    MadeTwice { database: u64 },
    #[error("`{name}` is made a second time")]
    NamedTwice { name: String },
    #[error("`{name}` is no name of a database")]
    Name { name: String },
    #[error("database {database} was never made")]
    Unknown { database: u64 },
    #[error("revision {found} of `{name}` after revision {before}")]
    Revision { name: String, before: u64, found: u64 },
    #[error("revision {revision} of `{name}` is a write that came to {edits} edits and now {comes_to}")]
    Resolved { name: String, revision: u64, edits: u64, comes_to: String },
    #[error("version {found} of the rules of `{name}` after version {before}")]
    Rules { name: String, before: u64, found: u64 },
    #[error("version {found} of the settings of `{name}` after version {before}")]
    Settings { name: String, before: u64, found: u64 },
}

/// Why the records of a group cannot be read.
enum Unreadable {
    Mistake(Mistake),
    Part(PartError),
}

impl From<Mistake> for Unreadable {
    fn from(mistake: Mistake) -> Self {
        Self::Mistake(mistake)
    }
}

impl From<DecodeError> for Unreadable {
    fn from(error: DecodeError) -> Self {
        Self::Mistake(error.into())
    }
}

impl From<PartError> for Unreadable {
    fn from(error: PartError) -> Self {
        Self::Part(error)
    }
}

/// A log that was read, and can be appended to.
#[derive(Debug)]
pub(crate) struct Recovered<F: Files> {
    pub(crate) log: SegmentLog<F>,
    /// Of the groups that were shown.
    pub(crate) bytes: u64,
    /// A group that was never finished.
    pub(crate) cut: Option<Cut>,
}

/// A group that was never finished, and was cut: nobody was told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) file: String,
    pub(crate) at: usize,
    pub(crate) bytes: usize,
}

/// One group as it stands in a file.
struct Standing {
    file: String,
    at: usize,
    bytes: Vec<u8>,
}

impl Standing {
    /// A sync that failed may have left the last group in the system's memory alone, where it reads as if it were kept.
    /// Written again, it is synced in earnest.
    fn write_again<F: Files>(&self, files: &F) -> Result<(), RecoverError> {
        let again = || {
            let file = files.open(&self.file)?;
            file.write(&self.bytes, self.at as u64)?;
            file.sync()
        };
        again().map_err(|error| io(&self.file, error))
    }
}

fn io(file: &str, error: io::Error) -> RecoverError {
    RecoverError::Io { file: file.into(), error }
}

/// How the groups of a segment end.
enum End {
    /// The next segment goes on.
    Sealed,
    /// Here, with something unfinished up to that offset or with nothing behind.
    Open { at: usize, torn: Option<usize> },
}

struct Reader<'a, F, S> {
    files: &'a F,
    id: LogId,
    next: Position,
    /// What stands before it is not shown.
    behind: Position,
    see: S,
    bytes: u64,
    last_group: Option<Standing>,
}

/// Shows all records in order to `see`, and opens the log for what follows.
///
/// # Errors
/// [`RecoverError`], before anything on the disk was changed.
pub(crate) fn recover<F: Files>(
    files: F,
    id: LogId,
    sizes: Sizes,
    see: impl FnMut(Record) -> Result<(), Mistake>,
) -> Result<Recovered<F>, RecoverError> {
    recover_behind(files, id, sizes, Position::first(&id), see)
}

/// As [`recover`], but shows only what stands behind a position. What is before it is not needed, except where the first
/// segment that is begins before it.
///
/// # Errors
/// As [`recover`]; also if the log has not come to the position, or in another way.
pub(crate) fn recover_behind<F: Files>(
    files: F,
    id: LogId,
    sizes: Sizes,
    position: Position,
    see: impl FnMut(Record) -> Result<(), Mistake>,
) -> Result<Recovered<F>, RecoverError> {
    let Names { segments: names, parts, unfinished } = Names::of(&files)?;
    let first = names.first().and_then(|name| sequence_of(name)).unwrap_or_default();
    let is_before = |name: &String| sequence_of(name).is_some_and(|first| first <= position.sequence);
    let names = match names.partition_point(is_before).checked_sub(1) {
        Some(begin) => &names[begin..],
        None => {
            let (file, first) = (names[0].clone(), sequence_of(&names[0]).unwrap_or_default());
            return Err(RecoverError::NoBeginning { file, first });
        }
    };
    let mut reader =
        Reader { files: &files, id, next: position, behind: position, see, bytes: 0, last_group: None };
    if sequence_of(&names[0]) != Some(position.sequence) {
        reader.next = reader.open(&names[0])?.2.first;
    }
    let mut left = names.iter();
    let (name, file, bytes, end) = loop {
        let name =
            left.next().ok_or_else(|| RecoverError::Missing { file: name_of(reader.next.sequence) })?;
        let (file, bytes, end) = reader.segment(name)?;
        match end {
            End::Sealed => {}
            End::Open { at, torn } => break (name, file, bytes, (at, torn)),
        }
    };
    if reader.next.sequence < position.sequence {
        let (sequence, found) = (position.sequence, reader.next.sequence);
        return Err(RecoverError::BeforeCheckpoint { file: name.clone(), found, sequence });
    }
    if reader.next.sequence == position.sequence && reader.next != position {
        return Err(RecoverError::OtherCheckpoint {
            file: name.clone(),
            at: end.0,
            sequence: position.sequence,
        });
    }
    let unused = left.as_slice();
    if let Some(next) = unused.first() {
        reader.check_unused(name, end.0, next, unused.len())?;
    }
    let Reader { next, bytes: read, last_group, .. } = reader;
    // From here on the disk is changed, and all that was read is kept.
    for name in unused {
        files.remove(name).map_err(|error| io(name, error))?;
    }
    // What no group refers to: the log has not come to it, or it was trimmed.
    let is_of_none =
        |name: &&String| group_of_part(name).is_none_or(|group| group < first || next.sequence <= group);
    for name in unfinished.iter().chain(parts.iter().filter(is_of_none)) {
        files.remove(name).map_err(|error| io(name, error))?;
    }
    files.sync().map_err(RecoverError::Names)?;
    let (at, torn) = end;
    let cut = torn.map(|to| Cut { file: name.clone(), at, bytes: to - at });
    // Also where zeros are read: a sync that failed may have left them in the system's memory alone, and what they were to
    // cut on the disk.
    let behind = vec![0; usize::try_from(bytes).unwrap_or(at).saturating_sub(at)];
    file.write(&behind, at as u64).map_err(|error| io(name, error))?;
    file.sync().map_err(|error| io(name, error))?;
    if let Some(group) = last_group {
        group.write_again(&files)?;
    }
    let log =
        SegmentLog::resume(files, id, sizes, Segment { file, bytes, end: at as u64, part_bytes: 0 }, next);
    Ok(Recovered { log, bytes: read, cut })
}

/// The names of all files, each kind in order.
struct Names {
    segments: Vec<String>,
    /// Of files that groups refer to.
    parts: Vec<String>,
    /// Of files that nothing refers to: they were being made.
    unfinished: Vec<String>,
}

impl Names {
    fn of<F: Files>(files: &F) -> Result<Self, RecoverError> {
        let mut names = Self { segments: Vec::new(), parts: Vec::new(), unfinished: Vec::new() };
        let mut all = files.names().map_err(RecoverError::Names)?;
        all.sort();
        for name in all {
            if sequence_of(&name).is_some() {
                names.segments.push(name);
            } else if group_of_part(&name).is_some() {
                names.parts.push(name);
            } else if name == UNFINISHED || is_staged(&name) {
                names.unfinished.push(name);
            } else {
                return Err(RecoverError::Foreign { file: name });
            }
        }
        if names.segments.is_empty() { Err(RecoverError::NoSegments) } else { Ok(names) }
    }
}

impl<F: Files, S: FnMut(Record) -> Result<(), Mistake>> Reader<'_, F, S> {
    /// Reads the segment that should come next: the file, its length, and how it ends.
    fn segment(&mut self, name: &str) -> Result<(F::File, u64, End), RecoverError> {
        let expected = name_of(self.next.sequence);
        if name != expected {
            return Err(RecoverError::Gap { file: name.into(), expected });
        }
        let (file, segment, head) = self.open(name)?;
        if head.first != self.next {
            return Err(RecoverError::NotNext { file: name.into() });
        }
        let end = self.groups(name, &segment)?;
        Ok((file, head.bytes, end))
    }

    fn open(&self, name: &str) -> Result<(F::File, Vec<u8>, Head), RecoverError> {
        let io = |error| RecoverError::Io { file: name.into(), error };
        let file = self.files.open(name).map_err(io)?;
        let segment = file.read().map_err(io)?;
        let head = Head::read(&segment).map_err(|error| RecoverError::Head { file: name.into(), error })?;
        if head.id != self.id {
            return Err(RecoverError::OtherLog { file: name.into() });
        }
        if sequence_of(name) != Some(head.first.sequence) {
            return Err(RecoverError::Renamed { file: name.into() });
        }
        if head.bytes != segment.len() as u64 {
            let found = segment.len() as u64;
            return Err(RecoverError::Length { file: name.into(), found, bytes: head.bytes });
        }
        Ok((file, segment, head))
    }

    fn groups(&mut self, file: &str, segment: &[u8]) -> Result<End, RecoverError> {
        let mut at = HEAD_BYTES;
        let mut last = None;
        let end = loop {
            let sequence = self.next.sequence;
            let Some((header, records)) = group_at(segment, at, &self.id) else {
                match judge(segment, at, &self.id, self.next) {
                    Tail::Clean => break End::Open { at, torn: None },
                    Tail::Torn { to } => break End::Open { at, torn: Some(to) },
                    Tail::Damaged(damage) => {
                        return Err(RecoverError::Damaged { file: file.into(), at, sequence, damage });
                    }
                }
            };
            if header.position != self.next {
                let found = header.position.sequence;
                return Err(RecoverError::Order { file: file.into(), at, sequence, found });
            }
            if header.position.sequence == self.behind.sequence && header.position != self.behind {
                return Err(RecoverError::OtherCheckpoint { file: file.into(), at, sequence });
            }
            let is_sealed = self.records(records).map_err(|unreadable| {
                let file = file.into();
                match unreadable {
                    Unreadable::Mistake(mistake) => RecoverError::Record { file, at, sequence, mistake },
                    Unreadable::Part(error) => RecoverError::Part { file, at, sequence, error },
                }
            })?;
            if self.behind.sequence <= header.position.sequence {
                self.bytes += header.group_bytes() as u64;
            }
            last = Some((at, header.group_bytes()));
            self.next = header.next(&self.id);
            at += header.group_bytes();
            if is_sealed {
                if segment[at..].iter().any(|&byte| byte != 0) {
                    let (sequence, damage) = (self.next.sequence, Damage::Stray);
                    return Err(RecoverError::Damaged { file: file.into(), at, sequence, damage });
                }
                break End::Sealed;
            }
        };
        if let Some((at, len)) = last {
            self.last_group = Some(Standing { file: file.into(), at, bytes: segment[at..at + len].to_vec() });
        }
        Ok(end)
    }

    /// Whether the last of them ends the segment.
    fn records(&mut self, records: &[u8]) -> Result<bool, Unreadable> {
        let mut source = Source::new(records);
        let mut is_sealed = false;
        while !source.is_empty() {
            if is_sealed {
                return Err(Mistake::AfterSeal.into());
            }
            let is_shown = self.behind.sequence <= self.next.sequence;
            let mut framed = Framed::take(&mut source)?;
            let part = match framed.part_file()? {
                // What it refers to is not needed, and may be gone.
                Some(_) if !is_shown => continue,
                Some(part_file) => {
                    self.bytes += part_file.bytes;
                    Some(part_file.read(self.files, self.next.sequence)?)
                }
                None => None,
            };
            match framed.read(part.as_deref())? {
                Record::Sealed => is_sealed = true,
                record @ (Record::Started { .. }
                | Record::Stopped
                | Record::Made { .. }
                | Record::Commit { .. }
                | Record::Written { .. }
                | Record::Rules { .. }
                | Record::Settings { .. }) => {
                    if is_shown {
                        (self.see)(record)?;
                    }
                }
            }
        }
        Ok(is_sealed)
    }

    /// Behind a segment that does not say that the log goes on, there may be one that was made and not used: the process
    /// ended between the two. It is empty, and made for what would have stood behind the missing record.
    fn check_unused(&self, file: &str, at: usize, next: &str, count: usize) -> Result<(), RecoverError> {
        let is_expected = count == 1 && sequence_of(next) == self.next.sequence.checked_add(1);
        let (_, segment, _) = self.open(next)?;
        let is_empty = segment[HEAD_BYTES..].iter().all(|&byte| byte == 0);
        if is_expected && is_empty {
            return Ok(());
        }
        Err(RecoverError::Unsealed { file: file.into(), at, next: next.into() })
    }
}

/// A group that is what was written.
fn group_at<'a>(segment: &'a [u8], at: usize, id: &LogId) -> Option<(Header, &'a [u8])> {
    let group = segment.get(at..)?;
    let header = Header::read(group, id)?;
    let records = header.records(group)?;
    Some((header, records))
}
