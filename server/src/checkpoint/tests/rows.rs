//! Which chunks a change writes anew.

use super::super::chunk::ChunkRef;
use super::super::memory::MemoryStore;
use super::super::store::Store;
use super::super::writer::Writer;
use super::{Act, Databases, LOG, key, newest, number, path, position, text};
use hearth_engine::DatabaseId;
use hearth_tree::{Key, Node, Number, Path, Priority};

/// 1,000 rooms of 100 messages: some 2.3 MB.
fn rooms() -> Node {
    let message = |at| (Key::from_position(at), text("a message of medium length"));
    let room = |at| (key(&format!("room-{at:04}")), Node::inner((0..100).map(message)).unwrap());
    Node::inner((0..1_000).map(room)).unwrap()
}

fn chunks(store: &dyn Store) -> Vec<ChunkRef> {
    newest(store).unwrap().databases.remove(&DatabaseId(0)).unwrap().record.chunks
}

#[test]
fn a_change_writes_the_chunks_that_it_touches() {
    let long = "x".repeat(1 << 20);
    let flat = || Node::inner((0..20_000).map(|at| (Key::from_position(at), number(1)))).unwrap();
    for (name, act, written, removed) in [
        ("nothing", Act::Delete(path("/none")), 0, 0),
        ("one leaf", Act::Set(path("/room-0500/7"), number(1)), 1, 1),
        ("before the first", Act::Set(path("/a"), number(1)), 1, 1),
        ("behind the last", Act::Set(path("/z"), number(1)), 1, 1),
        (
            "a priority of an inner node",
            Act::Prioritize(path("/room-0500"), Some(Priority::Number(Number::from(1)))),
            1,
            1,
        ),
        (
            "a priority of the root",
            Act::Prioritize(Path::root(), Some(Priority::Number(Number::from(1)))),
            1,
            1,
        ),
        ("a leaf that becomes an object", Act::Set(path("/room-0500/7/a/b"), number(1)), 1, 1),
        ("an object that becomes a leaf", Act::Set(path("/room-0500"), number(1)), 1, 1),
        // What is left behind it is so little that it takes in the next one.
        ("a long text between others", Act::Set(path("/room-0500/7"), text(&long)), 3, 2),
        ("a flat node between others", Act::Set(path("/room-0500/7"), flat()), 7, 1),
        ("everything", Act::Set(Path::root(), number(1)), 1, usize::MAX),
        ("everything deleted", Act::Delete(Path::root()), 0, usize::MAX),
    ] {
        let store = MemoryStore::default();
        let mut databases = Databases::default();
        databases.act(0, &Act::Set(Path::root(), rooms()));
        let mut writer = Writer::new(Box::new(store.clone()), LOG, None);
        writer.write(position(1), databases.capture()).unwrap();
        let before = chunks(&store);
        assert!(before.iter().all(|chunk| (8 << 10..=65 << 10).contains(&chunk.bytes)), "{before:?}");
        databases.act(0, &act);
        writer.write(position(2), databases.capture()).unwrap();
        let after = chunks(&store);
        let new = after.iter().filter(|chunk| chunk.generation == 2).count();
        let gone = before.iter().filter(|chunk| !after.contains(chunk)).count();
        assert_eq!((new, gone), (written, removed.min(before.len())), "{name}");
    }
}

#[test]
fn a_delete_drops_whole_chunks_and_writes_its_borders() {
    let store = MemoryStore::default();
    let mut databases = Databases::default();
    let half = |name: &str| Act::Set(path(name), rooms());
    for name in ["/a", "/b", "/c"] {
        databases.act(0, &half(name));
    }
    let mut writer = Writer::new(Box::new(store.clone()), LOG, None);
    let all = writer.write(position(1), databases.capture()).unwrap();
    databases.act(0, &Act::Delete(path("/b")));
    let written = writer.write(position(2), databases.capture()).unwrap();
    assert!(written.chunks <= 2, "{written:?}");
    assert!(chunks(&store).len() < all.chunks * 7 / 10, "{} of {}", chunks(&store).len(), all.chunks);
}
