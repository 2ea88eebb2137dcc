//! Listens that wait for a large index: what they are told when it comes, and what comes of them if it comes late.

use super::ask::{NOW_MS, node, rules, set, uid, update};
use hearth_engine::limits::{INDEX_EDITS_MAX, INDEXED_AT_ONCE_MAX, OUTDATED_ENTRIES};
use hearth_engine::{
    Act, Answer, Committer, Content, DatabaseId, Decided, Delivery, Door, Governing, Identity, Item, Listen,
    LogStep, MemoryLog, Outboxes, Published, Publisher, Request, Revision, SessionId, Tag, Ticket,
    WantedIndex,
};
use hearth_tests::twin::path;
use hearth_tree::{ChildPath, Form, Index, Json, Order, Query, Range, Snapshot, Window, Write};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const WRITER: SessionId = SessionId(9);

/// What everybody was told: who, and what.
#[derive(Default)]
struct Ears(Vec<String>);

impl Outboxes for Ears {
    fn offer(&mut self, session: SessionId, delivery: Delivery) -> Result<(), Delivery> {
        if session != WRITER {
            self.0.extend(delivery.items.iter().map(|item| format!("{} {}", session.0, shown(item))));
        }
        Ok(())
    }

    fn show(&mut self, _: &Arc<Published>) {}

    fn is_taking(&self, _: SessionId) -> bool {
        false
    }

    fn cut(&mut self, _: SessionId) {}
}

fn shown(item: &Item) -> String {
    match item {
        Item::Push(push) => {
            let tag = push.tag.map_or(0, |tag| tag.0);
            match &push.body.content {
                Content::Put(node) => {
                    let mut text = Vec::new();
                    Json::new(node.as_ref(), Form::SOCKET).append_to(&mut text);
                    format!("t{tag} {}", String::from_utf8(text).expect("JSON is UTF-8"))
                }
                other @ (Content::PutOver(..) | Content::Priority(_) | Content::Merge(_)) => {
                    format!("t{tag} {other:?}")
                }
            }
        }
        Item::Revoked(revoked) => format!("revoked {}", revoked.at),
        Item::Answer(Answer::Listen(ticket, Ok(_))) => format!("listens {}", ticket.0),
        Item::Answer(Answer::Listen(ticket, Err(refusal))) => format!("refused {}: {refusal}", ticket.0),
        Item::Answer(Answer::Write(..) | Answer::Read(..)) => "other".into(),
    }
}

struct Stage {
    committer: Committer,
    log: LogStep<MemoryLog>,
    publisher: Publisher,
    ears: Ears,
}

/// A list of so many children, `{"at": 0}` and so on.
fn list(len: usize) -> Value {
    let child = |at| (format!("k{at:05}"), json!({"at": at}));
    Value::Object((0..len).map(child).collect::<Map<_, _>>())
}

const LEN: usize = INDEXED_AT_ONCE_MAX + 1;

impl Stage {
    fn new(door: &Door, data: &Value) -> Self {
        let (tree, revision) = (Snapshot::new(node(data)), Revision::default());
        let governing = Governing::by_default(door.clone());
        let mut publisher = Publisher::new(Published { revision, tree: tree.clone(), governing });
        for session in 1..=3 {
            publisher.open(SessionId(session), uid(&format!("u{session}")));
        }
        let committer = Committer::new(door.clone(), revision, tree);
        Self { committer, log: LogStep::new(MemoryLog), publisher, ears: Ears::default() }
    }

    fn set(&mut self, at: &str, value: &Value) {
        self.write(set(at, value));
    }

    fn write(&mut self, write: Write) {
        let (identity, act) = (Identity::Admin, Act::Write(write));
        let request = Request { session: WRITER, ticket: None, identity, act };
        let verdicts = self.committer.decide(NOW_MS, request);
        let group = Decided { database: DatabaseId(0), made: None, verdicts };
        for (_, durable) in self.log.keep(vec![group]) {
            self.publisher.publish(NOW_MS, durable, &mut self.ears);
        }
    }

    /// Listens to the last by this child; or to everything, if it has no name.
    fn listen(&mut self, session: u64, ticket: u64, at: &str, (by, tag): (&str, u64)) {
        let query = match ChildPath::parse(by) {
            Ok(by) => Query {
                order: Order::Child(by, Range::ALL),
                window: Window::last(1).expect("it is not nothing"),
            },
            Err(_) => Query::EVERYTHING,
        };
        let tag = (!query.is_everything()).then_some(Tag(tag));
        let listen = Listen { at: path(at), query, tag, known: None, held: None, left: None };
        self.publisher.listen(NOW_MS, SessionId(session), Ticket(ticket), listen, &mut self.ears);
    }

    /// The indexes that are wanted, built of what is published now.
    fn build(&mut self) -> Vec<(WantedIndex, Index)> {
        let tree = self.publisher.published().tree.clone();
        let build = |wanted: WantedIndex| {
            let node = tree.get(&wanted.at);
            let index = match &wanted.outdated {
                Some(index) => index.updated(node),
                None => Index::build(wanted.by.clone(), node),
            };
            (wanted, index)
        };
        self.publisher.take_wanted().into_iter().map(build).collect()
    }

    fn bring(&mut self, built: Vec<(WantedIndex, Index)>) {
        for (wanted, index) in built {
            self.publisher.indexed(NOW_MS, &wanted.at, index, &mut self.ears);
        }
    }

    #[track_caller]
    fn check(&mut self, told: &[&str]) {
        assert_eq!(std::mem::take(&mut self.ears.0), told);
    }
}

#[test]
fn only_a_large_index_is_waited_for_and_by_all_who_need_it() {
    for (len, waits) in [(INDEXED_AT_ONCE_MAX, false), (LEN, true)] {
        let mut stage = Stage::new(&Door::Open, &json!({"a": list(len)}));
        stage.listen(1, 1, "a", ("at", 1));
        stage.listen(2, 1, "a", ("at", 1));
        let first = format!("t1 {{\"k{:05}\":{{\"at\":{}}}}}", len - 1, len - 1);
        let told = [format!("1 {first}"), "1 listens 1".into(), format!("2 {first}"), "2 listens 1".into()];
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        assert_eq!(stage.ears.0.is_empty(), waits, "{len} children");
        let built = stage.build();
        assert_eq!(built.len(), usize::from(waits), "{len} children");
        stage.bring(built);
        stage.check(&told);
        // It is there now.
        stage.listen(3, 1, "a", ("at", 1));
        assert_eq!((stage.build().len(), stage.ears.0.len()), (0, 2), "{len} children");
    }
}

#[test]
fn what_was_written_while_an_index_was_built_is_shown_with_it() {
    let mut stage = Stage::new(&Door::Open, &json!({"a": list(LEN)}));
    stage.listen(1, 1, "a", ("at", 1));
    let built = stage.build();
    stage.set("a/k00000", &json!({"at": 10_000}));
    stage.set("a/k00001", &Value::Null);
    stage.bring(built);
    stage.check(&[r#"1 t1 {"k00000":{"at":10000}}"#, "1 listens 1"]);
    stage.set("a/new", &json!({"at": 10_001}));
    assert_eq!(stage.ears.0.len(), 1, "{:?}", stage.ears.0);
}

#[test]
fn an_index_that_is_too_old_is_wanted_anew() {
    for (changed, is_anew) in [(INDEX_EDITS_MAX, false), (INDEX_EDITS_MAX + 1, true)] {
        let mut stage = Stage::new(&Door::Open, &json!({"a": list(3_000)}));
        stage.listen(1, 1, "a", ("at", 1));
        let built = stage.build();
        let child = |at| (format!("k{at:05}"), json!({"at": 10_000 + at}));
        stage.write(update("a", &Value::Object((0..changed).map(child).collect())));
        stage.bring(built);
        assert_eq!(stage.ears.0.is_empty(), is_anew, "{changed} changed");
        let built = stage.build();
        assert_eq!(
            built.iter().filter(|(wanted, _)| wanted.outdated.is_some()).count(),
            usize::from(is_anew)
        );
        stage.bring(built);
        let last = format!("1 t1 {{\"k{:05}\":{{\"at\":{}}}}}", changed - 1, 10_000 + changed - 1);
        stage.check(&[&last, "1 listens 1"]);
    }
}

#[test]
fn what_a_client_asks_behind_a_listen_that_waits_waits_too() {
    let mut stage = Stage::new(&Door::Open, &json!({"a": list(LEN), "b": 1}));
    stage.listen(1, 1, "a", ("at", 1));
    // The same tag with another query, which needs another index, and somewhere else.
    stage.listen(1, 2, "a", ("other", 1));
    stage.listen(1, 3, "b", ("", 0));
    stage.listen(2, 1, "b", ("", 0));
    stage.check(&["2 t0 1", "2 listens 1"]);
    let built = stage.build();
    assert_eq!(built.len(), 1, "one at a time");
    stage.bring(built);
    let last = format!("1 t1 {{\"k{:05}\":{{\"at\":{}}}}}", LEN - 1, LEN - 1);
    stage.check(&[&last, "1 listens 1"]);
    let built = stage.build();
    stage.bring(built);
    stage.check(&[&last, "1 listens 2", "1 t0 1", "1 listens 3"]);
}

#[test]
fn nobody_is_built_for_who_may_not_listen_or_has_gone() {
    let door = rules(&json!({"a": {".read": "auth.uid === 'u1'"}}));
    let mut stage = Stage::new(&door, &json!({"a": list(LEN)}));
    stage.listen(2, 1, "a", ("at", 1));
    assert_eq!((stage.build().len(), stage.ears.0.len()), (0, 1), "refused at once");
    stage.ears.0.clear();
    stage.listen(1, 1, "a", ("at", 1));
    let built = stage.build();
    // It is somebody else when the index comes.
    stage.publisher.identify(NOW_MS, SessionId(1), uid("u2"), &mut stage.ears);
    stage.bring(built);
    assert_eq!(stage.ears.0.len(), 1, "{:?}", stage.ears.0);
    assert!(stage.ears.0[0].starts_with("1 refused 1"), "{:?}", stage.ears.0);
    stage.ears.0.clear();
    // Nobody needs it, so that the next one waits again.
    stage.publisher.identify(NOW_MS, SessionId(1), uid("u1"), &mut stage.ears);
    stage.listen(1, 2, "a", ("at", 1));
    let built = stage.build();
    assert_eq!(built.len(), 1);
    stage.publisher.close(SessionId(1));
    stage.bring(built);
    stage.check(&[]);
    assert_eq!(stage.publisher.take_outdated().len(), 0, "a small index is dropped at once");
}

#[test]
fn who_listens_anew_keeps_the_index() {
    let mut stage = Stage::new(&Door::Open, &json!({"a": list(2 * OUTDATED_ENTRIES)}));
    // Large indexes that nobody needs are handed out.
    for (by, is_built, outdated) in
        [("at", true, 0), ("at", false, 0), ("other", true, 1), ("other", false, 0)]
    {
        stage.listen(1, 1, "a", (by, 1));
        let built = stage.build();
        assert_eq!(built.len(), usize::from(is_built), "{by}");
        stage.bring(built);
        assert_eq!(stage.ears.0.len(), 2, "{by}");
        stage.ears.0.clear();
        assert_eq!(stage.publisher.take_outdated().len(), outdated, "{by}");
    }
}
