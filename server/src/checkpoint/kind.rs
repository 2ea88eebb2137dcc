//! Which stores there are.

use super::fjall::FjallStore;
use super::sled::SledStore;
use super::store::{Store, StoreError};
use std::any::Any;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
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

    /// Opens a store, made if it is not there.
    pub(super) fn open(self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
        guarded(|| match self {
            Self::Fjall => FjallStore::open(folder).map(|store| Box::new(Guarded(store)) as Box<dyn Store>),
            Self::Sled => SledStore::open(folder).map(|store| Box::new(Guarded(store)) as Box<dyn Store>),
        })
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A store whose panics are errors: some damage makes the crates panic, and a checkpoint that cannot be used is no reason
/// to end. It is not used any more after the first one.
struct Guarded<S>(S);

impl<S: Store> Store for Guarded<S> {
    fn write(&mut self, batch: super::store::Batch) -> Result<(), StoreError> {
        guarded(|| self.0.write(batch))
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        guarded(|| self.0.sync())
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        guarded(|| self.0.get(key))
    }

    fn keys(&self, see: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        guarded(|| self.0.keys(see))
    }
}

fn guarded<T>(act: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    panic::catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| Err(StoreError(words(&*panic))))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    format!("it failed: {}", text.unwrap_or("nobody knows why"))
}
