//! Requests as tables write them: JSON in, JSON out.

use hearth_engine::{Act, Commit, Committer, Door, Identity, Request, Revision, SessionId, Ticket, Verdict};
use hearth_rules::{Claim, Ruleset};
use hearth_tests::naive;
use hearth_tests::twin::{model_root, path};
use hearth_tree::{
    Assignment, Hash, Node, Part, ReadOptions, Snapshot, Target, Write, read_node, read_priority,
    read_update, read_value,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) const NOW_MS: i64 = 1_700_000_000_000;

pub(super) fn node(value: &Value) -> Option<Node> {
    read_node(value.to_string().as_bytes(), &ReadOptions::default()).expect("a legal value")
}

pub(super) fn hash(value: &Value) -> Option<Hash> {
    node(value).as_ref().map(Node::hash)
}

/// Of a value, or of a priority where the place ends so.
pub(super) fn set(at: &str, value: &Value) -> Write {
    let text = value.to_string();
    let Target { path, part } = Target::<hearth_tree::Path>::parse(at).expect("a legal place");
    Write::Set(match part {
        Part::Value => {
            let value = read_value(text.as_bytes(), &ReadOptions::default()).expect("a legal value");
            Assignment::value(path, value).expect("it is not deep")
        }
        Part::Priority => {
            let priority = read_priority(text.as_bytes(), &ReadOptions::default());
            Assignment::priority(path, priority.expect("a legal priority"))
        }
    })
}

pub(super) fn update(at: &str, parts: &Value) -> Write {
    let update = read_update(parts.to_string().as_bytes(), &path(at), &ReadOptions::default());
    Write::Update(update.expect("a legal update"))
}

pub(super) fn uid(name: &str) -> Identity {
    let uid = Claim::Text(name.into());
    Identity::User(Arc::new(Claim::Object(BTreeMap::from([("uid".into(), uid)]))))
}

pub(super) fn rules(rules: &Value) -> Door {
    let text = serde_json::json!({ "rules": rules }).to_string();
    Door::Rules(Arc::new(Ruleset::compile(&text).expect("legal rules")))
}

/// A committer, and the tree that its commits have led to.
pub(super) struct Ledger {
    pub(super) committer: Committer,
    pub(super) tree: Snapshot,
    pub(super) commits: Vec<Commit>,
}

impl Ledger {
    pub(super) fn new(door: Door, data: &Value) -> Self {
        let tree = Snapshot::new(node(data));
        let committer = Committer::new(door, Revision::default(), tree.clone());
        Self { committer, tree, commits: Vec::new() }
    }

    /// Asks, and gives the verdict.
    pub(super) fn ask(&mut self, now_ms: i64, session: u64, identity: &Identity, act: Act) -> Verdict {
        let (session, identity) = (SessionId(session), identity.clone());
        let request = Request { session, ticket: Some(Ticket(1)), identity, act };
        let mut verdicts = self.committer.decide(now_ms, request);
        assert_eq!(verdicts.len(), 1, "nobody waits here");
        let verdict = verdicts.remove(0);
        if let Some(commit) = &verdict.commit {
            self.tree = self.tree.apply(&commit.change);
            self.commits.push(commit.clone());
        }
        verdict
    }

    /// The tree in export form.
    pub(super) fn data(&self) -> Value {
        naive::export(model_root(&self.tree).as_ref())
    }
}
