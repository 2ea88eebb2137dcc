//! A server is killed behind every single step of a checkpoint and of the trimming after it: what is on the disk then is
//! copied, and another server begins on the copy.
//!
//! Why beside the kills of the real binary: those fall anywhere, these everywhere.

use super::super::kind::StoreKind;
use super::super::store::{Batch, Store, StoreError};
use super::SMALL;
use super::data::{Holds, Life, has_first_segment, long, small};
use super::folder::{Temporary, copy};
use crate::log::{Files, Folder, trim};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What must be there whenever the server ends.
#[derive(Clone)]
struct Killer {
    folder: PathBuf,
    expected: Arc<Mutex<Holds>>,
    /// How often it ended behind each kind of step.
    steps: Arc<Mutex<BTreeMap<&'static str, usize>>>,
}

impl Killer {
    fn strike(&self, step: &'static str) {
        let copied = Temporary::new();
        copy(&self.folder, copied.path());
        let own = Life::begin(copied.path(), None).unwrap_or_else(|error| panic!("behind {step}: {error}"));
        assert!(own.holds() == *self.expected.lock().unwrap(), "behind {step}: something else is there");
        *self.steps.lock().unwrap().entry(step).or_default() += 1;
    }
}

struct Killed<T>(T, Killer);

impl Store for Killed<Box<dyn Store>> {
    fn write(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.0.write(batch)?;
        self.1.strike("a batch");
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.0.sync()?;
        self.1.strike("a sync");
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.get(key)
    }

    fn keys(&self, see: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        self.0.keys(see)
    }
}

impl Files for Killed<Folder> {
    type File = <Folder as Files>::File;

    fn names(&self) -> io::Result<Vec<String>> {
        self.0.names()
    }

    fn make(&self, name: &str, bytes: u64) -> io::Result<Self::File> {
        self.0.make(name, bytes)
    }

    fn open(&self, name: &str) -> io::Result<Self::File> {
        self.0.open(name)
    }

    fn bytes(&self, name: &str) -> io::Result<u64> {
        self.0.bytes(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)?;
        self.1.strike("the removal of a segment");
        Ok(())
    }

    fn free_bytes(&self) -> io::Result<u64> {
        self.0.free_bytes()
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}

#[test]
fn a_kill_behind_any_step_loses_nothing() {
    for store in StoreKind::ALL {
        let folder = Temporary::new();
        let mut own = Life::begin(folder.path(), Some(store)).unwrap();
        let killer = Killer { folder: folder.path().into(), expected: Arc::default(), steps: Arc::default() };
        let checkpointing = own.checkpointing.as_mut().unwrap();
        let own_killer = killer.clone();
        checkpointing.writer.prepare = Some(Box::new(move |writer| {
            writer.sizes = SMALL;
            writer.wrap(|store| Box::new(Killed(store, own_killer.clone())));
        }));
        for at in 0..4 {
            for _ in 0..3 {
                own.act(0, &long());
                own.act(at % 2, &small(at));
            }
            *killer.expected.lock().unwrap() = own.holds();
            let written = own.write_checkpoint();
            if let Some(position) = written.trim {
                let log = own.checkpointing.as_ref().unwrap().log.clone();
                trim(&Killed(log, killer.clone()), position.sequence, 0).unwrap();
            }
        }
        assert!(!has_first_segment(folder.path()));
        let steps = killer.steps.lock().unwrap();
        assert_eq!(steps.len(), 3, "{store}: {steps:?}");
        assert!(steps.values().all(|&times| 2 <= times), "{store}: {steps:?}");
    }
}
