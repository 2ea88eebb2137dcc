//! Many checkpoints in a row, over every store.

use super::super::entry::{Slot, database_key};
use super::super::kind::StoreKind;
use super::super::load;
use super::super::memory::MemoryStore;
use super::super::store::Store;
use super::folder::Temporary;
use super::{Act, Databases, LOG, arb_history, is, newest, position, writer};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// What can be closed and opened again.
enum Place {
    Memory(MemoryStore),
    Folder(StoreKind, Temporary),
}

impl Place {
    fn open(&self) -> Box<dyn Store> {
        match self {
            Self::Memory(store) => Box::new(store.clone()),
            Self::Folder(kind, folder) => kind.open(&folder.path().join("store")).unwrap(),
        }
    }
}

/// After each checkpoint the store holds it, the one before, and nothing else; also where another writer goes on.
fn check(place: &Place, history: &[Vec<(u64, Act)>]) -> Result<(), TestCaseError> {
    let mut databases = Databases::default();
    let mut before: Option<Databases> = None;
    let mut own = writer(place.open(), None);
    for (sequence, acts) in (1..).zip(history) {
        for (database, act) in acts {
            databases.act(*database, act);
        }
        let written = own.write(position(sequence), databases.capture()).unwrap();
        prop_assert_eq!(written.trim, before.is_some().then(|| position(sequence - 1)));
        let store = own.into_store();
        let loaded = newest(&*store).unwrap();
        prop_assert_eq!(loaded.manifest.position, position(sequence));
        prop_assert!(is(&loaded, &databases), "checkpoint {} is not what was written", sequence);
        if let Some(before) = &before {
            let slot = loaded.slot.other();
            let manifest = load::manifest(&*store, slot, &LOG).unwrap().unwrap();
            prop_assert!(is(&load::load(&*store, slot, manifest).unwrap(), before), "nor is the one before");
        }
        prop_assert_eq!(keys(&*store), named(&*store));
        before = Some(databases.clone());
        own = if sequence % 3 == 0 {
            drop((store, loaded));
            let store = place.open();
            let loaded = newest(&*store);
            writer(store, loaded)
        } else {
            writer(store, Some(loaded))
        };
    }
    Ok(())
}

fn keys(store: &dyn Store) -> BTreeSet<Vec<u8>> {
    let mut keys = BTreeSet::new();
    store.keys(&mut |key| assert!(keys.insert(key.to_vec()))).unwrap();
    keys
}

/// All that the two manifests lead to.
fn named(store: &dyn Store) -> BTreeSet<Vec<u8>> {
    let mut named = BTreeSet::new();
    for slot in Slot::BOTH {
        let Some(manifest) = load::manifest(store, slot, &LOG).unwrap() else { continue };
        named.insert(slot.key());
        for (&id, &reference) in &manifest.databases {
            named.insert(database_key(id, reference.generation));
            named
                .extend(load::record(store, id, reference).unwrap().chunks.iter().map(|chunk| chunk.key(id)));
        }
    }
    named
}

proptest! {
    #[test]
    fn in_memory(history in arb_history()) {
        check(&Place::Memory(MemoryStore::default()), &history)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn in_fjall(history in arb_history()) {
        check(&Place::Folder(StoreKind::Fjall, Temporary::new()), &history)?;
    }

    #[test]
    fn in_sled(history in arb_history()) {
        check(&Place::Folder(StoreKind::Sled, Temporary::new()), &history)?;
    }
}
