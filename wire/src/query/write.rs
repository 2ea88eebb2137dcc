//! Writes queries, key by key as the JavaScript SDK does.

use crate::text::Shown;
use hearth_tree::{KeyBound, Order, Position, Query, Range, Window};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::ops::Bound;

/// The object that a query is.
pub(crate) struct QueryObject<'a>(pub(crate) &'a Query);

impl Serialize for QueryObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Query { order, window } = self.0;
        let mut fields = serializer.serialize_map(None)?;
        match order {
            Order::Key(range) => write_keys(range, &mut fields)?,
            Order::Child(_, range) | Order::Value(range) => write_range(range, &mut fields)?,
            Order::Priority(range) => write_range(range, &mut fields)?,
        }
        match window {
            Window::All => {}
            Window::First(limit) => write_limit(limit.get(), "l", &mut fields)?,
            Window::Last(limit) => write_limit(limit.get(), "r", &mut fields)?,
        }
        match order {
            Order::Key(_) => fields.serialize_entry("i", ".key")?,
            Order::Child(path, _) => fields.serialize_entry("i", &Shown(path))?,
            Order::Value(_) => fields.serialize_entry("i", ".value")?,
            Order::Priority(_) => {}
        }
        fields.end()
    }
}

fn write_limit<M: SerializeMap>(limit: u32, from: &str, fields: &mut M) -> Result<(), M::Error> {
    fields.serialize_entry("l", &limit)?;
    fields.serialize_entry("vf", from)
}

fn write_keys<M: SerializeMap>(range: &Range<KeyBound>, fields: &mut M) -> Result<(), M::Error> {
    if let Some((key, inclusive)) = end_of(&range.start) {
        fields.serialize_entry("sp", name_of(key))?;
        fields.serialize_entry("sin", &inclusive)?;
    }
    if let Some((key, inclusive)) = end_of(&range.end) {
        fields.serialize_entry("ep", name_of(key))?;
        fields.serialize_entry("ein", &inclusive)?;
    }
    Ok(())
}

fn write_range<V: Serialize, M: SerializeMap>(
    range: &Range<Position<V>>,
    fields: &mut M,
) -> Result<(), M::Error> {
    write_end(&range.start, ["sp", "sn", "sin"], fields)?;
    write_end(&range.end, ["ep", "en", "ein"], fields)
}

fn write_end<V: Serialize, M: SerializeMap>(
    end: &Bound<Position<V>>,
    [value, name, inclusive]: [&str; 3],
    fields: &mut M,
) -> Result<(), M::Error> {
    let Some((at, is_inclusive)) = end_of(end) else { return Ok(()) };
    fields.serialize_entry(value, &at.value)?;
    if let Some(key) = &at.key {
        fields.serialize_entry(name, name_of(key))?;
    }
    fields.serialize_entry(inclusive, &is_inclusive)
}

/// Where a range ends, and whether that is part of it.
const fn end_of<B>(bound: &Bound<B>) -> Option<(&B, bool)> {
    match bound {
        Bound::Included(at) => Some((at, true)),
        Bound::Excluded(at) => Some((at, false)),
        Bound::Unbounded => None,
    }
}

fn name_of(key: &KeyBound) -> &str {
    match key {
        KeyBound::Min => "[MIN_NAME]",
        KeyBound::At(text) => text,
        KeyBound::Max => "[MAX_NAME]",
    }
}
