//! How many listeners a change makes judge again: those whose rules looked at what differs, and nobody else.

use super::ask::{NOW_MS, node, rules, set, uid};
use hearth_engine::{
    Act, Committer, DatabaseId, Decided, Delivery, Governing, Identity, Listen, LogStep, MemoryLog, Outboxes,
    Published, Publisher, Request, Revision, SessionId, Ticket,
};
use hearth_tests::twin::path;
use hearth_tree::{Query, Snapshot};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const LISTENERS: u64 = 10_000;

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

#[test]
fn of_ten_thousand_listeners_those_are_judged_again_whom_a_change_concerns() {
    let door = rules(&json!({"messages": {"$room": {
        ".read": "root.child('members').child($room).child(auth.uid).exists()",
    }}}));
    let members: Map<String, Value> =
        (0..LISTENERS).map(|number| (format!("u{number}"), json!({"name": "n"}))).collect();
    let tree = Snapshot::new(node(&json!({"members": {"room": members}, "messages": {"room": {"m": 1}}})));
    let revision = Revision::default();
    let mut committer = Committer::new(door.clone(), revision, tree.clone());
    let mut log = LogStep::new(MemoryLog);
    let mut publisher = Publisher::new(Published { revision, tree, governing: Governing::by_default(door) });
    for number in 0..LISTENERS {
        let session = SessionId(number + 1);
        publisher.open(session, uid(&format!("u{number}")));
        let listen = Listen {
            at: path("messages/room"),
            query: Query::EVERYTHING,
            tag: None,
            known: None,
            held: None,
            left: None,
        };
        publisher.listen(NOW_MS, session, Ticket(1), listen, &mut Ears);
    }
    for (at, value, expected) in [
        ("messages/room/n", json!("news for everybody"), 0),
        ("members/room/somebody", json!({"name": "new"}), 0),
        ("members/room/u7/name", json!("another"), 0),
        ("members/room/u7", json!(null), 1),
        // Who was revoked listens no longer.
        ("members/room/u7", json!({"name": "back"}), 0),
        ("members/other", json!({"u8": true}), 0),
        ("members/room", json!({"u8": true}), LISTENERS - 2),
    ] {
        let before = publisher.judged_total();
        let act = Act::Write(set(at, &value));
        let request = Request { session: SessionId(0), ticket: None, identity: Identity::Admin, act };
        let verdicts = committer.decide(NOW_MS, request);
        for (_, durable) in log.keep(vec![Decided { database: DatabaseId(0), made: None, verdicts }]) {
            publisher.publish(NOW_MS, durable, &mut Ears);
        }
        assert_eq!(publisher.judged_total() - before, expected, "{at} {value}");
    }
}
