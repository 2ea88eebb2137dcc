//! The folder that checkpoints are kept in.
//!
//! ```text
//! DIR/store      which store counts
//! DIR/fjall/     or fjall-2/, sled/, sled-2/: its files
//! DIR/failed     which store has failed, and is read and never written
//! ```
//!
//! Why nothing here is a reason not to start: a checkpoint only saves reading the log. What cannot be read is left aside,
//! and whether the log then tells everything is for the log to say. Only when it has, a store that cannot be used is
//! thrown away and begun anew.

use super::StoreKind;
use super::load::{self, Loaded};
use super::shelf::Shelf;
use super::store::Store;
use super::stores::{Stores, forget_failure, is_noted, remove_leftover, shelf_of};
use super::writer::{Capture, Captured, Writer};
use crate::log::{LogId, Position};
use hearth_engine::DatabaseId;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Checkpoints as they were found.
pub(crate) struct Checkpoints {
    folder: PathBuf,
    log: LogId,
    shelf: Shelf,
    /// Nothing, where it does not open.
    store: Option<Box<dyn Store>>,
    loaded: Option<Loaded>,
    rejected: Vec<String>,
    stores: Option<Stores>,
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
        let (shelf, store) = match shelf_of(&folder)? {
            None => (Shelf::first(wanted.unwrap_or_default()), None),
            Some(shelf) => {
                let name = shelf.name();
                let opened = shelf.kind().open(&folder.join(name)).map_err(|error| {
                    tracing::error!(store = name, %error, "the store of the checkpoints does not open");
                    rejected.push(format!("the store `{name}` does not open: {error}"));
                });
                (shelf, opened.ok())
            }
        };
        Ok(Self { folder, log, shelf, store, loaded: None, rejected, stores: None })
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
            remove_leftover(&self.folder.join(self.shelf.name()));
        }
        for other in Shelf::all().filter(|&other| other != self.shelf) {
            remove_leftover(&self.folder.join(other.name()));
        }
        let folder = self.folder.clone();
        let has_failed = is_noted(&folder, self.shelf);
        self.stores = Some(match self.store.take() {
            Some(store) => {
                let writer = Writer::new(store, self.log, loaded);
                if has_failed {
                    tracing::warn!(
                        store = self.shelf.name(),
                        "the store of the checkpoints has failed before; another one is written"
                    );
                    Stores::failed(folder, self.log, self.shelf, writer.bytes())
                } else {
                    Stores::some(folder, self.log, self.shelf, writer)
                }
            }
            None => {
                if has_failed {
                    forget_failure(&folder);
                }
                Stores::none(folder, self.log, self.shelf)
            }
        });
    }

    pub(crate) fn is_in_another(&self, store: StoreKind) -> bool {
        self.shelf.kind() != store
    }

    /// Writes a first checkpoint into another store, reads it back, and removes the store that was.
    pub(crate) fn convert(
        &mut self,
        to: StoreKind,
        position: Position,
        capture: Capture,
    ) -> Result<(), String> {
        let Some(stores) = &mut self.stores else { return Ok(()) };
        let written = stores.replace(Shelf::first(to), position, capture);
        written.map(drop).map_err(|error| error.to_string())
    }

    /// Who writes the checkpoints from now on.
    pub(crate) fn into_stores(self) -> Option<Stores> {
        self.stores
    }
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
            settings: record.settings.clone(),
        };
        (id, captured)
    });
    let databases = databases.collect();
    Restored { position: loaded.manifest.position, starts: loaded.manifest.starts, databases }
}
