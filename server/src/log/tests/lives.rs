//! Whole lives of a log on a disk that fails, from seeds: nothing that was confirmed is ever missing, nothing comes out
//! of order, and no life ends in a refusal. `HEARTH_SEEDS=100000` lives more of them, `HEARTH_SEEDS=7..8` one.

use super::super::record::Record;
use super::super::recovery::{Recovered, recover};
use super::super::segment_log::SegmentLog;
use super::disk::Disk;
use super::{DATABASE, ID, SMALL, Thing, large_commit, stage};
use hearth_engine::{Entry, Log};

const LIVES: u64 = 2_000;

fn seeds() -> std::ops::Range<u64> {
    match std::env::var("HEARTH_SEEDS") {
        Err(_) => 0..LIVES,
        Ok(text) => match text.split_once("..") {
            None => 0..text.parse().unwrap(),
            Some((from, to)) => from.parse().unwrap()..to.parse().unwrap(),
        },
    }
}

/// What the log may hold, and what it must.
#[derive(Default)]
struct Promises {
    decided: Vec<Thing>,
    confirmed: usize,
    is_made: bool,
}

/// What has happened, to tell lives apart in which nothing happens.
#[derive(Debug, Default)]
struct Counts {
    confirmed: usize,
    failures: usize,
    cuts: usize,
    power: usize,
    segments: usize,
    staged: usize,
}

fn read(disk: &Disk, promises: &Promises, seed: u64) -> (Recovered<Disk>, Vec<Thing>, bool) {
    let mut found = Vec::new();
    let mut is_made = false;
    let recovered = recover(disk.clone(), ID, SMALL, |record| {
        is_made |= matches!(record, Record::Made { .. });
        found.extend(Thing::of(record));
        Ok(())
    });
    let recovered = recovered.unwrap_or_else(|error| panic!("seed {seed}: refused: {error}"));
    assert!(promises.confirmed <= found.len(), "seed {seed}: confirmed commits are missing");
    assert!(found.len() <= promises.decided.len(), "seed {seed}: commits that nobody made");
    assert_eq!(found, promises.decided[..found.len()], "seed {seed}: other commits");
    (recovered, found, is_made)
}

/// Appends groups until the disk fails or the life is over.
fn write(log: &mut SegmentLog<Disk>, disk: &Disk, promises: &mut Promises, counts: &mut Counts) {
    for _ in 0..disk.below(12) {
        let size = 1 + disk.below(4);
        let first = promises.decided.len() as u64 + 1;
        let length = |disk: &Disk| usize::try_from(disk.below(9) * disk.below(60)).unwrap();
        let mut staged = Vec::new();
        let mut make = |at| {
            let value = "\0x\0y"[..].repeat(length(disk));
            if disk.below(3) != 0 {
                return Thing::new(at, &value);
            }
            let (write, commit) = large_commit(at, &value);
            // What cannot be staged is not decided; here it is all the same, and stands in its record.
            match stage(log, &write, at) {
                // Who asked is gone before it is kept.
                Ok(own) if disk.below(8) == 0 => drop(own),
                Ok(own) => staged.push(own),
                Err(_) => counts.failures += 1,
            }
            Thing::Commit(commit)
        };
        let group: Vec<Thing> = (first..first + size).map(&mut make).collect();
        promises.decided.extend(group.iter().cloned());
        let mut said: Vec<Entry<'_>> = group.iter().map(Thing::entry).collect();
        if !promises.is_made {
            said.insert(0, Entry::Made(DATABASE, "db"));
        }
        match log.append(&said) {
            Ok(()) => {
                promises.is_made = true;
                promises.confirmed = promises.decided.len();
                counts.confirmed += group.len();
                counts.staged += staged.iter().flatten().count();
            }
            Err(_) => {
                counts.failures += 1;
                return;
            }
        }
    }
}

fn live(seed: u64, counts: &mut Counts) {
    let disk = Disk::new(seed);
    let mut promises = Promises::default();
    let mut log = SegmentLog::begin(disk.clone(), ID, SMALL).unwrap();
    for start in 1..=8 {
        if disk.below(3) != 0 {
            disk.fail_in(Some(disk.below(30)));
        }
        if log.start(start).is_ok() {
            write(&mut log, &disk, &mut promises, counts);
        } else {
            counts.failures += 1;
        }
        // The process ends: killed, or with the whole machine.
        if disk.below(3) != 0 {
            counts.power += 1;
            disk.lose_power();
        }
        disk.fail_in(None);
        // Reading may fail half way, too, and is then done again.
        disk.fail_in((disk.below(3) == 0).then(|| disk.below(6)));
        let again = recover(disk.clone(), ID, SMALL, |_| Ok(()));
        drop(again);
        if disk.below(2) == 0 {
            disk.lose_power();
        }
        disk.fail_in(None);
        let (recovered, found, is_made) = read(&disk, &promises, seed);
        counts.cuts += usize::from(recovered.cut.is_some());
        // What is found is shown, so from here on it is a promise.
        promises.confirmed = found.len();
        promises.decided = found;
        promises.is_made = is_made;
        log = recovered.log;
        if disk.below(2) == 0 {
            disk.lose_power();
            log = read(&disk, &promises, seed).0.log;
        }
    }
    counts.segments += super::super::files::Files::names(&disk).unwrap().len();
}

#[test]
fn nothing_confirmed_is_lost_whatever_the_disk_does() {
    let mut counts = Counts::default();
    for seed in seeds() {
        live(seed, &mut counts);
    }
    let Counts { confirmed, failures, cuts, power, segments, staged } = counts;
    assert!(
        0 < confirmed && 0 < failures && 0 < cuts && 0 < power && 0 < segments && 0 < staged,
        "lives in which nothing happens: {counts:?}"
    );
}

/// Each operation fails once, and each is the last one before the power goes.
#[test]
fn every_operation_may_be_the_last() {
    let script = |disk: &Disk, promises: &mut Promises| -> Result<(), String> {
        let log = SegmentLog::begin(disk.clone(), ID, SMALL);
        let mut log = log.map_err(|error| error.to_string())?;
        for group in 0..12_u64 {
            let size = usize::try_from(group * 17 % 600).unwrap();
            let (write, large) = large_commit(2 * group + 2, &"w".repeat(size / 4));
            let staged = stage(&log, &write, 2 * group + 2).map_err(|error| error.to_string())?;
            let group = [Thing::new(2 * group + 1, &"v".repeat(size)), Thing::Commit(large)];
            promises.decided.extend(group.iter().cloned());
            log.append(&group.each_ref().map(Thing::entry)).map_err(|error| error.to_string())?;
            promises.confirmed = promises.decided.len();
            drop(staged);
        }
        Ok(())
    };
    let whole = Disk::new(0);
    script(&whole, &mut Promises::default()).unwrap();
    let operations = whole.operations();
    assert!(40 < operations, "{operations}");
    for last in 0..operations {
        for seed in 0..20 {
            let disk = Disk::new(seed * 1_000 + last);
            disk.fail_in(Some(last));
            let mut promises = Promises::default();
            script(&disk, &mut promises).unwrap_err();
            if seed % 4 != 0 {
                disk.lose_power();
            }
            disk.fail_in(None);
            // A log whose first segment was never finished is not one yet.
            let is_begun =
                super::super::files::Files::names(&disk).unwrap().iter().any(|name| name != "unfinished");
            if is_begun {
                let (_, found, _) = read(&disk, &promises, seed);
                disk.lose_power();
                promises.confirmed = found.len();
                read(&disk, &promises, seed);
            } else {
                assert_eq!(promises.confirmed, 0);
            }
        }
    }
}
