//! Commits to bytes and back: exactly, and without a panic whatever the bytes are.

use super::super::codec::{DecodeError, Source, put_varint};
use super::super::record::{Record, put_entry};
use super::DATABASE;
use hearth_engine::{
    Arming, ArmingStep, Commit, DefaultWriteSize, Entry, Identity, OwnRules, Revision, SessionId, Settings,
    StrictTriggers,
};
use hearth_rules::Claim;
use hearth_tree::{
    Assignment, Change, Draft, Edit, Key, Node, Number, Path, Pending, Priority, Scalar, ServerValue, Text,
    To, Update, Write,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::sync::Arc;

fn text() -> impl Strategy<Value = Text> {
    let runs = (0_usize..100, 0_usize..3).prop_map(|(nuls, more)| "\0".repeat(nuls) + &"a\0".repeat(more));
    prop_oneof![".{0,12}", runs, Just("x".repeat(300))].prop_map(|text| Text::new(&text).unwrap())
}

fn number() -> impl Strategy<Value = Number> {
    let integers =
        prop_oneof![any::<i64>(), -3_i64..3, Just(i64::MIN), Just(i64::MAX)].prop_map(Number::from);
    let doubles = any::<f64>().prop_filter_map("finite", |double| Number::from_f64(double).ok());
    prop_oneof![integers, doubles, Just(Number::from_f64(5e-324).unwrap())]
}

fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        any::<bool>().prop_map(Scalar::Bool),
        number().prop_map(Scalar::Number),
        text().prop_map(Scalar::Text)
    ]
}

fn priority() -> impl Strategy<Value = Priority> {
    prop_oneof![number().prop_map(Priority::Number), text().prop_map(Priority::Text)]
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof!["[abc]", "-?[0-9]{1,4}", "[^.$#\\[\\]/\\x00-\\x1F\\x7F]{1,30}"]
        .prop_map(|text| Key::parse(&text).unwrap())
}

fn path() -> impl Strategy<Value = Path> {
    vec(key(), 0..4).prop_map(|keys| keys.into_iter().collect())
}

fn node() -> impl Strategy<Value = Node> {
    let prioritized = |(node, priority): (Node, Option<Priority>)| node.with_priority(priority);
    let leaf = (scalar().prop_map(Node::from), proptest::option::of(priority())).prop_map(prioritized);
    leaf.prop_recursive(4, 60, 40, move |inner| {
        let children = vec((key(), inner), 1..40).prop_map(|children| Node::inner(children).unwrap());
        (children, proptest::option::of(priority())).prop_map(prioritized)
    })
}

fn pending<T: std::fmt::Debug + Clone + 'static>(
    known: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Pending<T>> {
    prop_oneof![
        known.prop_map(Pending::Known),
        Just(Pending::Server(ServerValue::Timestamp)),
        number().prop_map(|delta| Pending::Server(ServerValue::Increment(delta))),
    ]
}

fn draft() -> impl Strategy<Value = Draft> {
    let leaf = (pending(scalar()), proptest::option::of(pending(priority())))
        .prop_map(|(value, priority)| Draft::leaf(value, priority));
    let leaf = prop_oneof![leaf, node().prop_map(Draft::from)];
    leaf.prop_recursive(3, 20, 6, |inner| {
        (vec((key(), inner), 1..6), proptest::option::of(pending(priority())))
            .prop_map(|(children, priority)| Draft::object(children, priority).unwrap())
    })
}

fn change() -> impl Strategy<Value = Change> {
    let to = prop_oneof![
        proptest::option::of(node()).prop_map(To::Node),
        proptest::option::of(priority()).prop_map(To::Priority)
    ];
    let edit = (path(), to).prop_map(|(at, to)| Edit { at, to });
    vec(edit, 0..5).prop_map(|mut edits| {
        // Those that go together with the ones before them.
        let mut kept = Vec::new();
        while let Some(edit) = edits.pop() {
            kept.push(edit);
            if Change::new(kept.clone()).is_err() {
                kept.pop();
            }
        }
        Change::new(kept).unwrap()
    })
}

fn claim() -> impl Strategy<Value = Claim> {
    let leaf = prop_oneof![
        Just(Claim::Null),
        any::<bool>().prop_map(Claim::Bool),
        (-1e9..1e9).prop_map(Claim::Number),
        text().prop_map(|text| Claim::Text(text.as_str().into())),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Claim::List),
            btree_map(".{0,5}", inner, 0..5).prop_map(Claim::Object)
        ]
    })
}

fn write() -> impl Strategy<Value = Write> {
    let value =
        (path(), proptest::option::of(draft())).prop_map(|(at, draft)| Assignment::value(at, draft).unwrap());
    let priority = (path(), proptest::option::of(pending(priority())))
        .prop_map(|(at, priority)| Assignment::priority(at, priority));
    let assignment = prop_oneof![value, priority].boxed();
    let several = vec(assignment.clone(), 1..4).prop_map(|mut all| {
        let mut kept = Vec::new();
        while let Some(one) = all.pop() {
            kept.push(one);
            if Update::new(Path::root(), kept.clone()).is_err() {
                kept.pop();
            }
        }
        Write::Update(Update::new(Path::root(), kept).unwrap())
    });
    prop_oneof![assignment.prop_map(Write::Set), several]
}

fn commit() -> impl Strategy<Value = Commit> {
    let identity =
        prop_oneof![Just(Identity::Admin), claim().prop_map(|claim| Identity::User(Arc::new(claim)))];
    let step = prop_oneof![
        (identity, write()).prop_map(|(identity, write)| ArmingStep::Arm(identity, write)),
        path().prop_map(ArmingStep::Disarm),
        Just(ArmingStep::Fired)
    ];
    let arming =
        (any::<u64>(), step).prop_map(|(session, step)| Arming { session: SessionId(session), step });
    (any::<u64>(), change(), proptest::option::of(arming)).prop_map(|(revision, change, arming)| Commit {
        revision: Revision::new(revision),
        change,
        arming,
    })
}

fn own_rules() -> impl Strategy<Value = OwnRules> {
    (any::<u64>(), any::<i64>(), proptest::option::of(text())).prop_map(|(version, at_ms, text)| OwnRules {
        version,
        at_ms,
        text: text.map(|text| text.as_str().into()),
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let size = prop_oneof![
        Just(DefaultWriteSize::Small),
        Just(DefaultWriteSize::Medium),
        Just(DefaultWriteSize::Large),
        Just(DefaultWriteSize::Unlimited),
    ];
    let triggers = prop_oneof![Just(StrictTriggers::On), Just(StrictTriggers::Off)];
    (any::<u64>(), size, triggers).prop_map(|(version, default_write_size, strict_triggers)| Settings {
        version,
        default_write_size,
        strict_triggers,
    })
}

fn encoded(commit: &Commit) -> Vec<u8> {
    encoded_entry(&Entry::Commit(DATABASE, commit))
}

fn encoded_entry(entry: &Entry<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_entry(&mut bytes, entry).unwrap();
    bytes
}

fn decoded(bytes: &[u8]) -> Result<Record, DecodeError> {
    let mut source = Source::new(bytes);
    let record = Record::take(&mut source)?;
    source.end()?;
    Ok(record)
}

proptest! {
    #[test]
    fn a_commit_is_read_as_it_was_written(commit in commit()) {
        let bytes = encoded(&commit);
        prop_assert_eq!(decoded(&bytes), Ok(Record::Commit { database: DATABASE, commit }));
        // What tells data from what was never written.
        prop_assert!(!bytes.windows(64).any(|window| window.iter().all(|&byte| byte == 0)));
    }

    #[test]
    fn rules_are_read_as_they_were_written(
        own in own_rules(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = encoded_entry(&Entry::Rules(DATABASE, &own));
        prop_assert_eq!(decoded(&bytes), Ok(Record::Rules { database: DATABASE, own }));
        prop_assert!(!bytes.windows(64).any(|window| window.iter().all(|&byte| byte == 0)));
        prop_assert!(decoded(&bytes[..cut.index(bytes.len())]).is_err());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        drop(decoded(&bytes));
    }

    #[test]
    fn settings_are_read_as_they_were_written(
        settings in settings(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = encoded_entry(&Entry::Settings(DATABASE, &settings));
        prop_assert_eq!(decoded(&bytes), Ok(Record::Settings { database: DATABASE, settings }));
        prop_assert!(decoded(&bytes[..cut.index(bytes.len())]).is_err());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        drop(decoded(&bytes));
    }

    #[test]
    fn no_bytes_are_too_strange_to_be_refused(bytes in vec(any::<u8>(), 0..200), kind in 0_u8..11) {
        drop(decoded(&bytes));
        // As the body of each kind of record.
        let mut record = u32::try_from(bytes.len()).unwrap().to_le_bytes().to_vec();
        record.push(kind);
        record.extend_from_slice(&bytes);
        drop(decoded(&record));
    }

    #[test]
    fn no_change_of_a_commit_is_too_strange_to_be_refused(
        commit in commit(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = encoded(&commit);
        prop_assert!(decoded(&bytes[..cut.index(bytes.len())]).is_err());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        // What is read all the same is within all limits: it can be applied and written again.
        if let Ok(Record::Commit { commit, .. }) = decoded(&bytes) {
            let tree = hearth_tree::Snapshot::default().apply(&commit.change);
            drop(tree);
            encoded(&commit);
        }
    }
}

#[test]
fn what_no_tree_holds_is_refused() {
    let nested = |levels: usize| {
        let mut bytes = Vec::new();
        (0..levels).for_each(|_| bytes.extend([6, 1, 1, b'k']));
        bytes.push(1);
        bytes
    };
    // Revision 1; one edit; its place; a node.
    let edit = |keys: &[&str], node: &[u8]| {
        let mut body = vec![3, 1, 1];
        put_varint(&mut body, keys.len() as u64);
        keys.iter().for_each(|key| {
            put_varint(&mut body, key.len() as u64);
            body.extend_from_slice(key.as_bytes());
        });
        body.push(2);
        body.extend_from_slice(node);
        body.push(1);
        let mut record = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
        record.push(5);
        record.extend(body);
        record
    };
    let long = "k".repeat(769);
    let huge = |value: f64| [&[4][..], &value.to_bits().to_le_bytes()].concat();
    for (bytes, expected) in [
        (edit(&[], &nested(32)), None),
        (edit(&[], &nested(33)), Some("deeper than 32 levels")),
        (edit(&["a"; 10], &nested(22)), None),
        (edit(&["a"; 10], &nested(23)), Some("deeper than 32 levels")),
        (edit(&["a"; 33], &[1]), Some("deeper than 32 levels")),
        (edit(&["a.b"], &[1]), Some("key `a.b` has `.`")),
        (edit(&[""], &[1]), Some("a key cannot be empty")),
        (edit(&[&long], &[1]), Some("769 bytes")),
        (edit(&[], &[5, 2, 0xC3, 0x28]), Some("not UTF-8")),
        (edit(&[], &[6, 0]), Some("neither a value nor children")),
        (edit(&[], &[6, 2, 1, b'b', 1, 1, b'a', 1]), Some("not in order")),
        (edit(&[], &[6, 2, 1, b'a', 1, 1, b'a', 1]), Some("not in order")),
        (edit(&[], &huge(f64::NAN)), Some("must be finite")),
        (edit(&[], &huge(2.0)), Some("written as a double")),
        (edit(&[], &[0]), Some("0 stands where the kind of a value should")),
        (edit(&[], &[3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2]), Some("more than 64 bits")),
        (edit(&[], &[6, 255, 255, 255, 255, 15]), Some("ends in the middle of the number of children")),
        (edit(&[], &[5, 9, b'x']), Some("ends in the middle of a text")),
    ] {
        let said = decoded(&bytes).err().map(|error| error.to_string());
        match (&said, expected) {
            (None, None) => {}
            (Some(said), Some(expected)) => assert!(said.contains(expected), "{said}, not {expected}"),
            (said, expected) => panic!("{said:?}, not {expected:?}"),
        }
    }
}
