//! Folders of data of which something is gone: everything is there, or a sentence says what is wrong and what to do. Damage
//! to each file is in the tests of the binary (`server/tests/data/damage.rs`), which may end in ways that a test may not.

use super::super::kind::StoreKind;
use super::data::{Holds, Life, has_first_segment, long, small};
use super::folder::{Image, Temporary, files};
use super::{Act, RULES};
use std::fs;
use std::path::Path;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Recovered,
    Refused,
}
use Outcome::{Recovered, Refused};

/// Whole data: several checkpoints, and something behind the last one.
struct Whole {
    store: StoreKind,
    image: Image,
    expected: Holds,
    /// Whether the log has its beginning: then the checkpoints are not needed.
    has_log: bool,
}

impl Whole {
    fn new(store: StoreKind, has_log: bool) -> Self {
        let folder = Temporary::in_memory();
        let mut own = Life::begin(folder.path(), Some(store)).unwrap();
        for at in 0..3 {
            if !has_log {
                for _ in 0..3 {
                    own.act(0, &long());
                }
            }
            own.act(0, &small(at));
            own.act(1, &small(at));
            own.act(1, &Act::Store((at != 1).then_some(RULES)));
            own.checkpoint();
        }
        own.act(0, &small(100));
        let expected = own.holds();
        own.log.end().unwrap();
        drop(own.checkpointing);
        assert_eq!(has_first_segment(folder.path()), has_log);
        Self { store, image: Image::of(folder.path()), expected, has_log }
    }

    /// A server begins on a copy that was damaged.
    fn outcome(&self, what: &str, place: &str, damage: impl FnOnce(&Path)) -> Outcome {
        let what = format!(
            "{}, {} its beginning: {what}",
            self.store,
            if self.has_log { "with" } else { "without" }
        );
        let damaged = Temporary::in_memory();
        self.image.put(damaged.path());
        damage(damaged.path());
        let own = match Life::begin(damaged.path(), None) {
            Ok(own) => own,
            Err(error) => {
                let said = error.to_string();
                assert!(is_named(&said, place), "{what}: {said}");
                let needs = self.has_log && place.starts_with("checkpoints/") && place != "checkpoints/store";
                assert!(!needs, "{what}: the log tells everything, and yet: {said}");
                return Refused;
            }
        };
        assert!(own.holds() == self.expected, "{what}: something else is there");
        // And it goes on, with checkpoints.
        let mut own = own;
        own.act(1, &small(7));
        own.checkpoint();
        let expected = own.holds();
        drop(own);
        let again = Life::begin(damaged.path(), None).unwrap_or_else(|error| panic!("{what}, then: {error}"));
        assert!(again.holds() == expected, "{what}: something else is there after it went on");
        Recovered
    }
}

/// Whether a refusal is a sentence that says where, or why nothing is left to begin with.
fn is_named(said: &str, place: &str) -> bool {
    let names = |text: &str| said.contains(text);
    let is_refusal = names("cannot be used") || names("and no data of hearth");
    let is_located = match place.split('/').next() {
        Some("checkpoints") => names("no checkpoint stands for all before that: ") || names("checkpoints`"),
        Some("log") => names(&format!("`{place}`")) || names("log/") || names(place),
        // It says which log belongs to it.
        Some("format") => names("`format`") || names("/format`") || names("belongs to other data"),
        Some(_) | None => names(place),
    };
    is_refusal && is_located && !names("\n") && !names("{") && !names("::")
}

/// Everything that a server makes beside files.
#[test]
fn a_folder_that_is_missing_or_none_is_made_again_or_refused() {
    for (store, has_log) in StoreKind::ALL.into_iter().flat_map(|store| [(store, true), (store, false)]) {
        let whole = Whole::new(store, has_log);
        let own = format!("checkpoints/{store}");
        let made_again = if has_log { Recovered } else { Refused };
        for (place, missing, file) in
            [("log", Refused, Refused), ("checkpoints", made_again, Refused), (&own, made_again, made_again)]
        {
            let remove = |folder: &Path| fs::remove_dir_all(folder.join(place)).unwrap();
            let outcome = whole.outcome(&format!("{place} missing"), place, remove);
            assert_eq!(outcome, missing, "{store}, {place} missing, {has_log}");
            let outcome = whole.outcome(&format!("{place} a file"), place, |folder| {
                remove(folder);
                fs::write(folder.join(place), "mine\n").unwrap();
            });
            assert_eq!(outcome, file, "{store}, {place} a file, {has_log}");
        }
    }
}

#[test]
fn a_store_that_is_lost_when_the_log_needs_it_is_named_with_what_to_do() {
    for store in StoreKind::ALL {
        let whole = Whole::new(store, false);
        let said = |damage: &dyn Fn(&Path)| {
            let damaged = Temporary::in_memory();
            whole.image.put(damaged.path());
            damage(&damaged.path().join("checkpoints"));
            let before = files(damaged.path());
            let error = Life::begin(damaged.path(), None).err().unwrap().to_string();
            let folder = damaged.path().display();
            let rest = error
                .strip_prefix(&format!("the data in `{folder}` cannot be used: the log begins with group "));
            let rest = rest.unwrap_or_else(|| panic!("{error}"));
            assert!(
                rest.ends_with("; put the folder back from a copy, or move it away to begin with nothing"),
                "{error}"
            );
            // Nothing that could still help is gone.
            assert!(before.iter().all(|file| damaged.path().join(file).exists()), "{error}");
            error
        };
        let missing = said(&|checkpoints| fs::remove_dir_all(checkpoints).unwrap());
        assert!(
            missing
                .contains(", and no checkpoint stands for all before that: there is none in `checkpoints`;"),
            "{missing}"
        );
        let broken = said(&|checkpoints| {
            fs::remove_dir_all(checkpoints.join(store.name())).unwrap();
            fs::write(checkpoints.join(store.name()), "mine\n").unwrap();
        });
        assert!(broken.contains(&format!("the store `{store}` does not open: ")), "{broken}");
    }
}

/// What says that a folder has data was lost: the log in it must not be taken for one that was never used.
#[test]
fn a_log_without_its_format_is_never_begun_anew() {
    let folder = Temporary::new();
    let mut own = Life::begin(folder.path(), None).unwrap();
    own.act(0, &small(1));
    let expected = own.holds();
    drop(own);
    let format = folder.path().join("format");
    let text = fs::read(&format).unwrap();
    fs::remove_file(&format).unwrap();
    // Not even where nothing else is left.
    fs::remove_file(folder.path().join("lock")).unwrap();
    let said = Life::begin(folder.path(), None).err().unwrap().to_string();
    assert!(
        said.contains("cannot be used: `format` is missing, and there is a log; put the folder back"),
        "{said}"
    );
    fs::write(&format, text).unwrap();
    assert!(Life::begin(folder.path(), None).unwrap().holds() == expected);
}

#[test]
fn a_log_that_does_not_reach_a_checkpoint_is_refused() {
    for store in StoreKind::ALL {
        let whole = Whole::new(store, false);
        let outcome = whole.outcome("the last segment missing", "log", |folder| {
            let last = files(&folder.join("log")).into_iter().max().unwrap();
            fs::remove_file(folder.join("log").join(last)).unwrap();
        });
        assert_eq!(outcome, Refused, "{store}");
    }
}
