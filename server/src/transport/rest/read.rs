//! GET and HEAD.

use super::answer::{Shown, Style, etag_header};
use super::conditions::{Conditions, etag_of};
use super::explain::{self, Notes, Step};
use super::query::{Wanted, wanted_of};
use super::refused::Refused;
use super::{Asked, Server, apart};
use crate::clock::now_ms;
use crate::database::{Database, Databases};
use crate::transport::REQUEST_ID;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hearth_engine::{Door, Published};
use hearth_tree::{Node, Part, Path, Priority, Query, Scalar, Snapshot, View};

pub(super) async fn answer(server: &Server, asked: &Asked) -> Result<Response, Refused> {
    let mut notes = if asked.explains { Notes::begin() } else { Notes::default() };
    let outcome = run(server, asked, &mut notes).await;
    if asked.explains { explain::answer(asked, notes, outcome) } else { outcome }
}

async fn run(server: &Server, asked: &Asked, notes: &mut Notes) -> Result<Response, Refused> {
    asked.conditions.refuse(asked.target.part == Part::Value, false, "this request")?;
    let wanted = wanted_of(&asked.params)?;
    let database = asked.database(server).await?;
    server.databases.limiter().read(&asked.who(database), &asked.target.path)?;
    let published = database.published();
    judge((&server.databases, database), &published, asked, &wanted, (Verdict::Last, notes))?;
    let (tree, at) = (published.tree.clone(), &asked.target.path);
    if asked.target.part == Part::Priority {
        let priority = tree.get(at).and_then(Node::priority);
        let shown = Shown::Node(priority.map(leaf));
        return Ok(asked.style.respond(StatusCode::OK, &shown, None));
    }
    if is_quick(tree.get(at)) {
        return Ok(respond(
            look(database, (&tree, at), &wanted, notes),
            &asked.conditions,
            &asked.style,
            notes,
        ));
    }
    let (at, conditions, style) = (at.clone(), asked.conditions.clone(), asked.style.clone());
    let (databases, asked_of) = (server.databases.clone(), database.clone());
    let (identity, peer, explains) = (asked.identity.clone(), asked.peer, asked.explains);
    let mut own_notes = std::mem::take(notes);
    let answer = apart(move || {
        let found = look(&asked_of, (&tree, &at), &wanted, &mut own_notes);
        let given = found.0.clone();
        let response = respond(found, &conditions, &style, &mut own_notes);
        // Not what has not changed, is only the keys of it, or is not given at all.
        if response.status() == StatusCode::OK
            && !wanted.shallow
            && !explains
            && let Some(node) = &given
            && databases.audit().given_node(&peer.who(&asked_of, &identity), &at, node)
        {
            asked_of.meters().bulk_reads.add(1);
        }
        Ok((response, own_notes))
    });
    let answer = answer.await;
    database.let_go_of_tree(published);
    let (response, noted) = answer?;
    *notes = noted;
    Ok(response)
}

/// What is spelled while others wait: so many nodes, or pieces of text of [`PIECE_BYTES`].
const QUICK: usize = 2_000;
const PIECE_BYTES: usize = 64;

/// Whether what is there can be spelled while others wait. O(what can).
pub(super) fn is_quick(node: Option<&Node>) -> bool {
    node.is_none_or(|node| is_at_most(node, &mut { QUICK }))
}

/// Whether a node and all below it is at most so much. O(`left`).
fn is_at_most(node: &Node, left: &mut usize) -> bool {
    let own = match node.value() {
        Some(Scalar::Text(text)) => 1 + text.as_str().len() / PIECE_BYTES,
        Some(Scalar::Bool(_) | Scalar::Number(_)) | None => 1,
    };
    match left.checked_sub(own) {
        Some(rest) => {
            *left = rest;
            node.children().iter().all(|(_, child)| is_at_most(child, left))
        }
        None => false,
    }
}

fn respond(
    (node, shown): (Option<Node>, Shown),
    conditions: &Conditions,
    style: &Style,
    notes: &mut Notes,
) -> Response {
    notes.start();
    let wants_tag = conditions.wants_tag || conditions.if_none_match.is_some();
    let etag = wants_tag.then(|| etag_of(node.as_ref()));
    if etag.is_some() && etag == conditions.if_none_match {
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        response.headers_mut().extend(etag_header(etag.as_deref()));
        return response;
    }
    let response = style.respond(StatusCode::OK, &shown, etag.as_deref());
    notes.end(Step::Spell);
    response
}

/// Whether rules are asked for the last time in a request, which then counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    First,
    Last,
}

/// Whether this may be read, and in this order. Permission first: a missing index says something of the rules.
pub(super) fn judge(
    (databases, database): (&Databases, &Database),
    published: &Published,
    asked: &Asked,
    wanted: &Wanted,
    (verdict, notes): (Verdict, &mut Notes),
) -> Result<(), Refused> {
    let (tree, door) = (&published.tree, published.door());
    let at = &asked.target.path;
    // Keys alone are judged as everything: they say what is there.
    let query = if wanted.shallow { &Query::EVERYTHING } else { &wanted.query };
    let explaining = notes.explaining(database.rule_watch());
    let watched = match &explaining {
        Some(explaining) => door.seen_by(Some(explaining)),
        None => door.seen_by(Some(&**database.rule_watch())),
    };
    notes.start();
    let judged = match verdict {
        Verdict::Last => watched.read(&asked.identity, now_ms(), tree, at, query),
        Verdict::First => watched.read_again(&asked.identity, now_ms(), tree, at, query),
    };
    notes.end(Step::Rules);
    notes.judged(explaining.as_ref(), door, at, wanted.is_ordered.then_some(&wanted.query));
    judged.map_err(|denied| {
        database.meters().denied_reads.add(1);
        Refused::denied(&denied)
    })?;
    match door {
        Door::Rules(rules) if wanted.is_ordered => match rules.missing_index(at, &wanted.query.order) {
            Some(missing) => {
                let id = asked.headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
                databases.unindexed().asked(database, &missing, id);
                Err(Refused::bad(missing.to_string()))
            }
            None => Ok(()),
        },
        Door::Rules(_) | Door::Open | Door::Closed => Ok(()),
    }
}

/// What of a place is wanted: as a node of its own, and as it is shown.
fn look(
    database: &Database,
    place: (&Snapshot, &Path),
    wanted: &Wanted,
    notes: &mut Notes,
) -> (Option<Node>, Shown) {
    notes.start();
    let found = find(database, place, wanted, notes);
    notes.end(Step::Find);
    found
}

fn find(
    database: &Database,
    (tree, at): (&Snapshot, &Path),
    wanted: &Wanted,
    notes: &mut Notes,
) -> (Option<Node>, Shown) {
    let node = tree.get(at);
    let has_children = node.is_some_and(|node| node.value().is_none());
    if !wanted.shallow && !wanted.is_ordered {
        notes.returned = node.map_or(0, |node| if has_children { node.children().len() } else { 1 });
        return (node.cloned(), Shown::Node(node.cloned()));
    }
    if wanted.shallow && !has_children {
        notes.returned = usize::from(node.is_some());
        return (node.cloned(), Shown::Node(node.cloned()));
    }
    let query = &wanted.query;
    let found = database.index_for(query, at, node);
    let index = found.as_ref().map(|found| &found.index);
    let view = View::new(query, node, index).expect("the index that it needs was found");
    (notes.sorted, notes.returned) = (found.as_ref().map_or(0, |found| found.sorted), view.len());
    if wanted.shallow {
        // By key, so that these are ranks of the children.
        let keys = node.map_or(Shown::Empty, |node| Shown::Keys(node.clone(), view.shown_ranks()));
        return (node.cloned(), keys);
    }
    match view.to_node() {
        Some(found) => (Some(found.clone()), Shown::Window(found)),
        None if has_children => (None, Shown::Empty),
        None => (None, Shown::Node(None)),
    }
}

/// A priority as a value.
pub(super) fn leaf(priority: &Priority) -> Node {
    Scalar::from(priority.clone()).into()
}
