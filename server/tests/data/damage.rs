//! Damage to every file of a folder of data: whoever starts the server finds everything there, or is told in a sentence what
//! is wrong. Never less without a word, never something else, and never an end without a sentence.
//!
//! Why the stores' own files too, though every entry in them has a checksum of ours: a store may lose entries, bring old ones
//! back or not open at all, and what then counts is the manifest, what it leads to, and where the log begins. Why with the
//! binary: some damage has made a store abort the whole process.
//!
//! `HEARTH_DAMAGE=100` changes so many bits of each file instead of a few, and leaves the whole table in `damage.txt`.

use crate::folder::Folder;
use crate::running::{Running, hearth};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};

/// What happens to one file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Missing,
    /// A folder stands in its place.
    Folder,
    /// It is there and cannot be opened: a link to itself, since root may open whatever it likes.
    Unreadable,
    Foreign,
    /// Its tail is gone.
    Cut(usize),
    /// Its tail was never written.
    Zeros(usize),
    /// One bit has changed.
    Bit(usize),
}

impl Damage {
    fn make(self, file: &Path, whole: &Copied) {
        let open = || OpenOptions::new().write(true).open(file).unwrap();
        let remove = || fs::remove_file(file).unwrap();
        match self {
            Self::Missing => remove(),
            Self::Folder => {
                remove();
                fs::create_dir(file).unwrap();
            }
            Self::Unreadable => {
                remove();
                symlink(file, file).unwrap();
            }
            Self::Foreign => fs::write(file, "mine\n").unwrap(),
            Self::Cut(to) => open().set_len(to as u64).unwrap(),
            Self::Zeros(from) => {
                open().write_all_at(&vec![0; whole.bytes.len() - from], from as u64).unwrap();
            }
            Self::Bit(bit) => {
                let byte = whole.bytes[bit / 8] ^ 1 << (bit % 8);
                open().write_all_at(&[byte], bit as u64 / 8).unwrap();
            }
        }
    }

    /// All that is tried with a file.
    fn of(file: &Copied, bits: usize) -> Vec<Self> {
        let mut all = vec![Self::Missing, Self::Folder, Self::Unreadable, Self::Foreign];
        let (end, len) = (file.bytes.len(), usize::try_from(file.len).unwrap());
        let cuts: BTreeSet<_> = [0, end / 2, end.saturating_sub(1), len.saturating_sub(1)].into();
        all.extend(cuts.iter().filter(|&&to| to < len).map(|&to| Self::Cut(to)));
        all.extend(cuts.iter().filter(|&&from| from < end).map(|&from| Self::Zeros(from)));
        // Each byte of a beginning means something else, and so does the end.
        let spread = (0..bits).map(|at| end * 8 * at / bits + at % 8);
        let bits: BTreeSet<_> = spread.chain([67, (end * 8).saturating_sub(13)]).collect();
        all.extend(bits.into_iter().filter(|bit| *bit < end * 8).map(Self::Bit));
        all
    }
}

impl Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::Folder => f.write_str("a folder"),
            Self::Unreadable => f.write_str("unreadable"),
            Self::Foreign => f.write_str("another file"),
            Self::Cut(to) => write!(f, "cut to {to} bytes"),
            Self::Zeros(from) => write!(f, "zeros from byte {from}"),
            Self::Bit(bit) => write!(f, "bit {bit} changed"),
        }
    }
}

/// A file without the zeros at its end, of which stores have a lot.
struct Copied {
    name: PathBuf,
    bytes: Vec<u8>,
    len: u64,
}

fn copied(top: &Path, folder: &Path, into: &mut Vec<Copied>) {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            copied(top, &path, into);
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        let len = bytes.len() as u64;
        bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
        into.push(Copied { name: path.strip_prefix(top).unwrap().into(), bytes, len });
    }
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Recovered,
    Refused,
}
use Outcome::{Recovered, Refused};

fn start(folder: &Path) -> Result<Running, (Option<i32>, String)> {
    Running::try_of(hearth(&["dev", "--port", "0", "--checkpoint-log", "1"]).arg("--data").arg(folder))
}

/// Whole data: two checkpoints, and something behind the last one.
struct Whole {
    files: Vec<Copied>,
    expected: Vec<String>,
    name: String,
    /// Whether the log has its beginning: then the checkpoints are not needed.
    has_log: bool,
}

const PLACES: [&str; 2] = ["/.json?ns=one", "/.json?ns=two"];

fn holds(server: &Running) -> Vec<String> {
    PLACES.map(|place| server.ask("GET", place, "").1).into()
}

impl Whole {
    fn new(store: &str, has_log: bool) -> Self {
        let name = format!("damage-{store}-{has_log}");
        let folder = Folder::in_memory(&name);
        for life in 0..3 {
            let mut command = hearth(&["dev", "--port", "0", "--checkpoint-log", "1", "--store", store]);
            let server = Running::of(command.arg("--data").arg(folder.path()));
            // An orderly end with so much log writes a checkpoint.
            let long = format!("\"{}\"", format!("{life} ").repeat(150_000));
            for at in 0..if has_log { 1 } else { 4 } {
                assert_eq!(server.ask("PUT", &format!("/long{at}.json?ns=one"), &long).0, 200);
            }
            assert_eq!(server.ask("PUT", &format!("/lives/{life}.json?ns=two"), "true").0, 200);
            assert_eq!(server.stop(), Some(0));
        }
        let server = start(folder.path()).unwrap_or_else(|(_, said)| panic!("{said}"));
        assert_eq!(server.ask("PUT", "/behind.json?ns=two", "1.5").0, 200);
        let expected = holds(&server);
        // In order: of a log that ends in zeros, the last group may be one of which nobody was told.
        assert_eq!(server.stop(), Some(0));
        assert_eq!(folder.path().join("log/00000000000000000001.log").exists(), has_log, "{name}");
        let mut files = Vec::new();
        copied(folder.path(), folder.path(), &mut files);
        Self { files, expected, name, has_log }
    }

    /// A server begins on a copy that was damaged.
    fn outcome(&self, file: &Copied, damage: Damage) -> Outcome {
        let place = file.name.to_str().unwrap();
        let what = format!("{}: {place} ({} bytes) {damage}", self.name, file.len);
        let folder = Folder::in_memory(&format!("{}-copy", self.name));
        for Copied { name, bytes, len } in &self.files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, bytes).unwrap();
            OpenOptions::new().write(true).open(path).unwrap().set_len(*len).unwrap();
        }
        damage.make(&folder.path().join(place), file);
        let server = match start(folder.path()) {
            Ok(server) => server,
            Err((code, said)) => {
                assert_eq!(code, Some(2), "{what}: {said}");
                let sentence = said.trim_end().lines().last().unwrap_or_default();
                assert!(is_named(sentence, place), "{what}: {said}");
                assert!(!said.contains("panicked"), "{what}: {said}");
                return Refused;
            }
        };
        assert!(holds(&server) == self.expected, "{what}: something else is there");
        // And it goes on.
        assert_eq!(server.ask("PUT", "/again.json?ns=three", "1").0, 200, "{what}");
        server.kill();
        let again = start(folder.path()).unwrap_or_else(|(_, said)| panic!("{what}, then: {said}"));
        assert!(holds(&again) == self.expected, "{what}: something else is there the second time");
        assert_eq!(again.ask("GET", "/again.json?ns=three", "").1, "1", "{what}");
        Recovered
    }
}

/// Whether a refusal says where, or why nothing is left to begin with.
fn is_named(sentence: &str, place: &str) -> bool {
    let names = |text: &str| sentence.contains(text);
    let is_located = match place.split('/').next() {
        Some("checkpoints") => names("no checkpoint stands for all before that: ") || names("checkpoints`"),
        Some("log") => names("log/") || names("from `log`"),
        // It says which log belongs to it.
        Some("format") => names("format`") || names("belongs to other data"),
        Some(_) | None => names(place),
    };
    sentence.starts_with("hearth: ") && names("cannot be used") && is_located
}

#[test]
fn damage_to_any_file_is_made_good_or_refused() {
    let bits = std::env::var("HEARTH_DAMAGE").map_or(2, |bits| bits.parse().unwrap());
    let mut seen = BTreeMap::<_, BTreeMap<Outcome, usize>>::new();
    for (store, has_log) in [("fjall", true), ("fjall", false), ("sled", true), ("sled", false)] {
        let whole = Whole::new(store, has_log);
        for file in &whole.files {
            for damage in Damage::of(file, bits) {
                let outcome = whole.outcome(file, damage);
                let place = file.name.to_str().unwrap().to_owned();
                let row = (whole.has_log, place);
                *seen.entry(row).or_default().entry(outcome).or_default() += 1;
            }
        }
    }
    let times = |has_log: bool, place: &str, outcome: Outcome| -> usize {
        let rows = seen.iter().filter(|((has, own), _)| *has == has_log && own.starts_with(place));
        rows.filter_map(|(_, outcomes)| outcomes.get(&outcome)).sum()
    };
    for (place, has_log, recovered, refused) in [
        // With its whole log a server needs no store.
        ("checkpoints/fjall/", true, true, false),
        ("checkpoints/sled/", true, true, false),
        ("checkpoints/fjall/", false, true, true),
        ("checkpoints/sled/", false, true, true),
        // It says which store there is, and so does the folder of the store.
        ("checkpoints/store", true, true, true),
        ("checkpoints/store", false, true, true),
        ("log/", true, true, true),
        ("log/", false, true, true),
        // One letter of the log's id may be a capital now, which is the same id.
        ("format", true, times(true, "format", Recovered) != 0, true),
        ("format", false, times(false, "format", Recovered) != 0, true),
        // What it holds does not matter.
        ("lock", true, true, true),
        ("lock", false, true, true),
    ] {
        let found = [times(has_log, place, Recovered), times(has_log, place, Refused)];
        assert_eq!(found.map(|times| times != 0), [recovered, refused], "{place}, {has_log}: {seen:#?}");
    }
    // For whoever has asked for many.
    if std::env::var("HEARTH_DAMAGE").is_ok() {
        let table = format!("{seen:#?}\n");
        fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("damage.txt"), table).unwrap();
    }
}
