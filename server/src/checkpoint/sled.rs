//! Checkpoints in sled, for who asks for it (`--store sled`).
//!
//! Why our own syncs: its flush writes everything and syncs the bytes, but not the size of its file (its open issue
//! 1452), so that what it has confirmed can be cut off when the power fails. So after each flush every file and folder of
//! it is synced again, which makes a checkpoint cost a few syncs more, and nobody waits for those.

use super::chunk::Sizes;
use super::closing;
use super::store::{Batch, Store, StoreError};
use ::sled::{Config, Db, Mode};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const CACHE_BYTES: u64 = 16 << 20;
/// It writes what is longer than a quarter of this into a file of its own, anew whenever it changes, and each of those is a
/// sync more. A leaf of its tree holds up to 16 chunks: with its usual 512 KiB nearly every leaf was such a file, and a
/// checkpoint of one chunk waited for dozens. Now only a value that is about as long has one.
const SEGMENT_BYTES: usize = 8 << 20;
const _: () = assert!(16 * Sizes::DEFAULT.joined_bytes_max() < SEGMENT_BYTES / 4);

pub(super) struct SledStore {
    folder: PathBuf,
    database: Db,
}

impl SledStore {
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        closing::wait(&folder.join("db"))?;
        let config = Config::new().path(folder).cache_capacity(CACHE_BYTES).segment_size(SEGMENT_BYTES);
        // Flushed when a checkpoint is whole, and not by a clock.
        let database = config.mode(Mode::LowSpace).flush_every_ms(None).open()?;
        Ok(Self { folder: folder.into(), database })
    }
}

impl Store for SledStore {
    fn write(&mut self, batch: Batch) -> Result<(), StoreError> {
        let mut own = ::sled::Batch::default();
        for (key, value) in batch.puts {
            own.insert(key, value);
        }
        for key in batch.removals {
            own.remove(key);
        }
        Ok(self.database.apply_batch(own)?)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.database.flush()?;
        Ok(sync_all(&self.folder)?)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.database.get(key)?.map(|value| value.to_vec()))
    }

    fn keys(&self, see: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        for key in self.database.iter().keys() {
            see(&key?);
        }
        Ok(())
    }
}

/// Files first, and then the folder that names them. A file that sled removes meanwhile is none of ours.
fn sync_all(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let synced = match entry.file_type()?.is_dir() {
            true => sync_all(&entry.path()),
            false => File::open(entry.path()).and_then(|file| file.sync_data()),
        };
        match synced {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            synced => synced?,
        }
    }
    File::open(folder)?.sync_all()
}

impl From<::sled::Error> for StoreError {
    fn from(error: ::sled::Error) -> Self {
        Self(error.to_string())
    }
}
