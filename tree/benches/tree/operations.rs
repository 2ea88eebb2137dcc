//! The operations that are measured.
//!
//! Why one list: times and instruction counts are of the same operations, under the same names.

use crate::chat::{self, Messages, key, room, text};
use hearth_tree::{
    Change, ChildPath, Edit, Form, Hash, Index, IndexBy, Json, Key, Node, Order, Path, Query, Range,
    ReadOptions, Snapshot, To, View, Window, read_node,
};
use std::fmt;
use std::sync::LazyLock;

/// One operation on a room of so many messages.
pub(crate) struct Operation {
    act: Act,
    messages: usize,
}

#[derive(Clone, Copy)]
enum Act {
    /// Adds a message at the end.
    Append,
    /// Adds a message at the end, keeps an index by time, and finds what has changed for who listens to the last 100.
    AppendIndexed,
    /// Edits the text of some message.
    Update,
    /// As `Update`, by a change of the whole snapshot at a path: what a commit does.
    Apply,
    /// Finds some message.
    Get,
    /// Visits the last 100 messages.
    Last100,
    /// Compares the keys of neighbours.
    CompareKeys,
    /// Finds the one edited text between two snapshots.
    Difference,
    /// Sorts the messages by time.
    BuildIndex,
    /// Hashes messages that were never hashed.
    HashFirst,
    /// Edits the text of some message and hashes the room again.
    HashAgain,
    /// Writes the room as JSON.
    WriteJson,
    /// Reads the room from JSON.
    ReadJson,
    /// Lets the last snapshot go.
    Drop,
}

/// Of the room that is made once for all operations on it.
const LARGEST_MESSAGES: usize = 1_000_000;

const fn on(act: Act, messages: usize) -> Operation {
    Operation { act, messages }
}

pub(crate) const ALL: &[Operation] = &[
    on(Act::Append, 1_000),
    on(Act::Append, 1_000_000),
    on(Act::AppendIndexed, 1_000),
    on(Act::AppendIndexed, 100_000),
    on(Act::AppendIndexed, 1_000_000),
    on(Act::Update, 1_000),
    on(Act::Update, 1_000_000),
    on(Act::Apply, 1_000),
    on(Act::Apply, 1_000_000),
    on(Act::Get, 1_000),
    on(Act::Get, 1_000_000),
    on(Act::Last100, 1_000),
    on(Act::Last100, 1_000_000),
    on(Act::CompareKeys, 1_000),
    on(Act::Difference, 1_000_000),
    on(Act::BuildIndex, 100_000),
    on(Act::HashFirst, 1_000),
    on(Act::HashAgain, 1_000),
    on(Act::WriteJson, 1_000),
    on(Act::ReadJson, 1_000),
    // A million leaves.
    on(Act::Drop, 1_000_000 / chat::FIELDS),
];

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let act = match self.act {
            Act::Append => "append",
            Act::AppendIndexed => "append-indexed",
            Act::Update => "update",
            Act::Apply => "apply",
            Act::Get => "get",
            Act::Last100 => "last-100",
            Act::CompareKeys => "compare-keys",
            Act::Difference => "difference",
            Act::BuildIndex => "build-index",
            Act::HashFirst => "hash-first",
            Act::HashAgain => "hash-again",
            Act::WriteJson => "write-json",
            Act::ReadJson => "read-json",
            Act::Drop => "drop",
        };
        match self.messages {
            messages if messages.is_multiple_of(1_000_000) => write!(f, "{act}-{}M", messages / 1_000_000),
            messages => write!(f, "{act}-{}k", messages / 1_000),
        }
    }
}

/// What is measured about an operation.
pub(crate) trait Meter {
    /// Measures an operation that goes over so many bytes of text, and puts that in relation.
    fn over_bytes(self, bytes: usize) -> Self;

    /// Measures `operation` without making its inputs and without dropping its results. `times` is how often it runs
    /// where a count needs no statistics.
    fn measure<I, O>(self, times: usize, input: impl FnMut() -> I, operation: impl FnMut(I) -> O);
}

/// So often that every fill of a leaf of the tree counts alike.
const TIMES: usize = 1024;

impl Operation {
    /// Measures this operation.
    pub(crate) fn measure(&self, meter: impl Meter) {
        match self.act {
            Act::Append => append(meter, self.messages),
            Act::AppendIndexed => append_indexed(meter, self.messages),
            Act::Update => update(meter, self.messages),
            Act::Apply => apply(meter, self.messages),
            Act::Get => get(meter, self.messages),
            Act::Last100 => last_100(meter, self.messages),
            Act::CompareKeys => compare_keys(meter, self.messages),
            Act::Difference => difference(meter, self.messages),
            Act::BuildIndex => build_index(meter, self.messages),
            Act::HashFirst => meter.measure(1, || room(self.messages), |room| (room.hash(), room)),
            Act::HashAgain => hash_again(meter, self.messages),
            Act::WriteJson => write_json(meter, self.messages),
            Act::ReadJson => read_json(meter, self.messages),
            Act::Drop => meter.measure(1, || room(self.messages), drop),
        }
    }
}

fn append(meter: impl Meter, messages: usize) {
    let start = shared_room(messages);
    let mut more = Messages::default().skip(messages);
    let mut room = start.clone();
    let input = || more.next().expect("messages never end");
    meter.measure(TIMES, input, |(id, message)| {
        room = grown(&room, &start).with_child(&id, Some(message)).expect("a room has messages");
    });
}

/// The room, or the one it started as once it has grown by [`TIMES`] messages.
fn grown<'a>(room: &'a Node, start: &'a Node) -> &'a Node {
    if start.children().len() + TIMES <= room.children().len() { start } else { room }
}

fn append_indexed(meter: impl Meter, messages: usize) {
    let query = Query {
        order: Order::Child(at(), Range::ALL),
        window: Window::last(100).expect("100 is more than none"),
    };
    let start = shared_room(messages);
    let start_index = Index::build(IndexBy::Child(at()), Some(&start));
    let mut more = Messages::default().skip(messages);
    let (mut room, mut index) = (start.clone(), start_index.clone());
    let input = || more.next().expect("messages never end");
    meter.measure(TIMES, input, |(id, message)| {
        if start.children().len() + TIMES <= room.children().len() {
            (room, index) = (start.clone(), start_index.clone());
        }
        let later = room.with_child(&id, Some(message)).expect("a room has messages");
        let later_index = index.updated(Some(&later));
        let view =
            |room, index| View::new(&query, Some(room), Some(index)).expect("the index is the query's");
        let changes = view(&room, &index).changes(&view(&later, &later_index)).len();
        (room, index) = (later, later_index);
        changes
    });
}

fn update(meter: impl Meter, messages: usize) {
    let mut room = shared_room(messages);
    let (ids, field, mut ranks) = (ids(&room), key("text"), ranks(messages));
    let mut input = || (&ids[ranks()], text("this text was edited once more"));
    meter.measure(TIMES, &mut input, |(id, edited)| {
        let message = room.child(id).and_then(|message| message.with_child(&field, Some(edited)));
        room = room.with_child(id, message).expect("a room has messages");
    });
}

fn apply(meter: impl Meter, messages: usize) {
    let at: Path = [key("rooms"), key("main")].into_iter().collect();
    let room = shared_room(messages);
    let (ids, mut ranks) = (ids(&room), ranks(messages));
    let to_room = Change::new(vec![Edit { at: at.clone(), to: To::Node(Some(room)) }]);
    let mut snapshot = Snapshot::default().apply(&to_room.expect("one edit has no conflict"));
    let input = || {
        let at = [key("rooms"), key("main"), ids[ranks()].clone(), key("text")].into_iter().collect();
        let to = To::Node(Some(text("this text was edited once more")));
        Change::new(vec![Edit { at, to }]).expect("one edit has no conflict")
    };
    meter.measure(TIMES, input, |change| snapshot = snapshot.apply(&change));
}

fn get(meter: impl Meter, messages: usize) {
    let room = shared_room(messages);
    let (ids, mut ranks) = (ids(&room), ranks(messages));
    meter.measure(TIMES, || &ids[ranks()], |id| room.child(id));
}

fn last_100(meter: impl Meter, messages: usize) {
    let room = shared_room(messages);
    meter.measure(TIMES, || (), |()| room.children().iter().rev().take(100).count());
}

fn compare_keys(meter: impl Meter, messages: usize) {
    let ids = ids(&shared_room(messages));
    let mut ranks = ranks(messages - 1);
    meter.measure(TIMES, &mut ranks, |rank| ids[rank].cmp(&ids[rank + 1]));
}

fn difference(meter: impl Meter, messages: usize) {
    let before = shared_room(messages);
    let (ids, mut ranks) = (ids(&before), ranks(messages));
    let input = || with_edited_text(&before, &ids[ranks()]);
    meter.measure(TIMES, input, |after| Change::between(Some(&before), Some(&after)));
}

fn build_index(meter: impl Meter, messages: usize) {
    let room = shared_room(messages);
    meter.measure(1, || IndexBy::Child(at()), |by| Index::build(by, Some(&room)));
}

fn hash_again(meter: impl Meter, messages: usize) {
    let room = room(messages);
    room.hash();
    let (ids, mut ranks) = (ids(&room), ranks(messages));
    let input = || with_edited_text(&room, &ids[ranks()]);
    meter.measure(16, input, |room| -> (Hash, Node) { (room.hash(), room) });
}

fn write_json(meter: impl Meter, messages: usize) {
    let room = room(messages);
    let write = |()| Json::new(Some(&room), Form::SOCKET).to_bytes();
    meter.over_bytes(write(()).len()).measure(1, || (), write);
}

fn read_json(meter: impl Meter, messages: usize) {
    let bytes = Json::new(Some(&room(messages)), Form::SOCKET).to_bytes();
    let read = |()| read_node(&bytes, &ReadOptions::default()).expect("what was written can be read");
    meter.over_bytes(bytes.len()).measure(1, || (), read);
}

fn with_edited_text(room: &Node, id: &Key) -> Node {
    let edited = Some(text("this text was edited once more"));
    let message = room.child(id).and_then(|message| message.with_child(&key("text"), edited));
    room.with_child(id, message).expect("a room has messages")
}

/// A room that several operations start with. Nobody may hash it.
fn shared_room(messages: usize) -> Node {
    static LARGEST: LazyLock<Node> = LazyLock::new(|| room(LARGEST_MESSAGES));
    if messages == LARGEST_MESSAGES { LARGEST.clone() } else { room(messages) }
}

fn ids(room: &Node) -> Vec<Key> {
    room.children().iter().map(|(id, _)| id.clone()).collect()
}

/// Ranks below `end`, all over the room.
fn ranks(end: usize) -> impl FnMut() -> usize {
    let mut drawn: usize = 0;
    move || {
        drawn = drawn.wrapping_add(1);
        drawn.wrapping_mul(7_919) % end
    }
}

fn at() -> ChildPath {
    ChildPath::parse("at").expect("`at` is a path")
}
