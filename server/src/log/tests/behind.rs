//! Beginning behind a checkpoint, with a log that has its beginning or has lost it.

use super::super::codec::DecodeError;
use super::super::files::Files;
use super::super::group::Position;
use super::super::record::Record;
use super::super::recovery::{Mistake, recover_behind};
use super::super::segment_log::SegmentLog;
use super::super::trim::trim;
use super::disk::Disk;
use super::{ID, SMALL, commit, entries, large_commit, stage};
use hearth_engine::Log;

const COMMITS: u64 = 20;

/// A log with a commit in each group, and the position behind each of them.
fn kept() -> (Disk, Vec<Position>) {
    let disk = Disk::new(1);
    let mut log = SegmentLog::begin(disk.clone(), ID, SMALL).unwrap();
    let mut positions = vec![log.position()];
    for revision in 1..=COMMITS {
        // Every third one has a part.
        let (write, large) = large_commit(revision, &"v".repeat(200));
        let staged = (revision % 3 == 0).then(|| stage(&log, &write, revision).unwrap());
        let commit = if staged.is_some() { large } else { commit(revision, &"v".repeat(200)) };
        log.append(&entries(&[commit])).unwrap();
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
            Record::Written { revision, .. } => shown.push(revision.get()),
            Record::Started { .. }
            | Record::Stopped
            | Record::Sealed
            | Record::Made { .. }
            | Record::Rules { .. }
            | Record::Settings { .. } => {
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
        trim(&disk, position.sequence, 0).unwrap();
        assert_eq!(shown(&disk, *position), Ok((before + 1..=COMMITS).collect()), "behind {before}");
        // Whatever begins before the first segment that is left cannot be had.
        let sequence = first_of(&disk);
        for earlier in positions.iter().filter(|earlier| earlier.sequence < sequence) {
            let said = shown(&disk, *earlier).expect_err("its beginning is missing");
            assert!(said.contains("the log begins with group"), "{said}");
        }
        assert!(disk.names().unwrap().len() < 2 || !is_first_needless(&disk, *position));
    }
}

/// Whether the second segment begins at or before the position.
fn is_first_needless(disk: &Disk, position: Position) -> bool {
    segments(disk).get(1).is_some_and(|second| *second <= position.sequence)
}

/// The first groups of all segments.
fn segments(disk: &Disk) -> Vec<u64> {
    let mut segments: Vec<_> =
        disk.names().unwrap().iter().filter_map(|name| name.strip_suffix(".log")?.parse().ok()).collect();
    segments.sort_unstable();
    segments
}

fn first_of(disk: &Disk) -> u64 {
    segments(disk)[0]
}

/// Bytes of all files that begin before a group.
fn bytes_before(disk: &Disk, sequence: u64) -> u64 {
    let is_before = |name: &&String| name[..20].parse::<u64>().unwrap() < sequence;
    let names = disk.names().unwrap();
    names.iter().filter(is_before).map(|name| disk.bytes(name).len() as u64).sum()
}

#[test]
fn a_tail_of_bounded_length_stays_with_its_parts() {
    let (whole, positions) = kept();
    let all = segments(&whole);
    for (before, position) in (0..).zip(&positions) {
        for tail_bytes in [0, 1_000, 2_048, 5_000, 1_000_000] {
            let disk = whole.copy();
            trim(&disk, position.sequence, tail_bytes).unwrap();
            let first = first_of(&disk);
            // The last segment that begins at or before the position is needed; what is before it is the tail.
            let needed = *all.iter().rfind(|segment| **segment <= position.sequence).unwrap();
            let case = format!("behind {}, {tail_bytes} bytes", position.sequence);
            assert!(first <= needed, "{case}");
            assert!(bytes_before(&disk, needed) <= tail_bytes, "{case}");
            // Another one would be too much, and nothing is left of what went.
            if let Some(gone) = all.iter().rfind(|segment| **segment < first) {
                let tail = bytes_before(&whole, needed) - bytes_before(&whole, *gone);
                assert!(tail_bytes < tail, "{case}");
            }
            assert_eq!(bytes_before(&disk, first), 0, "{case}");
            assert_eq!(
                bytes_before(&disk, u64::MAX),
                bytes_before(&whole, u64::MAX) - bytes_before(&whole, first),
                "{case}"
            );
            let shown = shown(&disk, *position);
            assert_eq!(shown, Ok((before + 1..=COMMITS).collect()), "{case}");
        }
    }
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
