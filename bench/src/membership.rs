//! What a change of a membership costs while many listen by that rule: it must not judge the others again.

use crate::latency::Latencies;
use crate::table::{Cell, Column, Table};
use hearth_engine::{
    Act, Committer, DatabaseId, Decided, Delivery, Door, Governing, Identity, Listen, LogStep, MemoryLog,
    Outboxes, Published, Publisher, Request, Revision, SessionId, Ticket,
};
use hearth_rules::{Claim, Ruleset};
use hearth_tree::{Assignment, Path, Query, ReadOptions, Snapshot, Write, read_node, read_value};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many listen; several may be said.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [100, 10_000])]
    listeners: Vec<u32>,
    /// How many memberships are ended, one after the other.
    #[arg(long, value_name = "N", default_value_t = 50)]
    changes: u32,
}

const NOW_MS: i64 = 1_700_000_000_000;
const WRITER: SessionId = SessionId(0);

const COLUMNS: [Column; 5] = [
    Column("listeners", "listeners"),
    Column("write", "a write that"),
    Column("judged", "judged again by each"),
    Column("p50_us", "p50 us"),
    Column("p99_us", "p99 us"),
];

pub(crate) fn run(arguments: &Arguments) -> Table {
    let mut rows = Vec::new();
    for &listeners in &arguments.listeners {
        let mut hall = Hall::new(listeners);
        let changes = arguments.changes.min(listeners);
        let aside = hall.time(changes, |number| format!("/aside/k{number}"), &json!(1));
        rows.push(row(listeners, "concerns none", changes, aside));
        let member = |number: u32| format!("/members/room/u{number}");
        let ended = hall.time(changes, member, &Value::Null);
        rows.push(row(listeners, "ends one membership", changes, ended));
    }
    Table {
        title: "membership: all listen to one room, each by their own membership".into(),
        columns: COLUMNS.into(),
        rows,
        notes: vec![
            "From the request to the last word in an outbox, with a log in memory and no sockets.".into(),
        ],
    }
}

fn row(listeners: u32, what: &str, changes: u32, (judged, times): (u64, Vec<Duration>)) -> Vec<Cell> {
    let times = Latencies::of(times);
    vec![
        Cell::Count(listeners.into()),
        Cell::Text(what.into()),
        Cell::Count(judged / u64::from(changes.max(1))),
        Cell::Micros(times.percentile(50)),
        Cell::Micros(times.percentile(99)),
    ]
}

/// Takes everything.
struct Ears;

impl Outboxes for Ears {
    fn offer(&mut self, _: SessionId, _: Delivery) -> Result<(), Delivery> {
        Ok(())
    }

    fn show(&mut self, _: &Arc<Published>) {}

    fn is_taking(&self, _: SessionId) -> bool {
        false
    }

    fn cut(&mut self, _: SessionId) {}
}

/// The engine with its listeners.
struct Hall {
    committer: Committer,
    log: LogStep<MemoryLog>,
    publisher: Publisher,
}

impl Hall {
    fn new(listeners: u32) -> Self {
        let rule = "auth != null && root.child('members').child($room).child(auth.uid).exists()";
        let rules = json!({"rules": {"messages": {"$room": {".read": rule}}}}).to_string();
        let door = Door::Rules(Arc::new(Ruleset::compile(&rules).expect("they are in order")));
        let members: Map<String, Value> =
            (0..listeners).map(|number| (format!("u{number}"), json!(true))).collect();
        let data = json!({"members": {"room": members}, "messages": {"room": {"m": "hello"}}}).to_string();
        let tree = read_node(data.as_bytes(), &ReadOptions::default()).expect("it is data");
        let tree = Snapshot::new(tree);
        let revision = Revision::default();
        let mut publisher = Publisher::new(Published {
            revision,
            tree: tree.clone(),
            governing: Governing::by_default(door.clone()),
        });
        for number in 0..listeners {
            let session = SessionId(u64::from(number) + 1);
            let uid = ("uid".to_owned(), Claim::Text(format!("u{number}")));
            publisher.open(session, Identity::User(Arc::new(Claim::Object(BTreeMap::from([uid])))));
            let at = Path::parse("/messages/room").expect("it is a path");
            let listen =
                Listen { at, query: Query::EVERYTHING, tag: None, known: None, held: None, left: None };
            publisher.listen(NOW_MS, session, Ticket(1), listen, &mut Ears);
        }
        Self { committer: Committer::new(door, revision, tree), log: LogStep::new(MemoryLog), publisher }
    }

    /// Writes one after the other; how many listeners were judged, and how long each took.
    fn time(&mut self, changes: u32, at: impl Fn(u32) -> String, value: &Value) -> (u64, Vec<Duration>) {
        let judged = self.publisher.judged_total();
        let times = (0..changes)
            .map(|number| {
                let value = read_value(value.to_string().as_bytes(), &ReadOptions::default());
                let at = Path::parse(&at(number)).expect("it is a path");
                let assignment =
                    Assignment::value(at, value.expect("it is a value")).expect("it is not deep");
                let began = Instant::now();
                self.write(Write::Set(assignment));
                began.elapsed()
            })
            .collect();
        (self.publisher.judged_total() - judged, times)
    }

    fn write(&mut self, write: Write) {
        let request =
            Request { session: WRITER, ticket: None, identity: Identity::Admin, act: Act::Write(write) };
        let verdicts = self.committer.decide(NOW_MS, request);
        let group = Decided { database: DatabaseId(0), made: None, verdicts };
        for (_, durable) in self.log.keep(vec![group]) {
            self.publisher.publish(NOW_MS, durable, &mut Ears);
        }
    }
}
