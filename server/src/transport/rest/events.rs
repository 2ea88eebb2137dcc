//! News as events of a stream (rest reference 5.2, 5.3).

use super::answer::Shown;
use super::changes::edits_of;
use super::event_text::EventText;
use hearth_engine::Body;
use hearth_tree::{
    BoundedText, Compact, Edit, Form, Json, Key, Node, OverBound, Path, RelativePath, To, Top,
};

/// Sent when nothing else was for a while.
pub(super) const KEEP_ALIVE: &str = "event: keep-alive\ndata: null\n\n";
/// The last event of a stream that may no longer be read. The reason stands in a comment: old clients want null.
pub(super) const CANCEL: &str = ": Permission denied\nevent: cancel\ndata: null\n\n";
/// The same where an event would be longer than an event may be.
pub(super) const CANCEL_TOO_LONG: &str = ": The specified payload is too large, please request a location with less data.\nevent: cancel\ndata: null\n\n";
/// The last event of a stream whose client's credential has expired. Bare text: clients compare it (rest reference 5.2).
pub(super) const AUTH_REVOKED: &str = "event: auth_revoked\ndata: credential is no longer valid\n\n";

/// Lets the last of some events, of which this is the end, carry an id. Not the others: whoever is cut between them has not seen all that the
/// id says.
pub(super) fn add_id(events: &mut Vec<u8>, id: &str) {
    // The empty line that ends the last event.
    events.pop();
    events.extend(format!("id: {id}\n\n").into_bytes());
}

/// Appends the events of a piece of news for a stream at a place. Priorities do not show. What is changed together at
/// several children of one node is one `patch`, unless the stream is a query's, whose children come and go one by one.
pub(super) fn append_news(
    events: &mut EventText,
    at: &Path,
    body: &Body,
    is_query: bool,
) -> Result<(), OverBound> {
    let parts: Vec<(RelativePath, Option<Node>)> = edits_of(body)
        .into_iter()
        .filter_map(|Edit { at: edited, to }| match to {
            To::Node(node) => Some((edited.strip(at)?, node)),
            To::Priority(_) => None,
        })
        .collect();
    let is_heavy = body.is_heavy();
    match parent_of_all(&parts).filter(|_| 1 < parts.len() && !is_query) {
        Some(parent) if is_heavy => {
            let member =
                |(below, node): &(RelativePath, Option<Node>)| (last_key(below).to_owned(), node.clone());
            append_long(events, "patch", parent, Top::Members(parts.iter().map(member).collect()))
        }
        Some(parent) => append_patch(events.text(), parent, &parts),
        None if is_heavy => parts
            .into_iter()
            .try_for_each(|(below, node)| append_long(events, "put", below.keys(), Top::Node(node))),
        None => parts.iter().try_for_each(|(below, node)| append_put(events.text(), below, node.as_ref())),
    }
}

/// Appends an event that may be long.
pub(super) fn append_long(
    events: &mut EventText,
    event: &str,
    at: &[Key],
    top: Top,
) -> Result<(), OverBound> {
    append_head(events.text(), event, at)?;
    events.append_long(top)?;
    events.text().append(b"}\n\n")
}

fn last_key(below: &RelativePath) -> &str {
    below.keys().last().map_or("", Key::as_str)
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

fn append_put(text: &mut BoundedText, below: &RelativePath, node: Option<&Node>) -> Result<(), OverBound> {
    append_event(text, "put", below.keys(), &Shown::Node(node.cloned()), Form::REST)
}

/// Appends an event with something that can be shown.
pub(super) fn append_event(
    text: &mut BoundedText,
    event: &str,
    at: &[Key],
    shown: &Shown,
    form: Form,
) -> Result<(), OverBound> {
    append_head(text, event, at)?;
    shown.append_to(text, form, false)?;
    text.append(b"}\n\n")
}

fn append_patch(
    text: &mut BoundedText,
    parent: &[Key],
    parts: &[(RelativePath, Option<Node>)],
) -> Result<(), OverBound> {
    append_head(text, "patch", parent)?;
    for (number, (below, node)) in parts.iter().enumerate() {
        text.append(if number == 0 { b"{" } else { b"," })?;
        append_text(text, last_key(below))?;
        text.append(b":")?;
        text.append_json(&Json::new(node.as_ref(), Form::REST), Compact)?;
    }
    text.append(b"}}\n\n")
}

fn append_head(text: &mut BoundedText, event: &str, at: &[Key]) -> Result<(), OverBound> {
    let at: Path = at.iter().cloned().collect();
    text.append(format!("event: {event}\ndata: {{\"path\":").as_bytes())?;
    append_text(text, &at.to_string())?;
    text.append(b",\"data\":")
}

fn append_text(text: &mut BoundedText, value: &str) -> Result<(), OverBound> {
    text.append_json(value, Compact)
}
