//! The whole tree of one database, and the writes that a client can make (wire reference 4.5, 4.6, 7.6, 7.7).

use super::json::{read, read_priority};
use super::{Node, Refusal, Value, check_key, text_order};
use serde_json::Value as Json;
use std::cmp::Ordering;

/// The tree of one database, possibly empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// What is at the root.
    pub root: Option<Node>,
}

/// The most keys from the root to a leaf.
const DEPTH_MAX: usize = 32;

/// The last segment of a path that means a priority.
const PRIORITY: &str = ".priority";

/// The keys of a path; empty segments are dropped (3.1).
pub fn split(path: &str) -> Vec<String> {
    path.split('/').filter(|key| !key.is_empty()).map(String::from).collect()
}

/// One part of a write with its server values resolved.
enum Part {
    Value(Vec<String>, Option<Node>),
    Priority(Vec<String>, Option<Value>),
}

impl Tree {
    /// What is at a path.
    pub fn get(&self, path: &str) -> Option<&Node> {
        self.root.as_ref()?.get(&split(path))
    }

    /// Sets what is at a path, or a priority (`a/b/.priority`). `null` deletes. `now_ms` is the server's time.
    ///
    /// # Errors
    /// A [`Refusal`], and then nothing has changed.
    pub fn set(&mut self, path: &str, value: &Json, now_ms: i64) -> Result<(), Refusal> {
        let part = self.resolve(split(path), value, now_ms)?;
        self.apply(part);
        Ok(())
    }

    /// Sets what is at several paths below one (not at it, but its priority is a path below), one after the other: values in the order of their paths, segment by
    /// segment as UTF-16 text, then priorities. Every server value relates to the tree as it was before.
    ///
    /// # Errors
    /// A [`Refusal`], and then nothing has changed.
    pub fn update(&mut self, path: &str, parts: &[(String, Json)], now_ms: i64) -> Result<(), Refusal> {
        let mut places: Vec<(Vec<String>, &Json)> =
            parts.iter().map(|(below, value)| ([split(path), split(below)].concat(), value)).collect();
        if places.iter().any(|(keys, _)| *keys == split(path)) {
            return Err(Refusal::BadKey(String::new()));
        }
        for (one, (above, _)) in places.iter().enumerate() {
            for (other, (below, _)) in places.iter().enumerate() {
                if one != other && below.starts_with(above) {
                    return Err(Refusal::Conflict);
                }
            }
        }
        places.sort_by(|(a, _), (b, _)| path_order(a, b));
        let resolved: Result<Vec<Part>, Refusal> =
            places.into_iter().map(|(keys, value)| self.resolve(keys, value, now_ms)).collect();
        let (priorities, values): (Vec<_>, Vec<_>) =
            resolved?.into_iter().partition(|part| matches!(part, Part::Priority(..)));
        values.into_iter().chain(priorities).for_each(|part| self.apply(part));
        Ok(())
    }

    fn resolve(&self, mut keys: Vec<String>, value: &Json, now_ms: i64) -> Result<Part, Refusal> {
        let is_priority = keys.last().is_some_and(|last| last == PRIORITY);
        if is_priority {
            keys.pop();
        }
        if DEPTH_MAX < keys.len() {
            return Err(Refusal::TooDeep);
        }
        keys.iter().try_for_each(|key| check_key(key))?;
        let current = self.root.as_ref().and_then(|root| root.get(&keys));
        if is_priority {
            let priority = read_priority(value, current, now_ms)?;
            return Ok(Part::Priority(keys, priority));
        }
        let node = read(value, current, now_ms)?;
        if node.as_ref().is_some_and(|node| DEPTH_MAX < keys.len() + node.depth()) {
            return Err(Refusal::TooDeep);
        }
        Ok(Part::Value(keys, node))
    }

    fn apply(&mut self, part: Part) {
        let root = self.root.take();
        self.root = match part {
            Part::Value(keys, node) => Node::with(root, &keys, node),
            Part::Priority(keys, priority) => Node::with_priority(root, &keys, priority),
        };
    }
}

fn path_order(a: &[String], b: &[String]) -> Ordering {
    match (a, b) {
        ([x, a @ ..], [y, b @ ..]) => text_order(x, y).then_with(|| path_order(a, b)),
        _ => a.len().cmp(&b.len()),
    }
}
