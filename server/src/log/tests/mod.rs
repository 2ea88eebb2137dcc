//! The log against hostile bytes, damaged files and disks that do what disks may do.

mod behind;
mod codec;
mod damage;
mod disk;
mod golden;
mod lives;

use super::segment::LogId;
use super::segment_log::Sizes;
use hearth_engine::{Commit, DatabaseId, Entry, Revision};
use hearth_tree::{Change, Edit, Node, Path, Scalar, Text, To};

const ID: LogId = LogId(*b"a log of tests !");

/// So small that switching from segment to segment happens all the time.
const SMALL: Sizes = Sizes { segment_bytes_min: 1_024, segment_bytes_max: 2_048, group_bytes_max: 700 };

const DATABASE: DatabaseId = DatabaseId(3);

fn text(text: &str) -> Node {
    Scalar::Text(Text::new(text).unwrap()).into()
}

/// The commit of that revision: a text at `/at/<revision>`.
fn commit(revision: u64, value: &str) -> Commit {
    let at = Path::parse(&format!("/at/{revision}")).unwrap();
    let change = Change::new(vec![Edit { at, to: To::Node(Some(text(value))) }]).unwrap();
    Commit { revision: Revision::new(revision), change, arming: None }
}

fn entries(commits: &[Commit]) -> Vec<Entry<'_>> {
    commits.iter().map(|commit| Entry::Commit(DATABASE, commit)).collect()
}
