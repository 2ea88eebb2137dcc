//! How much a write is, by limit.
//!
//! A write counts for the limits of its place and above, once for each place that it names. What it carries below counts
//! for the limits there, once for each place that they are for: else somebody who may write a whole list would have its
//! thousand entries for one.

use super::Limits;
use super::limit::Measure;
use super::over::OverLimit;
use super::places::Level;
use hearth_tree::{Assigned, Assignment, Draft, Key, Node, Path, Pending, Priority, Scalar, Shape, Write};
use std::collections::BTreeMap;

/// A number or a truth value counts as so many bytes, whatever its digits are.
const SCALAR_BYTES: u32 = 8;

/// How much of everything counts for one limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// By its number.
    pub(super) limit: usize,
    writes: u32,
    bytes: u32,
    reads: u32,
}

impl Tally {
    pub(super) fn read(limit: usize) -> Self {
        Self { limit, reads: 1, ..Self::default() }
    }

    /// The least that a write is.
    pub(super) fn any_write(limit: usize) -> Self {
        Self { limit, writes: 1, ..Self::default() }
    }

    pub(super) const fn count(&self, measure: Measure) -> u32 {
        match measure {
            Measure::Writes => self.writes,
            Measure::Bytes => self.bytes,
            Measure::Reads => self.reads,
        }
    }
}

/// What a write counts. O(what is written), times the limits on the way to a place of it.
///
/// # Errors
/// [`OverLimit`], as soon as it is more than is ever allowed.
pub(super) fn of_write(limits: &Limits, write: &Write) -> Result<Vec<Tally>, OverLimit> {
    let mut tallying = Tallying { limits, by_limit: BTreeMap::new() };
    for assignment in write.assignments() {
        tallying.assignment(assignment)?;
    }
    Ok(tallying.by_limit.into_values().collect())
}

struct Tallying<'l> {
    limits: &'l Limits,
    by_limit: BTreeMap<usize, Tally>,
}

impl Tallying<'_> {
    fn assignment(&mut self, assignment: &Assignment) -> Result<(), OverLimit> {
        let at = assignment.at();
        let value = match assignment.to() {
            Assigned::Value(None) => Value::Nothing,
            Assigned::Value(Some(draft)) => Value::Draft(draft),
            Assigned::Priority(priority) => Value::Priority(priority.as_ref()),
        };
        for (depth, level) in self.limits.root.way(at.keys()).enumerate() {
            if depth == at.keys().len() {
                return self.below(level, &Place::Written(at), value);
            }
            self.add(level, &Place::Written(at), value)?;
        }
        Ok(())
    }

    /// At most as deep as the limits are, which is no deeper than data.
    fn below(&mut self, level: &Level, at: &Place<'_>, value: Value<'_>) -> Result<(), OverLimit> {
        self.add(level, at, value)?;
        if !level.has_children() {
            return Ok(());
        }
        value.each_child(&mut |key, child| match level.child(key) {
            Some(next) => self.below(next, &Place::Below(at, key), child),
            None => Ok(()),
        })
    }

    fn add(&mut self, level: &Level, at: &Place<'_>, value: Value<'_>) -> Result<(), OverLimit> {
        let Some(number) = level.own else { return Ok(()) };
        let limit = &self.limits.all[number];
        let bytes = if limit.weighs() { value.bytes() } else { 0 };
        limit.check_value(bytes, || at.path())?;
        let tally = self.by_limit.entry(number).or_insert(Tally { limit: number, ..Tally::default() });
        tally.writes = tally.writes.saturating_add(1);
        tally.bytes = tally.bytes.saturating_add(bytes);
        limit.check_burst(tally)
    }
}

/// A place that something is written to, or one below it that it carries something for. A path is made of it only where a
/// refusal names it: most writes are not refused, and one may carry something for thousands of places.
enum Place<'a> {
    Written(&'a Path),
    Below(&'a Self, &'a Key),
}

impl Place<'_> {
    fn path(&self) -> Path {
        match self {
            Self::Written(at) => (*at).clone(),
            Self::Below(above, key) => above.path().child(key).expect("no write reaches deeper than a path"),
        }
    }
}

/// The bytes of what is there, as they are counted where it is written. O(nodes).
pub(crate) fn bytes_of_node(node: &Node) -> u32 {
    Value::Node(node).bytes()
}

/// Something that is written.
#[derive(Clone, Copy)]
enum Value<'a> {
    Nothing,
    Draft(&'a Draft),
    Node(&'a Node),
    Priority(Option<&'a Pending<Priority>>),
}

impl<'a> Value<'a> {
    fn each_child<E>(self, each: &mut impl FnMut(&Key, Self) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Nothing | Self::Priority(_) => Ok(()),
            Self::Node(node) => {
                node.children().iter().try_for_each(|(key, child)| each(key, Self::Node(child)))
            }
            Self::Draft(draft) => match draft.shape() {
                Shape::Resolved(node) => Self::Node(node).each_child(each),
                Shape::Leaf { .. } => Ok(()),
                Shape::Inner { children, .. } => {
                    children.iter().try_for_each(|(key, child)| each(key, Self::Draft(child)))
                }
            },
        }
    }

    /// The bytes of its keys and texts, and [`SCALAR_BYTES`] for each other leaf. O(nodes), at most the depth of data deep.
    fn bytes(self) -> u32 {
        let own = match self {
            Self::Nothing => 0,
            Self::Priority(priority) => bytes_of_priority(priority),
            Self::Node(node) => {
                let priority =
                    node.priority().map_or(0, |priority| bytes_of_scalar(&priority.clone().into()));
                node.value().map_or(0, bytes_of_scalar).saturating_add(priority)
            }
            Self::Draft(draft) => match draft.shape() {
                Shape::Resolved(node) => return Self::Node(node).bytes(),
                Shape::Leaf { value, priority } => {
                    let value = match value {
                        Pending::Known(value) => bytes_of_scalar(value),
                        Pending::Server(_) => SCALAR_BYTES,
                    };
                    value.saturating_add(bytes_of_priority(priority.as_ref()))
                }
                Shape::Inner { priority, .. } => bytes_of_priority(priority.as_ref()),
            },
        };
        let mut bytes = own;
        let added: Result<(), ()> = self.each_child(&mut |key, child| {
            bytes = bytes.saturating_add(length(key.as_str())).saturating_add(child.bytes());
            Ok(())
        });
        debug_assert!(added.is_ok());
        bytes
    }
}

fn bytes_of_priority(priority: Option<&Pending<Priority>>) -> u32 {
    match priority {
        None => 0,
        Some(Pending::Known(priority)) => bytes_of_scalar(&priority.clone().into()),
        Some(Pending::Server(_)) => SCALAR_BYTES,
    }
}

fn bytes_of_scalar(value: &Scalar) -> u32 {
    match value {
        Scalar::Text(text) => length(text.as_str()),
        Scalar::Bool(_) | Scalar::Number(_) => SCALAR_BYTES,
    }
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}
