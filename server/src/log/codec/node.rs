//! Values, priorities and nodes as bytes.

use super::DecodeError;
use super::bytes::{Source, put_count, put_integer, put_text};
use hearth_tree::{Key, Node, Number, Priority, Scalar, Text};
use std::convert::Infallible;

const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INTEGER: u8 = 3;
const DOUBLE: u8 = 4;
const TEXT: u8 = 5;
const INNER: u8 = 6;
/// The node stands in a file beside the log: where there, and how long it is. Only read: up to version 2, what was large stood
/// there by the node.
const STAGED: u8 = 7;
/// Beside the kind of a node: its priority comes first.
const PRIORITIZED: u8 = 0x10;

pub(super) fn put_number(into: &mut Vec<u8>, number: Number) {
    into.push(kind_of_number(number));
    put_number_body(into, number);
}

const fn kind_of_number(number: Number) -> u8 {
    if number.as_i64().is_some() { INTEGER } else { DOUBLE }
}

fn put_number_body(into: &mut Vec<u8>, number: Number) {
    match number.as_i64() {
        Some(integer) => put_integer(into, integer),
        None => into.extend_from_slice(&number.as_f64().to_bits().to_le_bytes()),
    }
}

pub(super) fn take_number(source: &mut Source<'_>) -> Result<Number, DecodeError> {
    let kind = source.byte("a number")?;
    number_of_kind(source, kind)
}

fn number_of_kind(source: &mut Source<'_>, kind: u8) -> Result<Number, DecodeError> {
    match kind {
        INTEGER => Ok(source.integer("an integer")?.into()),
        DOUBLE => {
            let number = Number::from_f64(f64::from_bits(u64::from_le_bytes(source.array("a double")?)))?;
            // One number has one form, and then what is read is what was written.
            if number.as_i64().is_some() { Err(DecodeError::WholeDouble) } else { Ok(number) }
        }
        byte => Err(DecodeError::Kind { what: "a number", byte }),
    }
}

pub(super) fn put_scalar(into: &mut Vec<u8>, scalar: &Scalar) {
    into.push(kind_of_scalar(scalar));
    put_scalar_body(into, scalar);
}

const fn kind_of_scalar(scalar: &Scalar) -> u8 {
    match scalar {
        Scalar::Bool(false) => FALSE,
        Scalar::Bool(true) => TRUE,
        Scalar::Number(number) => kind_of_number(*number),
        Scalar::Text(_) => TEXT,
    }
}

fn put_scalar_body(into: &mut Vec<u8>, scalar: &Scalar) {
    match scalar {
        Scalar::Bool(_) => {}
        Scalar::Number(number) => put_number_body(into, *number),
        Scalar::Text(text) => put_text(into, text.as_str()),
    }
}

pub(super) fn take_scalar(source: &mut Source<'_>) -> Result<Scalar, DecodeError> {
    let kind = source.byte("a value")?;
    scalar_of_kind(source, kind)
}

fn scalar_of_kind(source: &mut Source<'_>, kind: u8) -> Result<Scalar, DecodeError> {
    match kind {
        FALSE => Ok(Scalar::Bool(false)),
        TRUE => Ok(Scalar::Bool(true)),
        INTEGER | DOUBLE => number_of_kind(source, kind).map(Scalar::Number),
        TEXT => take_text(source).map(Scalar::Text),
        byte => Err(DecodeError::Kind { what: "a value", byte }),
    }
}

fn take_text(source: &mut Source<'_>) -> Result<Text, DecodeError> {
    source.text("a text", |text| Ok(Text::new(text)?))
}

pub(crate) fn put_priority(into: &mut Vec<u8>, priority: &Priority) {
    match priority {
        Priority::Number(number) => put_number(into, *number),
        Priority::Text(text) => {
            into.push(TEXT);
            put_text(into, text.as_str());
        }
    }
}

pub(crate) fn take_priority(source: &mut Source<'_>) -> Result<Priority, DecodeError> {
    match source.byte("a priority")? {
        TEXT => take_text(source).map(Priority::Text),
        kind => number_of_kind(source, kind).map(Priority::Number),
    }
}

pub(crate) fn put_key(into: &mut Vec<u8>, key: &Key) {
    // No key has a NUL, so none is broken up.
    put_text(into, key.as_str());
}

pub(crate) fn take_key(source: &mut Source<'_>) -> Result<Key, DecodeError> {
    source.text("a key", |text| Ok(Key::parse(text)?))
}

/// O(size).
pub(crate) fn put_node(into: &mut Vec<u8>, node: &Node) {
    let Ok(()) = put_node_in_pieces::<Infallible>(into, node, &mut |_| Ok(()));
}

/// As [`put_node`], but whenever a node is put, `take` may take of the bytes what it wants before. O(size).
pub(super) fn put_node_in_pieces<E>(
    into: &mut Vec<u8>,
    node: &Node,
    take: &mut impl FnMut(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    take(into)?;
    put_head(into, node);
    for (key, child) in node.children() {
        put_key(into, key);
        put_node_in_pieces(into, child, take)?;
    }
    Ok(())
}

/// A node without its children.
fn put_head(into: &mut Vec<u8>, node: &Node) {
    let kind = node.value().map_or(INNER, kind_of_scalar);
    match node.priority() {
        None => into.push(kind),
        Some(priority) => {
            into.push(kind | PRIORITIZED);
            put_priority(into, priority);
        }
    }
    match node.value() {
        Some(value) => put_scalar_body(into, value),
        None => put_count(into, node.children().len()),
    }
}

/// A node that reaches at most so many keys down.
pub(crate) fn take_node(source: &mut Source<'_>, levels: usize) -> Result<Node, DecodeError> {
    let kind = source.byte("a node")?;
    if kind == STAGED {
        return take_part(source, levels);
    }
    let priority = if kind & PRIORITIZED == 0 { None } else { Some(take_priority(source)?) };
    let node = match kind & !PRIORITIZED {
        INNER => take_inner(source, levels)?,
        kind => scalar_of_kind(source, kind)?.into(),
    };
    Ok(if priority.is_some() { node.with_priority(priority) } else { node })
}

fn take_part(source: &mut Source<'_>, levels: usize) -> Result<Node, DecodeError> {
    let what = "a node that stands elsewhere";
    let (at, bytes) = (source.varint(what)?, source.varint(what)?);
    let mut part = source.elsewhere(at, bytes, what)?;
    let node = take_node(&mut part, levels)?;
    part.end()?;
    Ok(node)
}

fn take_inner(source: &mut Source<'_>, levels: usize) -> Result<Node, DecodeError> {
    let children = take_children(source, levels, take_node)?;
    Node::inner(children).ok_or(DecodeError::Empty)
}

/// Children in strictly ascending order, each of which reaches one key less far.
pub(super) fn take_children<T>(
    source: &mut Source<'_>,
    levels: usize,
    take: fn(&mut Source<'_>, usize) -> Result<T, DecodeError>,
) -> Result<Vec<(Key, T)>, DecodeError> {
    let count = source.count("the number of children")?;
    let levels = levels.checked_sub(1).ok_or(DecodeError::TooDeep)?;
    let mut children = Vec::<(Key, T)>::new();
    for _ in 0..count {
        let key = take_key(source)?;
        if children.last().is_some_and(|(last, _)| key <= *last) {
            return Err(DecodeError::Unordered);
        }
        children.push((key, take(source, levels)?));
    }
    Ok(children)
}
