//! `hearth restore`.

use super::backup::{self, Tee};
use super::transfer::{Progress, TransferError};
use crate::backup::{BackupError, BackupReader, Counted, Seen};
use crate::checkpoint::{Filling, Item, Read, StoreError, StoreKind};
use crate::log::Restoring;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A backup; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder of data to make, for a server that does not run.
    #[arg(long, value_name = "DIR", env = "HEARTH_DATA")]
    data: PathBuf,
    /// Puts the backup in the place of data that are there, and keeps those beside it as DIR.replaced.
    #[arg(long)]
    force: bool,
    /// What keeps the data besides the log: `fjall` if nothing is said.
    #[arg(long, env = "HEARTH_STORE")]
    store: Option<StoreKind>,
}

/// What stops a restore.
enum Stopped {
    Backup(BackupError),
    Store(StoreError),
}

impl From<BackupError> for Stopped {
    fn from(error: BackupError) -> Self {
        Self::Backup(error)
    }
}

impl Arguments {
    /// Verifies a backup and makes data of it; these are there when all of it is, at once.
    pub(super) fn run(self) -> Result<(), TransferError> {
        let Self { file, data, force, store } = self;
        let (source, total) = backup::open(&file)?;
        let restoring = Restoring::begin(&data, force)?;
        let mut progress = Progress::begin("restored", total);
        let tee = Tee { from: source, into: io::sink(), progress: &mut progress, unwritten: &mut None };
        let filled = restoring.filling(store.unwrap_or_default()).map_err(TransferError::from);
        let filled = filled.and_then(|filling| fill(filling, tee, &restoring, &file));
        match filled {
            Err(error) => {
                restoring.give_up();
                Err(error)
            }
            Ok((filling, found)) => {
                let replaced = restoring.finish(filling, found.starts)?;
                let replaced = replaced.map(|old| format!("; what was there is {}", old.display()));
                let place = format!("into {}{}", data.display(), replaced.unwrap_or_default());
                backup::end(progress, &found, &place);
                Ok(())
            }
        }
    }
}

fn fill(
    mut filling: Filling,
    source: impl io::Read,
    restoring: &Restoring,
    file: &Path,
) -> Result<(Filling, Counted), TransferError> {
    let found = BackupReader::new(source).read(|seen| {
        let filled = match seen {
            Seen::Item(id, keys, Read::Leaf(node)) => filling.add(id, keys, Item::Leaf(&node)),
            Seen::Item(id, keys, Read::Priority(priority)) => {
                filling.add(id, keys, Item::Priority(&priority))
            }
            Seen::Database(id, captured) => filling.end(id, &captured),
        };
        filled.map_err(Stopped::Store)
    });
    match found {
        Ok(found) => Ok((filling, found)),
        Err(Stopped::Backup(error)) => Err(TransferError::Backup { file: file.into(), error }),
        Err(Stopped::Store(error)) => Err(restoring.store(&error).into()),
    }
}
