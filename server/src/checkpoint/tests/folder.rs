//! Folders of data on a real disk.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder that is removed with its content.
pub(super) struct Temporary(PathBuf);

impl Temporary {
    pub(super) fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    fn within(folder: &Path) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let name = format!("hearth-checkpoint-{}-{}", process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// In memory where the system has such a place: for what is about files and not about the disk, and makes thousands.
    pub(super) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::within(memory) } else { Self::new() }
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
    Image::of(from).put(to);
}

/// What is in a folder. Zeros at the end of files are not kept: stores make files that are nearly nothing else.
pub(super) struct Image(Vec<Copied>);

struct Copied {
    name: PathBuf,
    /// Without the zeros.
    bytes: Vec<u8>,
    len: u64,
}

impl Image {
    pub(super) fn of(folder: &Path) -> Self {
        let copied = |name: PathBuf| {
            let mut bytes = fs::read(folder.join(&name)).unwrap();
            let len = bytes.len() as u64;
            bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
            bytes.shrink_to_fit();
            Copied { name, bytes, len }
        };
        Self(files(folder).into_iter().map(copied).collect())
    }

    pub(super) fn put(&self, folder: &Path) {
        for Copied { name, bytes, len } in &self.0 {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, bytes).unwrap();
            OpenOptions::new().write(true).open(path).unwrap().set_len(*len).unwrap();
        }
    }
}
