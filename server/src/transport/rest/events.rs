//! News as events of a stream (rest reference 5.2, 5.3).

use super::answer::Shown;
use super::changes::edits_of;
use hearth_engine::Body;
use hearth_tree::{Edit, Form, Json, Key, Node, Path, RelativePath, To};

/// Sent when nothing else was for a while.
pub(super) const KEEP_ALIVE: &str = "event: keep-alive\ndata: null\n\n";
/// The last event of a stream that may no longer be read. The reason stands in a comment: old clients want null.
pub(super) const CANCEL: &str = ": Permission denied\nevent: cancel\ndata: null\n\n";

/// Appends the events of a piece of news for a stream at a place. Priorities do not show. What is changed together at
/// several children of one node is one `patch`, unless the stream is a query's, whose children come and go one by one.
pub(super) fn append_news(text: &mut Vec<u8>, at: &Path, body: &Body, is_query: bool) {
    let parts: Vec<(RelativePath, Option<Node>)> = edits_of(body)
        .into_iter()
        .filter_map(|Edit { at: edited, to }| match to {
            To::Node(node) => Some((edited.strip(at)?, node)),
            To::Priority(_) => None,
        })
        .collect();
    match parent_of_all(&parts).filter(|_| 1 < parts.len() && !is_query) {
        Some(parent) => append_patch(text, parent, &parts),
        None => parts.iter().for_each(|(below, node)| append_put(text, below, node.as_ref())),
    }
}

/// The node whose children all parts are, if there is one.
fn parent_of_all(parts: &[(RelativePath, Option<Node>)]) -> Option<&[Key]> {
    let parent = |(below, _): &'_ (RelativePath, _)| below.keys().len().checked_sub(1);
    let first = parts.first()?;
    let keys = &first.0.keys()[..parent(first)?];
    parts
        .iter()
        .all(|part| parent(part) == Some(keys.len()) && part.0.keys().starts_with(keys))
        .then_some(keys)
}

fn append_put(text: &mut Vec<u8>, below: &RelativePath, node: Option<&Node>) {
    append_event(text, "put", below.keys(), &Shown::Node(node.cloned()), Form::REST);
}

/// Appends an event with something that can be shown.
pub(super) fn append_event(text: &mut Vec<u8>, event: &str, at: &[Key], shown: &Shown, form: Form) {
    append_head(text, event, at);
    shown.append_to(text, form, false);
    text.extend_from_slice(b"}\n\n");
}

fn append_patch(text: &mut Vec<u8>, parent: &[Key], parts: &[(RelativePath, Option<Node>)]) {
    append_head(text, "patch", parent);
    for (number, (below, node)) in parts.iter().enumerate() {
        text.push(if number == 0 { b'{' } else { b',' });
        append_text(text, below.keys().last().map_or("", Key::as_str));
        text.push(b':');
        Json::new(node.as_ref(), Form::REST).append_to(text);
    }
    text.extend_from_slice(b"}}\n\n");
}

fn append_head(text: &mut Vec<u8>, event: &str, at: &[Key]) {
    let at: Path = at.iter().cloned().collect();
    text.extend_from_slice(format!("event: {event}\ndata: {{\"path\":").as_bytes());
    append_text(text, &at.to_string());
    text.extend_from_slice(b",\"data\":");
}

fn append_text(text: &mut Vec<u8>, value: &str) {
    serde_json::to_writer(text, value).expect("a vector takes all bytes");
}
