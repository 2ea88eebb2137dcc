//! Streams of keys alone (`shallow`): which children a node has, not what is in them (rest reference 5.3).

use super::answer::Shown;
use super::changes::edits_of;
use super::event_text::EventText;
use super::events::{append_event, append_long};
use hearth_engine::Body;
use hearth_tree::{Change, Form, Key, Node, OverBound, Path, Snapshot, Top};
use std::collections::BTreeSet;

/// What a stream of keys has been told. Keeps the whole node, which it shares with the database.
#[derive(Default)]
pub(super) struct KeysTold {
    seen: Snapshot,
    has_begun: bool,
}

impl KeysTold {
    /// Appends the events of a piece of news for a stream at a place: keys that come and go, one by one, or the node
    /// where it is written whole or is no node with children.
    pub(super) fn append_news(
        &mut self,
        events: &mut EventText,
        at: &Path,
        body: &Body,
    ) -> Result<(), OverBound> {
        let edits = edits_of(body);
        let below = edits.iter().map(|edit| edit.at.strip(at).unwrap_or_default());
        let touched: BTreeSet<Option<Key>> = below.map(|below| below.keys().first().cloned()).collect();
        let change = Change::new(edits).expect("the parts of one body lie apart");
        let later = self.seen.apply(&change);
        let (before, after) = (self.seen.get(at), later.get(at));
        let [had, has] = [before, after].map(has_children);
        if !self.has_begun || touched.contains(&None) || !had || !has {
            // What lies below the children changes without anything to say.
            if !self.has_begun || before != after {
                append_long(events, "put", &[], keys_of(after))?;
            }
        } else {
            for key in touched.into_iter().flatten() {
                let [was, is] = [before, after].map(|node| node.and_then(|node| node.child(&key)).is_some());
                if was != is {
                    let shown = if is { Shown::True } else { Shown::Node(None) };
                    append_event(events.text(), "put", &[key], &shown, Form::REST)?;
                }
            }
        }
        self.has_begun = true;
        self.seen = later;
        Ok(())
    }
}

fn has_children(node: Option<&Node>) -> bool {
    node.is_some_and(|node| node.value().is_none())
}

/// A node as `shallow` shows it.
fn keys_of(node: Option<&Node>) -> Top {
    match node {
        Some(node) if has_children(Some(node)) => Top::Keys(node.clone(), 0..node.children().len()),
        Some(_) | None => Top::Node(node.cloned()),
    }
}
