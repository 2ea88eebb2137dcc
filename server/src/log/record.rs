//! What a group consists of: one record per thing that happened.
//!
//! A record is its length (4 bytes, the lowest first), a byte that says of what kind it is, and its body. A reader that
//! is after some kinds or some databases can step over the rest.

use super::codec::{
    DecodeError, Source, put_change, put_identity, put_integer, put_own_rules, put_path, put_settings,
    put_text, put_varint, put_write, take_change, take_identity, take_own_rules, take_path, take_settings,
    take_write,
};
use super::staging::PartFile;
use hearth_engine::{Arming, ArmingStep, Commit, DatabaseId, Entry, OwnRules, Revision, SessionId, Settings};
use hearth_tree::Write;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    /// A server began, the `start`-th on these data. Session ids are made of it, so that none is used twice.
    Started { start: u64 },
    /// The server ended, and nobody was cut off.
    Stopped,
    /// The log goes on in the next segment: without that one it is not whole.
    Sealed,
    /// A database begins, empty.
    Made { database: DatabaseId, name: String },
    /// The next commit of a database.
    Commit { database: DatabaseId, commit: Commit },
    /// The next commit of a database, as what was asked for: it stands in a file of its own.
    Written { database: DatabaseId, revision: Revision, resolved: Resolved, write: Write },
    /// From here on a database has other rules of its own.
    Rules { database: DatabaseId, own: OwnRules },
    /// From here on a database has other settings.
    Settings { database: DatabaseId, settings: Settings },
}

/// How a write that is kept as it was asked for became a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// What every timestamp in it became.
    pub(crate) now_ms: i64,
    /// How many edits it came to: if it comes to others when it is read, it is not what was confirmed.
    pub(crate) edits: u64,
}

const STARTED: u8 = 1;
const STOPPED: u8 = 2;
const SEALED: u8 = 3;
const MADE: u8 = 4;
const COMMIT: u8 = 5;
const RULES: u8 = 6;
/// A commit with nodes that stand in a file of their own. Only read: up to version 2 large commits were kept like this.
const STAGED: u8 = 7;
/// A commit whose write stands in a file of its own.
const WRITTEN: u8 = 8;
const SETTINGS: u8 = 9;

const NO_ARMING: u8 = 1;
const ARM: u8 = 2;
const DISARM: u8 = 3;
const FIRED: u8 = 4;

/// Bytes before the body: length and kind.
const HEAD_BYTES: usize = 5;

/// A record that is too long for its length: 4 GiB or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a commit of {bytes} bytes is too long for the log; at most {} are allowed", u32::MAX)]
pub(super) struct TooLong {
    bytes: usize,
}

pub(super) fn put_started(into: &mut Vec<u8>, start: u64) {
    put(into, STARTED, |into| put_varint(into, start)).expect("a number is short");
}

pub(super) fn put_stopped(into: &mut Vec<u8>) {
    put(into, STOPPED, |_| {}).expect("nothing is short");
}

pub(super) fn put_sealed(into: &mut Vec<u8>) {
    put(into, SEALED, |_| {}).expect("nothing is short");
}

/// O(size).
pub(super) fn put_entry(into: &mut Vec<u8>, entry: &Entry<'_>) -> Result<(), TooLong> {
    match entry {
        Entry::Made(database, name) => put(into, MADE, |into| {
            put_varint(into, database.0);
            put_text(into, name);
        }),
        Entry::Commit(database, commit) => put(into, COMMIT, |into| {
            put_varint(into, database.0);
            put_commit(into, commit);
        }),
        Entry::Rules(database, own) => put(into, RULES, |into| {
            put_varint(into, database.0);
            put_own_rules(into, own);
        }),
        Entry::Settings(database, settings) => put(into, SETTINGS, |into| {
            put_varint(into, database.0);
            put_settings(into, settings);
        }),
    }
}

/// A commit whose write is in that file. O(1).
pub(super) fn put_written(
    into: &mut Vec<u8>,
    file: PartFile,
    (database, revision): (DatabaseId, Revision),
    resolved: Resolved,
) {
    let body = |into: &mut Vec<u8>| {
        put_varint(into, file.number);
        put_varint(into, file.bytes);
        into.extend_from_slice(&file.crc.to_le_bytes());
        put_varint(into, database.0);
        put_varint(into, revision.get());
        put_integer(into, resolved.now_ms);
        put_varint(into, resolved.edits);
    };
    put(into, WRITTEN, body).expect("a few numbers are short");
}

fn put(into: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Vec<u8>)) -> Result<(), TooLong> {
    let start = into.len();
    into.extend_from_slice(&[0, 0, 0, 0, kind]);
    body(into);
    let bytes = into.len() - start - HEAD_BYTES;
    let len = u32::try_from(bytes).map_err(|_| TooLong { bytes })?;
    into[start..start + 4].copy_from_slice(&len.to_le_bytes());
    Ok(())
}

fn put_commit(into: &mut Vec<u8>, Commit { revision, change, arming }: &Commit) {
    put_varint(into, revision.get());
    put_change(into, change);
    let Some(Arming { session, step }) = arming else {
        into.push(NO_ARMING);
        return;
    };
    match step {
        ArmingStep::Arm(identity, write) => {
            into.push(ARM);
            put_varint(into, session.0);
            put_identity(into, identity);
            put_write(into, write);
        }
        ArmingStep::Disarm(at) => {
            into.push(DISARM);
            put_varint(into, session.0);
            put_path(into, at);
        }
        ArmingStep::Fired => {
            into.push(FIRED);
            put_varint(into, session.0);
        }
    }
}

/// A record that is not read yet.
pub(super) struct Framed<'a> {
    kind: u8,
    body: Source<'a>,
}

impl<'a> Framed<'a> {
    /// Takes the first record of these.
    pub(super) fn take(source: &mut Source<'a>) -> Result<Self, DecodeError> {
        let head = source.take(HEAD_BYTES, "the head of a record")?;
        let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let what = "a record";
        let len = usize::try_from(len).map_err(|_| DecodeError::Short { what })?;
        Ok(Self { kind: head[4], body: Source::new(source.take(len, what)?) })
    }

    /// The file that it refers to.
    pub(super) fn part_file(&mut self) -> Result<Option<PartFile>, DecodeError> {
        if self.kind != STAGED && self.kind != WRITTEN {
            return Ok(None);
        }
        let what = "the file of a commit";
        let (number, bytes) = (self.body.varint(what)?, self.body.varint(what)?);
        let crc = u32::from_le_bytes(self.body.array(what)?);
        Ok(Some(PartFile { number, bytes, crc }))
    }

    /// Reads it; beside what stands in the file that it refers to.
    pub(super) fn read(mut self, part_file: Option<&'a [u8]>) -> Result<Record, DecodeError> {
        let record = match part_file {
            Some(part_file) if self.kind == WRITTEN => Record::of_written(&mut self.body, part_file)?,
            Some(part_file) => {
                self.body = self.body.beside(part_file);
                Record::of_body(self.kind, &mut self.body)?
            }
            None => Record::of_body(self.kind, &mut self.body)?,
        };
        self.body.end()?;
        Ok(record)
    }
}

impl Record {
    /// Takes the first record of these, which refers to no file.
    #[cfg(test)]
    pub(super) fn take(source: &mut Source<'_>) -> Result<Self, DecodeError> {
        Framed::take(source)?.read(None)
    }

    fn of_written(body: &mut Source<'_>, part_file: &[u8]) -> Result<Self, DecodeError> {
        let database = DatabaseId(body.varint("a database")?);
        let revision = Revision::new(body.varint("a revision")?);
        let now_ms = body.integer("the time of a write")?;
        let edits = body.varint("the number of edits")?;
        let mut own = Source::new(part_file);
        let write = take_write(&mut own)?;
        own.end()?;
        Ok(Self::Written { database, revision, resolved: Resolved { now_ms, edits }, write })
    }

    fn of_body(kind: u8, body: &mut Source<'_>) -> Result<Self, DecodeError> {
        match kind {
            STARTED => Ok(Self::Started { start: body.varint("the number of a start")? }),
            STOPPED => Ok(Self::Stopped),
            SEALED => Ok(Self::Sealed),
            MADE => {
                let database = DatabaseId(body.varint("a database")?);
                let name = body.text("the name of a database", |name| Ok(name.to_owned()))?;
                Ok(Self::Made { database, name })
            }
            COMMIT | STAGED => {
                let database = DatabaseId(body.varint("a database")?);
                Ok(Self::Commit { database, commit: take_commit(body)? })
            }
            RULES => {
                let database = DatabaseId(body.varint("a database")?);
                Ok(Self::Rules { database, own: take_own_rules(body)? })
            }
            SETTINGS => {
                let database = DatabaseId(body.varint("a database")?);
                Ok(Self::Settings { database, settings: take_settings(body)? })
            }
            byte => Err(DecodeError::Kind { what: "a record", byte }),
        }
    }
}

fn take_commit(body: &mut Source<'_>) -> Result<Commit, DecodeError> {
    let revision = Revision::new(body.varint("a revision")?);
    let change = take_change(body)?;
    let kind = body.byte("what is armed")?;
    if kind == NO_ARMING {
        return Ok(Commit { revision, change, arming: None });
    }
    let session = SessionId(body.varint("a session")?);
    let step = match kind {
        ARM => ArmingStep::Arm(take_identity(body)?, take_write(body)?),
        DISARM => ArmingStep::Disarm(take_path(body)?),
        FIRED => ArmingStep::Fired,
        byte => return Err(DecodeError::Kind { what: "what is armed", byte }),
    };
    Ok(Commit { revision, change, arming: Some(Arming { session, step }) })
}
