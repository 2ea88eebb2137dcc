//! Large writes in files of their own: read back as they were, and never missing, damaged or left over without a word.

use super::super::files::Files;
use super::super::recovery::recover;
use super::super::segment_log::{SegmentLog, Sizes};
use super::super::staging::Bounds;
use super::disk::Disk;
use super::{
    DATABASE, ID, NOW_MS, SMALL, STAGED, commit, commit_of, entries, large_commit, object, stage, text,
};
use hearth_engine::{Commit, Entry, Log, Revision};
use hearth_tree::{
    Assignment, Change, Draft, Edit, Key, Node, Path, Pending, Priority, Scalar, ServerValue, Snapshot, To,
    Update, Write,
};

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
    recovered_on(disk, Snapshot::default())
}

/// The commits that follow a tree.
fn recovered_on(disk: &Disk, mut tree: Snapshot) -> Result<Vec<Commit>, String> {
    let mut found = Vec::new();
    let read = recover(disk.clone(), ID, SMALL, |record| {
        if let Some(commit) = commit_of(record, &tree) {
            tree = tree.apply(&commit.change);
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

/// The numbers from 0 on, so many, each with its text.
fn numbered<T>(count: usize, make: impl Fn(&str) -> T) -> Vec<T> {
    (0..count).map(|at| make(&format!("n{at:03}"))).collect()
}

/// What a write leads to on a tree is staged, appended and read back.
fn check(case: &str, before: &Snapshot, write: &Write) {
    let disk = Disk::new(1);
    let mut log = SegmentLog::begin(disk.clone(), ID, ROOMY).unwrap();
    let staged = stage(&log, write, 1).unwrap();
    let change = write.resolve(NOW_MS, before).unwrap();
    let commits = [Commit { revision: Revision::new(1), change, arming: None }];
    log.append(&entries(&commits)).unwrap();
    drop(staged);
    assert_eq!(parts(&disk).len(), 1, "{case}: {:?}", names(&disk));
    assert_eq!(names(&disk).len(), 2, "{case}: {:?}", names(&disk));
    let segment = disk.bytes("00000000000000000001.log");
    let end = segment.iter().rposition(|&byte| byte != 0).unwrap();
    assert!(end < 600, "{case}: the record has {} bytes", end - 512);
    assert_eq!(recovered_on(&disk, before.clone()), Ok(commits.to_vec()), "{case}");
}

#[test]
fn what_is_large_stands_in_a_file_and_is_read_back() {
    let (long, nothing) = ("x".repeat(50), Snapshot::default());
    let large = || object(&long);
    let prioritized = large().with_priority(Some(Priority::Number(7.into())));
    let holds = |at: &str, node: Node| {
        nothing.apply(&Change::new(vec![Edit { at: path(at), to: To::Node(Some(node)) }]).unwrap())
    };
    let key = |name: &str| Key::parse(name).unwrap();
    let server = |value| Draft::leaf(Pending::Server(value), None);
    let small = |name: &str| {
        let children = vec![(key("at"), server(ServerValue::Timestamp)), (key("x"), text("x").into())];
        (key(name), Draft::object(children, None).unwrap())
    };
    let counted = |name: &str| (key(name), server(ServerValue::Increment(2.into())));
    let object_of = |children: Vec<(Key, Draft)>| Draft::object(children, None).unwrap();
    let forty = Node::inner(numbered(40, |name| (key(name), Scalar::Number(40.into()).into()))).unwrap();
    let emptied = vec![set("/p/new", text(&long)), Assignment::value(path("/p/old"), None).unwrap()];
    let with_old = Node::inner([(key("old"), text("old"))]).unwrap();
    let with_old = with_old.with_priority(Some(Priority::Number(1.into())));
    for (case, before, write) in [
        ("an object", &nothing, Write::Set(set("/a", large()))),
        ("at the root", &nothing, Write::Set(set("/", large()))),
        ("with a priority", &nothing, Write::Set(set("/a", prioritized.clone()))),
        ("in place of something", &holds("/a", text("old")), Write::Set(set("/a", large()))),
        (
            "several",
            &nothing,
            update(vec![set("/b", large()), set("/a/c", prioritized), set("/d", text("s"))]),
        ),
        ("one is there already", &holds("/a", large()), update(vec![set("/a", large()), set("/b", large())])),
        (
            "beside a server value",
            &nothing,
            Write::Set(set("/a", with_time(&[("b", large()), ("z", large())]))),
        ),
        ("a text", &nothing, Write::Set(set("/a", text(&"x".repeat(500))))),
        ("a time in every object", &nothing, Write::Set(set("/a", object_of(numbered(40, small))))),
        ("sums with nothing", &nothing, Write::Set(set("/a", object_of(numbered(40, counted))))),
        (
            "sums with what is there",
            &holds("/a", forty),
            Write::Set(set("/a", object_of(numbered(40, counted)))),
        ),
        ("many small places", &nothing, update(numbered(40, |name| set(&format!("/a/{name}/b"), text("x"))))),
        ("many times", &nothing, update(numbered(40, |name| set(&format!("/{name}"), small(name).1)))),
        (
            "many deletes, of one child",
            &holds("/n007", text("seven")),
            update(numbered(40, |name| Assignment::value(path(name), None).unwrap())),
        ),
        (
            "many priorities",
            &holds("/n007/a", text("seven")),
            update(numbered(40, |name| {
                Assignment::priority(path(name), Some(Pending::Server(ServerValue::Timestamp)))
            })),
        ),
        ("a priority that is lost on the way", &holds("/p", with_old), update(emptied)),
    ] {
        check(case, before, &write);
    }
}

#[test]
fn what_was_not_decided_is_removed_and_what_is_of_others_stands_in_its_record() {
    let disk = Disk::new(1);
    let mut log = SegmentLog::begin(disk.clone(), ID, ROOMY).unwrap();
    let (write, _) = large_commit(2, &"x".repeat(50));
    let staged = stage(&log, &write, 2).unwrap();
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
    // Two texts, and what holds them together.
    for (value, bounds, expected) in [
        (20, Bounds { write_bytes_min: 100, ..STAGED }, false),
        (60, Bounds { write_bytes_min: 100, ..STAGED }, true),
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
        let (first, second) = (large_commit(2, &"x".repeat(70)), large_commit(1, &"y".repeat(90)));
        let staged =
            [&first, &second].map(|(write, commit)| stage(&log, write, commit.revision.get()).unwrap());
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

/// Parts go when their segment does, so a segment ends when its parts are as long as the longest.
#[test]
fn a_segment_ends_with_so_much_beside_it() {
    let disk = Disk::new(1);
    let sizes = Sizes { segment_bytes_min: 4_096, segment_bytes_max: 4_096, group_bytes_max: 4_096 };
    let mut log = SegmentLog::begin(disk.clone(), ID, sizes).unwrap();
    let mut commits = Vec::new();
    for revision in 1..=10 {
        let (write, commit) = large_commit(revision, &"x".repeat(600));
        let staged = stage(&log, &write, revision).unwrap();
        log.append(&entries(std::slice::from_ref(&commit))).unwrap();
        drop(staged);
        commits.push(commit);
    }
    // Each is 1.2 kB, so after four of them.
    let segments = names(&disk).into_iter().filter(|name| name.ends_with(".log")).count();
    assert_eq!((segments, parts(&disk).len()), (3, 10));
    assert_eq!(recovered(&disk), Ok(commits));
}

/// A log with a commit of its own before and behind one that has a part.
fn kept() -> (Disk, Vec<Commit>) {
    let disk = Disk::new(1);
    let mut log = SegmentLog::begin(disk.clone(), ID, SMALL).unwrap();
    let (write, large) = large_commit(2, &"x".repeat(120));
    let staged = stage(&log, &write, 2).unwrap();
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

/// What another write is about to take counts, too, and what is to be left.
#[test]
fn a_write_that_finds_no_room_is_refused_before_anything_is_written() {
    let (write, _) = large_commit(1, &"x".repeat(150));
    for (free, left, expected) in [
        (1_000_000, 0, Ok(true)),
        (400, 0, Ok(true)),
        (
            300,
            0,
            Err(
                "the write takes 1 MB of the disk, and 0 MB of it are free, of which 0 MB are left to the log",
            ),
        ),
        (
            1_000,
            700,
            Err(
                "the write takes 1 MB of the disk, and 0 MB of it are free, of which 1 MB are left to the log",
            ),
        ),
        (1_100, 700, Ok(true)),
    ] {
        let disk = Disk::new(1);
        let log = SegmentLog::begin(disk.clone(), ID, ROOMY).unwrap();
        disk.leave(free);
        let operations = disk.operations();
        let staged = log.staging_with(Bounds { left_bytes: left, ..STAGED }).stage(&write);
        let found = staged.as_ref().map(Option::is_some).map_err(ToString::to_string);
        assert_eq!(found, expected.map_err(str::to_owned), "{free} {left}");
        assert_eq!(operations == disk.operations(), expected.is_err(), "{free} {left}");
    }
}
