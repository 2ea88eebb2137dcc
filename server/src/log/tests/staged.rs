//! Large nodes in files of their own: read back as they were, and never missing, damaged or left over without a word.

use super::super::files::Files;
use super::super::record::Record;
use super::super::recovery::recover;
use super::super::segment_log::{SegmentLog, Sizes};
use super::super::staging::Bounds;
use super::disk::Disk;
use super::{DATABASE, ID, SMALL, STAGED, commit, entries, large_commit, object, text};
use hearth_engine::{Commit, Entry, Log, Revision};
use hearth_tree::{
    Assignment, Change, Draft, Edit, Key, Node, Path, Pending, Priority, ServerValue, Snapshot, To, Update,
    Write,
};

const NOW_MS: i64 = 1_767_225_600_000;
const ROOMY: Sizes = Sizes { segment_bytes_min: 16_384, segment_bytes_max: 16_384, group_bytes_max: 16_384 };

fn names(disk: &Disk) -> Vec<String> {
    let mut names = disk.names().unwrap();
    names.sort();
    names
}

fn parts(disk: &Disk) -> Vec<String> {
    names(disk).into_iter().filter(|name| name.ends_with(".part")).collect()
}

fn recovered(disk: &Disk) -> Result<Vec<Commit>, String> {
    let mut found = Vec::new();
    let read = recover(disk.clone(), ID, SMALL, |record| {
        if let Record::Commit { commit, .. } = record {
            found.push(commit);
        }
        Ok(())
    });
    read.map(|_| found).map_err(|error| error.to_string())
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn set(at: &str, draft: impl Into<Draft>) -> Assignment {
    Assignment::value(path(at), Some(draft.into())).unwrap()
}

fn update(parts: Vec<Assignment>) -> Write {
    Write::Update(Update::new(Path::root(), parts).unwrap())
}

/// With a server value beside these.
fn with_time(children: &[(&str, Node)]) -> Draft {
    let time = Draft::leaf(Pending::Server(ServerValue::Timestamp), None);
    let own = children.iter().map(|(name, node)| (Key::parse(name).unwrap(), Draft::from(node.clone())));
    Draft::object(own.chain([(Key::parse("time").unwrap(), time)]).collect(), None).unwrap()
}

/// What a write leads to on a tree is staged, appended and read back.
fn check(case: &str, before: &Snapshot, write: &Write, is_staged: bool) {
    let disk = Disk::new(1);
    let mut log = SegmentLog::begin(disk.clone(), ID, ROOMY).unwrap();
    let staged = log.staging_with(STAGED).stage(write).unwrap();
    let change = write.resolve(NOW_MS, before).unwrap();
    let commits = [Commit { revision: Revision::new(1), change, arming: None }];
    log.append(&entries(&commits)).unwrap();
    drop(staged);
    let segment = disk.bytes("00000000000000000001.log");
    let holds_it = segment.windows(20).any(|window| window == [b'x'; 20]);
    assert_eq!((holds_it, parts(&disk).len()), (!is_staged, usize::from(is_staged)), "{case}");
    assert_eq!(names(&disk).len(), 1 + usize::from(is_staged), "{case}: {:?}", names(&disk));
    assert_eq!(recovered(&disk), Ok(commits.to_vec()), "{case}");
}

#[test]
fn what_is_large_stands_in_a_file_and_is_read_back() {
    let (long, nothing) = ("x".repeat(50), Snapshot::default());
    let large = || object(&long);
    let prioritized = large().with_priority(Some(Priority::Number(7.into())));
    let holds = |at: &str, node: Node| {
        nothing.apply(&Change::new(vec![Edit { at: path(at), to: To::Node(Some(node)) }]).unwrap())
    };
    for (case, before, write, is_staged) in [
        ("an object", &nothing, Write::Set(set("/a", large())), true),
        ("at the root", &nothing, Write::Set(set("/", large())), true),
        ("with a priority", &nothing, Write::Set(set("/a", prioritized.clone())), true),
        ("in place of something", &holds("/a", text("old")), Write::Set(set("/a", large())), true),
        (
            "several",
            &nothing,
            update(vec![set("/b", large()), set("/a/c", prioritized), set("/d", text("s"))]),
            true,
        ),
        (
            "one is there already",
            &holds("/a", large()),
            update(vec![set("/a", large()), set("/b", large())]),
            true,
        ),
        (
            "beside a server value",
            &nothing,
            Write::Set(set("/a", with_time(&[("b", large()), ("z", large())]))),
            true,
        ),
        ("a text", &nothing, Write::Set(set("/a", text(&"x".repeat(500)))), false),
    ] {
        check(case, before, &write, is_staged);
    }
}

#[test]
fn what_comes_to_something_else_or_to_nothing_stands_in_its_record() {
    let disk = Disk::new(1);
    let mut log = SegmentLog::begin(disk.clone(), ID, ROOMY).unwrap();
    let staging = log.staging_with(STAGED);
    let (write, _) = large_commit(1, &"x".repeat(50));
    let staged = staging.stage(&write).unwrap();
    // Equal, and not the same.
    let (_, other) = large_commit(1, &"x".repeat(50));
    log.append(&entries(std::slice::from_ref(&other))).unwrap();
    assert_eq!((parts(&disk).len(), names(&disk).len()), (0, 2));
    drop(staged);
    assert_eq!(names(&disk).len(), 1, "refused, or otherwise of no use: the file goes");
    assert_eq!(recovered(&disk), Ok(vec![other]));
}

#[test]
fn from_its_bounds_on_something_is_staged() {
    let disk = Disk::new(1);
    let log = SegmentLog::begin(disk.clone(), ID, ROOMY).unwrap();
    for (value, bounds, expected) in [
        // Two texts, and what holds them together.
        (20, Bounds { write_bytes_min: 100, ..STAGED }, false),
        (60, Bounds { write_bytes_min: 100, ..STAGED }, true),
        (60, Bounds { write_bytes_min: 100, part_bytes_min: 200, ..STAGED }, false),
        (1_000, Bounds { write_bytes_min: 100, part_bytes_min: 200, ..STAGED }, true),
    ] {
        let (write, _) = large_commit(1, &"x".repeat(value));
        let staged = log.staging_with(bounds).stage(&write).unwrap();
        assert_eq!(staged.is_some(), expected, "{value} {bounds:?}");
    }
}

/// Two at a time, and decided in another order than they were staged, in one group and in two.
#[test]
fn several_can_be_staged_at_once() {
    for in_one_group in [true, false] {
        let disk = Disk::new(1);
        let mut log = SegmentLog::begin(disk.clone(), ID, ROOMY).unwrap();
        let staging = log.staging_with(STAGED);
        let (first, second) = (large_commit(2, &"x".repeat(70)), large_commit(1, &"y".repeat(90)));
        let staged = [&first, &second].map(|(write, _)| staging.stage(write).unwrap());
        let commits = [second.1, first.1];
        if in_one_group {
            log.append(&entries(&commits)).unwrap();
        } else {
            commits.iter().for_each(|commit| log.append(&entries(std::slice::from_ref(commit))).unwrap());
        }
        drop(staged);
        assert_eq!(parts(&disk).len(), 2);
        assert_eq!(recovered(&disk), Ok(commits.to_vec()), "in one group: {in_one_group}");
    }
}

/// A log with a commit of its own before and behind one that has a part.
fn kept() -> (Disk, Vec<Commit>) {
    let disk = Disk::new(1);
    let mut log = SegmentLog::begin(disk.clone(), ID, SMALL).unwrap();
    let (write, large) = large_commit(2, &"x".repeat(120));
    let staged = log.staging_with(STAGED).stage(&write).unwrap();
    let commits = vec![commit(1, "first"), large, commit(3, "last")];
    for commit in &commits {
        log.append(&[Entry::Commit(DATABASE, commit)]).unwrap();
    }
    drop(staged);
    (disk, commits)
}

#[test]
fn a_part_that_is_not_what_was_written_is_refused_by_name() {
    let (whole, commits) = kept();
    let part = parts(&whole).pop().unwrap();
    let bytes = whole.bytes(&part);
    let refused = |disk: &Disk, expected: &str| {
        let said = recovered(disk).expect_err(expected);
        let of_group = "group 2 of the log needs";
        assert!(said.contains(of_group) && said.contains(&part) && said.contains(expected), "{said}");
        assert!(!said.contains('\n'), "{said}");
    };
    for at in 0..bytes.len() {
        let disk = whole.copy();
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        disk.put(&part, changed);
        refused(&disk, "which is not what was written");
        disk.put(&part, bytes[..at].to_vec());
        refused(&disk, &format!("which has {at} bytes and was written with {}", bytes.len()));
    }
    let disk = whole.copy();
    disk.put(&part, [&bytes[..], b"more"].concat());
    refused(&disk, "was written with");
    disk.take(&part);
    refused(&disk, "which is missing");
    // Nothing was changed meanwhile.
    disk.put(&part, bytes);
    assert_eq!(recovered(&disk), Ok(commits));
}

#[test]
fn what_no_group_refers_to_is_removed_at_a_start() {
    let (whole, commits) = kept();
    for (name, is_removed) in [
        ("00000000000000000001.staged", true),
        ("00000000000000000004.001.part", true),
        ("00000000000000000000.001.part", true),
        ("00000000000000000002.001.part", false),
    ] {
        let disk = whole.copy();
        if is_removed {
            disk.put(name, b"left over".to_vec());
        }
        assert_eq!(recovered(&disk), Ok(commits.clone()), "{name}");
        assert_eq!(names(&disk).iter().any(|own| own == name), !is_removed, "{name}");
    }
    for name in ["1.staged", "00000000000000000002.1.part", "00000000000000000002.part", "x.part"] {
        let disk = whole.copy();
        disk.put(name, b"mine".to_vec());
        let said = recovered(&disk).expect_err(name);
        assert!(said.contains(&format!("`log/{name}` is no file of the log")), "{said}");
    }
}

/// A disk that does not take it: nothing is left, and the log goes on.
#[test]
fn a_write_that_cannot_be_staged_harms_nobody_else() {
    let (write, large) = large_commit(1, &"x".repeat(150));
    let operations = {
        let disk = Disk::new(1);
        let log = SegmentLog::begin(disk.clone(), ID, SMALL).unwrap();
        let before = disk.operations();
        let staged = log.staging_with(STAGED).stage(&write).unwrap();
        let operations = disk.operations() - before;
        drop(staged);
        operations
    };
    assert!(5 < operations, "{operations}");
    for failing in 0..operations {
        let disk = Disk::new(failing);
        let mut log = SegmentLog::begin(disk.clone(), ID, SMALL).unwrap();
        disk.fail_once_in(failing);
        log.staging_with(STAGED).stage(&write).expect_err("the disk has failed");
        assert_eq!(names(&disk).len(), 1, "operation {failing}: {:?}", names(&disk));
        log.append(&entries(std::slice::from_ref(&large))).unwrap();
        assert_eq!(recovered(&disk), Ok(vec![large.clone()]), "operation {failing}");
    }
}
