//! PUT, PATCH, POST and DELETE.

use super::answer::{Shown, Style};
use super::conditions::{Conditions, NULL_ETAG, Tag, etag_of};
use super::exchange::{Done, Exchange};
use super::read::{is_quick, leaf};
use super::refused::Refused;
use super::{Asked, Server, apart};
use crate::clock::now_ms;
use crate::connection::REQUEST_NODES_MAX;
use crate::log::WRITE_BYTES_MIN;
use crate::study::Study;
use axum::body::Body;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use futures_util::StreamExt;
use hearth_engine::{Act, Refusal};
use hearth_tree::{
    Assigned, Assignment, DEPTH_MAX, Key, NODES_MAX, Node, Part, Path, Pending, Query, ReadOptions, Snapshot,
    Target, Write, read_priority, read_update, read_value,
};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Largest body (rest reference 7.5).
const BODY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// A body that takes longer to read is read where nobody waits.
const BODY_BYTES_QUICK: usize = 64 * 1024;
/// How long so much of a body may take: nobody holds a body in memory by adding a byte now and then.
const PART: Duration = Duration::from_secs(60);
const PART_BYTES: usize = 64 * 1024;

/// A method that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Put,
    Patch,
    Post,
    Delete,
}

/// What is written, and what of it is told.
struct Plan {
    write: Write,
    told: Told,
}

enum Told {
    /// What was written.
    Value,
    /// That nothing is there.
    Nothing,
    /// The name of the child.
    Name(Key),
    /// What was written, place by place.
    Parts,
}

pub(super) async fn answer(
    server: &Server,
    method: Method,
    asked: &Asked,
    body: Body,
) -> Result<Response, Refused> {
    check(method, asked)?;
    let database = server.databases.find(&asked.namespace).await?;
    let limiter = server.databases.limiter();
    // What is refused anyway need not be received.
    limiter.forecast(&asked.who(&database), &asked.target.path)?;
    let mut body_bytes = 0;
    let (plan, write) = match method {
        Method::Delete => {
            let write = nothing(&asked.target);
            (Plan { write: write.clone(), told: Told::Nothing }, write)
        }
        Method::Put | Method::Patch | Method::Post => {
            let body = read_body(&asked.headers, body).await?;
            let child = match method {
                Method::Post => Some(server.databases.new_push_id(now_ms()).map_err(|error| {
                    Refused::new(StatusCode::INTERNAL_SERVER_ERROR, format!("no push id: {error}"))
                })?),
                Method::Put | Method::Patch | Method::Delete => None,
            };
            let target = asked.target.clone();
            body_bytes = body.len();
            let plan = move || {
                let plan = plan(method, target, child, &body)?;
                let write = plan.write.clone();
                Ok((plan, write))
            };
            if body_bytes <= BODY_BYTES_QUICK { plan()? } else { apart(plan).await? }
        }
    };
    let is_short = body_bytes <= BODY_BYTES_QUICK;
    if let Err(over) = limiter.write(&asked.who(&database), &write) {
        database.let_go((write, plan));
        return Err(over.into());
    }
    let at = &asked.target.path;
    let published = database.published();
    let tree = &published.tree;
    // What is published stands for `*`: whoever changes it in between is not overwritten unseen.
    let expected = match asked.conditions.if_match {
        None => None,
        Some(Tag::Nothing) => Some(None),
        Some(Tag::Node(hash)) => Some(Some(hash)),
        Some(Tag::Anything) if tree.get(at).is_some() => Some(tree.hash(at)),
        // It does not hold; but who may not read learns nothing of what is there.
        Some(Tag::Anything | Tag::Foreign) => {
            let study = database.study();
            let door = published.door().seen_by(Study::onlooker(study.as_deref()));
            let judged = door.read_again(&asked.identity, now_ms(), tree, at, &Query::EVERYTHING);
            judged.map_err(|denied| {
                database.meters().denied_writes.add(1);
                Refused::denied(&denied)
            })?;
            return stale(asked, tree).await;
        }
    };
    database.let_go_of_tree(published);
    let (write, staged) =
        if body_bytes < WRITE_BYTES_MIN { (write, None) } else { database.stage(write).await? };
    let act = match expected {
        None => Act::Write(write),
        Some(hash) => {
            database.prepare_hash(at);
            Act::WriteIf { at: at.clone(), hash, write }
        }
    };
    let exchange = Exchange {
        database: database.clone(),
        session: server.databases.new_session(),
        identity: asked.identity.clone(),
        act,
        staged,
        watched: is_pending(&plan.write).then(|| at.clone()),
    };
    let outcome = match exchange.run().await? {
        Ok(Done { seen, .. }) => {
            let Asked { style, conditions, target, .. } = asked;
            if is_short {
                return Ok(done(style, conditions, &target.path, &plan, &seen));
            }
            // What was written, and what of it is not there any more, is dropped there, too.
            let (style, conditions, at) = (style.clone(), conditions.clone(), at.clone());
            return apart(move || Ok(done(&style, &conditions, &at, &plan, &seen))).await;
        }
        Err(Refusal::Stale { .. }) => stale(asked, &database.published().tree).await,
        Err(refusal) => {
            if matches!(refusal, Refusal::Denied(_)) {
                database.meters().denied_writes.add(1);
            }
            Err(Refused::of_write(&refusal))
        }
    };
    if !is_short {
        database.let_go(plan);
    }
    outcome
}

/// Refuses what cannot go together (rest reference 4.2).
fn check(method: Method, asked: &Asked) -> Result<(), Refused> {
    let is_node = asked.target.part == Part::Value;
    let (tags, if_match, name) = match method {
        Method::Put => (is_node, is_node, "PUT"),
        Method::Delete => (is_node, is_node, "DELETE"),
        Method::Post => (true, false, "POST"),
        Method::Patch => (false, false, "PATCH"),
    };
    let what = if is_node { name.to_owned() } else { format!("{name} of a priority") };
    asked.conditions.refuse(tags, if_match, &what)?;
    if !is_node && matches!(method, Method::Post | Method::Patch) {
        return Err(Refused::bad(format!("Invalid path: {what} is not supported")));
    }
    let sizes = ["tiny", "small", "medium", "large", "unlimited"];
    match asked.params.text("writeSizeLimit")? {
        Some(size) if !sizes.contains(&&*size) => {
            Err(Refused::bad("writeSizeLimit must be tiny, small, medium, large or unlimited"))
        }
        Some(_) | None => Ok(()),
    }
}

/// The whole body. Its type is passed over: clients send any.
pub(super) async fn read_body(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Refused> {
    let too_large = || {
        let text = format!("Payload is too large: a request may have {BODY_BYTES_MAX} bytes");
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| BODY_BYTES_MAX < length) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let mut pieces = body.into_data_stream();
    let (mut until, mut enough) = (Instant::now() + PART, PART_BYTES);
    loop {
        let piece = timeout_at(until, pieces.next()).await;
        let piece = piece
            .map_err(|_| Refused::new(StatusCode::REQUEST_TIMEOUT, "the rest of the request did not come"))?;
        match piece {
            None if bytes.is_empty() => return Err(Refused::bad("Error: No data supplied.")),
            None => return Ok(bytes),
            Some(piece) => {
                let piece = piece.map_err(|error| Refused::bad(error.to_string()))?;
                if BODY_BYTES_MAX < bytes.len() + piece.len() {
                    return Err(too_large());
                }
                bytes.extend_from_slice(&piece);
                if enough <= bytes.len() {
                    (until, enough) = (Instant::now() + PART, bytes.len() + PART_BYTES);
                }
            }
        }
    }
}

fn plan(method: Method, target: Target, child: Option<Key>, body: &[u8]) -> Result<Plan, Refused> {
    if method == Method::Patch {
        // The command line tools delete like this.
        if body.trim_ascii() == b"null" {
            return Ok(Plan { write: nothing(&target), told: Told::Nothing });
        }
        let update = read_update(body, &target.path, &options(body));
        let update = update.map_err(|error| Refused::of_update(&error))?;
        return Ok(Plan { write: Write::Update(update), told: Told::Parts });
    }
    if target.part == Part::Priority {
        let priority = read_priority(body, &options(body));
        let priority = priority.map_err(|error| Refused::of_value(&error))?;
        let write = Write::Set(Assignment::priority(target.path, priority));
        return Ok(Plan { write, told: Told::Value });
    }
    let too_deep = |text: String| Refused::bad(format!("Invalid path: {text}"));
    let (at, told) = match child {
        Some(key) => {
            let at = target.path.child(&key).map_err(|error| too_deep(error.to_string()))?;
            (at, Told::Name(key))
        }
        None => (target.path, Told::Value),
    };
    let options = ReadOptions { depth_max: DEPTH_MAX - at.keys().len(), ..options(body) };
    let value = read_value(body, &options).map_err(|error| Refused::of_value(&error))?;
    let assignment = Assignment::value(at, value).map_err(|error| too_deep(error.to_string()))?;
    Ok(Plan { write: Write::Set(assignment), told })
}

/// What a body may hold: as many nodes as a message over the socket, and more in one that is so long that it has 16 bytes
/// for each. So what a body makes of memory is bounded by its length, not by the longest that is taken.
fn options(body: &[u8]) -> ReadOptions {
    let nodes_max = REQUEST_NODES_MAX.max(body.len() / 16).min(NODES_MAX);
    ReadOptions { nodes_max, ..ReadOptions::default() }
}

/// The write that leaves nothing at a place.
fn nothing(target: &Target) -> Write {
    let at = target.path.clone();
    Write::Set(match target.part {
        Part::Value => Assignment::value(at, None).expect("nothing is not too deep"),
        Part::Priority => Assignment::priority(at, None),
    })
}

/// Whether it depends on the server what will be written.
fn is_pending(write: &Write) -> bool {
    write.assignments().iter().any(|assignment| match assignment.to() {
        Assigned::Value(draft) => draft.as_ref().is_some_and(|draft| draft.as_node().is_none()),
        Assigned::Priority(priority) => matches!(priority, Some(Pending::Server(_))),
    })
}

/// What was written at a place. `seen` is what was there afterwards, where it depended on the server.
fn written(assignment: &Assignment, seen: &Snapshot) -> Option<Node> {
    let seen = || seen.get(assignment.at());
    match assignment.to() {
        Assigned::Value(None) | Assigned::Priority(None) => None,
        Assigned::Value(Some(draft)) => draft.as_node().or_else(seen).cloned(),
        Assigned::Priority(Some(Pending::Known(priority))) => Some(leaf(priority)),
        Assigned::Priority(Some(Pending::Server(_))) => seen().and_then(Node::priority).map(leaf),
    }
}

fn done(style: &Style, conditions: &Conditions, at: &Path, plan: &Plan, seen: &Snapshot) -> Response {
    let assignments = plan.write.assignments();
    let first = assignments.first().and_then(|assignment| written(assignment, seen));
    let etag = match plan.told {
        _ if !conditions.wants_tag => None,
        Told::Value | Told::Name(_) => Some(etag_of(first.as_ref())),
        Told::Nothing => Some(NULL_ETAG.into()),
        Told::Parts => None,
    };
    let shown = match &plan.told {
        Told::Value => Shown::Node(first),
        Told::Nothing => Shown::Node(None),
        Told::Name(key) => Shown::Name(key.clone()),
        Told::Parts => {
            let part = |each: &Assignment| (name_of(each, at), written(each, seen));
            Shown::Parts(assignments.iter().map(part).collect())
        }
    };
    style.respond(StatusCode::OK, &shown, etag.as_deref())
}

/// The key by which an update names a place.
fn name_of(assignment: &Assignment, at: &Path) -> String {
    let below = assignment.at().strip(at).unwrap_or_default();
    match assignment.part() {
        Part::Value => below.to_string(),
        Part::Priority if below.is_here() => ".priority".into(),
        Part::Priority => format!("{below}/.priority"),
    }
}

/// The condition does not hold: what is there, for the client to try again (rest reference 4.2).
async fn stale(asked: &Asked, tree: &Snapshot) -> Result<Response, Refused> {
    let (node, style) = (tree.get(&asked.target.path).cloned(), asked.style.clone());
    let is_quick = is_quick(node.as_ref());
    let respond = move || {
        let etag = etag_of(node.as_ref());
        Ok(style.respond(StatusCode::PRECONDITION_FAILED, &Shown::Node(node), Some(&etag)))
    };
    if is_quick { respond() } else { apart(respond).await }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;
    use futures_util::stream;
    use std::convert::Infallible;
    use tokio::time::sleep;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_is_given_up() {
        for (piece_bytes, pause_s, expected) in [
            (1, 5, None),
            (1, 7, Some(StatusCode::REQUEST_TIMEOUT)),
            (1, 61, Some(StatusCode::REQUEST_TIMEOUT)),
            (PART_BYTES, 59, None),
            (PART_BYTES / 2, 29, None),
            (PART_BYTES / 2, 31, Some(StatusCode::REQUEST_TIMEOUT)),
        ] {
            let pieces = stream::iter(0..10).then(move |_| async move {
                sleep(Duration::from_secs(pause_s)).await;
                Ok::<_, Infallible>(Bytes::from(vec![b'1'; piece_bytes]))
            });
            let read = read_body(&HeaderMap::new(), Body::from_stream(pieces)).await;
            let found = read.err().map(|refused| refused.status);
            assert_eq!(found, expected, "{piece_bytes} bytes every {pause_s} s");
        }
    }
}
