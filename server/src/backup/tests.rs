//! Backups are read back as they were, and nothing but whole ones.

use super::part::{Kind, chain_of, put_part, take_part};
use super::{BackupError, BackupReader, BackupSource, Counted, Moment, Seen, first_line};
use crate::checkpoint::{Captured, Item, Read, Unsealed};
use hearth_engine::{Armed, DatabaseId, DefaultWriteSize, Identity, OwnRules, Revision, SessionId, Settings};
use hearth_tree::{Assignment, Key, Path, ReadOptions, Snapshot, Update, Write, read_node};
use std::collections::BTreeMap;
use std::sync::Arc;

fn captured(name: &str, revision: u64, json: &str) -> Captured {
    let tree = Snapshot::new(read_node(json.as_bytes(), &ReadOptions::default()).unwrap());
    let (armed, own_rules, settings) = (BTreeMap::new(), OwnRules::default(), Settings::default());
    Captured { name: name.into(), revision: Revision::new(revision), tree, armed, own_rules, settings }
}

/// One of all that a backup can hold.
fn everything() -> Moment {
    let mut first = captured(
        "first",
        7,
        r#"{".priority":"p","a":{"b":1,"c":-0.5,"d":"é\u0000"},"e":{".value":true,".priority":3},"10":9007199254740993}"#,
    );
    first.own_rules = OwnRules { version: 2, at_ms: 5, text: Some(r#"{"rules":{}}"#.into()) };
    first.settings.version = 4;
    first.settings.default_write_size = DefaultWriteSize::Small;
    let mut armed = Armed::new(Identity::Admin);
    let gone = Assignment::value(Path::parse("/a/b").unwrap(), None).unwrap();
    armed.arm(&Identity::Admin, &Write::Update(Update::new(Path::root(), vec![gone]).unwrap()));
    first.armed.insert(SessionId(9), Arc::new(armed));
    let databases = [(0, first), (2, captured("empty", 4, "null")), (3, captured("leaf", 1, "\"x\""))];
    let databases = databases.into_iter().map(|(id, captured)| (DatabaseId(id), captured)).collect();
    Moment { at_ms: 1_700_000_000_000, starts: 3, databases }
}

fn written(moment: Moment) -> Vec<u8> {
    let mut source = BackupSource::new(moment);
    let mut bytes = Vec::new();
    while let Some(part) = source.next().unwrap() {
        bytes.extend_from_slice(&part);
    }
    bytes
}

type Items = Vec<(u64, String, Read)>;

fn read(bytes: &[u8]) -> Result<(Counted, Items, Vec<String>), BackupError> {
    let (mut items, mut databases) = (Vec::new(), Vec::new());
    let counted = BackupReader::new(bytes).read(|seen| {
        match seen {
            Seen::Item(id, keys, read) => {
                let at: Path = keys.iter().cloned().collect();
                items.push((id.0, at.to_string(), read));
            }
            Seen::Database(id, captured) => databases.push(format!("{} {captured:?}", id.0)),
        }
        Ok::<(), BackupError>(())
    })?;
    Ok((counted, items, databases))
}

/// The kinds of the parts and what they hold.
fn parts(bytes: &[u8]) -> Vec<(Kind, Vec<u8>)> {
    let (mut chain, mut at) = (chain_of(&first_line()), 0);
    let mut from = &bytes[first_line().len()..];
    let mut parts = Vec::new();
    while !from.is_empty() {
        parts.push(take_part(&mut from, &mut chain, &mut at).unwrap());
    }
    parts
}

/// A file of such parts, with checksums that are right.
fn file(parts: &[(Kind, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = first_line().into_bytes();
    let mut chain = chain_of(&first_line());
    for (kind, plain) in parts {
        put_part(&mut bytes, &mut chain, *kind, plain).unwrap();
    }
    bytes
}

#[test]
fn what_is_read_is_what_was_written() {
    let moment = everything();
    let expected: Vec<_> = moment
        .databases
        .iter()
        .map(|(id, own)| {
            let Captured { name, revision, armed, own_rules, settings, .. } = own;
            let (name, armed, own_rules) = (name.clone(), armed.clone(), own_rules.clone());
            let settings = settings.clone();
            let (revision, tree) = (*revision, Snapshot::default());
            let own = Captured { name, revision, tree, armed, own_rules, settings };
            format!("{} {own:?}", id.0)
        })
        .collect();
    let bytes = written(moment);
    let (counted, items, databases) = read(&bytes).unwrap();
    assert_eq!(databases, expected);
    let places: Vec<_> = items.iter().map(|(id, at, _)| (*id, at.as_str())).collect();
    assert_eq!(places, [(0, "/"), (0, "/10"), (0, "/a/b"), (0, "/a/c"), (0, "/a/d"), (0, "/e"), (3, "/")]);
    let (at_ms, bytes) = (1_700_000_000_000, bytes.len() as u64);
    assert_eq!(counted, Counted { at_ms, starts: 3, databases: 3, items: 7, bytes });
}

/// The format is a promise: what one version has written, every later one reads. How well zstd compresses is not part of
/// it.
#[test]
fn what_version_1_wrote_is_read() {
    let golden = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/backup/golden-1.txt"));
    let golden = golden.unwrap().split_whitespace().collect::<String>();
    let now = written(everything());
    let pairs = golden.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    let golden: Vec<u8> = pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    let shown: String = now.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(!golden.is_empty(), "{shown}");
    assert_eq!(parts(&golden), parts(&now), "{shown}");
    assert_eq!(read(&golden).unwrap().2, read(&now).unwrap().2);
}

#[test]
fn every_damage_is_refused() {
    let whole = written(everything());
    for bit in 0..8 * whole.len() {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&damaged).is_err(), "bit {bit} is not noticed");
    }
    for len in 0..whole.len() {
        assert!(read(&whole[..len]).is_err(), "it is not noticed that only {len} bytes are there");
    }
    assert!(matches!(read(&[&whole[..], b"x"].concat()), Err(BackupError::Behind { .. })));
    assert!(matches!(read(&[&whole[..], &whole].concat()), Err(BackupError::Behind { .. })));
    for (bytes, expected) in [
        (&b""[..], "it is no backup of hearth"),
        (b"{\"a\": 1}", "it is no backup of hearth"),
        (b"hearth backup 2\n", "it is of version `2` of the format, and this program reads version 1"),
        (b"hearth backup 1\n", "it is cut: part 1, at byte 16,"),
        (&whole[..40], "it is cut: part 1, at byte 16,"),
    ] {
        let found = read(bytes).unwrap_err().to_string();
        assert!(found.starts_with(expected), "{found}");
    }
}

/// Even where the checksums are right.
#[test]
fn parts_that_are_missing_doubled_or_elsewhere_are_refused() {
    let whole = parts(&written(everything()));
    assert!(read(&file(&whole)).is_ok());
    for at in 0..whole.len() {
        let mut missing = whole.clone();
        missing.remove(at);
        assert!(read(&file(&missing)).is_err(), "part {at} is missing");
        let mut doubled = whole.clone();
        doubled.insert(at, whole[at].clone());
        assert!(read(&file(&doubled)).is_err(), "part {at} is there twice");
        for other in 0..at {
            let mut swapped = whole.clone();
            swapped.swap(at, other);
            let is_same = swapped == whole;
            assert!(is_same || read(&file(&swapped)).is_err(), "parts {at} and {other} are swapped");
        }
    }
}

/// Places and whether they are leaves; what is wrong with that.
type Row = (&'static [(&'static str, bool)], Option<&'static str>);

#[test]
fn items_that_are_no_tree_are_refused() {
    let leaf = read_node(b"1", &ReadOptions::default()).unwrap().unwrap();
    let prioritized = read_node(br#"{".priority":1,"a":1}"#, &ReadOptions::default()).unwrap().unwrap();
    let inner = prioritized.priority().unwrap();
    let rows: &[Row] = &[
        (&[("/a", true), ("/b", true)], None),
        (&[("/", false), ("/a", true), ("/b", false), ("/b/c", true)], None),
        (&[("/b", true), ("/a", true)], Some("not in order")),
        (&[("/a", true), ("/a", true)], Some("not in order")),
        (&[("/a", true), ("/a/b", true)], Some("not in order")),
        (&[("/", true), ("/a", true)], Some("not in order")),
        (&[("/a/b", true), ("/a", false)], Some("not in order")),
        (&[("/a", false), ("/b", true)], Some("a priority and nothing else")),
        (&[("/a", false)], Some("a priority and nothing else")),
    ];
    for (places, expected) in rows {
        let mut unsealed = Unsealed::default();
        for (at, is_leaf) in *places {
            let keys: Vec<Key> = Path::parse(at).unwrap().keys().to_vec();
            unsealed.add(&keys, if *is_leaf { Item::Leaf(&leaf) } else { Item::Priority(inner) });
        }
        let (count, body) = unsealed.into_items();
        let count = u8::try_from(count).unwrap();
        let mut all = parts(&written(Moment {
            at_ms: 0,
            starts: 0,
            databases: [(DatabaseId(0), captured("x", 1, "1"))].into(),
        }));
        all[2].1 = [&[count][..], &body].concat();
        all[3].1 = vec![count];
        let found = read(&file(&all)).map(drop).map_err(|error| error.to_string());
        match expected {
            None => assert_eq!(found, Ok(()), "{places:?}"),
            Some(expected) => assert!(found.clone().unwrap_err().contains(expected), "{places:?}: {found:?}"),
        }
    }
}

/// A tree of many parts goes through them without loss, also where one text is longer than a part.
#[test]
fn many_parts_hold_what_one_would() {
    let long = "x".repeat(3 << 20);
    let members: Vec<_> =
        (0..40_000).map(|at| format!("\"k{at:05}\":{{\"n\":{at},\"t\":\"some text of its own\"}}")).collect();
    let json = format!("{{\"a\":\"{long}\",\"b\":{{{}}},\"c\":\"{long}\"}}", members.join(","));
    let databases = [(DatabaseId(0), captured("x", 1, &json))].into();
    let bytes = written(Moment { at_ms: 0, starts: 0, databases });
    let of_items = parts(&bytes).iter().filter(|(kind, _)| *kind == Kind::Items).count();
    assert!(3 < of_items, "{of_items}");
    let (counted, items, _) = read(&bytes).unwrap();
    assert_eq!(counted.items, 80_002);
    assert!(items.is_sorted_by(|(_, a, _), (_, b, _)| a < b), "these sort as texts do");
}
