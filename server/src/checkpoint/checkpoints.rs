//! The folder that checkpoints are kept in.
//!
//! ```text
//! DIR/store      which store it is
//! DIR/fjall/     or DIR/sled/: its files
//! ```
//!
//! Why nothing here is a reason not to start: a checkpoint only saves reading the log. What cannot be read is left aside,
//! and whether the log then tells everything is for the log to say. Only when it has, a store that cannot be used is
//! thrown away and begun anew.

use super::StoreKind;
use super::load::{self, Loaded};
use super::store::{Batch, Store, StoreError};
use super::writer::{Capture, Captured, Writer};
use crate::log::{LogId, Position};
use hearth_engine::DatabaseId;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const STORE: &str = "store";
const STORE_UNFINISHED: &str = "store.unfinished";
const FORMAT: &str = "hearth checkpoints 1";

/// Checkpoints as they were found.
pub(crate) struct Checkpoints {
    folder: PathBuf,
    log: LogId,
    kind: StoreKind,
    /// Nothing, where it does not open.
    store: Option<Box<dyn Store>>,
    loaded: Option<Loaded>,
    rejected: Vec<String>,
    writer: Option<Writer>,
}

/// What a checkpoint has come to.
pub(crate) struct Restored {
    pub(crate) position: Position,
    pub(crate) starts: u64,
    pub(crate) databases: BTreeMap<DatabaseId, Captured>,
}

impl Checkpoints {
    /// Opens the store that the folder has. Where it has none, one is made with the first checkpoint: `wanted`, or else the
    /// default.
    ///
    /// # Errors
    /// Those of the system, and where nobody can say which store it has. A store that does not open is none.
    pub(crate) fn open(folder: PathBuf, log: LogId, wanted: Option<StoreKind>) -> io::Result<Self> {
        let mut rejected = Vec::new();
        let (kind, store) = match kind_of(&folder)? {
            None => (wanted.unwrap_or_default(), None),
            Some(kind) => {
                let opened = kind.open(&folder.join(kind.name())).map_err(|error| {
                    tracing::error!(store = kind.name(), %error, "the store of the checkpoints does not open");
                    rejected.push(format!("the store `{}` does not open: {error}", kind.name()));
                });
                (kind, opened.ok())
            }
        };
        Ok(Self { folder, log, kind, store, loaded: None, rejected, writer: None })
    }

    /// Reads the newest checkpoint that can be read.
    pub(crate) fn restore(&mut self) -> Option<Restored> {
        let store = self.store.as_deref()?;
        let (manifests, errors) = load::manifests(store, &self.log);
        for error in errors {
            tracing::warn!(%error, "a checkpoint cannot be used");
            self.rejected.push(error.to_string());
        }
        for (slot, manifest) in manifests {
            let generation = manifest.generation;
            match load::load(store, slot, manifest) {
                Ok(loaded) => {
                    let restored = restored(&loaded);
                    self.loaded = Some(loaded);
                    return Some(restored);
                }
                Err(error) => {
                    tracing::warn!(generation, %error, "a checkpoint cannot be used");
                    self.rejected.push(format!("checkpoint {generation}: {error}"));
                }
            }
        }
        None
    }

    /// Why there is no checkpoint to begin with, or none but the one that stands for all before that group.
    pub(crate) fn missing(&self, reached: Option<u64>) -> String {
        let mut reasons = self.rejected.clone();
        if let Some(reached) = reached {
            reasons.push(format!("the newest that can be read stands for all before group {reached}"));
        } else if reasons.is_empty() {
            reasons.push("there is none in `checkpoints`".into());
        }
        reasons.join("; ")
    }

    /// Everything is known, so that a store that does not open, or of which nothing could be read, is begun anew with the
    /// next checkpoint, and what an interrupted move has left can go.
    pub(crate) fn renew(&mut self) {
        let loaded = self.loaded.take();
        if loaded.is_none() && !self.rejected.is_empty() {
            self.store = None;
            remove_leftover(&self.folder.join(self.kind.name()));
        }
        for other in StoreKind::ALL.into_iter().filter(|&other| other != self.kind) {
            remove_leftover(&self.folder.join(other.name()));
        }
        let store = self
            .store
            .take()
            .unwrap_or_else(|| Box::new(Later { folder: self.folder.clone(), kind: self.kind, store: None }));
        self.writer = Some(Writer::new(store, self.log, loaded));
    }

    pub(crate) fn is_in_another(&self, store: StoreKind) -> bool {
        self.kind != store
    }

    /// Writes a first checkpoint into another store, reads it back, and removes the store that was.
    pub(crate) fn convert(
        &mut self,
        to: StoreKind,
        position: Position,
        capture: Capture,
    ) -> Result<(), String> {
        let store = begin(&self.folder, to).map_err(|error| error.to_string())?;
        let mut writer = Writer::new(store, self.log, None);
        writer.write(position, capture).map_err(|error| error.to_string())?;
        writer.check().map_err(|error| error.to_string())?;
        write_kind(&self.folder, to).map_err(|error| error.to_string())?;
        self.writer = Some(writer);
        let from = self.folder.join(self.kind.name());
        self.kind = to;
        remove_leftover(&from);
        Ok(())
    }

    /// Who writes the checkpoints from now on.
    pub(crate) fn into_writer(self) -> Option<Writer> {
        self.writer
    }
}

/// A store that is made when something is first written: data that never need a checkpoint need no store.
struct Later {
    folder: PathBuf,
    kind: StoreKind,
    store: Option<Box<dyn Store>>,
}

impl Later {
    fn made(&mut self) -> Result<&mut dyn Store, StoreError> {
        if self.store.is_none() {
            let store = begin(&self.folder, self.kind)?;
            write_kind(&self.folder, self.kind)?;
            self.store = Some(store);
        }
        Ok(&mut **self.store.as_mut().expect("it was made"))
    }
}

impl Store for Later {
    fn write(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.made()?.write(batch)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.made()?.sync()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.as_ref().map_or(Ok(None), |store| store.get(key))
    }

    fn keys(&self, see: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        self.store.as_ref().map_or(Ok(()), |store| store.keys(see))
    }
}

/// An empty store, durable under its name.
fn begin(checkpoints: &Path, kind: StoreKind) -> Result<Box<dyn Store>, StoreError> {
    let folder = checkpoints.join(kind.name());
    make_folder(checkpoints)?;
    remove_folder(&folder)?;
    let store = kind.open(&folder)?;
    sync_folder(checkpoints)?;
    sync_folder(checkpoints.parent().unwrap_or(checkpoints))?;
    Ok(store)
}

fn restored(loaded: &Loaded) -> Restored {
    let databases = loaded.databases.iter().map(|(&id, database)| {
        let record = &database.record;
        let captured = Captured {
            name: record.name.clone(),
            revision: record.revision,
            tree: database.tree.clone(),
            armed: record.armed.clone(),
            own_rules: record.own_rules.clone(),
        };
        (id, captured)
    });
    let databases = databases.collect();
    Restored { position: loaded.manifest.position, starts: loaded.manifest.starts, databases }
}

fn remove_leftover(folder: &Path) {
    if let Err(error) = remove_folder(folder) {
        tracing::warn!(folder = %folder.display(), %error, "a store that is not used any more cannot be removed");
    }
}

/// Which store a folder says that it has; where that cannot be read, the one that is there.
fn kind_of(folder: &Path) -> io::Result<Option<StoreKind>> {
    let text = match fs::read(folder.join(STORE)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(io::Error::new(error.kind(), format!("`{STORE}` cannot be read: {error}")));
        }
        text => text.unwrap_or_default(),
    };
    if let Some(kind) = StoreKind::ALL.into_iter().find(|kind| text == text_of(*kind).as_bytes()) {
        return Ok(Some(kind));
    }
    let mut there = StoreKind::ALL.into_iter().filter(|kind| folder.join(kind.name()).exists());
    match (there.next(), there.next()) {
        (Some(_), Some(_)) => {
            Err(io::Error::other(format!("`{STORE}` does not say which of the two stores counts")))
        }
        (kind, _) => Ok(kind),
    }
}

fn text_of(kind: StoreKind) -> String {
    format!("{FORMAT}\n{}\n", kind.name())
}

fn write_kind(folder: &Path, kind: StoreKind) -> io::Result<()> {
    let unfinished = folder.join(STORE_UNFINISHED);
    let mut file = File::create(&unfinished)?;
    file.write_all(text_of(kind).as_bytes())?;
    file.sync_all()?;
    fs::rename(unfinished, folder.join(STORE))?;
    sync_folder(folder)
}

fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
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
