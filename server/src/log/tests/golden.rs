//! The format is a promise: what one version has written, every later one reads. This fails when a byte changes; then
//! the version of the format must change with it, and both be read.

use super::super::group;
use super::super::record::Record;
use super::super::recovery::recover;
use super::super::segment::HEAD_BYTES;
use super::super::segment_log::{SegmentLog, Sizes};
use super::disk::Disk;
use super::{DATABASE, ID, NOW_MS, commit, large_commit, own_rules, stage};
use crate::log::files::Files;
use hearth_engine::{
    Arming, ArmingStep, Commit, DefaultWriteSize, Entry, Identity, Log, OwnRules, Revision, SessionId,
    Settings, StrictTriggers,
};
use hearth_rules::Claim;
use hearth_tree::{
    Assignment, Change, Draft, Edit, Key, Node, Number, Path, Pending, Priority, Scalar, ServerValue,
    Snapshot, Text, To, Update, Write,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// What version 1 wrote: no rules.
const GOLDEN_1: &str = include_str!("golden-1.txt");
/// What version 2 wrote: large nodes in files of their own, and not whole writes.
const GOLDEN_2: &str = include_str!("golden-2.txt");
/// What version 3 wrote: no settings.
const GOLDEN_3: &str = include_str!("golden-3.txt");
/// What is written now.
const GOLDEN_4: &str = include_str!("golden-4.txt");

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

/// One of every commit that a log can hold.
fn everything() -> Vec<Commit> {
    let number = |number| Number::from_f64(number).unwrap();
    let leaf = |number: Number| Node::from(Scalar::Number(number));
    let text = |text: &str| Text::new(text).unwrap();
    let node = Node::inner([
        (key("f"), Scalar::Bool(false).into()),
        (key("t"), Node::from(Scalar::Bool(true)).with_priority(Some(Priority::Text(text("p"))))),
        (key("i"), leaf(i64::MIN.into())),
        (key("d"), leaf(number(-0.1)).with_priority(Some(Priority::Number(number(2.5))))),
        (key("s"), Scalar::Text(text("ä\u{10FFFF}")).into()),
        (key("z"), Scalar::Text(text(&"\0".repeat(70))).into()),
        (
            key("1"),
            Node::inner([(key("deep"), leaf(7.into()))])
                .unwrap()
                .with_priority(Some(Priority::Number(1.into()))),
        ),
    ]);
    let edits = vec![
        Edit { at: path("/a/b"), to: To::Node(node) },
        Edit { at: path("/a/c"), to: To::Node(None) },
        Edit { at: path("/a"), to: To::Priority(Some(Priority::Text(text("x")))) },
        Edit { at: path("/q"), to: To::Priority(None) },
    ];
    let claims = Claim::Object(BTreeMap::from([
        ("uid".into(), Claim::Text("ada".into())),
        (
            "list".into(),
            Claim::List(vec![Claim::Null, Claim::Bool(true), Claim::Bool(false), Claim::Number(1.5)]),
        ),
    ]));
    let server = |value| Draft::leaf(Pending::Server(value), None);
    let draft = Draft::object(
        vec![
            (key("at"), server(ServerValue::Timestamp)),
            (key("n"), server(ServerValue::Increment(number(0.5)))),
            (key("k"), Draft::from(leaf(1.into()))),
        ],
        Some(Pending::Server(ServerValue::Timestamp)),
    );
    let update = Update::new(
        path("/u"),
        vec![
            Assignment::value(path("/u/a"), draft).unwrap(),
            Assignment::value(path("/u/b"), None).unwrap(),
            Assignment::priority(path("/u/c"), Some(Pending::Known(Priority::Number(3.into())))),
            Assignment::priority(path("/u/d"), None),
        ],
    );
    let set = Write::Set(Assignment::value(path("/s"), Some(Draft::from(leaf(1.into())))).unwrap());
    let steps = [
        ArmingStep::Arm(Identity::User(Arc::new(claims)), Write::Update(update.unwrap())),
        ArmingStep::Arm(Identity::Admin, set),
        ArmingStep::Disarm(path("/u/b")),
        ArmingStep::Fired,
    ];
    let mut commits = vec![
        commit(1, "first"),
        Commit { revision: Revision::new(2), change: Change::new(edits).unwrap(), arming: None },
    ];
    commits.extend((3..).zip(steps).map(|(revision, step)| Commit {
        revision: Revision::new(revision),
        change: Change::default(),
        arming: Some(Arming { session: SessionId(1 << 40), step }),
    }));
    commits
}

/// Rules that are stored and taken back.
fn rules() -> [OwnRules; 2] {
    let stored = own_rules(1, &format!("ä\u{10FFFF}{}", "\0".repeat(70)));
    let taken_back = OwnRules { version: 2, at_ms: -1, text: None };
    [stored, taken_back]
}

/// Every setting there is.
fn settings() -> [Settings; 4] {
    [
        (DefaultWriteSize::Small, StrictTriggers::On),
        (DefaultWriteSize::Medium, StrictTriggers::Off),
        (DefaultWriteSize::Large, StrictTriggers::Off),
        (DefaultWriteSize::Unlimited, StrictTriggers::On),
    ]
    .map(|(default_write_size, strict_triggers)| Settings {
        version: 7,
        default_write_size,
        strict_triggers,
    })
}

/// 32 bytes a line, without the zeros that follow.
fn dump(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let mut text = String::new();
    for line in bytes[..end].chunks(32) {
        line.iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
        text.push('\n');
    }
    text
}

#[test]
fn the_bytes_are_those_of_version_4() {
    let disk = Disk::new(0);
    let sizes = Sizes { segment_bytes_min: 4_096, ..Sizes::DEFAULT };
    let mut log = SegmentLog::begin(disk.clone(), ID, sizes).unwrap();
    log.start(1).unwrap();
    let commits = everything();
    let mut group = vec![Entry::Made(DATABASE, "db")];
    group.extend(commits.iter().map(|commit| Entry::Commit(DATABASE, commit)));
    let rules = rules();
    group.extend(rules.iter().map(|own| Entry::Rules(DATABASE, own)));
    let settings = settings();
    group.extend(settings.iter().map(|settings| Entry::Settings(DATABASE, settings)));
    log.append(&group).unwrap();
    log.end().unwrap();
    let name = disk.names().unwrap().pop().unwrap();
    let found = dump(&disk.bytes(&name));
    assert!(found == GOLDEN_4, "the format has changed; this is what is written now:\n{found}");
}

#[test]
fn what_each_version_has_written_is_read() {
    let rules = rules().into_iter().map(|own| Record::Rules { database: DATABASE, own });
    check(GOLDEN_1, []);
    check(GOLDEN_2, rules.clone());
    check(GOLDEN_3, rules.clone());
    let settings = settings().into_iter().map(|settings| Record::Settings { database: DATABASE, settings });
    check(GOLDEN_4, rules.chain(settings));
}

fn check(golden: &str, rules: impl IntoIterator<Item = Record>) {
    let nibble = |byte: u8| u8::try_from(char::from(byte).to_digit(16).unwrap()).unwrap();
    let digits: Vec<u8> = golden.bytes().filter(u8::is_ascii_hexdigit).map(nibble).collect();
    let mut bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    bytes.resize(4_096, 0);
    let disk = Disk::new(0);
    disk.put("00000000000000000001.log", bytes);
    let mut found = Vec::new();
    recover(disk, ID, Sizes::DEFAULT, |record| {
        found.push(record);
        Ok(())
    })
    .unwrap();
    let mut expected =
        vec![Record::Started { start: 1 }, Record::Made { database: DATABASE, name: "db".into() }];
    expected.extend(everything().into_iter().map(|commit| Record::Commit { database: DATABASE, commit }));
    expected.extend(rules);
    expected.push(Record::Stopped);
    assert_eq!(found, expected);
}

const PART: &str = "00000000000000000001.001.part";

/// Of a file with a write, and of the record that refers to it.
#[test]
fn the_bytes_of_a_staged_write_are_those_of_version_3() {
    let disk = Disk::new(0);
    let mut log = SegmentLog::begin(disk.clone(), ID, Sizes::DEFAULT).unwrap();
    let time = Draft::leaf(Pending::Server(ServerValue::Timestamp), None);
    let long = Draft::from(Node::from(Scalar::Text(Text::new(&"x".repeat(50)).unwrap())));
    let draft = Draft::object(vec![(key("a"), long), (key("t"), time)], None);
    let write = Write::Set(Assignment::value(path("/at/1"), draft).unwrap());
    let staged = stage(&log, &write, 1).unwrap();
    let change = write.resolve(NOW_MS, &Snapshot::default()).unwrap();
    log.append(&[Entry::Commit(DATABASE, &Commit { revision: Revision::new(1), change, arming: None })])
        .unwrap();
    drop(staged);
    let xs = [b'x'; 50];
    let part =
        [b"\x01\x02\x02at\x011\x02\x03\x01\x02\x01a\x01\x05\x32", &xs[..], b"\x01t\x02\x01\x03"].concat();
    assert_eq!(disk.bytes(PART), part);
    let crc = crc32fast::hash(&part).to_le_bytes();
    let record = [b"\x0f\0\0\0\x08\x01\x47", &crc[..], b"\x03\x01\x80\xa0\xd5\xed\xee\x66\x01"].concat();
    let segment = disk.bytes("00000000000000000001.log");
    assert!(segment.windows(record.len()).any(|window| window == record), "the format has changed");
}

/// Of a file with large nodes, and of the record that refers to it.
#[test]
fn a_part_as_it_was_written_up_to_version_2_is_read() {
    let disk = Disk::new(0);
    let log = SegmentLog::begin(disk.clone(), ID, Sizes::DEFAULT).unwrap();
    let xs = [b'x'; 50];
    let part = [b"\x06\x03\x01a\x05\x32", &xs[..], b"\x01b\x05\x32", &xs, b"\x01z\x05\x04last"].concat();
    let crc = crc32fast::hash(&part).to_le_bytes();
    let record =
        [b"\x14\0\0\0\x07\x01\x76", &crc[..], b"\x03\x01\x01\x02\x02at\x011\x02\x07\0\x76\x01"].concat();
    let mut group = Vec::new();
    group::begin(&mut group);
    group.extend_from_slice(&record);
    group::finish(&mut group, &ID, log.position()).unwrap();
    let segment = "00000000000000000001.log";
    let mut bytes = disk.bytes(segment);
    bytes[HEAD_BYTES..HEAD_BYTES + group.len()].copy_from_slice(&group);
    disk.put(segment, bytes);
    disk.put(PART, part);
    let mut found = Vec::new();
    recover(disk, ID, Sizes::DEFAULT, |record| {
        found.push(record);
        Ok(())
    })
    .unwrap();
    let (_, commit) = large_commit(1, &"x".repeat(50));
    assert_eq!(found, [Record::Commit { database: DATABASE, commit }]);
}
