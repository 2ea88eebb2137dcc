//! The store that checkpoints are written to while a server runs, and the next one when it fails.
//!
//! Why a store that has failed is never written again: after a failed sync nobody knows which of its bytes are on the
//! disk, and the system takes what it could not write for written. What the store holds from before may be all that the
//! log can be read behind. So it is left as it is, and counts, until another one is whole beside it. A file says so, too: a
//! server that is started anew reads what the system has in its memory, and could not tell.

use super::shelf::Shelf;
use super::store::{Store, StoreError};
use super::writer::{Capture, Writer, Written};
use crate::log::{LogId, Position};
use rustix::fs::statvfs;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Says which of the stores counts.
pub(super) const STORE: &str = "store";
const STORE_UNFINISHED: &str = "store.unfinished";
/// Says which of the stores is never to be written again.
pub(super) const FAILED: &str = "failed";
const FORMAT: &str = "hearth checkpoints 1";

/// What a new store leaves of the disk: two segments, which the log needs more.
const LEFT_BYTES: u64 = 32 << 20;

#[cfg(test)]
pub(super) type Prepare = Box<dyn Fn(&mut Writer) + Send>;

/// Writes checkpoints into one store after the other.
pub(crate) struct Stores {
    folder: PathBuf,
    log: LogId,
    /// Where the next one goes, if there is none yet.
    first: Shelf,
    /// The one that counts; nothing before the first checkpoint.
    shelf: Option<Shelf>,
    /// Nothing before the first checkpoint, and where the store has failed.
    writer: Option<Writer>,
    /// What the checkpoint in a store that has failed took.
    bytes: u64,
    /// Done to each new writer before it writes.
    #[cfg(test)]
    pub(super) prepare: Option<Prepare>,
}

impl Stores {
    /// A store is made with the first checkpoint: data that never need one need no store.
    pub(super) const fn none(folder: PathBuf, log: LogId, first: Shelf) -> Self {
        Self {
            folder,
            log,
            first,
            shelf: None,
            writer: None,
            bytes: 0,
            #[cfg(test)]
            prepare: None,
        }
    }

    /// Goes on with a store.
    pub(super) const fn some(folder: PathBuf, log: LogId, shelf: Shelf, writer: Writer) -> Self {
        Self {
            folder,
            log,
            first: shelf,
            shelf: Some(shelf),
            writer: Some(writer),
            bytes: 0,
            #[cfg(test)]
            prepare: None,
        }
    }

    /// Goes on after a store that has failed under a server before this one: it is read and never written.
    pub(super) fn failed(folder: PathBuf, log: LogId, shelf: Shelf, bytes: u64) -> Self {
        Self { bytes, shelf: Some(shelf), ..Self::none(folder, log, shelf) }
    }

    /// Whether the store that counts has failed, so that another one is to be written.
    pub(crate) const fn has_failed(&self) -> bool {
        self.shelf.is_some() && self.writer.is_none()
    }

    /// Writes a checkpoint, as [`Writer::write`]; after an error the whole of it, into another store.
    ///
    /// # Errors
    /// Those of the store. What was before is what it was, and may be tried again.
    pub(crate) fn write(&mut self, position: Position, capture: Capture) -> Result<Written, StoreError> {
        let Some(writer) = &mut self.writer else {
            let shelf = self.shelf.map_or(self.first, Shelf::other);
            return self.replace(shelf, position, capture);
        };
        let written = writer.write(position, capture);
        if written.is_err() {
            self.bytes = writer.bytes();
            // Before it is closed, which may take as long as it likes.
            if let Some(shelf) = self.shelf {
                note_failure(&self.folder, shelf);
            }
            self.writer = None;
        }
        written
    }

    /// Writes a first checkpoint into a new store, reads it back, and removes the one that was.
    ///
    /// # Errors
    /// As for [`Stores::write`].
    pub(super) fn replace(
        &mut self,
        shelf: Shelf,
        position: Position,
        capture: Capture,
    ) -> Result<Written, StoreError> {
        make_folder(&self.folder)?;
        if let Some(current) = self.shelf {
            check_room(&self.folder, self.bytes)?;
            // It may say something else, if saying so has failed halfway.
            say(&self.folder, current)?;
        }
        let (writer, written) = match self.fill(shelf, position, capture) {
            Ok(filled) => filled,
            Err(error) => {
                remove_leftover(&self.folder.join(shelf.name()));
                return Err(error);
            }
        };
        // If this fails nobody knows which one counts, and so both stay.
        say(&self.folder, shelf)?;
        self.writer = Some(writer);
        self.bytes = 0;
        if let Some(former) = self.shelf.replace(shelf) {
            remove_leftover(&self.folder.join(former.name()));
        }
        forget_failure(&self.folder);
        Ok(written)
    }

    /// A new store with one checkpoint.
    fn fill(
        &self,
        shelf: Shelf,
        position: Position,
        capture: Capture,
    ) -> Result<(Writer, Written), StoreError> {
        let mut writer = Writer::new(begin(&self.folder, shelf)?, self.log, None);
        #[cfg(test)]
        if let Some(prepare) = &self.prepare {
            prepare(&mut writer);
        }
        let written = writer.write(position, capture)?;
        writer.check().map_err(|error| StoreError(error.to_string()))?;
        Ok((writer, written))
    }
}

/// Says durably that a store has failed. Where that cannot be said, the disk has more to tell than that.
fn note_failure(folder: &Path, shelf: Shelf) {
    let note = || {
        let mut file = File::create(folder.join(FAILED))?;
        file.write_all(text_of(shelf).as_bytes())?;
        file.sync_all()?;
        sync_folder(folder)
    };
    if let Err(error) = note() {
        tracing::warn!(%error, "that the store has failed cannot be noted for the next start");
    }
}

/// What it says of a store that is not there any more means nothing.
pub(super) fn forget_failure(folder: &Path) {
    if let Err(error) = remove_folder(&folder.join(FAILED)) {
        tracing::warn!(%error, "the note of a store that has failed cannot be removed");
    }
}

/// Whether a store has failed under a server before. A note that cannot be read is one.
pub(super) fn is_noted(folder: &Path, shelf: Shelf) -> bool {
    match fs::read(folder.join(FAILED)) {
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(_) => true,
        Ok(text) => Shelf::all().all(|other| other == shelf || text != text_of(other).as_bytes()),
    }
}

/// An empty store, durable under its name.
pub(super) fn begin(checkpoints: &Path, shelf: Shelf) -> Result<Box<dyn Store>, StoreError> {
    let folder = checkpoints.join(shelf.name());
    remove_folder(&folder)?;
    let store = shelf.kind().open(&folder)?;
    sync_folder(checkpoints)?;
    sync_folder(checkpoints.parent().unwrap_or(checkpoints))?;
    Ok(store)
}

fn check_room(folder: &Path, bytes: u64) -> Result<(), StoreError> {
    let found = statvfs(folder).map_err(io::Error::from)?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if bytes + LEFT_BYTES <= free {
        return Ok(());
    }
    let mb = |bytes: u64| bytes.div_ceil(1_000_000);
    Err(StoreError(format!(
        "a new one takes {} MB and leaves {} MB for the log, and {} MB of the disk are free",
        mb(bytes),
        mb(LEFT_BYTES),
        free / 1_000_000
    )))
}

/// Which store a folder says that it has; where that cannot be read, the one that is there.
pub(super) fn shelf_of(folder: &Path) -> io::Result<Option<Shelf>> {
    let text = match fs::read(folder.join(STORE)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(io::Error::new(error.kind(), format!("`{STORE}` cannot be read: {error}")));
        }
        text => text.unwrap_or_default(),
    };
    if let Some(shelf) = Shelf::all().find(|&shelf| text == text_of(shelf).as_bytes()) {
        return Ok(Some(shelf));
    }
    let mut there = Shelf::all().filter(|shelf| folder.join(shelf.name()).exists());
    match (there.next(), there.next()) {
        (Some(_), Some(_)) => {
            Err(io::Error::other(format!("`{STORE}` does not say which of the two stores counts")))
        }
        (shelf, _) => Ok(shelf),
    }
}

fn text_of(shelf: Shelf) -> String {
    format!("{FORMAT}\n{}\n", shelf.name())
}

/// Says durably that a store counts.
pub(super) fn say(folder: &Path, shelf: Shelf) -> io::Result<()> {
    let unfinished = folder.join(STORE_UNFINISHED);
    let mut file = File::create(&unfinished)?;
    file.write_all(text_of(shelf).as_bytes())?;
    file.sync_all()?;
    fs::rename(unfinished, folder.join(STORE))?;
    sync_folder(folder)
}

/// In a folder that is there: if that is gone, what is made anew would only stand in its way.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        Err(_) | Ok(()) => Ok(()),
    }
}

pub(super) fn remove_leftover(folder: &Path) {
    if let Err(error) = remove_folder(folder) {
        tracing::warn!(folder = %folder.display(), %error, "a store that is not used any more cannot be removed");
    }
}

/// Also where something else has taken its place.
fn remove_folder(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if !found.is_dir() => fs::remove_file(path),
        Ok(_) | Err(_) => fs::remove_dir_all(path),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Err(_) | Ok(()) => Ok(()),
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
