//! The log against hostile bytes, damaged files and disks that do what disks may do.

mod behind;
mod codec;
mod damage;
mod disk;
mod golden;
mod lives;
mod staged;

use super::record::Record;
use super::segment::LogId;
use super::segment_log::{SegmentLog, Sizes};
use super::staging::{Bounds, NotStaged, Staged};
use disk::Disk;
use hearth_engine::{Commit, DatabaseId, Entry, OwnRules, Revision};
use hearth_tree::{Assignment, Change, Draft, Edit, Key, Node, Path, Scalar, Snapshot, Text, To, Write};

const ID: LogId = LogId(*b"a log of tests !");

/// So small that switching from segment to segment happens all the time.
const SMALL: Sizes = Sizes { segment_bytes_min: 1_024, segment_bytes_max: 2_048, group_bytes_max: 700 };

const DATABASE: DatabaseId = DatabaseId(3);
const NOW_MS: i64 = 1_767_225_600_000;

fn text(text: &str) -> Node {
    Scalar::Text(Text::new(text).unwrap()).into()
}

/// The commit of that revision: a text at `/at/<revision>`.
fn commit(revision: u64, value: &str) -> Commit {
    let at = Path::parse(&format!("/at/{revision}")).unwrap();
    let change = Change::new(vec![Edit { at, to: To::Node(Some(text(value))) }]).unwrap();
    Commit { revision: Revision::new(revision), change, arming: None }
}

/// Something that the log keeps of a database.
#[derive(Clone, Debug, PartialEq)]
enum Thing {
    Commit(Commit),
    Rules(OwnRules),
}

impl Thing {
    /// The one of that number: every third is rules.
    fn new(number: u64, value: &str) -> Self {
        if number % 3 == 2 {
            Self::Rules(own_rules(number, value))
        } else {
            Self::Commit(commit(number, value))
        }
    }

    fn entry(&self) -> Entry<'_> {
        match self {
            Self::Commit(commit) => Entry::Commit(DATABASE, commit),
            Self::Rules(own) => Entry::Rules(DATABASE, own),
        }
    }

    fn of(record: Record) -> Option<Self> {
        match record {
            Record::Rules { own, .. } => Some(Self::Rules(own)),
            record @ (Record::Started { .. }
            | Record::Stopped
            | Record::Sealed
            | Record::Made { .. }
            | Record::Settings { .. }
            | Record::Commit { .. }
            | Record::Written { .. }) => commit_of(record, &Snapshot::default()).map(Self::Commit),
        }
    }
}

/// Rules of that version with a comment in them.
fn own_rules(version: u64, comment: &str) -> OwnRules {
    let text = format!(r#"{{/* {comment} */ "rules": {{}}}}"#).into();
    OwnRules { version, at_ms: 1_796_061_313_000, text: Some(text) }
}

/// So small that hardly anything is not staged.
const STAGED: Bounds = Bounds { write_bytes_min: 64, piece_bytes: 100, left_bytes: 0 };

/// Stages a write that is then decided as that revision, at [`NOW_MS`].
fn stage(log: &SegmentLog<Disk>, write: &Write, revision: u64) -> Result<Option<Staged<Disk>>, NotStaged> {
    let staged = log.staging_with(STAGED).stage(write)?;
    if let Some(staged) = &staged {
        staged.decided_as(DATABASE, Revision::new(revision), NOW_MS);
    }
    Ok(staged)
}

/// The commit that a record holds, on such a tree.
fn commit_of(record: Record, before: &Snapshot) -> Option<Commit> {
    match record {
        Record::Commit { commit, .. } => Some(commit),
        Record::Written { revision, resolved, write, .. } => {
            let change = write.resolve(resolved.now_ms, before).unwrap();
            assert_eq!(resolved.edits, change.edits().len() as u64);
            Some(Commit { revision, change, arming: None })
        }
        Record::Started { .. }
        | Record::Stopped
        | Record::Sealed
        | Record::Made { .. }
        | Record::Rules { .. }
        | Record::Settings { .. } => None,
    }
}

/// The commit of that revision with an object at `/at/<revision>`, and the write that leads to it.
fn large_commit(revision: u64, value: &str) -> (Write, Commit) {
    let at = Path::parse(&format!("/at/{revision}")).unwrap();
    let node = object(value);
    let write = Write::Set(Assignment::value(at.clone(), Some(Draft::from(node.clone()))).unwrap());
    let change = Change::new(vec![Edit { at, to: To::Node(Some(node)) }]).unwrap();
    (write, Commit { revision: Revision::new(revision), change, arming: None })
}

fn object(value: &str) -> Node {
    let key = |name: &str| Key::parse(name).unwrap();
    Node::inner([(key("a"), text(value)), (key("b"), text(value)), (key("z"), text("last"))]).unwrap()
}

fn entries(commits: &[Commit]) -> Vec<Entry<'_>> {
    commits.iter().map(|commit| Entry::Commit(DATABASE, commit)).collect()
}
