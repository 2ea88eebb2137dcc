//! What a listener is told in the corners that the lives have found, step by step.

use super::ask::{NOW_MS, hash, rules, set, uid, update};
use hearth_engine::limits::{
    FORGOTTEN_AT_ONCE_MAX, HASHED_AT_ONCE_MAX, HEAVY_BYTES, JUDGED_AT_ONCE_MAX, LAG_BYTES_MAX, LAG_END_MS,
    LAG_MS_MAX, LISTENS_BYTES_MAX,
};
use hearth_engine::{
    Act, Answer, Begun, Body, Committer, Content, DatabaseId, Decided, Delivery, Door, Governing, HeldRanges,
    Identity, Item, Listen, LogStep, MemoryLog, Outboxes, Published, Publisher, Push, Request, Revision,
    SessionId, Tag, Ticket,
};
use hearth_tests::naive;
use hearth_tests::twin::{model_node, path};
use hearth_tree::{Hash, Order, Position, Query, Range, RelativePath, Scalar, Snapshot, Text, To, Window};
use serde_json::{Value, json};
use std::ops::Bound;
use std::sync::Arc;

const LISTENER: SessionId = SessionId(1);
const WRITER: SessionId = SessionId(2);

/// One client's queue: has room or has none.
#[derive(Default)]
struct Queue {
    is_full: bool,
    is_taking: bool,
    told: Vec<String>,
    deliveries: usize,
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
        self.deliveries += 1;
        Ok(())
    }

    fn show(&mut self, _: &Arc<Published>) {}

    fn is_taking(&self, _: SessionId) -> bool {
        self.is_taking
    }

    fn cut(&mut self, _: SessionId) {
        self.told.push("cut".into());
    }
}

fn shown(item: &Item) -> String {
    match item {
        Item::Push(Push { body, tag: _ }) => format!("{} {}", body.at, content(body)),
        Item::Revoked(revoked) => format!("{} revoked", revoked.at),
        Item::Answer(Answer::Listen(_, Ok(Begun { missing_index: None }))) => "listening".into(),
        Item::Answer(Answer::Listen(_, Ok(Begun { missing_index: Some(missing) }))) => missing.to_string(),
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
        Content::PutOver(node, held) => {
            format!("{} over {} ranges", part(&To::Node(Some(node.clone()))), held.len())
        }
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
        let mut publisher = Publisher::new(Published {
            revision,
            tree: tree.clone(),
            governing: Governing::by_default(door.clone()),
        });
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
        self.act_together([act]);
    }

    /// Has all of it decided before any of it is shown.
    fn act_together(&mut self, acts: impl IntoIterator<Item = Act>) {
        let request = |act| Request { session: WRITER, ticket: None, identity: Identity::Admin, act };
        let decide = |act| self.committer.decide(self.now_ms, request(act));
        let verdicts = acts.into_iter().flat_map(decide).collect();
        let group = Decided { database: DatabaseId(0), made: None, verdicts };
        for (_, durable) in self.log.keep(vec![group]) {
            self.publisher.publish(self.now_ms, durable, &mut self.queue);
        }
    }

    fn set(&mut self, at: &str, value: Value) {
        self.act(Act::Write(set(at, &value)));
    }

    fn listen(&mut self, at: &str, known: Option<Option<Hash>>) {
        let listen =
            Listen { at: path(at), query: Query::EVERYTHING, tag: None, known, held: None, left: None };
        self.publisher.listen(self.now_ms, LISTENER, Ticket(1), listen, &mut self.queue);
    }

    fn listen_to(&mut self, at: &str, query: Query, tag: u64) {
        let listen =
            Listen { at: path(at), query, tag: Some(Tag(tag)), known: Some(None), held: None, left: None };
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
fn a_large_hash_is_compared_only_if_it_is_known() {
    let children = |count: usize| (0..count).map(|at| (format!("k{at}"), json!(at))).collect::<Value>();
    for (nodes, is_known, spares) in [
        (HASHED_AT_ONCE_MAX - 2, false, true),
        (HASHED_AT_ONCE_MAX - 1, false, true),
        (HASHED_AT_ONCE_MAX, false, false),
        (HASHED_AT_ONCE_MAX, true, true),
    ] {
        let data = json!({"a": children(nodes)});
        let mut stage = Stage::new(&Door::Open, &data);
        if is_known {
            stage.publisher.published().tree.get(&path("a")).expect("it is there").hash();
        }
        stage.listen("a", Some(hash(&data["a"])));
        let told = stage.queue.told.len();
        assert_eq!(told, if spares { 1 } else { 2 }, "{nodes} {is_known}");

        // A write that counts only over what has this hash.
        let mut stage = Stage::new(&Door::Open, &data);
        if is_known {
            stage.committer.tree().get(&path("a")).expect("it is there").hash();
        }
        let write = set("a", &json!(1));
        let act = Act::WriteIf { at: path("a"), hash: hash(&data["a"]), write };
        stage.act(act);
        let is_written = stage.committer.tree().get(&path("a")).is_some_and(|node| node.value().is_some());
        assert_eq!(is_written, spares, "{nodes} {is_known}");
    }
}

#[test]
fn ranges_that_a_client_has_go_with_what_it_is_told_first() {
    let data = json!({"a": {"b": 1}});
    let ranges: HeldRanges =
        [(RelativePath::parse("b").expect("a place"), hash(&data).expect("it is something"))].into();
    for (at, known, told) in [
        ("a", Some(hash(&json!(7))), vec![r#"/a {"b":1} over 1 ranges"#, "listening"]),
        ("a", Some(hash(&data["a"])), vec!["listening"]),
        ("a/b/c", Some(hash(&json!(7))), vec!["/a/b/c null", "listening"]),
    ] {
        let mut stage = Stage::new(&Door::Open, &data);
        let held = Some(ranges.clone());
        let listen = Listen { at: path(at), query: Query::EVERYTHING, tag: None, known, held, left: None };
        stage.publisher.listen(stage.now_ms, LISTENER, Ticket(1), listen, &mut stage.queue);
        stage.check(&told);
        // What comes later is told as it is to everybody.
        stage.set("a", json!(2));
        stage.queue.told.retain(|told| told != "/a/b/c null");
        stage.check(if at == "a" { &["/a 2"] } else { &[] });
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
fn who_asks_again_and_is_refused_listens_no_longer() {
    let ordered =
        |limit| Query { order: Order::Key(Range::ALL), window: Window::first(limit).expect("a limit") };
    for (rule, first, again) in [
        ("query.limitToFirst <= 1", (ordered(1), 0), (ordered(2), 0)),
        ("now < 1700000001000", (ordered(1), 0), (ordered(1), 1_700_000_001_000)),
    ] {
        let mut stage = Stage::new(&rules(&json!({"a": {".read": rule}})), &json!({"a": {"b": 1}}));
        for ((query, now_ms), told) in [
            (first, vec![r#"/a {"b":1}"#, "listening"]),
            (again, vec!["no `.read` rule between the root and `/a` allows this read"]),
        ] {
            stage.now_ms = now_ms;
            stage.listen_to("a", query, 1);
            stage.check(&told);
        }
        assert_eq!(stage.publisher.listeners_now(), 0, "{rule}");
        stage.set("a/b", json!(2));
        stage.check(&[]);
    }
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

/// What a listener of `a` is told that has missed that `a/b` is 2 now: one difference, or everything.
const DIFFERENCE: &[&str] = &["/a/b 2"];
const EVERYTHING: &[&str] = &[r#"/a {"b":2,"c":1}"#];

fn lagging() -> Stage {
    let mut stage = Stage::new(&Door::Open, &json!({"a": {"b": 1, "c": 1}, "big": "x".repeat(TEXT_BYTES)}));
    stage.listen("a", None);
    stage.queue.told.clear();
    stage.queue.is_full = true;
    stage.set("a/b", json!(2));
    stage
}

#[test]
fn what_is_kept_for_who_falls_behind_is_bounded_in_time() {
    for (after_ms, is_taking, told) in [
        (0, false, DIFFERENCE),
        (LAG_MS_MAX - 1, false, DIFFERENCE),
        (LAG_MS_MAX, false, EVERYTHING),
        (LAG_MS_MAX, true, EVERYTHING),
        (LAG_END_MS - 1, false, EVERYTHING),
        (LAG_END_MS, false, &["cut"]),
        (LAG_END_MS, true, EVERYTHING),
    ] {
        let mut stage = lagging();
        stage.queue.is_taking = is_taking;
        stage.publisher.tick(NOW_MS, &mut stage.queue);
        stage.publisher.tick(NOW_MS + after_ms, &mut stage.queue);
        stage.make_room();
        assert_eq!(stage.queue.told, told, "after {after_ms} ms");
    }
}

/// Of a leaf that is written again and again.
const TEXT_BYTES: usize = 1_000_000;

#[test]
fn what_is_kept_for_who_falls_behind_is_bounded_in_bytes() {
    // The leaf that is replaced, and two nodes that are copied.
    let commits_max = LAG_BYTES_MAX / (TEXT_BYTES + 64 + 2 * 4 * 1024);
    for (commits, told) in [(0, DIFFERENCE), (commits_max, DIFFERENCE), (commits_max + 1, EVERYTHING)] {
        let mut stage = lagging();
        for commit in 0..commits {
            stage.set("big", json!(["y", "z"][commit % 2].repeat(TEXT_BYTES)));
        }
        stage.make_room();
        assert_eq!(stage.queue.told, told, "{commits} commits");
    }
}

#[test]
fn a_read_that_waits_for_a_difference_is_answered_from_behind_it() {
    let mut stage = lagging();
    stage.publisher.read(LISTENER, Ticket(2), &mut stage.queue);
    stage.set("a/b", json!(3));
    stage.make_room();
    stage.check(&["/a/b 3", "read at 2"]);
}

fn by_value(bytes: usize) -> Query {
    let start = Position::of(Some(Scalar::Text(Text::new(&"x".repeat(bytes)).expect("not too long"))));
    let range = Range { start: Bound::Included(start), end: Bound::Unbounded };
    Query { order: Order::Value(range), window: Window::All }
}

#[test]
fn the_queries_of_a_session_are_bounded_in_bytes() {
    let own = LISTENS_BYTES_MAX / 4;
    // What is weighed beside the text: the listener and its one key.
    let most = own - 2 * 64 - 1;
    let too_long =
        "the places and queries that a connection listens to can have 32 MiB, and this would be more";
    for (what, sizes, told) in [
        ("as much as there may be", vec![most; 4], vec!["listening"; 4]),
        (
            "a byte more",
            vec![most, most, most, most + 1],
            vec!["listening", "listening", "listening", too_long],
        ),
    ] {
        let mut stage = Stage::new(&Door::Open, &Value::Null);
        for (tag, bytes) in (1..).zip(sizes) {
            stage.listen_to("a", by_value(bytes), tag);
        }
        assert_eq!(stage.queue.told, told, "{what}");
        stage.queue.told.clear();
        stage.listen_to("a", by_value(most), 1);
        stage.check(&["listening"]);
    }
}

#[test]
fn a_query_without_an_index_is_served_with_a_warning_where_one_could_be_declared() {
    let indexed = rules(&json!({".read": true, "a": {".indexOn": ".value"}}));
    let plain = rules(&json!({".read": true}));
    let missing = r#"Index not defined, add ".indexOn": ".value", for path "/a", to the rules"#;
    let by_key = Query { order: Order::Key(Range::ALL), window: Window::first(1).expect("a limit") };
    for (what, door, query, told) in [
        ("declared", &indexed, by_value(1), "listening"),
        ("not declared", &plain, by_value(1), missing),
        ("by key", &plain, by_key, "listening"),
        ("no rules", &Door::Open, by_value(1), "listening"),
    ] {
        let mut stage = Stage::new(door, &Value::Null);
        stage.listen_to("a", query, 1);
        assert_eq!(stage.queue.told.last().map(String::as_str), Some(told), "{what}");
    }
}

#[test]
fn other_rules_hold_for_everybody_at_once_and_the_word_of_it_comes_in_slices() {
    let open = rules(&json!({".read": true}));
    let closed = rules(&json!({"a0": {".read": true}}));
    let mut stage = Stage::new(&open, &json!({}));
    let listeners = 2 * JUDGED_AT_ONCE_MAX + 1;
    for number in 0..listeners {
        stage.listen(&format!("a{number}"), None);
    }
    stage.queue.told.clear();
    stage.act(Act::Govern(closed));
    stage.check(&[]);
    // News for one who is suspended: it is judged before it is told.
    stage.set("a1", json!("secret"));
    stage.check(&["/a1 revoked"]);
    stage.set("a0", json!(1));
    stage.check(&["/a0 1"]);
    let mut slices = Vec::new();
    while !stage.publisher.is_settled() {
        stage.publisher.settle_some(NOW_MS, &mut stage.queue);
        slices.push(std::mem::take(&mut stage.queue.told).len());
    }
    // Two have been judged already.
    assert_eq!(slices, [JUDGED_AT_ONCE_MAX, JUDGED_AT_ONCE_MAX - 1]);
}

#[test]
fn who_listened_to_much_and_has_ended_is_told_nothing_and_is_forgotten_in_slices() {
    let mut stage = Stage::new(&Door::Open, &json!({}));
    let listeners = 2 * FORGOTTEN_AT_ONCE_MAX + 1;
    for number in 0..listeners {
        stage.listen(&format!("a{number}"), None);
    }
    stage.publisher.close(LISTENER);
    let mut left = vec![stage.publisher.listeners_now()];
    // One of those that are not forgotten yet, for another session of its own.
    let last = "a999".to_owned();
    let (other, at, query) = (SessionId(3), path(&last), Query::EVERYTHING);
    stage.publisher.open(other, uid("bob"));
    let listen = Listen { at, query, tag: None, known: None, held: None, left: None };
    stage.publisher.listen(NOW_MS, other, Ticket(1), listen, &mut stage.queue);
    stage.queue.told.clear();
    stage.set(&last, json!(1));
    stage.check(&[&format!("/{last} 1")]);
    while !stage.publisher.is_settled() {
        stage.publisher.settle_some(NOW_MS, &mut stage.queue);
        left.push(stage.publisher.listeners_now());
    }
    assert_eq!(left, [listeners - FORGOTTEN_AT_ONCE_MAX, 2, 1]);
    stage.set(&last, json!(2));
    stage.check(&[&format!("/{last} 2")]);
}

#[test]
fn small_commits_of_one_group_are_one_delivery() {
    let open = rules(&json!({".read": true}));
    let gated = rules(&json!({"a": {".read": "root.child('gate').exists()"}}));
    let text = |bytes: usize| json!("x".repeat(bytes));
    let shown = |bytes: usize| format!("/a {}", text(bytes));
    let half = HEAVY_BYTES / 2;
    for (door, writes, deliveries, told) in [
        (&open, vec![("a", json!(1)), ("b", json!(1)), ("a", json!(2))], 1, vec!["/a 1", "/a 2"]),
        (
            &open,
            vec![("a", text(half)), ("a", text(9)), ("a", text(half))],
            2,
            vec![&*shown(half), &*shown(9), &*shown(half)],
        ),
        (
            &open,
            vec![("a", json!(1)), ("a", text(HEAVY_BYTES)), ("a", json!(2))],
            3,
            vec!["/a 1", &*shown(HEAVY_BYTES), "/a 2"],
        ),
        // What was allowed when it was shown, and nothing from the change on that ends that.
        (
            &gated,
            vec![("a", json!(1)), ("gate", Value::Null), ("a", json!(2))],
            1,
            vec!["/a 1", "/a revoked"],
        ),
    ] {
        let mut stage = Stage::new(door, &json!({"gate": 1}));
        stage.listen("a", None);
        stage.queue.told.clear();
        stage.queue.deliveries = 0;
        stage.act_together(writes.iter().map(|(at, value)| Act::Write(set(at, value))));
        assert_eq!(stage.queue.deliveries, deliveries, "{told:?}");
        stage.check(&told);
    }
}

#[test]
fn who_finds_no_room_for_a_group_has_missed_all_of_it() {
    let mut stage = Stage::new(&Door::Open, &json!({"a": {"x": 1}}));
    stage.listen("a", None);
    stage.queue.told.clear();
    stage.queue.is_full = true;
    let writes = [("a/y", json!(1)), ("b", json!(1)), ("a/z", json!(1))];
    stage.act_together(writes.iter().map(|(at, value)| Act::Write(set(at, value))));
    stage.make_room();
    stage.check(&["/a y=1 z=1"]);
}
