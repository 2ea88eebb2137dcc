//! The files of a log: the one seam between it and the disk.
//!
//! Why a trait: what a disk may do to us, it does rarely. The tests have a disk that does it always.

use rustix::fs::statvfs;
use std::fmt::Debug;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Files in one folder, by name.
pub(crate) trait Files {
    type File: SegmentFile + Debug;

    /// The names of all files, in any order.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Makes a file of that many zeros, which are allocated; what is written behind them makes it longer. Not durable before
    /// [`SegmentFile::sync`].
    fn make(&self, name: &str, bytes: u64) -> io::Result<Self::File>;

    fn open(&self, name: &str) -> io::Result<Self::File>;

    /// The length of a file.
    fn bytes(&self, name: &str) -> io::Result<u64>;

    /// Renames a file. Not durable before [`Files::sync`].
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file. Not durable before [`Files::sync`].
    fn remove(&self, name: &str) -> io::Result<()>;

    /// What of the disk may still be written.
    fn free_bytes(&self) -> io::Result<u64>;

    /// Returns when the names that there are now are on stable storage.
    fn sync(&self) -> io::Result<()>;
}

/// A file.
pub(crate) trait SegmentFile {
    /// All of it.
    fn read(&self) -> io::Result<Vec<u8>>;

    fn write(&self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Returns when everything that was written is on stable storage.
    fn sync(&self) -> io::Result<()>;

    /// Fails if no name leads to the file any more: writing to one that was removed, and syncing it, goes well, and all of
    /// it is gone with the process.
    fn check(&self) -> io::Result<()>;
}

/// A folder of the system.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

/// Who may read data: whoever runs the server, and nobody else.
const FOLDER_MODE: u32 = 0o700;
pub(super) const FILE_MODE: u32 = 0o600;

/// Zeros at a time.
const ZEROS_BYTES: usize = 1 << 20;

impl Folder {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self(path)
    }
}

/// Makes a folder, and those above it, if it is not there.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Makes durable which names are in a folder.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

impl Files for Folder {
    type File = File;

    fn names(&self) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        fs::read_dir(&self.0)?.map(name).collect()
    }

    fn make(&self, name: &str, bytes: u64) -> io::Result<File> {
        let path = self.0.join(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(FILE_MODE);
        let mut file = options.open(path)?;
        let zeros = vec![0; ZEROS_BYTES];
        let mut left = bytes;
        while 0 < left {
            let now = usize::try_from(left).unwrap_or(ZEROS_BYTES).min(ZEROS_BYTES);
            file.write_all(&zeros[..now])?;
            left -= now as u64;
        }
        Ok(file)
    }

    fn open(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).open(self.0.join(name))
    }

    fn bytes(&self, name: &str) -> io::Result<u64> {
        Ok(fs::metadata(self.0.join(name))?.len())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let found = statvfs(&self.0)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    fn sync(&self) -> io::Result<()> {
        sync_folder(&self.0)
    }
}

impl SegmentFile for File {
    fn read(&self) -> io::Result<Vec<u8>> {
        let bytes = usize::try_from(self.metadata()?.len()).map_err(io::Error::other)?;
        let mut all = vec![0; bytes];
        self.read_exact_at(&mut all, 0)?;
        Ok(all)
    }

    fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.write_all_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn check(&self) -> io::Result<()> {
        if self.metadata()?.nlink() == 0 {
            return Err(io::Error::other("its last file was removed while it was in use"));
        }
        Ok(())
    }
}
