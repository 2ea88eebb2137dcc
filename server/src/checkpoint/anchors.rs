//! Whether the files of a store are still those that its folder names.
//!
//! Why that must be asked: whoever removes a folder that is in use takes the names and not the files. What is written to
//! those goes well, syncs included, and is gone with the process. A checkpoint there would let the log be trimmed, and
//! then nothing would be left.

use super::store::StoreError;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What stays in a folder as long as it is used, and what the system knows it by.
pub(super) struct Anchors {
    folder: PathBuf,
    found: Vec<(PathBuf, (u64, u64))>,
}

impl Anchors {
    /// The folder itself, and of these names those that are there.
    pub(super) fn of(folder: &Path, names: &[&str]) -> io::Result<Self> {
        let mut found = vec![(PathBuf::new(), identity(folder)?)];
        for name in names {
            match identity(&folder.join(name)) {
                Ok(own) => found.push((name.into(), own)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { folder: folder.into(), found })
    }

    /// Refuses what is not there any more.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        for (name, own) in &self.found {
            let path = self.folder.join(name);
            if identity(&path).ok() != Some(*own) {
                let above = self.folder.parent().unwrap_or(&self.folder);
                let name = path.strip_prefix(above).unwrap_or(&path).display();
                return Err(StoreError(format!("`{name}` was removed or replaced while it was in use")));
            }
        }
        Ok(())
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
