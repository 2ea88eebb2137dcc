//! What a listener is told in the corners that the lives have found, step by step.

use super::ask::{NOW_MS, hash, rules, set, uid, update};
use hearth_engine::{
    Act, Answer, Body, Committer, Content, Delivery, Door, Identity, Item, Listen, LogStep, MemoryLog,
    Outboxes, Published, Publisher, Push, Request, Revision, SessionId, Ticket,
};
use hearth_tests::naive;
use hearth_tests::twin::{model_node, path};
use hearth_tree::{Hash, Query, Snapshot, To};
use serde_json::{Value, json};
use std::sync::Arc;

const LISTENER: SessionId = SessionId(1);
const WRITER: SessionId = SessionId(2);

/// One client's queue: has room or has none.
#[derive(Default)]
struct Queue {
    is_full: bool,
    told: Vec<String>,
}

impl Outboxes for Queue {
    fn offer(&mut self, session: SessionId, delivery: Delivery) -> Result<(), Delivery> {
        if session == WRITER {
            return Ok(());
        }
        if self.is_full {
            return Err(delivery);
        }
        self.told.extend(delivery.items.iter().map(shown));
        Ok(())
    }

    fn show(&mut self, _: &Arc<Published>) {}
}

fn shown(item: &Item) -> String {
    match item {
        Item::Push(Push { body, tag: _ }) => format!("{} {}", body.at, content(body)),
        Item::Revoked(revoked) => format!("{} revoked", revoked.at),
        Item::Answer(Answer::Listen(_, Ok(()))) => "listening".into(),
        Item::Answer(Answer::Listen(_, Err(refusal))) => refusal.to_string(),
        Item::Answer(Answer::Write(_, outcome)) => format!("{outcome:?}"),
        Item::Answer(Answer::Read(_, published)) => format!("read at {}", published.revision),
    }
}

fn content(body: &Body) -> String {
    let part = |to: &To| match to {
        To::Node(node) => naive::export(node.as_ref().map(model_node).as_ref()).to_string(),
        To::Priority(priority) => format!("priority {priority:?}"),
    };
    match &body.content {
        Content::Put(node) => part(&To::Node(node.clone())),
        Content::Priority(priority) => part(&To::Priority(priority.clone())),
        Content::Merge(parts) => {
            parts.iter().map(|(at, to)| format!("{at}={}", part(to))).collect::<Vec<_>>().join(" ")
        }
    }
}

struct Stage {
    committer: Committer,
    log: LogStep<MemoryLog>,
    publisher: Publisher,
    queue: Queue,
    now_ms: i64,
}

impl Stage {
    fn new(door: &Door, data: &Value) -> Self {
        let tree = Snapshot::new(super::ask::node(data));
        let revision = Revision::default();
        let mut publisher = Publisher::new(Published { revision, tree: tree.clone(), door: door.clone() });
        publisher.open(LISTENER, uid("ann"));
        Self {
            committer: Committer::new(door.clone(), Revision::default(), tree),
            log: LogStep::new(MemoryLog),
            publisher,
            queue: Queue::default(),
            now_ms: NOW_MS,
        }
    }

    fn act(&mut self, act: Act) {
        let request = Request { session: WRITER, ticket: None, identity: Identity::Admin, act };
        let verdicts = self.committer.decide(self.now_ms, request);
        self.publisher.publish(self.now_ms, self.log.keep(verdicts), &mut self.queue);
    }

    fn set(&mut self, at: &str, value: Value) {
        self.act(Act::Write(set(at, &value)));
    }

    fn listen(&mut self, at: &str, known: Option<Option<Hash>>) {
        let listen = Listen { at: path(at), query: Query::EVERYTHING, tag: None, known };
        self.publisher.listen(self.now_ms, LISTENER, Ticket(1), listen, &mut self.queue);
    }

    fn unlisten(&mut self, at: &str) {
        self.publisher.unlisten(LISTENER, &path(at), None);
    }

    fn make_room(&mut self) {
        self.queue.is_full = false;
        self.publisher.drained(self.now_ms, LISTENER, &mut self.queue);
    }

    fn check(&mut self, told: &[&str]) {
        assert_eq!(self.queue.told, told);
        self.queue.told.clear();
    }
}

#[test]
fn a_listen_without_room_is_shown_everything_when_there_is() {
    let mut stage = Stage::new(&Door::Open, &json!({"a": 1}));
    stage.queue.is_full = true;
    stage.listen("a", None);
    stage.check(&[]);
    stage.make_room();
    stage.check(&["/a 1", "listening"]);
    stage.set("a", json!(2));
    stage.check(&["/a 2"]);
}

#[test]
fn who_catches_up_is_asked_for_permission_at_that_time() {
    let door = rules(&json!({"a": {".read": format!("now <= {NOW_MS}")}}));
    let mut stage = Stage::new(&door, &json!({"a": 1}));
    stage.listen("a", None);
    stage.check(&["/a 1", "listening"]);
    stage.queue.is_full = true;
    stage.set("a", json!(2));
    stage.now_ms += 1;
    stage.make_room();
    stage.check(&["/a revoked"]);
}

#[test]
fn who_listens_anew_is_told_everything_though_it_knows() {
    let nothing = Some(None);
    for (stops, starts, told) in [
        ("a", "a", vec!["/a null", "listening"]),
        ("a", "a/b", vec!["/a/b null", "listening"]),
        ("a/b", "a", vec!["/a null", "listening"]),
        ("a", "b", vec!["listening"]),
    ] {
        let mut stage = Stage::new(&Door::Open, &json!({"a": {"b": 1}}));
        stage.listen(stops, None);
        stage.unlisten(stops);
        // It is told nothing of this, but the news above may still be on its way.
        stage.set("a", Value::Null);
        stage.queue.told.clear();
        stage.listen(starts, nothing);
        stage.check(&told);
    }
}

#[test]
fn a_known_hash_spares_the_data_unless_news_from_below_may_be_on_its_way() {
    let data = json!({"a": {"b": 1}});
    for (first, told) in [
        (None, vec!["listening"]),
        (Some("a"), vec!["listening"]),
        (Some(""), vec!["listening"]),
        (Some("c"), vec!["listening"]),
        (Some("a/b"), vec![r#"/a {"b":1}"#, "listening"]),
    ] {
        let mut stage = Stage::new(&Door::Open, &data);
        if let Some(first) = first {
            stage.listen(first, None);
        }
        stage.queue.told.clear();
        stage.listen("a", Some(hash(&data["a"])));
        stage.check(&told);
    }
}

#[test]
fn an_old_revocation_does_not_end_a_new_listener() {
    let door = rules(&json!({"a": {".read": "root.child('gate').exists()"}}));
    let mut stage = Stage::new(&door, &json!({"a": 1, "gate": 1}));
    stage.listen("a", None);
    stage.queue.told.clear();
    stage.queue.is_full = true;
    stage.set("a", json!(2));
    stage.set("gate", Value::Null);
    stage.set("gate", json!(1));
    stage.unlisten("a");
    stage.listen("a", None);
    stage.make_room();
    stage.check(&["/a 2", "listening"]);
}

#[test]
fn parts_may_be_applied_in_any_order_without_losing_a_priority() {
    for (parts, told) in [
        // `n` would be empty after the delete.
        (json!({"n/a": 1, "n/b": null}), r#"/n {".priority":3,"a":1}"#),
        (json!({"n/a": null, "n/b": null, "m": 1}), "/ m=1 n/b=null"),
        (json!({"n/b": 2, "n/c": 1}), "/ n/b=2 n/c=1"),
        (json!({"p/a": 1, "p/b": null}), "/ p/a=1 p/b=null"),
    ] {
        let data = json!({"n": {"b": 1, ".priority": 3}, "p": {"b": 1}});
        let mut stage = Stage::new(&Door::Open, &data);
        stage.listen("", None);
        stage.queue.told.clear();
        stage.act(Act::Write(update("", &parts)));
        stage.check(&[told]);
    }
}
