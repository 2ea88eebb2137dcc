//! A store that fails while a server runs, and the next one.

use super::super::apart::{Apart, Patience};
use super::super::checkpoints::Checkpoints;
use super::super::kind::StoreKind;
use super::super::shelf::Shelf;
use super::super::store::{Batch, Store, StoreError};
use super::super::stores::{FAILED, Stores, shelf_of};
use super::folder::Temporary;
use super::{Act, Databases, LOG, is, newest, path, position, text};
use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

fn batch() -> Batch {
    let mut batch = Batch::default();
    batch.put(b"key".to_vec(), b"value".to_vec());
    batch
}

fn remove(at: &Path) {
    fs::remove_dir_all(at).unwrap();
}

fn empty(at: &Path) {
    remove(at);
    fs::create_dir(at).unwrap();
}

fn replace(at: &Path) {
    let file = at.join(if at.join("db").exists() { "db" } else { "version" });
    let bytes = fs::read(&file).unwrap();
    fs::rename(&file, at.join("former")).unwrap();
    fs::write(file, bytes).unwrap();
}

#[test]
fn what_is_synced_into_files_without_a_name_is_not_kept() {
    for kind in StoreKind::ALL {
        for (what, damage) in
            [("removed", remove as fn(&Path)), ("emptied", empty), ("a file replaced", replace)]
        {
            let folder = Temporary::new();
            let at = folder.path().join(kind.name());
            let mut store = kind.open(&at).unwrap();
            store.write(batch()).unwrap();
            store.sync().unwrap();
            damage(&at);
            let synced = store.write(batch()).and_then(|()| store.sync());
            assert!(synced.is_err(), "{kind}, {what}");
        }
    }
}

#[test]
fn a_store_that_is_still_closing_is_waited_for() {
    for kind in StoreKind::ALL {
        let folder = Temporary::new();
        let at = folder.path().join(kind.name());
        drop(kind.open(&at).unwrap());
        let file = if kind == StoreKind::Sled { "db" } else { "lock" };
        let held = fs::File::open(at.join(file)).unwrap();
        held.lock().unwrap();
        let (sender, opened) = channel();
        let opening = thread::spawn(move || sender.send(kind.open(&at).map(drop)).unwrap());
        // However long this is, it cannot be open: it is locked.
        opened.recv_timeout(Duration::from_millis(500)).expect_err("the store opens what is locked");
        held.unlock().unwrap();
        opened.recv().unwrap().unwrap_or_else(|error| panic!("{kind}: {error}"));
        opening.join().unwrap();
    }
}

#[test]
fn after_a_failure_all_of_it_is_in_the_other_store() {
    for kind in StoreKind::ALL {
        let data = Temporary::new();
        let folder = data.path().join("checkpoints");
        let first = Shelf::first(kind);
        let mut stores = Stores::none(folder.clone(), LOG, first);
        let mut databases = Databases::default();
        let mut expected = first;
        for round in 0..6_u64 {
            databases.act(round % 2, &Act::Set(path(&format!("/r{round}")), text("kept")));
            if round % 3 == 2 {
                fs::remove_dir_all(folder.join(expected.name())).unwrap();
                stores.write(position(10 * round), databases.capture()).unwrap_err();
                assert!(!folder.join(expected.name()).join("lock").exists(), "{kind}: nothing writes there");
                expected = expected.other();
            }
            let written = stores.write(position(10 * round + 1), databases.capture()).unwrap();
            assert_eq!(written.trim.is_none(), round == 0 || round % 3 == 2, "{kind}, {round}");
            assert_eq!(shelf_of(&folder).unwrap(), Some(expected), "{kind}, {round}");
        }
        drop(stores);
        let store = kind.open(&folder.join(expected.name())).unwrap();
        assert!(is(&newest(&*store).unwrap(), &databases), "{kind}");
        assert!(!folder.join(expected.other().name()).exists(), "{kind}");
    }
}

/// A try that fails halfway leaves what was there, and nothing of its own.
#[test]
fn what_counts_is_there_until_the_next_is_whole() {
    let data = Temporary::new();
    let folder = data.path().join("checkpoints");
    let (first, second) = (Shelf::first(StoreKind::Fjall), Shelf::first(StoreKind::Fjall).other());
    let mut stores = Stores::none(folder.clone(), LOG, first);
    let mut databases = Databases::default();
    databases.act(0, &Act::Set(path("/a"), text("kept")));
    stores.write(position(1), databases.capture()).unwrap();
    // Only its marker goes, so that what it holds can still be read.
    fs::rename(folder.join("fjall/version"), folder.join("version")).unwrap();
    databases.act(0, &Act::Set(path("/b"), text("kept, too")));
    stores.write(position(2), databases.capture()).unwrap_err();
    fs::rename(folder.join("version"), folder.join("fjall/version")).unwrap();
    // Nothing can say that another one counts.
    fs::remove_file(folder.join("store")).unwrap();
    fs::create_dir(folder.join("store")).unwrap();
    stores.write(position(3), databases.capture()).unwrap_err();
    assert!(!folder.join(second.name()).exists());
    assert!(newest(&*StoreKind::Fjall.open(&folder.join(first.name())).unwrap()).is_some());
    fs::remove_dir(folder.join("store")).unwrap();
    stores.write(position(4), databases.capture()).unwrap();
    assert_eq!(shelf_of(&folder).unwrap(), Some(second));
    drop(stores);
    let store = StoreKind::Fjall.open(&folder.join(second.name())).unwrap();
    assert!(is(&newest(&*store).unwrap(), &databases));
}

/// A server that is started anew reads a store that has failed, and writes into the other one, whatever it finds there.
#[test]
fn a_store_that_has_failed_is_read_by_the_next_server_and_never_written() {
    for kind in StoreKind::ALL {
        let data = Temporary::new();
        let folder = data.path().join("checkpoints");
        let (first, second) = (Shelf::first(kind), Shelf::first(kind).other());
        let mut stores = Stores::none(folder.clone(), LOG, first);
        let mut databases = Databases::default();
        databases.act(0, &Act::Set(path("/a"), text("kept")));
        stores.write(position(1), databases.capture()).unwrap();
        // Back in its place it is as well as before, and nobody can tell what has become of it.
        fs::rename(folder.join(first.name()), folder.join("elsewhere")).unwrap();
        stores.write(position(2), databases.capture()).unwrap_err();
        assert!(folder.join(FAILED).exists(), "{kind}");
        drop(stores);
        fs::rename(folder.join("elsewhere"), folder.join(first.name())).unwrap();
        for is_noted in [true, false] {
            let shelf = if is_noted { first } else { second };
            let mut checkpoints = Checkpoints::open(folder.clone(), LOG, None).unwrap();
            assert_eq!(
                checkpoints.restore().map(|restored| restored.position),
                Some(position(1 + u64::from(!is_noted))),
                "{kind}"
            );
            checkpoints.renew();
            let mut stores = checkpoints.into_stores().unwrap();
            assert_eq!(stores.has_failed(), is_noted, "{kind}");
            assert_eq!(shelf_of(&folder).unwrap(), Some(shelf), "{kind}");
            stores.write(position(2 + u64::from(!is_noted)), databases.capture()).unwrap();
            assert_eq!(shelf_of(&folder).unwrap(), Some(second), "{kind}");
            assert!(!folder.join(first.name()).exists() && !folder.join(FAILED).exists(), "{kind}");
        }
    }
}

/// Waits where it is told to until somebody lets it go.
struct Waiting {
    syncs: bool,
    closes: bool,
    go: Receiver<()>,
}

impl Store for Waiting {
    fn write(&mut self, _: Batch) -> Result<(), StoreError> {
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.syncs.then(|| self.go.recv());
        Ok(())
    }

    fn get(&self, _: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    fn keys(&self, _: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.closes.then(|| self.go.recv());
    }
}

/// Sled does that once a large value could not be written. Not more of these than may be left alone in one process.
#[test]
fn a_store_that_does_not_answer_has_failed_and_nobody_waits_for_it() {
    let short = Duration::from_millis(50);
    for (what, opens, syncs, closes) in
        [("opening", true, false, false), ("a sync", false, true, false), ("closing", false, false, true)]
    {
        let folder = Temporary::new();
        let (_held, go): (Sender<()>, _) = channel();
        let long = Duration::from_secs(60);
        let patience =
            if opens { Patience { open: short, call: long } } else { Patience { open: long, call: short } };
        let opened = Apart::open(folder.path(), &[], patience, move |_| {
            opens.then(|| go.recv());
            Ok(Waiting { syncs, closes, go })
        });
        let silent = "their store has not answered for 0 s; if it goes on like this, only a restart helps";
        let failed = match opened {
            Err(error) => Some(error),
            Ok(mut store) => {
                store.write(batch()).unwrap();
                store.sync().err()
            }
        };
        let expected = (!closes).then(|| silent.to_owned());
        assert_eq!(failed.map(|error| error.to_string()), expected, "{what}");
    }
}
