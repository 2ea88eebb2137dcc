//! What a piece of news changes, place by place.

use hearth_engine::{Body, Content};
use hearth_tree::{Edit, To};

/// The edits of a body, none at or above another.
pub(super) fn edits_of(body: &Body) -> Vec<Edit> {
    let at = || body.at.clone();
    match &body.content {
        Content::PutOver(node, _) => vec![Edit { at: at(), to: To::Node(Some(node.clone())) }],
        Content::Put(node) => vec![Edit { at: at(), to: To::Node(node.clone()) }],
        Content::Priority(priority) => vec![Edit { at: at(), to: To::Priority(priority.clone()) }],
        Content::Merge(parts) => parts
            .iter()
            .map(|(below, to)| {
                let at = body.at.keys().iter().chain(below.keys()).cloned().collect();
                Edit { at, to: to.clone() }
            })
            .collect(),
    }
}
