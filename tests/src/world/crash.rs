//! The end of a process, and what the next one makes of what is on the disk.

use super::World;
use super::disk::Thing;
use super::law::Law;
use super::outbox::Boxes;
use crate::naive;
use crate::twin::{model_node, model_priority, model_root};
use hearth_engine::{
    Act, Commit, Committer, Identity, LogStep, Published, Publisher, Request, Revision, SessionId,
};
use hearth_tree::{Snapshot, To};

impl World {
    /// Everything but the disk is lost. Of what was on its way there, a part may have arrived.
    pub(super) fn crash(&mut self) {
        self.counts.crashes += 1;
        if self.log.stopped().is_none() {
            let on_the_way: Vec<Thing> = self.decided.iter().filter_map(Thing::of).collect();
            let arrived = self.dice.below(on_the_way.len() + 1);
            self.disk.keep(on_the_way.into_iter().take(arrived));
        }
        self.disk.mend();
        self.decided.clear();
        self.laws_under_way.clear();
        // What was stored stands, and what was the default is for whoever starts the server to say.
        let own = self.disk.rules().pop().and_then(|own| own.text);
        self.laws.own = own.map(|text| Law::of_text(&text));
        self.counts.restored += usize::from(self.laws.own.is_some());
        self.shown_laws = self.laws.clone();
        self.durable.clear();
        self.clients.clear();
        self.asked.clear();
        self.owed.clear();
        self.boxes = Boxes::default();
        self.history.cut(self.disk.len());
        self.start();
    }

    fn start(&mut self) {
        let door = self.laws.default.door();
        self.committer = Committer::new(door, Revision::default(), Snapshot::default());
        let mut newest = Revision::default();
        for thing in self.disk.things() {
            match thing {
                Thing::Commit(commit) => {
                    assert_eq!(commit.revision, newest.next(), "the log has a gap");
                    newest = commit.revision;
                    self.committer.replay(&commit);
                }
                Thing::Rules(own) => self.committer.replay_rules(own),
            }
        }
        self.committer.understand_rules().expect("what was stored was understood");
        let (tree, governing) = (self.committer.tree().clone(), self.committer.governing().clone());
        assert_eq!(governing.own().version, self.disk.rules().len() as u64, "versions count");
        let published = Published { revision: newest, tree, governing };
        assert_eq!(model_root(&published.tree), self.history.now().root, "what the log holds");
        self.log = LogStep::new(self.disk.clone());
        self.tree = published.tree.clone();
        self.publisher = Publisher::new(published);
        let gone: Vec<SessionId> = self.committer.armed_sessions().collect();
        for session in gone {
            let request = Request { session, ticket: None, identity: Identity::nobody(), act: Act::End };
            let verdicts = self.committer.decide(self.now_ms, request);
            self.judge_verdicts(verdicts);
        }
        while !self.decided.is_empty() {
            self.keep();
            self.publish();
        }
        assert_eq!(
            self.committer.armed_sessions().next(),
            None,
            "what was armed is made before anybody is served"
        );
        (0..3).for_each(|_| self.connect());
    }
}

/// The tree of the model after what a commit says.
pub(super) fn replayed(mut tree: naive::Tree, commit: &Commit) -> naive::Tree {
    let (priorities, nodes): (Vec<_>, Vec<_>) =
        commit.change.edits().iter().partition(|edit| matches!(edit.to, To::Priority(_)));
    for edit in nodes.into_iter().chain(priorities) {
        let keys = super::mirror::model_keys(&edit.at);
        tree.root = match &edit.to {
            To::Node(node) => {
                let node = node.as_ref().map(model_node);
                naive::Node::with(tree.root, &keys, node)
            }
            To::Priority(priority) => {
                let value = priority.as_ref().map(model_priority);
                naive::Node::with_priority(tree.root, &keys, value)
            }
        };
    }
    tree
}
