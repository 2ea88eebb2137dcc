//! GET and HEAD.

use super::answer::Shown;
use super::conditions::etag_of;
use super::query::{Wanted, wanted_of};
use super::refused::Refused;
use super::{Asked, Server};
use crate::clock::now_ms;
use crate::database::Database;
use axum::http::StatusCode;
use axum::response::Response;
use hearth_engine::Door;
use hearth_tree::{Index, Node, Part, Path, Priority, Query, Scalar, Snapshot, View};

pub(super) async fn answer(server: &Server, asked: &Asked) -> Result<Response, Refused> {
    asked.conditions.refuse(asked.target.part == Part::Value, false, "this request")?;
    let wanted = wanted_of(&asked.params)?;
    let database = server.databases.find(&asked.namespace).await?;
    let tree = database.published().tree.clone();
    let at = &asked.target.path;
    judge(&database, asked, &tree, &wanted)?;
    if asked.target.part == Part::Priority {
        let priority = tree.get(at).and_then(Node::priority);
        let shown = Shown::Node(priority.map(leaf));
        return Ok(asked.style.respond(StatusCode::OK, &shown, None));
    }
    let (node, shown) = look(&tree, at, &wanted);
    let conditions = &asked.conditions;
    let wants_tag = conditions.wants_tag || conditions.if_none_match.is_some();
    let etag = wants_tag.then(|| etag_of(node.as_ref()));
    let is_known = etag.is_some() && etag == conditions.if_none_match;
    let status = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    if is_known {
        let mut response = asked.style.respond(status, &Shown::Empty, etag.as_deref());
        *response.body_mut() = axum::body::Body::empty();
        return Ok(response);
    }
    Ok(asked.style.respond(status, &shown, etag.as_deref()))
}

/// Whether this may be read, and in this order. Permission first: a missing index says something of the rules.
pub(super) fn judge(
    database: &Database,
    asked: &Asked,
    tree: &Snapshot,
    wanted: &Wanted,
) -> Result<(), Refused> {
    let at = &asked.target.path;
    // Keys alone are judged as everything: they say what is there.
    let query = if wanted.shallow { &Query::EVERYTHING } else { &wanted.query };
    let judged = database.door().read(&asked.identity, now_ms(), tree, at, query);
    judged.map_err(|denied| Refused::denied(&denied))?;
    match database.door() {
        Door::Rules(rules) if wanted.is_ordered => match rules.missing_index(at, &wanted.query.order) {
            Some(missing) => Err(Refused::bad(missing.to_string())),
            None => Ok(()),
        },
        Door::Rules(_) | Door::Open | Door::Closed => Ok(()),
    }
}

/// What of a place is wanted: as a node of its own, and as it is shown.
fn look(tree: &Snapshot, at: &Path, wanted: &Wanted) -> (Option<Node>, Shown) {
    let node = tree.get(at);
    if !wanted.shallow && !wanted.is_ordered {
        return (node.cloned(), Shown::Node(node.cloned()));
    }
    let has_children = node.is_some_and(|node| node.value().is_none());
    if wanted.shallow && !has_children {
        return (node.cloned(), Shown::Node(node.cloned()));
    }
    let query = &wanted.query;
    let index = query.index_for(node).map(|by| Index::build(by, node));
    let view = View::new(query, node, index.as_ref()).expect("the index that it needs was built");
    if wanted.shallow {
        let keys = view.iter().map(|(key, _)| key.clone()).collect();
        return (node.cloned(), Shown::Keys(keys));
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
