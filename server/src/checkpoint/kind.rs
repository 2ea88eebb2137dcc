//! Which stores there are.

use super::apart::{Apart, Patience};
use super::fjall::FjallStore;
use super::guarded::Guarded;
use super::sled::SledStore;
use super::store::{Store, StoreError};
use std::fmt;
use std::path::Path;

/// Where checkpoints are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// The default: little memory, and it notices damage.
    #[default]
    Fjall,
    /// The older one.
    Sled,
}

impl StoreKind {
    pub(super) const ALL: [Self; 2] = [Self::Fjall, Self::Sled];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Sled => "sled",
        }
    }

    /// Of its files those that stay as long as it does.
    const fn lasting(self) -> &'static [&'static str] {
        match self {
            Self::Fjall => &["lock", "version", "keyspaces", "keyspaces/0", "keyspaces/1"],
            Self::Sled => &["conf", "db"],
        }
    }

    /// Opens a store, made if it is not there.
    pub(super) fn open(self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
        let (lasting, patience) = (self.lasting(), Patience::DEFAULT);
        match self {
            Self::Fjall => Apart::open(folder, lasting, patience, |folder| {
                Guarded::open(move || FjallStore::open(&folder))
            }),
            Self::Sled => Apart::open(folder, lasting, patience, |folder| {
                Guarded::open(move || SledStore::open(&folder))
            }),
        }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
