//! A snapshot as rules see it: a place in the tree before or after the operation, whether anything is there or not
//! (rules reference 4.1).
//!
//! Why a place does not know its path: a rule goes to many, and hardly anybody asks what any of them is called. How one
//! was reached is kept beside, a step for each key, so that a place is a few words to copy and to drop.

use crate::level::Level;
use crate::limits::RULE_PATH_BYTES_MAX;
use hearth_tree::{DEPTH_MAX, KEY_BYTES_MAX, Key, Node, Path};
use std::borrow::Cow;

/// In which tree a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// As it is before the operation: `root`, `data`.
    Before,
    /// As it will be: `newData`.
    After,
}

/// A place that a rule holds. Of one [`Ways`] only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    when: When,
    /// The level that it is, or behind all of them the step that leads to it.
    at: u32,
    /// How many levels further down than data can be.
    beyond: u32,
    /// How many steps there were when its expression began.
    begun: u32,
    node: Option<&'a Node>,
}

/// How the places of one rule were reached.
#[derive(Debug)]
pub(crate) struct Ways<'r, 'a> {
    /// From the root down to where the rule runs.
    levels: &'r [Level<'a>],
    /// At most [`DEPTH_MAX`] for each snapshot that an expression holds at a time.
    steps: Vec<Step<'a>>,
}

/// One key down from another place.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    /// As [`Place::at`].
    from: u32,
    /// How many keys from the root.
    depth: u32,
    /// Any text: what no key can be leads to no data.
    key: Cow<'a, str>,
    node: Option<&'a Node>,
}

impl<'a> Place<'a> {
    pub(crate) const fn when(&self) -> When {
        self.when
    }

    /// What is there.
    pub(crate) const fn node(&self) -> Option<&'a Node> {
        self.node
    }
}

impl<'r, 'a> Ways<'r, 'a> {
    /// From where the levels lead to; `steps` is room for steps.
    pub(crate) fn new(levels: &'r [Level<'a>], mut steps: Vec<Step<'a>>) -> Self {
        steps.clear();
        Self { levels, steps }
    }

    /// The levels from the root down to where the rule runs.
    pub(crate) const fn levels(&self) -> &'r [Level<'a>] {
        self.levels
    }

    /// The room for steps back.
    pub(crate) fn into_steps(self) -> Vec<Step<'a>> {
        self.steps
    }

    /// The root.
    pub(crate) fn root(&self, when: When) -> Place<'a> {
        self.level(when, 0)
    }

    /// Where the rule runs.
    pub(crate) fn here(&self, when: When) -> Place<'a> {
        self.level(when, self.levels.len() - 1)
    }

    fn level(&self, when: When, level: usize) -> Place<'a> {
        Place {
            when,
            at: narrow(level),
            beyond: 0,
            begun: narrow(self.steps.len()),
            node: self.node_of(when, level),
        }
    }

    fn node_of(&self, when: When, level: usize) -> Option<&'a Node> {
        let Level { before, after, .. } = self.levels[level];
        match when {
            When::Before => before,
            When::After => after,
        }
    }

    /// The step that leads to a place; nothing, if it is a level.
    fn step_to(&self, at: u32) -> Option<&Step<'a>> {
        (at as usize).checked_sub(self.levels.len()).map(|step| &self.steps[step])
    }

    /// Goes down. A key that data cannot have does not exist, and neither does anything below it; `.` and `..` are such
    /// keys. A path without any key names no child: were it the node itself, `root.child('admins').child(x).exists()`
    /// would let in whoever has an empty name (rules reference 13, point 7).
    pub(crate) fn child(&mut self, place: Place<'a>, path: &Cow<'a, str>) -> Place<'a> {
        match path {
            Cow::Borrowed(path) => match keys_down(path) {
                Some(keys) => keys.fold(place, |place, key| self.step(place, key, Cow::Borrowed)),
                None => beyond(place),
            },
            Cow::Owned(path) => match keys_down(path) {
                Some(keys) => keys.fold(place, |place, key| {
                    // What is too long is no key, and neither is nothing.
                    let key = if key.len() <= KEY_BYTES_MAX { key } else { "" };
                    self.step(place, key, |key| Cow::Owned(key.to_owned()))
                }),
                None => beyond(place),
            },
        }
    }

    /// Goes down by keys that were read before; at least one.
    pub(crate) fn descend(&mut self, place: Place<'a>, keys: &'a [Key]) -> Place<'a> {
        keys.iter().fold(place, |place, key| self.step(place, key.as_str(), Cow::Borrowed))
    }

    /// One level down; below the last level of all data, only further beyond it.
    fn step<'k>(
        &mut self,
        place: Place<'a>,
        key: &'k str,
        keep: impl FnOnce(&'k str) -> Cow<'a, str>,
    ) -> Place<'a> {
        let depth = self.step_to(place.at).map_or(place.at, |step| step.depth);
        if place.beyond != 0 || depth as usize == DEPTH_MAX {
            return beyond(place);
        }
        let node = place.node.and_then(|node| node.child_named(key));
        let at = narrow(self.levels.len() + self.steps.len());
        self.steps.push(Step { from: place.at, depth: depth + 1, key: keep(key), node });
        Place { at, node, ..place }
    }

    /// Goes up; nothing above the root.
    pub(crate) fn parent(&self, place: Place<'a>) -> Option<Place<'a>> {
        let (at, beyond) = match (place.beyond.checked_sub(1), self.step_to(place.at)) {
            (Some(beyond), _) => (place.at, beyond),
            (None, Some(step)) => (step.from, 0),
            (None, None) => (place.at.checked_sub(1)?, 0),
        };
        let node = match self.step_to(at) {
            _ if beyond != 0 => None,
            Some(step) => step.node,
            None => self.node_of(place.when, at as usize),
        };
        Some(Place { at, beyond, node, ..place })
    }

    /// Where a place is; nothing, if no data can be there.
    pub(crate) fn path(&self, place: Place<'a>) -> Option<Path> {
        if place.beyond != 0 {
            return None;
        }
        let mut below = Vec::with_capacity(DEPTH_MAX);
        let mut at = place.at;
        while let Some(step) = self.step_to(at) {
            below.push(Key::parse(&step.key).ok()?);
            at = step.from;
        }
        let above = self.levels[..=at as usize].iter().filter_map(|level| level.key);
        Some(above.cloned().chain(below.into_iter().rev()).collect())
    }

    /// The same place, for an expression of its own: what is reached from it can be forgotten, and it stays.
    pub(crate) fn held(&self, place: Place<'a>) -> Place<'a> {
        Place { begun: narrow(self.steps.len()), ..place }
    }

    /// Forgets the steps of an expression whose place is not needed any more.
    pub(crate) fn forget(&mut self, place: Place<'a>) {
        self.steps.truncate(place.begun as usize);
    }
}

/// The keys of a path; nothing, if it names none or is longer than any path of data.
pub(crate) fn keys_down(path: &str) -> Option<impl Iterator<Item = &str>> {
    let names_some = path.bytes().any(|byte| byte != b'/');
    let leads_down = names_some && path.len() <= RULE_PATH_BYTES_MAX;
    leads_down.then(|| path.split('/').filter(|key| !key.is_empty()))
}

/// One level further down, where no data can be.
const fn beyond(place: Place<'_>) -> Place<'_> {
    Place { beyond: place.beyond + 1, node: None, ..place }
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("an expression holds fewer snapshots than a document has bytes")
}
