//! Checkpoints against what they stand for, over every store.

mod crash;
mod damage;
mod data;
mod files;
mod folder;
mod history;
mod parts;
mod rows;
mod steps;
mod stores;

use super::chunk::Sizes;
use super::load::{self, Loaded};
use super::store::Store;
use super::walk::Item;
use super::writer::{Capture, Captured, Writer};
use crate::log::{LogId, Position};
use hearth_engine::{
    Armed, DatabaseId, DefaultWriteSize, Identity, OwnRules, Revision, SessionId, Settings, StrictTriggers,
};
use hearth_tree::{
    Assignment, Change, Draft, Edit, Key, Node, Number, Path, Pending, Priority, Scalar, ServerValue,
    Snapshot, Text, To, Update, Write,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use std::sync::Arc;

const LOG: LogId = LogId([7; 16]);

/// Rules with a comment, as they come.
const RULES: &str = "{\n  // mine\n  \"rules\": {\".read\": true},\n}\n";

/// So small that nearly every tree has several chunks, and every chunk a batch of its own.
const SMALL: Sizes = Sizes { chunk_bytes: 64, batch_bytes: 100 };

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn number(number: i64) -> Node {
    Scalar::Number(Number::from(number)).into()
}

fn text(text: &str) -> Node {
    Scalar::Text(Text::new(text).unwrap()).into()
}

/// What somebody does to a tree.
#[derive(Clone, Debug)]
enum Act {
    Set(Path, Node),
    Delete(Path),
    Prioritize(Path, Option<Priority>),
    /// Stores rules with the database, or takes them back: no commit.
    Store(Option<&'static str>),
}

impl Act {
    fn on(&self, tree: &Snapshot) -> Snapshot {
        let (at, to) = match self {
            Self::Set(at, node) => (at, To::Node(Some(node.clone()))),
            Self::Delete(at) => (at, To::Node(None)),
            Self::Prioritize(at, priority) => (at, To::Priority(priority.clone())),
            Self::Store(_) => return tree.clone(),
        };
        tree.apply(&Change::new(vec![Edit { at: at.clone(), to }]).unwrap())
    }
}

/// Few distinct keys, of every kind of order, so that places collide.
fn arb_key() -> impl Strategy<Value = Key> {
    select(vec!["-7", "0", "9", "10", "a", "b", "é", "\u{FFFD}", "😀"]).prop_map(key)
}

fn arb_path() -> impl Strategy<Value = Path> {
    vec(arb_key(), 0..4).prop_map(|keys| keys.into_iter().collect())
}

fn arb_priority() -> impl Strategy<Value = Option<Priority>> {
    prop_oneof![
        3 => Just(None),
        1 => any::<i8>().prop_map(|n| Some(Priority::Number(i64::from(n).into()))),
        1 => "[a-c]{0,3}".prop_map(|text| Some(Priority::Text(Text::new(&text).unwrap()))),
    ]
}

fn arb_node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        4 => any::<i8>().prop_map(|n| number(n.into())),
        2 => (0..40_usize).prop_map(|bytes| text(&"x".repeat(bytes))),
        // Longer than a chunk.
        1 => (60..300_usize).prop_map(|bytes| text(&"\u{0}y".repeat(bytes))),
    ];
    let leaf = (leaf, arb_priority()).prop_map(|(leaf, priority)| leaf.with_priority(priority));
    let inner = leaf.prop_recursive(3, 24, 6, |inner| {
        (vec((arb_key(), inner), 1..6), arb_priority())
            .prop_map(|(children, priority)| Node::inner(children).unwrap().with_priority(priority))
    });
    let flat = (1..120_usize, any::<i8>()).prop_map(|(count, n)| {
        let child = |at| (Key::from_position(at), number(i64::from(n)));
        Node::inner((0..count).map(child)).unwrap()
    });
    prop_oneof![6 => inner, 1 => flat]
}

fn arb_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (arb_path(), arb_node()).prop_map(|(at, node)| Act::Set(at, node)),
        3 => arb_path().prop_map(Act::Delete),
        1 => (arb_path(), arb_priority()).prop_map(|(at, priority)| Act::Prioritize(at, priority)),
        1 => select(vec![None, Some(RULES), Some("no rules")]).prop_map(Act::Store),
    ]
}

/// Acts up to each of several checkpoints; each on one of two databases.
fn arb_history() -> impl Strategy<Value = Vec<Vec<(u64, Act)>>> {
    vec(vec((0..2_u64, arb_act()), 0..8), 1..8)
}

/// What the databases hold, for a checkpoint at every moment.
#[derive(Clone, Debug, Default)]
struct Databases(BTreeMap<DatabaseId, (u64, Snapshot, OwnRules)>);

impl Databases {
    fn act(&mut self, database: u64, act: &Act) {
        let (revision, tree, own) = self.0.entry(DatabaseId(database)).or_default();
        if let Act::Store(text) = act {
            let version = own.version + 1;
            *own = OwnRules { version, at_ms: 1_000, text: text.map(Into::into) };
            return;
        }
        *revision += 1;
        *tree = act.on(tree);
    }

    fn capture(&self) -> Capture {
        let captured = |(&id, (revision, tree, own)): (&DatabaseId, &(u64, Snapshot, OwnRules))| {
            let armed = armed(*revision);
            let (name, tree) = (format!("database-{}", id.0), tree.clone());
            let (revision, own_rules) = (Revision::new(*revision), own.clone());
            let settings = settings(own.version);
            (id, Captured { name, revision, tree, armed, own_rules, settings })
        };
        Capture { starts: 3, databases: self.0.iter().map(captured).collect() }
    }
}

/// What else is set with rules of that version.
fn settings(version: u64) -> Settings {
    let sizes = [DefaultWriteSize::Large, DefaultWriteSize::Small, DefaultWriteSize::Unlimited];
    let triggers = [StrictTriggers::On, StrictTriggers::Off];
    Settings {
        version,
        default_write_size: sizes[(version % 3) as usize],
        strict_triggers: triggers[(version % 2) as usize],
    }
}

/// What is armed at a revision: something else at each.
fn armed(revision: u64) -> BTreeMap<SessionId, Arc<Armed>> {
    let session = SessionId(revision);
    let mut armed = Armed::new(Identity::Admin);
    let now = Draft::leaf(Pending::Server(ServerValue::Timestamp), None);
    let write = Write::Set(Assignment::value(path(&format!("/left/{revision}")), Some(now)).unwrap());
    armed.arm(&Identity::Admin, &write);
    [(session, Arc::new(armed))].into()
}

fn position(sequence: u64) -> Position {
    Position { sequence, predecessor: sequence * 1_000 }
}

fn writer(store: Box<dyn Store>, loaded: Option<Loaded>) -> Writer {
    let mut writer = Writer::new(store, LOG, loaded);
    writer.sizes = SMALL;
    writer
}

/// The newest checkpoint that can be read.
fn newest(store: &dyn Store) -> Option<Loaded> {
    let (manifests, _) = load::manifests(store, &LOG);
    manifests.into_iter().find_map(|(slot, manifest)| load::load(store, slot, manifest).ok())
}

/// Whether a checkpoint is what the databases were.
fn is(loaded: &Loaded, databases: &Databases) -> bool {
    let expected = databases.capture().databases;
    loaded.manifest.starts == 3
        && loaded.databases.len() == expected.len()
        && loaded.databases.iter().zip(expected).all(|((id, loaded), (expected_id, expected))| {
            *id == expected_id
                && loaded.record.name == expected.name
                && loaded.record.revision == expected.revision
                && loaded.record.own_rules == expected.own_rules
                && loaded.record.settings == expected.settings
                && updates(&loaded.record.armed) == updates(&expected.armed)
                && leaves(&loaded.tree) == leaves(&expected.tree)
        })
}

/// What is armed, and as whom.
fn updates(armed: &BTreeMap<SessionId, Arc<Armed>>) -> Vec<(SessionId, Identity, Option<Update>)> {
    let update = |(&id, armed): (&SessionId, &Arc<Armed>)| {
        (id, armed.identity().clone(), Armed::clone(armed).into_update())
    };
    armed.iter().map(update).collect()
}

/// A tree as a plain map from places to what stands there; shares nothing with what is judged.
fn leaves(tree: &Snapshot) -> BTreeMap<Vec<String>, (Option<Scalar>, Option<Priority>)> {
    fn add(
        node: &Node,
        at: &mut Vec<String>,
        into: &mut BTreeMap<Vec<String>, (Option<Scalar>, Option<Priority>)>,
    ) {
        into.insert(at.clone(), (node.value().cloned(), node.priority().cloned()));
        for (key, child) in node.children() {
            at.push(key.as_str().into());
            add(child, at, into);
            at.pop();
        }
    }
    let mut leaves = BTreeMap::new();
    if let Some(root) = tree.root() {
        add(root, &mut Vec::new(), &mut leaves);
    }
    leaves
}

fn owned(item: Item<'_>) -> super::growth::Read {
    match item {
        Item::Leaf(node) => super::growth::Read::Leaf(node.clone()),
        Item::Priority(priority) => super::growth::Read::Priority(priority.clone()),
    }
}
