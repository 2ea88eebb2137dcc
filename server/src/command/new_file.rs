//! A file that has its name when it is whole.

use super::transfer::TransferError;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file that is being written beside its name.
pub(super) struct NewFile {
    pub(super) own: File,
    /// What it is called until it is whole.
    pub(super) unfinished: PathBuf,
    file: PathBuf,
}

impl NewFile {
    /// Makes it.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn begin(file: PathBuf) -> Result<Self, TransferError> {
        // A name of its own, so that two who write the same file do not meet.
        let mut unfinished = file.clone().into_os_string();
        unfinished.push(format!(".{}.unfinished", std::process::id()));
        let unfinished = PathBuf::from(unfinished);
        // Whoever has read everything has what is nobody else's.
        let own = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished);
        let failed = |error| TransferError::File { file: unfinished.clone(), act: "written", error };
        Ok(Self { own: own.map_err(failed)?, unfinished, file })
    }

    /// Gives it its name if `written` has gone well, and removes it if not.
    ///
    /// # Errors
    /// What has gone wrong before, or now.
    pub(super) fn end<T>(self, written: Result<T, TransferError>) -> Result<T, TransferError> {
        let Self { own, unfinished, file } = self;
        let named = written.and_then(|written| {
            let finished = finish(&own, &unfinished, &file);
            let failed = |error| TransferError::File { file: unfinished.clone(), act: "written", error };
            finished.map_err(failed).map(|()| written)
        });
        named.inspect_err(|_| {
            // It may be that it cannot be removed either, and what went wrong first is what counts.
            drop(fs::remove_file(&unfinished));
        })
    }
}

fn finish(own: &File, unfinished: &Path, file: &Path) -> io::Result<()> {
    own.sync_all()?;
    fs::rename(unfinished, file)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// What stands under a name that is to be written.
pub(super) enum Standing {
    /// Nothing, or a file that may be replaced. What a link leads to is meant.
    File(PathBuf),
    /// What is no file (a device, a pipe) is written into, and stays what it is.
    Stream(PathBuf),
}

impl Standing {
    /// # Errors
    /// A folder; a file, unless it may be replaced.
    pub(super) fn of(file: PathBuf, replaces: bool) -> Result<Self, TransferError> {
        let file = fs::canonicalize(&file).unwrap_or(file);
        match fs::metadata(&file) {
            Ok(there) if there.is_dir() => Err(TransferError::Folder { file }),
            Ok(there) if !there.is_file() => Ok(Self::Stream(file)),
            Ok(_) if !replaces => Err(TransferError::Exists { file }),
            Ok(_) | Err(_) => Ok(Self::File(file)),
        }
    }
}
