//! A folder of one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Gone when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        Self::within(Path::new(env!("CARGO_TARGET_TMPDIR")), name)
    }

    /// In memory where the system has such a place: for what is about files and not about the disk, and makes hundreds.
    pub(crate) fn in_memory(name: &str) -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::within(memory, name) } else { Self::new(name) }
    }

    fn within(folder: &Path, name: &str) -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let (process, made) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(format!("data-{name}-{process}-{made}"));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A test that has failed may have left it in any state.
        drop(fs::remove_dir_all(&self.0));
    }
}
