//! What a client asks to write, before it is resolved to a change.

use crate::change::{Change, Conflict, Edit, To, sort_apart};
use crate::draft::{Draft, IncrementError, Pending, resolve_priority};
use crate::key::{Key, OneLine};
use crate::limits::{DEPTH_MAX, UPDATE_KEYS_MAX};
use crate::node::Node;
use crate::path::{Path, PathError, RelativePath, update_order};
use crate::scalar::{NotFinite, Priority};
use crate::snapshot::Snapshot;

/// One write: at one place, or at several in one piece.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Replaces what is at one place.
    Set(Assignment),
    /// Replaces what is at several places below one; what is not named stays.
    Update(Update),
}

/// A place and what it shall become.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    at: Path,
    to: Assigned,
}

/// What a place shall become, before it is resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum Assigned {
    /// This value with its priority, or nothing.
    Value(Option<Draft>),
    /// The same value and children with this priority.
    Priority(Option<Pending<Priority>>),
}

/// A write at several places, none at or above another.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    at: Path,
    assignments: Vec<Assignment>,
}

/// Where a client points to: a node or its priority (`…/.priority`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<P = Path> {
    /// The node.
    pub path: P,
    /// What of it.
    pub part: Part,
}

/// What of a node is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The value, everything below, and the priority.
    Value,
    /// Its priority alone.
    Priority,
}

/// Why a write cannot be made, whatever the tree holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A place is not a path, or too deep.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The value goes deeper than the tree may.
    #[error(
        "the value at `{}` goes down to `{}`, {depth} segments from the root; at most {DEPTH_MAX} are allowed",
        OneLine(.at),
        OneLine(.below)
    )]
    TooDeep {
        /// Where it is written.
        at: Path,
        /// The first place that is too deep, from there on.
        below: RelativePath,
        /// How many segments from the root that is.
        depth: usize,
    },
    /// The paths of an update take too much memory.
    #[error(
        "the paths of the update have {keys} keys together, counted from the root; at most {UPDATE_KEYS_MAX} are allowed: write it in parts"
    )]
    TooManyKeys {
        /// How many they have.
        keys: usize,
    },
    /// A place of an update is not at or below the place that the update is sent to.
    #[error("`{}` is not below `{}`, where the update is made", OneLine(.at), OneLine(.update))]
    Outside {
        /// Where a part writes.
        at: Path,
        /// Where the update is made.
        update: Path,
    },
    /// Two places of one update cover each other.
    #[error(transparent)]
    Conflict(#[from] Conflict),
}

/// Why a write cannot be resolved against the tree as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The sum of an increment is not a number that can be stored.
    #[error("in the write at `{}`: {error}", OneLine(.at))]
    Increment {
        /// Where is written.
        at: Path,
        /// Where the increment is.
        error: IncrementError,
    },
}

const PRIORITY: &str = ".priority";

impl Target<Path> {
    /// Reads `a/b` or `a/b/.priority`.
    ///
    /// # Errors
    /// [`PathError`] names the segment or the depth.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let (path, part) = split_priority(text);
        Ok(Self { path: Path::parse(path)?, part })
    }
}

impl Target<RelativePath> {
    /// Reads `a/b` or `a/b/.priority`, as a key of an update.
    ///
    /// # Errors
    /// [`PathError`] names the segment or the depth.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let (path, part) = split_priority(text);
        Ok(Self { path: RelativePath::parse(path)?, part })
    }
}

fn split_priority(text: &str) -> (&str, Part) {
    let trimmed = text.trim_end_matches('/');
    match trimmed.strip_suffix(PRIORITY) {
        Some(path) if path.is_empty() || path.ends_with('/') => (path, Part::Priority),
        Some(_) | None => (text, Part::Value),
    }
}

impl Assignment {
    /// Replaces the node at a place, its priority included; `None` deletes it.
    ///
    /// # Errors
    /// [`WriteError::TooDeep`] if the value would reach below the last level.
    pub fn value(at: Path, value: Option<Draft>) -> Result<Self, WriteError> {
        let deeper = value.as_ref().and_then(|value| value.deeper_than(DEPTH_MAX - at.keys().len()));
        match deeper {
            None => Ok(Self { at, to: Assigned::Value(value) }),
            Some(below) => {
                let depth = at.keys().len() + below.keys().len();
                Err(WriteError::TooDeep { at, below, depth })
            }
        }
    }

    /// Replaces the priority of a node; without effect where nothing is.
    pub const fn priority(at: Path, priority: Option<Pending<Priority>>) -> Self {
        Self { at, to: Assigned::Priority(priority) }
    }

    /// The node that is written, or whose priority is.
    pub const fn at(&self) -> &Path {
        &self.at
    }

    /// What of the node is written.
    pub const fn part(&self) -> Part {
        match self.to {
            Assigned::Value(_) => Part::Value,
            Assigned::Priority(_) => Part::Priority,
        }
    }

    /// What is written there.
    pub const fn to(&self) -> &Assigned {
        &self.to
    }

    /// The place and what of it.
    pub fn target(&self) -> Target {
        Target { path: self.at.clone(), part: self.part() }
    }

    /// `current` is what is there now.
    fn resolve(&self, now_ms: i64, current: Option<&Node>) -> Result<Edit, ResolveError> {
        let to = match &self.to {
            Assigned::Value(None) => Ok(To::Node(None)),
            Assigned::Value(Some(draft)) => draft.resolve(now_ms, current).map(|node| To::Node(Some(node))),
            Assigned::Priority(None) => Ok(To::Priority(None)),
            Assigned::Priority(Some(priority)) => {
                let current = current.and_then(Node::priority).and_then(Priority::number);
                resolve_priority(priority, now_ms, current)
                    .map(|priority| To::Priority(Some(priority)))
                    .map_err(|NotFinite| IncrementError { at: RelativePath::here() })
            }
        };
        match to {
            Ok(to) => Ok(Edit { at: self.at.clone(), to }),
            Err(error) => Err(ResolveError::Increment { at: self.at.clone(), error }),
        }
    }
}

impl Update {
    /// An update of places at or below `at`.
    ///
    /// # Errors
    /// [`WriteError::Outside`] names a place that is not there, [`WriteError::Conflict`] two of which one is at or above
    /// the other.
    pub fn new(at: Path, mut assignments: Vec<Assignment>) -> Result<Self, WriteError> {
        if let Some(outside) = assignments.iter().find(|each| !at.covers(&each.at)) {
            return Err(WriteError::Outside { at: outside.at.clone(), update: at });
        }
        sort_apart(&mut assignments, |each| (&each.at, each.part() == Part::Priority))?;
        Ok(Self { at, assignments })
    }

    /// The place that the update was sent to; all that it writes is there or below.
    pub const fn at(&self) -> &Path {
        &self.at
    }

    /// What is written, in the order in which the SDKs apply it.
    pub fn assignments(&self) -> &[Assignment] {
        &self.assignments
    }
}

impl Write {
    /// What is written, in the order in which the SDKs apply it.
    pub fn assignments(&self) -> &[Assignment] {
        match self {
            Self::Set(assignment) => std::slice::from_ref(assignment),
            Self::Update(update) => update.assignments(),
        }
    }

    /// The places that are written, whether or not anything changes there: those that rules judge.
    pub fn targets(&self) -> Vec<Target> {
        self.assignments().iter().map(Assignment::target).collect()
    }

    /// The change that this write makes of a tree, with every server value filled in and without what changes nothing.
    /// `now_ms` is the server's time in milliseconds since 1970. Costs O(what is written), not O(tree).
    ///
    /// # Errors
    /// [`ResolveError`] names an increment that cannot be stored.
    pub fn resolve(&self, now_ms: i64, before: &Snapshot) -> Result<Change, ResolveError> {
        let assignments = self.assignments();
        let mut nodes = Vec::with_capacity(assignments.len());
        let mut priorities = Vec::new();
        for assignment in assignments {
            let current = before.get(&assignment.at);
            let edit = assignment.resolve(now_ms, current)?;
            match edit.to {
                To::Node(ref new) if new.as_ref() == current => {}
                To::Node(_) => nodes.push(edit),
                To::Priority(priority) => priorities.push((edit.at, Some(priority))),
            }
        }
        let priorities = priority_edits(before, &nodes, priorities);
        nodes.extend(priorities);
        let change = Change::new(nodes);
        Ok(change.expect("what an update writes lies apart, and only priorities above it were added"))
    }
}

/// A priority to write, or a place where one may have to be written again.
type Wanted = (Path, Option<Option<Priority>>);

/// The priorities to write beside these edits of nodes, so that everybody ends with the same tree.
///
/// The SDKs apply the parts of an update one after the other, the priority of a node after what is below it, and a node
/// that is empty in between loses its priority (wire reference 7.7); a change is applied together. So what counts is
/// what a priority would be on either way without an edit: an assigned one may be needed though the node has it now,
/// and one that nobody assigned may be lost. Costs nothing where none is assigned and no touched node has one, or
/// where the edits only delete or delete nothing, for then no node is emptied and filled again.
fn priority_edits(before: &Snapshot, nodes: &[Edit], mut wanted: Vec<Wanted>) -> Vec<Edit> {
    let is_delete = |edit: &Edit| edit.to == To::Node(None);
    let refills = nodes.iter().any(is_delete) && !nodes.iter().all(is_delete);
    if refills {
        wanted.extend(prioritized_above(before, nodes).map(|at| (at, None)));
        // Stable, so that of two for one place the assigned one is first and stays.
        wanted.sort_by(|a, b| update_order(a.0.keys(), b.0.keys()));
        wanted.dedup_by(|again, kept| again.0 == kept.0);
    }
    if wanted.is_empty() {
        return Vec::new();
    }
    let change = Change::new(nodes.to_vec()).expect("what an update writes lies apart");
    let together = before.apply(&change);
    let one_by_one = match refills {
        false => together.clone(),
        true => nodes.iter().fold(before.clone(), |tree, edit| {
            tree.apply(&Change::new(vec![edit.clone()]).expect("one edit lies apart from no other"))
        }),
    };
    let priority_edit = |(at, assigned): Wanted| {
        let (kept, stepped) = (together.get(&at)?.priority(), one_by_one.get(&at)?.priority());
        let wanted = assigned.unwrap_or_else(|| stepped.cloned());
        let is_needed = kept != wanted.as_ref() || stepped != wanted.as_ref();
        is_needed.then_some(Edit { at, to: To::Priority(wanted) })
    };
    wanted.into_iter().filter_map(priority_edit).collect()
}

/// The nodes above these edits that have a priority, each once. What an edit shares with the one before it was looked at
/// there: the edits come in order, and a hundred thousand of them may lie below the same thirty nodes.
fn prioritized_above<'a>(before: &'a Snapshot, nodes: &'a [Edit]) -> impl Iterator<Item = Path> + 'a {
    let mut previous: &[Key] = &[];
    let above = nodes.iter().enumerate().flat_map(move |(n, edit)| {
        let keys = edit.at.keys();
        let shared = keys.iter().zip(previous).take_while(|(a, b)| a == b).count();
        previous = keys;
        let first = if n == 0 { 0 } else { shared + 1 };
        (first..keys.len()).map(move |depth| (&edit.at, depth))
    });
    let is_prioritized = |(at, depth): &(&Path, usize)| {
        let node = before.root().and_then(|root| root.get(&at.keys()[..*depth]));
        node.is_some_and(|node| node.priority().is_some())
    };
    above.filter(is_prioritized).filter_map(|(at, depth)| at.up_to(depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Number, Scalar};
    use crate::server_value::ServerValue;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    fn leaf(value: i64) -> Node {
        Scalar::Number(value.into()).into()
    }

    /// `depth` objects around a leaf.
    fn tower(depth: usize) -> Draft {
        let key = Key::parse("t").unwrap();
        (0..depth)
            .fold(Draft::from(leaf(1)), |inner, _| Draft::inner(vec![(key.clone(), inner)], None).unwrap())
    }

    #[test]
    fn a_target_is_a_node_or_its_priority() {
        for (text, expected) in [
            ("", Ok(("/", Part::Value))),
            ("/a//b/", Ok(("/a/b", Part::Value))),
            (".priority", Ok(("/", Part::Priority))),
            ("/.priority", Ok(("/", Part::Priority))),
            ("a/.priority/", Ok(("/a", Part::Priority))),
            ("a/.priority/b", Err(())),
            ("a.priority", Err(())),
            ("a/.value", Err(())),
        ] {
            let target = Target::<Path>::parse(text);
            let shown = target.as_ref().map(|target| (target.path.to_string(), target.part)).map_err(|_| ());
            assert_eq!(
                shown.as_ref().map(|(path, part)| (path.as_str(), *part)),
                expected.as_ref().copied(),
                "{text:?}"
            );
            assert_eq!(Target::<RelativePath>::parse(text).is_ok(), expected.is_ok(), "{text:?}");
        }
    }

    #[test]
    fn path_and_value_together_keep_to_the_depth() {
        for (report, at, depth, refused) in [
            ("R025", "", 32, None),
            ("R025", "a/b", 30, None),
            ("R025", "a/b", 31, Some("the value at `/a/b` goes down to `")),
            ("R025", "", 33, Some("the value at `/` goes down to `t/t/")),
        ] {
            let error = Assignment::value(path(at), Some(tower(depth))).err().map(|error| error.to_string());
            match (&error, refused) {
                (None, None) => {}
                (Some(error), Some(start)) => {
                    assert!(error.starts_with(start), "{report} {error}");
                    assert!(
                        error.ends_with("33 segments from the root; at most 32 are allowed"),
                        "{report} {error}"
                    );
                }
                (error, refused) => panic!("{report} {at} + {depth}: {error:?}, expected {refused:?}"),
            }
        }
    }

    #[test]
    fn places_of_one_update_lie_apart() {
        let priority = |at: &str| Assignment::priority(path(at), None);
        let value = |at: &str| Assignment::value(path(at), Some(leaf(1).into())).unwrap();
        for (parts, refused) in [
            (vec![value("a"), value("b"), value("ab/c")], None),
            (
                vec![priority("a"), value("a/b"), priority("a/b/c"), priority("")],
                Some("`/a/b` and `/a/b/c/.priority`"),
            ),
            (vec![priority("a"), value("a/b"), priority("a/c"), priority("")], None),
            (vec![value("a/b/c"), value("x"), value("a")], Some("`/a` and `/a/b/c`")),
            (vec![value("a"), priority("a")], Some("`/a` and `/a/.priority`")),
            (vec![value("/a/"), value("a")], Some("`/a` and `/a`")),
            (vec![value(""), priority("")], Some("`/` and `/.priority`")),
        ] {
            let error = Update::new(Path::root(), parts).err().map(|error| error.to_string());
            let expected = refused
                .map(|pair| format!("{pair} cannot be written together: one is at or above the other"));
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn an_update_keeps_to_its_place() {
        for (at, below, refused) in [
            ("a/b", "a/b", None),
            ("a/b", "a/b/c", None),
            ("a/b", "a", Some("`/a` is not below `/a/b`, where the update is made")),
            ("a/b", "a/bc", Some("`/a/bc` is not below `/a/b`, where the update is made")),
        ] {
            let error = Update::new(path(at), vec![Assignment::priority(path(below), None)]).err();
            assert_eq!(error.map(|error| error.to_string()).as_deref(), refused, "{below}");
        }
    }

    #[test]
    fn a_sum_that_no_double_holds_names_its_place_and_changes_nothing() {
        let key = Key::parse("hits").unwrap();
        let huge = |value| Number::from_f64(value).unwrap();
        let before = Snapshot::new(Node::inner([(key.clone(), Scalar::Number(huge(1.7e308)).into())]));
        let increment = Draft::leaf(Pending::Server(ServerValue::Increment(huge(1.7e308))), None);
        let write =
            Write::Set(Assignment::value(Path::root(), Draft::inner(vec![(key, increment)], None)).unwrap());
        assert_eq!(
            write.resolve(0, &before).map_err(|error| error.to_string()),
            Err("in the write at `/`: the increment at `hits` goes beyond the largest number, 1.797e308"
                .into())
        );
    }
}
