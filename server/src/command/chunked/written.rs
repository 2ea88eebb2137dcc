//! How far a file is written: a small file of its own, replaced behind each step.

use super::super::transfer::TransferError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What changes if such a file would be read otherwise.
const VERSION: u32 = 1;

/// What is written, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Source {
    /// The address of the place.
    to: String,
    /// Length of the file, and when it was changed: seconds since 1970, and nanoseconds. Of a pipe neither is known.
    bytes: Option<u64>,
    changed: Option<(i64, i64)>,
}

impl Source {
    pub(super) fn new(to: String, file: Option<&Metadata>) -> Self {
        let changed = file.map(|own| (own.mtime(), own.mtime_nsec()));
        Self { to, bytes: file.map(Metadata::len), changed }
    }
}

/// How far it is.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Written {
    version: u32,
    source: Source,
    /// So much of the text, which is longer than the file if that is compressed.
    pub(super) text_bytes: u64,
    /// CRC-32 over that.
    pub(super) sum: u32,
    steps: u64,
}

/// Why an import cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Unresumable {
    /// The command names another place.
    #[error("it was written to `{before}`, and not to `{now}`")]
    Elsewhere {
        /// Where.
        before: String,
        /// Where it should be now.
        now: String,
    },
    /// It has another length, or was changed at another time.
    #[error("the file has changed since")]
    File,
    /// The text is not what was written.
    #[error("the first {bytes} bytes of its text are not those that were written")]
    Text {
        /// How many were.
        bytes: u64,
    },
    /// What is there was not written by it.
    #[error("what it has written to `/{path}` below the place is not there any more, or has been changed")]
    Place {
        /// From the place of the import on.
        path: String,
    },
    /// Of a later version.
    #[error("it was begun by another version of hearth")]
    Version,
}

impl Written {
    pub(super) const fn nothing(source: Source) -> Self {
        Self { version: VERSION, source, text_bytes: 0, sum: 0, steps: 0 }
    }

    /// What an import before has left.
    pub(super) fn read(notes: &Path) -> Result<Option<Self>, TransferError> {
        let failed = |error| TransferError::File { file: notes.into(), act: "read", error };
        match fs::read(notes) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|_| {
                failed(io::Error::new(io::ErrorKind::InvalidData, "it does not say how far an import is"))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Whether it is about that.
    pub(super) fn is_of(&self, source: &Source) -> Result<(), Unresumable> {
        let Source { to, bytes, changed } = source;
        if self.version != VERSION {
            return Err(Unresumable::Version);
        }
        if self.source.to != *to {
            return Err(Unresumable::Elsewhere { before: self.source.to.clone(), now: to.clone() });
        }
        if (self.source.bytes, self.source.changed) != (*bytes, *changed) {
            return Err(Unresumable::File);
        }
        Ok(())
    }

    pub(super) const fn add(&mut self, text_bytes: u64, sum: u32) {
        (self.text_bytes, self.sum) = (text_bytes, sum);
        self.steps += 1;
    }

    /// Replaces the file, so that whatever happens there is the one before or this one.
    pub(super) fn keep(&self, notes: &Path) -> Result<(), TransferError> {
        let mut unfinished = notes.as_os_str().to_owned();
        unfinished.push(".unfinished");
        let unfinished = PathBuf::from(unfinished);
        let kept = self.write(&unfinished).and_then(|()| fs::rename(&unfinished, notes));
        kept.map_err(|error| TransferError::File { file: notes.into(), act: "written", error })
    }

    fn write(&self, unfinished: &Path) -> io::Result<()> {
        let mut own: File =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(unfinished)?;
        own.write_all(&serde_json::to_vec(self)?)?;
        own.sync_all()
    }

    /// All is written.
    pub(super) fn remove(notes: &Path) -> Result<(), TransferError> {
        let failed = |error| TransferError::File { file: notes.into(), act: "removed", error };
        fs::remove_file(notes).map_err(failed)
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.steps == 1 { "step" } else { "steps" };
        write!(f, "byte {} of its text ({} {noun})", self.text_bytes, self.steps)
    }
}
