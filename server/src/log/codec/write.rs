//! Armed writes as bytes: they may hold server values, which are filled in when they are made.

use super::DecodeError;
use super::bytes::{Source, put_count};
use super::change::{put_path, take_path};
use super::node::{
    put_key, put_node_in_pieces, put_number, put_priority, put_scalar, take_children, take_node, take_number,
    take_priority, take_scalar,
};
use hearth_tree::{
    Assigned, Assignment, DEPTH_MAX, Draft, Pending, Priority, ServerValue, Shape, Update, Write,
};
use std::convert::Infallible;

const NONE: u8 = 1;
const KNOWN: u8 = 2;
const TIMESTAMP: u8 = 3;
const INCREMENT: u8 = 4;

const RESOLVED: u8 = 1;
const LEAF: u8 = 2;
const INNER: u8 = 3;

const DELETE: u8 = 1;
const VALUE: u8 = 2;
const PRIORITY: u8 = 3;

const SET: u8 = 1;
const UPDATE: u8 = 2;

fn put_pending<T>(into: &mut Vec<u8>, pending: &Pending<T>, put: fn(&mut Vec<u8>, &T)) {
    match pending {
        Pending::Known(known) => {
            into.push(KNOWN);
            put(into, known);
        }
        Pending::Server(ServerValue::Timestamp) => into.push(TIMESTAMP),
        Pending::Server(ServerValue::Increment(delta)) => {
            into.push(INCREMENT);
            put_number(into, *delta);
        }
    }
}

fn take_pending<T>(
    source: &mut Source<'_>,
    take: fn(&mut Source<'_>) -> Result<T, DecodeError>,
) -> Result<Option<Pending<T>>, DecodeError> {
    Ok(Some(match source.byte("a value to fill in")? {
        NONE => return Ok(None),
        KNOWN => Pending::Known(take(source)?),
        TIMESTAMP => Pending::Server(ServerValue::Timestamp),
        INCREMENT => Pending::Server(ServerValue::Increment(take_number(source)?)),
        byte => return Err(DecodeError::Kind { what: "a value to fill in", byte }),
    }))
}

fn put_pending_priority(into: &mut Vec<u8>, priority: Option<&Pending<Priority>>) {
    match priority {
        None => into.push(NONE),
        Some(priority) => put_pending(into, priority, put_priority),
    }
}

fn put_draft<E>(
    into: &mut Vec<u8>,
    draft: &Draft,
    take: &mut impl FnMut(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    take(into)?;
    match draft.shape() {
        Shape::Resolved(node) => {
            into.push(RESOLVED);
            put_node_in_pieces(into, node, take)?;
        }
        Shape::Leaf { value, priority } => {
            into.push(LEAF);
            put_pending_priority(into, priority.as_ref());
            put_pending(into, value, put_scalar);
        }
        Shape::Inner { children, priority } => {
            into.push(INNER);
            put_pending_priority(into, priority.as_ref());
            put_count(into, children.len());
            for (key, child) in children {
                put_key(into, key);
                put_draft(into, child, take)?;
            }
        }
    }
    Ok(())
}

/// A draft that reaches at most so many keys down.
fn take_draft(source: &mut Source<'_>, levels: usize) -> Result<Draft, DecodeError> {
    match source.byte("a draft")? {
        RESOLVED => take_node(source, levels).map(Draft::from),
        LEAF => {
            let priority = take_pending(source, take_priority)?;
            let value = take_pending(source, take_scalar)?.ok_or(DecodeError::Empty)?;
            Ok(Draft::leaf(value, priority))
        }
        INNER => {
            let priority = take_pending(source, take_priority)?;
            let children = take_children(source, levels, take_draft)?;
            Draft::object(children, priority).ok_or(DecodeError::Empty)
        }
        byte => Err(DecodeError::Kind { what: "a draft", byte }),
    }
}

fn put_assignment<E>(
    into: &mut Vec<u8>,
    assignment: &Assignment,
    take: &mut impl FnMut(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    take(into)?;
    put_path(into, assignment.at());
    match assignment.to() {
        Assigned::Value(None) => into.push(DELETE),
        Assigned::Value(Some(draft)) => {
            into.push(VALUE);
            put_draft(into, draft, take)?;
        }
        Assigned::Priority(priority) => {
            into.push(PRIORITY);
            put_pending_priority(into, priority.as_ref());
        }
    }
    Ok(())
}

fn take_assignment(source: &mut Source<'_>) -> Result<Assignment, DecodeError> {
    let at = take_path(source)?;
    let value = match source.byte("an assignment")? {
        DELETE => None,
        VALUE => Some(take_draft(source, DEPTH_MAX - at.keys().len())?),
        PRIORITY => return Ok(Assignment::priority(at, take_pending(source, take_priority)?)),
        byte => return Err(DecodeError::Kind { what: "an assignment", byte }),
    };
    Ok(Assignment::value(at, value)?)
}

/// O(size).
pub(crate) fn put_write(into: &mut Vec<u8>, write: &Write) {
    let Ok(()) = put_write_in_pieces::<Infallible>(into, write, &mut |_| Ok(()));
}

/// As [`put_write`], but whenever a node or a place is put, `take` may take of the bytes what it wants before. O(size).
///
/// # Errors
/// Those of `take`.
pub(crate) fn put_write_in_pieces<E>(
    into: &mut Vec<u8>,
    write: &Write,
    take: &mut impl FnMut(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    match write {
        Write::Set(assignment) => {
            into.push(SET);
            put_assignment(into, assignment, take)
        }
        Write::Update(update) => {
            into.push(UPDATE);
            put_path(into, update.at());
            put_count(into, update.assignments().len());
            update.assignments().iter().try_for_each(|assignment| put_assignment(into, assignment, take))
        }
    }
}

pub(crate) fn take_write(source: &mut Source<'_>) -> Result<Write, DecodeError> {
    match source.byte("a write")? {
        SET => take_assignment(source).map(Write::Set),
        UPDATE => {
            let at = take_path(source)?;
            let count = source.count("the number of assignments")?;
            let assignments = (0..count).map(|_| take_assignment(source)).collect::<Result<_, _>>()?;
            Ok(Write::Update(Update::new(at, assignments)?))
        }
        byte => Err(DecodeError::Kind { what: "a write", byte }),
    }
}
