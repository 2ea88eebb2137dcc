//! Every kind of damage at every place: the answer is all that was kept, or a refusal that names the file; never less
//! without a word.

use super::super::files::Files;
use super::super::recovery::{Cut, recover};
use super::super::segment_log::SegmentLog;
use super::disk::Disk;
use super::{ID, SMALL, Thing};
use hearth_engine::Log;

/// How many things there are: commits, and rules among them.
const THINGS: u64 = 12;

/// A log of several segments, each thing a group.
fn kept() -> Disk {
    let disk = Disk::new(1);
    let mut log = SegmentLog::begin(disk.clone(), ID, SMALL).unwrap();
    for revision in 1..=THINGS {
        // Zeros and other things, across sectors.
        let value = format!("{}{}", "\0".repeat(150), "v".repeat(usize::try_from(revision * 35).unwrap()));
        log.append(&[Thing::new(revision, &value).entry()]).unwrap();
    }
    assert!(4 <= names(&disk).len(), "{:?}", names(&disk));
    disk
}

fn names(disk: &Disk) -> Vec<String> {
    disk.names().unwrap()
}

/// How many of them are recovered, and what was cut; or what is said instead.
fn recovered(disk: &Disk) -> Result<(u64, Option<Cut>), String> {
    let mut commits = 0;
    let recovered = recover(disk.clone(), ID, SMALL, |record| {
        commits += u64::from(Thing::of(record).is_some());
        Ok(())
    });
    let recovered = recovered.map_err(|error| error.to_string())?;
    Ok((commits, recovered.cut))
}

/// Where the last group stands in the last segment.
fn last_group(disk: &Disk) -> (String, usize, usize) {
    let name = names(disk).pop().unwrap();
    let bytes = disk.bytes(&name);
    let end = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    let at = bytes.windows(4).rposition(|window| window == b"HGrp").unwrap();
    (name, at, end)
}

#[test]
fn a_bit_that_has_changed_is_found_wherever_it_is() {
    let whole = kept();
    assert_eq!(recovered(&whole), Ok((THINGS, None)));
    for name in names(&whole) {
        let bytes = whole.bytes(&name);
        for at in 0..bytes.len() {
            // All bits where each means something else, one of them elsewhere.
            let is_head =
                at < 64 || bytes[at.saturating_sub(40)..at + 1].windows(4).any(|window| window == b"HGrp");
            for bit in if is_head { 0..8 } else { at % 8..at % 8 + 1 } {
                let disk = whole.copy();
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                disk.put(&name, bytes);
                match recovered(&disk) {
                    // Behind the last group, where nothing was ever written.
                    Ok((commits, cut)) => {
                        assert_eq!(commits, THINGS, "`{name}`, byte {at}, bit {bit}: commits are lost");
                        assert!(cut.is_some(), "`{name}`, byte {at}, bit {bit}: not a word");
                    }
                    Err(said) => {
                        assert!(said.contains(&format!("`log/{name}`")), "`{name}`, byte {at}: {said}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_file_that_was_cut_is_refused_wherever_it_ends() {
    let whole = kept();
    for name in names(&whole) {
        let bytes = whole.bytes(&name);
        for len in 0..bytes.len() {
            let disk = whole.copy();
            disk.put(&name, bytes[..len].to_vec());
            let said = recovered(&disk).expect_err(&format!("`{name}` of {len} bytes"));
            assert!(said.contains(&format!("`log/{name}`")), "{said}");
        }
    }
}

/// Of the last group every combination of sectors may be missing: then it is cut. Of the one before none may.
#[test]
fn a_group_of_which_a_sector_was_not_written_is_cut_and_nothing_else_is() {
    let whole = kept();
    let (name, at, end) = last_group(&whole);
    let sectors: Vec<_> = (at / 512..end.div_ceil(512))
        .map(|sector| (sector * 512).max(at)..((sector + 1) * 512).min(end))
        .collect();
    assert!(2 <= sectors.len(), "{sectors:?}");
    for missing in 1_u32..1 << sectors.len() {
        let disk = whole.copy();
        let mut bytes = disk.bytes(&name);
        for (index, sector) in sectors.iter().enumerate() {
            if missing & 1 << index != 0 {
                bytes[sector.clone()].fill(0);
            }
        }
        let is_empty = missing == (1 << sectors.len()) - 1;
        disk.put(&name, bytes.clone());
        let (commits, cut) = recovered(&disk).unwrap();
        assert_eq!((commits, cut.is_some()), (THINGS - 1, !is_empty), "sectors missing: {missing:b}");
        // What was cut is gone: the log goes on there as if it had never been.
        assert_eq!(recovered(&disk), Ok((THINGS - 1, None)));
    }
}

/// From each byte of the last group on everything is zero.
#[test]
fn a_tail_of_zeros_never_shortens_the_log_in_silence() {
    let whole = kept();
    let (name, at, end) = last_group(&whole);
    for from in at..end {
        let disk = whole.copy();
        let mut bytes = disk.bytes(&name);
        bytes[from..].fill(0);
        disk.put(&name, bytes);
        let (commits, cut) = recovered(&disk).unwrap();
        assert_eq!((commits, cut.is_some()), (THINGS - 1, from != at), "zeros from byte {from}");
    }
}

#[test]
fn what_is_missing_or_foreign_is_named() {
    let whole = kept();
    let names = names(&whole);
    let (first, middle, last) = (&names[0], &names[2], &names[names.len() - 1]);
    let (take, put) = (
        |name: &String| {
            let name = name.clone();
            move |disk: &Disk| disk.take(&name)
        },
        |name: &str, bytes: Vec<u8>| {
            let name = name.to_owned();
            move |disk: &Disk| disk.put(&name, bytes.clone())
        },
    );
    let other = {
        let disk = Disk::new(2);
        SegmentLog::begin(disk.clone(), super::LogId(*b"another log     "), SMALL).unwrap();
        disk.bytes(&names[0])
    };
    let changed = |at: usize, byte: u8| {
        let mut bytes = whole.bytes(first);
        bytes[at] = byte;
        let crc = crc32fast::hash(&bytes[..60]).to_le_bytes();
        bytes[60..64].copy_from_slice(&crc);
        bytes
    };
    type Damage<'a> = Box<dyn Fn(&Disk) + 'a>;
    let rows: Vec<(Damage<'_>, String)> = vec![
        (Box::new(take(first)), format!("what was before `log/{}` is missing", names[1])),
        (Box::new(take(middle)), format!("`log/{}` follows what should go on in `log/{middle}`", names[3])),
        (Box::new(take(last)), format!("the log goes on in `log/{last}`, and that is missing")),
        (
            Box::new(|disk| names.iter().for_each(|name| disk.take(name))),
            "the files of the log are missing from `log`".into(),
        ),
        (
            Box::new(put("notes.txt", b"mine".to_vec())),
            "`log/notes.txt` is no file of the log; move it elsewhere".into(),
        ),
        (Box::new(put("1.log", b"mine".to_vec())), "`log/1.log` is no file of the log".into()),
        (
            Box::new(put(first, b"mine".to_vec())),
            format!("`log/{first}` cannot be used: it does not begin as a file of the log does"),
        ),
        (Box::new(put(first, Vec::new())), format!("`log/{first}` cannot be used")),
        (
            Box::new(put(first, changed(8, 5))),
            format!(
                "`log/{first}` cannot be used: it is of version 5 of the format, and this program reads versions 1 to 4"
            ),
        ),
        (Box::new(put(first, other)), format!("`log/{first}` belongs to other data")),
        (
            Box::new(put(middle, whole.bytes(last))),
            format!("`log/{middle}` has another name than it was made with"),
        ),
        (
            Box::new(put("00000000000000000999.log", whole.bytes(last))),
            "`log/00000000000000000999.log`".into(),
        ),
    ];
    for (damage, expected) in rows {
        let disk = whole.copy();
        damage(&disk);
        let said = recovered(&disk).expect_err(&expected);
        assert!(said.contains(&expected), "{said}\nnot\n{expected}");
        assert!(!said.contains('\n'), "{said}");
    }
}

/// A segment that was made and not used is no damage: the process ended between the two.
#[test]
fn a_switch_that_was_not_finished_is_taken_back() {
    let whole = kept();
    let names = names(&whole);
    let sealed = &names[names.len() - 2];
    let disk = whole.copy();
    // Without the record that points on, and with nothing in the next segment.
    let mut bytes = disk.bytes(sealed);
    let seal = bytes.windows(4).rposition(|window| window == b"HGrp").unwrap();
    bytes[seal..].fill(0);
    disk.put(sealed, bytes);
    let last = &names[names.len() - 1];
    let used = recovered(&disk).expect_err("the last segment is used");
    assert!(used.contains("the log ends here, and yet"), "{used}");
    let mut bytes = disk.bytes(last);
    let in_last = bytes.windows(4).filter(|window| window == b"HGrp").count() as u64;
    bytes[512..].fill(0);
    disk.put(last, bytes);
    assert_eq!(recovered(&disk), Ok((THINGS - in_last, None)));
    assert_eq!(disk.names().unwrap().len(), names.len() - 1);
}
