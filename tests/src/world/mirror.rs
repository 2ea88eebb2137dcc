//! What a client shows of what it listens to, made of nothing but what it was sent.

use crate::naive::{self, Node, Query};
use crate::twin::{model_node, model_priority};
use hearth_engine::{Body, Content, Ticket};
use hearth_tree::{Path, To};
use std::fmt;

/// One listener of a client.
#[derive(Clone)]
pub(super) struct Mirror {
    /// Where it listens.
    pub at: Vec<String>,
    /// To what.
    pub query: Query,
    /// Whether a listen has been answered; before that it may show anything.
    pub is_answered: bool,
    /// The listens that have not been answered.
    pub asked_by: Vec<Ticket>,
    /// What it shows.
    pub shown: Option<Node>,
    /// What it would show if it took the parts of every push in the opposite order.
    pub shown_reversed: Option<Node>,
}

impl fmt::Debug for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, query, shown, .. } = self;
        write!(f, "/{} {}", at.join("/"), naive::export(shown.as_ref()))?;
        if query.loads_all_data() { Ok(()) } else { write!(f, " of {query:?}") }
    }
}

impl Mirror {
    /// A listener that shows what its client has from before.
    pub(super) fn new(at: &str, query: Query, had: Option<Node>, ticket: Ticket) -> Self {
        Self {
            at: naive::split(at),
            query,
            is_answered: false,
            asked_by: vec![ticket],
            shown: had.clone(),
            shown_reversed: had,
        }
    }

    /// Takes a push, as the JavaScript client does: what it says above, at and below this place counts here.
    pub(super) fn apply(&mut self, body: &Body) {
        let at = keys(body.at.keys());
        match &body.content {
            Content::Put(node) => self.apply_both(&at, &To::Node(node.clone())),
            Content::PutOver(node, _) => self.apply_both(&at, &To::Node(Some(node.clone()))),
            Content::Priority(priority) => self.apply_both(&at, &To::Priority(priority.clone())),
            Content::Merge(parts) => {
                let parts: Vec<(Vec<String>, &To)> =
                    parts.iter().map(|(below, to)| ([&at[..], &keys(below.keys())].concat(), to)).collect();
                let one_by_one = |shown: Option<Node>, own: &[String], part: &(Vec<String>, &To)| {
                    applied(shown, own, &part.0, part.1)
                };
                let (shown, reversed) = (self.shown.take(), self.shown_reversed.take());
                self.shown = parts.iter().fold(shown, |shown, part| one_by_one(shown, &self.at, part));
                self.shown_reversed =
                    parts.iter().rev().fold(reversed, |shown, part| one_by_one(shown, &self.at, part));
            }
        }
    }

    fn apply_both(&mut self, at: &[String], to: &To) {
        self.shown = applied(self.shown.take(), &self.at, at, to);
        self.shown_reversed = applied(self.shown_reversed.take(), &self.at, at, to);
    }
}

/// What a listener at `own` shows when `at` becomes something else.
fn applied(shown: Option<Node>, own: &[String], at: &[String], to: &To) -> Option<Node> {
    match (at.strip_prefix(own), own.strip_prefix(at), to) {
        (Some(below), _, To::Node(node)) => Node::with(shown, below, node.as_ref().map(model_node)),
        (Some(below), _, To::Priority(priority)) => {
            Node::with_priority(shown, below, priority.as_ref().map(model_priority))
        }
        (None, Some(above), To::Node(node)) => {
            node.as_ref().and_then(|node| model_node(node).get(above).cloned())
        }
        (None, _, _) => shown,
    }
}

fn keys(keys: &[hearth_tree::Key]) -> Vec<String> {
    keys.iter().map(|key| key.as_str().into()).collect()
}

/// The keys of a path of the tree.
pub(super) fn model_keys(path: &Path) -> Vec<String> {
    keys(path.keys())
}
