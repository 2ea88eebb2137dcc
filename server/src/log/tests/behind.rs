//! Beginning behind a checkpoint, with a log that has its beginning or has lost it.

use super::super::codec::DecodeError;
use super::super::files::Files;
use super::super::group::Position;
use super::super::record::Record;
use super::super::recovery::{Mistake, recover_behind};
use super::super::segment_log::SegmentLog;
use super::super::trim::trim;
use super::disk::Disk;
use super::{ID, SMALL, commit, entries};
use hearth_engine::Log;

const COMMITS: u64 = 20;

/// A log with a commit in each group, and the position behind each of them.
fn kept() -> (Disk, Vec<Position>) {
    let disk = Disk::new(1);
    let mut log = SegmentLog::begin(disk.clone(), ID, SMALL).unwrap();
    let mut positions = vec![log.position()];
    for revision in 1..=COMMITS {
        log.append(&entries(&[commit(revision, &"v".repeat(200))])).unwrap();
        positions.push(log.position());
    }
    assert!(4 <= disk.names().unwrap().len());
    (disk, positions)
}

/// The revisions that are shown behind a position; or what is said instead.
fn shown(disk: &Disk, position: Position) -> Result<Vec<u64>, String> {
    let mut shown = Vec::new();
    let see = |record| {
        match record {
            Record::Commit { commit, .. } => shown.push(commit.revision.get()),
            Record::Started { .. }
            | Record::Stopped
            | Record::Sealed
            | Record::Made { .. }
            | Record::Rules { .. } => {
                return Err(Mistake::Decode(DecodeError::Empty));
            }
        }
        Ok(())
    };
    match recover_behind(disk.copy(), ID, SMALL, position, see) {
        Ok(_) => Ok(shown),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn what_is_behind_a_position_is_shown_and_nothing_else() {
    let (disk, positions) = kept();
    for (before, position) in (0..).zip(&positions) {
        assert_eq!(shown(&disk, *position), Ok((before + 1..=COMMITS).collect()), "behind {before}");
    }
}

#[test]
fn a_log_is_trimmed_to_a_position_and_no_further() {
    let (_, positions) = kept();
    for (before, position) in (0..).zip(&positions) {
        let (disk, _) = kept();
        trim(&disk, position.sequence).unwrap();
        assert_eq!(shown(&disk, *position), Ok((before + 1..=COMMITS).collect()), "behind {before}");
        // Whatever begins before the first segment that is left cannot be had.
        let first = disk.names().unwrap().into_iter().min().unwrap();
        let sequence: u64 = first.trim_end_matches(".log").parse().unwrap();
        for earlier in positions.iter().filter(|earlier| earlier.sequence < sequence) {
            let said = shown(&disk, *earlier).expect_err("its beginning is missing");
            assert!(said.contains("the log begins with group"), "{said}");
        }
        assert!(disk.names().unwrap().len() < 2 || !is_first_needless(&disk, *position));
    }
}

/// Whether the second segment begins at or before the position.
fn is_first_needless(disk: &Disk, position: Position) -> bool {
    let mut names = disk.names().unwrap();
    names.sort();
    names[1].trim_end_matches(".log").parse::<u64>().unwrap() <= position.sequence
}

#[test]
fn a_log_that_has_come_elsewhere_is_refused() {
    let (disk, positions) = kept();
    for position in &positions {
        let other = Position { predecessor: position.predecessor ^ 1, ..*position };
        shown(&disk, other).expect_err("another predecessor");
    }
    let last = positions[positions.len() - 1];
    let said = shown(&disk, Position { sequence: last.sequence + 1, ..last }).expect_err("beyond its end");
    assert!(said.contains("the log ends before group"), "{said}");
}
