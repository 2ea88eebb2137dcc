//! A folder of data that is made beside another one, and takes its place at once.
//!
//! ```text
//! DIR             what it was, until the very end
//! DIR.restoring   what is being made; `format` is written last there
//! DIR.replaced    what DIR was
//! ```
//!
//! Why the log does not begin with group 1: a log that does tells everything there ever was, and where its checkpoint is
//! lost, an empty one would be taken for empty data. This one begins with group 2, so that without the checkpoint it is
//! refused.

use super::data::{DataError, FORMAT, Place};
use super::files::{Folder, make_folder, sync_folder};
use super::group::Position;
use super::segment::LogId;
use super::segment_log::{SegmentLog, Sizes};
use crate::checkpoint::{Filling, StoreError, StoreKind};
use crate::random::random_number;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{self, Path, PathBuf};

/// Why data cannot be restored there. What was there is there.
#[derive(Debug, thiserror::Error)]
pub enum RestoringError {
    /// Nobody has given them up.
    #[error("there are data in `{}`; `--force` puts the backup in their place, and keeps them as `{}`", .folder.display(), .kept.display())]
    Data {
        /// Where.
        folder: PathBuf,
        /// What they would be called.
        kept: PathBuf,
    },
    /// The name that something needs is taken.
    #[error("`{}` is there, {what}; move it away or remove it first", .folder.display())]
    Taken {
        /// The folder.
        folder: PathBuf,
        /// Where it comes from.
        what: &'static str,
    },
    /// A folder that nothing can take the place of.
    #[error("`{}` is where a disk is mounted, and cannot be replaced as a whole: name a folder in it", .folder.display())]
    Mounted {
        /// Where.
        folder: PathBuf,
    },
    /// The folder itself.
    #[error(transparent)]
    Folder(#[from] DataError),
    /// A file or folder of the system.
    #[error("`{}` cannot be made: {error}", .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The store of the checkpoint.
    #[error("the data cannot be written to `{}`: {error}", .folder.display())]
    Store {
        /// Where.
        folder: PathBuf,
        /// What it says.
        error: String,
    },
}

/// Data that are being restored.
pub(crate) struct Restoring {
    folder: PathBuf,
    unfinished: PathBuf,
    replaced: PathBuf,
    found: Found,
    /// Held until they stand in their place.
    _locks: (Option<File>, File),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Empty,
    Data,
}

impl Restoring {
    /// Into a folder that is not there or empty; with `replaces`, in the place of data, whether they can be used or not.
    ///
    /// # Errors
    /// [`RestoringError`], before anything of the backup is read.
    pub(crate) fn begin(folder: &Path, replaces: bool) -> Result<Self, RestoringError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| RestoringError::Io { path, error }
        };
        // What a link leads to is meant.
        let folder = match fs::canonicalize(folder) {
            Ok(folder) => folder,
            Err(_) => path::absolute(folder).map_err(io(folder))?,
        };
        let (unfinished, replaced) = (beside(&folder, "restoring"), beside(&folder, "replaced"));
        let found = found_in(&folder)?;
        if found == Found::Data {
            if !replaces {
                return Err(RestoringError::Data { folder, kept: replaced });
            }
            if replaced.exists() {
                let what = "with what an earlier restore has replaced";
                return Err(RestoringError::Taken { folder: replaced, what });
            }
        }
        let own_lock = match found {
            Found::Nothing => None,
            Found::Empty | Found::Data => Some(Place(&folder).lock()?),
        };
        make_folder(&unfinished).map_err(io(&unfinished))?;
        let unfinished_lock = Place(&unfinished).lock()?;
        if unfinished.join(FORMAT).exists() {
            let what =
                "with data that a restore which was killed at its very end has left, the old or the new ones";
            return Err(RestoringError::Taken { folder: unfinished, what });
        }
        for name in [super::data::LOG, super::data::CHECKPOINTS] {
            let leftover = unfinished.join(name);
            match fs::remove_dir_all(&leftover) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(&leftover)(error)),
                Err(_) | Ok(()) => {}
            }
        }
        Ok(Self { folder, unfinished, replaced, found, _locks: (own_lock, unfinished_lock) })
    }

    /// Where the items go.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn filling(&self, kind: StoreKind) -> Result<Filling, RestoringError> {
        Filling::begin(&self.unfinished.join(super::data::CHECKPOINTS), kind)
            .map_err(|error| self.store(&error))
    }

    /// What a store says of what it is given.
    pub(crate) fn store(&self, error: &StoreError) -> RestoringError {
        RestoringError::Store { folder: self.unfinished.clone(), error: error.to_string() }
    }

    /// Makes them whole and puts them in their place, at once. Where the data are that were there.
    ///
    /// # Errors
    /// [`RestoringError`]; then nothing has changed there.
    pub(crate) fn finish(self, filling: Filling, starts: u64) -> Result<Option<PathBuf>, RestoringError> {
        let io = |error| RestoringError::Io { path: self.folder.clone(), error };
        let id = LogId(random_number().map_err(|error| io(error.into()))?.to_be_bytes());
        let position = Position { sequence: 2, predecessor: Position::first(&id).predecessor };
        filling.finish(id, position, starts).map_err(|error| self.store(&error))?;
        let log = self.unfinished.join(super::data::LOG);
        make_folder(&log).map_err(io)?;
        SegmentLog::begin_at(Folder::new(log), id, Sizes::DEFAULT, position).map_err(io)?;
        Place(&self.unfinished).write_format(id).map_err(io)?;
        let swap = |flags| renameat_with(CWD, &self.unfinished, CWD, &self.folder, flags);
        let above = self.folder.parent().unwrap_or(&self.folder);
        match self.found {
            Found::Nothing => swap(RenameFlags::NOREPLACE).map_err(|error| io(error.into()))?,
            Found::Empty | Found::Data => swap(RenameFlags::EXCHANGE).map_err(|error| io(error.into()))?,
        }
        sync_folder(above).map_err(io)?;
        match self.found {
            Found::Nothing => Ok(None),
            Found::Empty => fs::remove_dir_all(&self.unfinished).map(|()| None).map_err(io),
            Found::Data => {
                fs::rename(&self.unfinished, &self.replaced).map_err(io)?;
                sync_folder(above).map_err(io)?;
                Ok(Some(self.replaced))
            }
        }
    }

    /// Removes what was made.
    pub(crate) fn give_up(self) {
        if let Err(error) = fs::remove_dir_all(&self.unfinished) {
            tracing::warn!(folder = %self.unfinished.display(), %error, "what was made of the data cannot be removed");
        }
    }
}

/// The name of a folder with another end.
fn beside(folder: &Path, end: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}

fn found_in(folder: &Path) -> Result<Found, RestoringError> {
    let place = Place(folder);
    let own = match fs::metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        own => own.map_err(|error| place.io(".", error))?,
    };
    if !own.is_dir() {
        let error = io::Error::new(ErrorKind::NotADirectory, "it is a file, and `--data DIR` names a folder");
        return Err(place.io(".", error).into());
    }
    let above = folder.parent().and_then(|above| fs::metadata(above).ok());
    if above.is_none_or(|above| above.dev() != own.dev()) {
        return Err(RestoringError::Mounted { folder: folder.into() });
    }
    match place.format() {
        // Data that cannot be used are what a backup is for.
        Ok(Some(_)) | Err(_) => Ok(Found::Data),
        Ok(None) => match place.check_empty() {
            Ok(()) => Ok(Found::Empty),
            Err(error @ DataError::Foreign { .. }) => Err(error.into()),
            Err(_) => Ok(Found::Data),
        },
    }
}
