//! What a commit does to the tree: resolved, minimal, in one piece.
//!
//! Why edits and not a new root: a change goes to the log and to listeners, whose cost must follow the change and not
//! the tree.

use crate::key::{Key, OneLine};
use crate::limits::DEPTH_MAX;
use crate::node::Node;
use crate::path::{Path, update_order};
use crate::scalar::Priority;

/// Edits that happen together: all of them or none. No edit is at or below the place of another, so their order cannot
/// matter; they are kept in the order in which the SDKs apply the parts of an update. Empty, if nothing changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    edits: Vec<Edit>,
}

/// What becomes of one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The place.
    pub at: Path,
    /// What it becomes.
    pub to: To,
}

/// What a place becomes.
#[derive(Clone, Debug, PartialEq)]
pub enum To {
    /// This node with everything below and its priority, or nothing.
    Node(Option<Node>),
    /// The same value and children with this priority. Without effect where nothing is.
    Priority(Option<Priority>),
}

/// Two edits of which one covers the place of the other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` and `{}` cannot be written together: one is at or above the other", OneLine(.above), OneLine(.below))]
pub struct Conflict {
    /// The upper place, as a person would write it (with `/.priority` where that is meant).
    pub above: String,
    /// The lower or equal one.
    pub below: String,
}

impl Change {
    /// A change of these edits, given in any order.
    ///
    /// # Errors
    /// [`Conflict`] if one of them is at or below another: the result would depend on their order.
    pub fn new(mut edits: Vec<Edit>) -> Result<Self, Conflict> {
        sort_apart(&mut edits, |edit| (&edit.at, matches!(edit.to, To::Priority(_))))?;
        Ok(Self { edits })
    }

    /// The edits.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The edits that turn one tree into another. What the two share is skipped, so the cost follows the difference.
    ///
    /// Applied one after the other instead of together (which is what clients do with a merge), the edits come to the
    /// same tree: a node whose children are all exchanged could vanish in between and lose its priority, so that is
    /// written again.
    pub fn between(before: Option<&Node>, after: Option<&Node>) -> Self {
        let mut edits = Vec::new();
        match (before, after) {
            (None, None) => {}
            (Some(before), Some(after)) => add_difference(before, after, &Path::root(), &mut edits),
            (_, after) => edits.push(Edit { at: Path::root(), to: To::Node(after.cloned()) }),
        }
        edits.sort_by(|a, b| update_order(a.at.keys(), b.at.keys()));
        Self { edits }
    }

    /// The tree after the change.
    pub(crate) fn apply_to(&self, root: Option<&Node>) -> Option<Node> {
        if self.is_empty() { root.cloned() } else { applied(root, &self.edits, 0) }
    }
}

/// Brings places into update order and refuses two of which one covers the other. A priority is a place below its
/// node, but not above the children.
pub(crate) fn sort_apart<T>(items: &mut [T], place: impl Fn(&T) -> (&Path, bool)) -> Result<(), Conflict> {
    items.sort_by(|a, b| update_order(place(a).0.keys(), place(b).0.keys()));
    let conflict = items.windows(2).find(|pair| {
        let ((above, is_priority), (below, _)) = (place(&pair[0]), place(&pair[1]));
        above == below || (!is_priority && above.covers(below))
    });
    let name = |(at, is_priority): (&Path, bool)| match (is_priority, at.keys()) {
        (false, _) => at.to_string(),
        (true, []) => "/.priority".into(),
        (true, _) => format!("{at}/.priority"),
    };
    match conflict {
        None => Ok(()),
        Some(pair) => Err(Conflict { above: name(place(&pair[0])), below: name(place(&pair[1])) }),
    }
}

/// `node`, which is `depth` keys below the root, after these edits at or below it. There is at least one.
fn applied(node: Option<&Node>, edits: &[Edit], depth: usize) -> Option<Node> {
    if let [edit] = edits {
        return applied_alone(node, edit, depth);
    }
    let (own, below) = match edits {
        [Edit { at, to }, below @ ..] if at.keys().len() == depth => (Some(to), below),
        _ => (None, edits),
    };
    if let Some(To::Node(new)) = own {
        return new.clone();
    }
    let children = below.chunk_by(|a, b| a.at.keys()[depth] == b.at.keys()[depth]).map(|edits| {
        let key = &edits[0].at.keys()[depth];
        (key.clone(), applied(node.and_then(|node| node.child(key)), edits, depth + 1))
    });
    let node = with_children(node, children.collect());
    match own {
        Some(To::Priority(priority)) => node.map(|node| node.with_priority(priority.clone())),
        Some(To::Node(_)) | None => node,
    }
}

/// As [`applied`], of one edit, which is nearly every write: nothing has to be gathered.
fn applied_alone(node: Option<&Node>, edit: &Edit, depth: usize) -> Option<Node> {
    let Some(key) = edit.at.keys().get(depth) else {
        return match &edit.to {
            To::Node(new) => new.clone(),
            To::Priority(priority) => node.map(|node| node.with_priority(priority.clone())),
        };
    };
    match node {
        Some(node) => node.with_child_made(key, |child| applied_alone(child, edit, depth + 1)),
        None => Node::inner([(key.clone(), applied_alone(None, edit, depth + 1)?)]),
    }
}

/// Puts new children in before it takes old ones out, so that a node that is not empty in the end never is in between.
fn with_children(node: Option<&Node>, children: Vec<(Key, Option<Node>)>) -> Option<Node> {
    let Some(node) = node else {
        return Node::inner(children.into_iter().filter_map(|(key, child)| Some((key, child?))));
    };
    let new = children.iter().filter(|(_, child)| child.is_some());
    let gone = children.iter().filter(|(_, child)| child.is_none());
    new.chain(gone).try_fold(node.clone(), |node, (key, child)| node.with_child(key, child.clone()))
}

fn add_difference(before: &Node, after: &Node, at: &Path, edits: &mut Vec<Edit>) {
    if before.is_same(after) {
        return;
    }
    let priority = To::Priority(after.priority().cloned());
    match (before.value(), after.value()) {
        // A node that somebody built deeper than a tree may be is taken whole where paths end.
        (None, None) if at.keys().len() < DEPTH_MAX => {
            let known = edits.len();
            let kept = before.children().len() - add_children(before, after, at, edits);
            let rewritten = kept == 0 && after.priority().is_some() && known < edits.len();
            if rewritten || before.priority() != after.priority() {
                edits.push(Edit { at: at.clone(), to: priority });
            }
        }
        (Some(a), Some(b)) if a == b => edits.push(Edit { at: at.clone(), to: priority }),
        _ => edits.push(Edit { at: at.clone(), to: To::Node(Some(after.clone())) }),
    }
}

/// How many children of `before` the edits may touch.
fn add_children(before: &Node, after: &Node, at: &Path, edits: &mut Vec<Edit>) -> usize {
    let mut touched = 0;
    for (key, a, b) in before.children().difference(after.children()) {
        touched += usize::from(a.is_some());
        let at = at.child(key).expect("only above the last level children are compared");
        match (a, b) {
            (Some(a), Some(b)) => add_difference(a, b, &at, edits),
            (_, b) => edits.push(Edit { at, to: To::Node(b.cloned()) }),
        }
    }
    touched
}
