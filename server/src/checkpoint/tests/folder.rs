//! Folders of data on a real disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder that is removed with its content.
pub(super) struct Temporary(PathBuf);

impl Temporary {
    pub(super) fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let name = format!("hearth-checkpoint-{}-{}", process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Whatever is left is in the folder for what may go.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// All files below a folder, by their way from there.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    add_files(folder, folder, &mut files);
    files.sort();
    files
}

fn add_files(top: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_files(top, &path, files);
        } else {
            files.push(path.strip_prefix(top).unwrap().into());
        }
    }
}

pub(super) fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let copied = to.join(&file);
        fs::create_dir_all(copied.parent().unwrap()).unwrap();
        fs::copy(from.join(&file), copied).unwrap();
    }
}
