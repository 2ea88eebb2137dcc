//! A file that is read again when it has changed.
//!
//! Why we look at the file and are not told by the system: editors replace a file by another one, containers and network
//! folders pass no events on, and one look at one file five times a second costs nothing that could be measured. A change
//! is taken up when two looks find the same, so that half a file is not taken for a whole one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::sleep;

/// How often the file is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// A file, and what it was when it was read last.
#[derive(Debug)]
pub(super) struct WatchedFile {
    path: PathBuf,
    seen: Option<Stamp>,
}

/// What changes whenever a file does: it may be another one by the same name, or the same one with other contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Nothing, if the file is not there.
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self {
            file: (found.dev(), found.ino()),
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

impl WatchedFile {
    /// To be called before the file is read.
    pub(super) fn new(path: PathBuf) -> Self {
        let seen = Stamp::of(&path);
        Self { path, seen }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns when the file has changed and is whole again. Nothing is lost if it is dropped.
    pub(super) async fn changed(&mut self) {
        let mut last = self.seen;
        loop {
            sleep(LOOK).await;
            let found = Stamp::of(&self.path);
            if found == last && found != self.seen {
                self.seen = found;
                return;
            }
            last = found;
        }
    }
}
