//! PUT, PATCH, POST and DELETE.

use super::answer::{Shown, Style};
use super::conditions::{Conditions, NULL_ETAG, Tag, etag_of};
use super::exchange::{Done, Exchange};
use super::incoming::{Arriving, BODY_BYTES_MAX, Begun, IMPORT_BYTES_MAX, Reading};
use super::read::{is_quick, leaf};
use super::refused::Refused;
use super::write_size::WriteSize;
use super::{Asked, Server, apart};
use crate::auth::CredentialError;
use crate::clock::now_ms;
use crate::connection::REQUEST_NODES_MAX;
use crate::log::WRITE_BYTES_MIN;
use crate::transport::Coming;
use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use hearth_engine::{Act, Identity, Refusal};
use hearth_tree::{
    Assigned, Assignment, DEPTH_MAX, Key, NODES_MAX, Node, Part, Path, Pending, Query, ReadOptions, Snapshot,
    Target, Write, read_priority, read_update, read_value,
};

/// A body that takes longer to read is read where nobody waits.
const BODY_BYTES_QUICK: usize = 64 * 1024;

/// A method that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Put,
    Patch,
    Post,
    Delete,
}

/// What is written, and what of it is told.
pub(super) struct Plan {
    pub(super) write: Write,
    pub(super) told: Told,
}

pub(super) enum Told {
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
    let size = WriteSize::parse(asked)?;
    let database = asked.database(server).await?;
    let limiter = server.databases.limiter();
    // What is refused anyway need not be received.
    let size = size.unwrap_or_else(|| WriteSize::by_default(database.published().governing.settings()));
    limiter.forecast(&asked.who(database), &asked.target.path)?;
    let mut body_bytes = 0;
    // The room is held until the request is answered: its tree is there as long.
    let (plan, write, _held) = match method {
        Method::Delete => {
            let write = nothing(&asked.target);
            (Plan { write: write.clone(), told: Told::Nothing }, write, None)
        }
        Method::Put | Method::Patch | Method::Post => {
            let arriving = Arriving::new(&asked.headers, body, body_bytes_max(asked, size))?;
            let mut arriving = arriving.counted_by(database.meters().clone());
            if asked.identity != Identity::Admin {
                arriving = arriving.within(server.databases.bodies().share(Coming::Body));
            }
            let begun = arriving.begin(WRITE_BYTES_MIN).await?;
            let child = match method {
                Method::Post => Some(server.databases.new_push_id(now_ms()).map_err(|error| {
                    Refused::new(StatusCode::INTERNAL_SERVER_ERROR, format!("no push id: {error}"))
                })?),
                Method::Put | Method::Patch | Method::Delete => None,
            };
            let target = asked.target.clone();
            let plan = match begun {
                Begun::Longer(begun) if target.part == Part::Value => {
                    let reading = match method {
                        Method::Patch => Reading::update(target.path),
                        Method::Put | Method::Post | Method::Delete => Reading::value(target, child)?,
                    };
                    let plan = arriving.plan(reading, begun, size).await?;
                    body_bytes = arriving.bytes();
                    plan
                }
                Begun::Longer(begun) => {
                    let body = arriving.whole(begun).await?;
                    arriving.make_room(&body)?;
                    body_bytes = body.len();
                    apart(move || plan(method, target, child, &body, size)).await?
                }
                Begun::Whole(body) => {
                    arriving.make_room(&body)?;
                    body_bytes = body.len();
                    let plan = move || plan(method, target, child, &body, size);
                    if body_bytes <= BODY_BYTES_QUICK { plan()? } else { apart(plan).await? }
                }
            };
            let write = plan.write.clone();
            (plan, write, arriving.into_share())
        }
    };
    // A body may have taken its time.
    if asked.expires_ms.is_some_and(|expires_ms| expires_ms <= now_ms()) {
        database.let_go((write, plan));
        return Err(Refused::unproven(&CredentialError::Expired));
    }
    let is_short = body_bytes <= BODY_BYTES_QUICK;
    if let Err(over) = limiter.write(&asked.who(database), &write) {
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
            let door = published.door().seen_by(Some(&**database.rule_watch()));
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

/// How long a body may be.
fn body_bytes_max(asked: &Asked, size: WriteSize) -> usize {
    let is_import = asked.identity == Identity::Admin && size == WriteSize::Unlimited;
    if is_import { IMPORT_BYTES_MAX } else { BODY_BYTES_MAX }
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
        let allow = "GET, HEAD, PUT, DELETE, OPTIONS";
        return Err(Refused::method(allow, format!("{what} is not supported")));
    }
    Ok(())
}

fn plan(
    method: Method,
    target: Target,
    child: Option<Key>,
    body: &[u8],
    size: WriteSize,
) -> Result<Plan, Refused> {
    if method == Method::Patch {
        // The command line tools delete like this.
        if body.trim_ascii() == b"null" {
            return Ok(Plan { write: nothing(&target), told: Told::Nothing });
        }
        let update = read_update(body, &target.path, &options(body, size));
        let update = update.map_err(|error| size.or_too_big(&error, Refused::of_update(&error)))?;
        return Ok(Plan { write: Write::Update(update), told: Told::Parts });
    }
    if target.part == Part::Priority {
        let priority = read_priority(body, &options(body, size));
        let priority = priority.map_err(|error| Refused::of_value(&error))?;
        let write = Write::Set(Assignment::priority(target.path, priority));
        return Ok(Plan { write, told: Told::Value });
    }
    let (at, told) = place_of(target, child)?;
    let options = ReadOptions { depth_max: DEPTH_MAX - at.keys().len(), ..options(body, size) };
    let value = read_value(body, &options);
    let value = value.map_err(|error| size.or_too_big(&error, Refused::of_value(&error)))?;
    let assignment =
        Assignment::value(at, value).map_err(|error| Refused::bad(format!("Invalid path: {error}")))?;
    Ok(Plan { write: Write::Set(assignment), told })
}

/// Where a value is written, and what is told of it: there, or as a child.
pub(super) fn place_of(target: Target, child: Option<Key>) -> Result<(Path, Told), Refused> {
    match child {
        None => Ok((target.path, Told::Value)),
        Some(key) => {
            let at = target.path.child(&key);
            let at = at.map_err(|error| Refused::bad(format!("Invalid path: {error}")))?;
            Ok((at, Told::Name(key)))
        }
    }
}

/// What a body may hold: as many nodes as a message over the socket, and more in one that is so long that it has 16 bytes
/// for each. So what a body makes of memory is bounded by its length, not by the longest that is taken.
pub(super) fn nodes_max(body_bytes: usize) -> usize {
    REQUEST_NODES_MAX.max(body_bytes / 16).min(NODES_MAX)
}

fn options(body: &[u8], size: WriteSize) -> ReadOptions {
    let nodes_max = nodes_max(body.len()).min(size.nodes_max(body.len()));
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
