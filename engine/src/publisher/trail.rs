//! Which places the newest commits have touched, so that a client that comes back is told what it has missed.
//!
//! Why places and not values: what a client may know is judged when it comes back, and then only what is there now counts.
//! So nothing of old is kept alive, and a value that was replaced is shown to nobody. Why only from the first client on that
//! asks for it: a commit costs nothing where nobody will come back.

use super::{Listener, Publisher};
use crate::body::Content;
use crate::limits::{RESUMED_PLACES_MAX, TRAIL_BYTES_MAX, TRAIL_PLACES_MAX};
use crate::moment::Moment;
use crate::revision::Revision;
use crate::standing::ListenerId;
use crate::weight::Scale;
use hearth_tree::{Change, Order, Path, Query, RelativePath, Snapshot, To, Window};
use std::collections::{BTreeSet, VecDeque};

/// The newest commits, as far as there is room for them.
#[derive(Debug)]
pub(super) struct Trail {
    /// Everything behind this is here.
    begin: Revision,
    steps: VecDeque<Step>,
    /// What the steps weigh together.
    bytes: usize,
}

#[derive(Debug)]
struct Step {
    revision: Revision,
    /// Each at or above what was touched.
    places: Box<[Path]>,
    bytes: usize,
}

/// What somebody who comes back has missed.
#[derive(Debug, PartialEq)]
pub(super) enum Missed {
    /// It cannot be told: everything is to be.
    Unknown,
    /// Nothing.
    Nothing,
    /// What is at these places now.
    Parts(Content),
}

impl Trail {
    pub(super) const fn new(begin: Revision) -> Self {
        Self { begin, steps: VecDeque::new(), bytes: 0 }
    }

    /// A commit is published. O(its edits); they are in order.
    pub(super) fn add(&mut self, revision: Revision, change: &Change) {
        let edits = change.edits();
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else { return };
        let places: Box<[Path]> = if edits.len() <= TRAIL_PLACES_MAX {
            edits.iter().map(|edit| edit.at.clone()).collect()
        } else {
            [common(&first.at, &last.at)].into()
        };
        let mut scale = Scale::up_to(TRAIL_BYTES_MAX);
        places.iter().for_each(|at| scale.place(at));
        let bytes = scale.bytes();
        self.bytes += bytes;
        self.steps.push_back(Step { revision, places, bytes });
        while TRAIL_BYTES_MAX < self.bytes
            && let Some(oldest) = self.steps.pop_front()
        {
            self.bytes -= oldest.bytes;
            self.begin = oldest.revision;
        }
    }

    /// The places that commits behind a revision have touched, at or above a place or below it; nothing if that is not known,
    /// or there are more than [`RESUMED_PLACES_MAX`]. O(commits since).
    fn touched_since(&self, since: Revision, at: &Path) -> Option<BTreeSet<&Path>> {
        if since < self.begin {
            return None;
        }
        let mut touched = BTreeSet::new();
        for step in self.steps.iter().rev().take_while(|step| since < step.revision) {
            touched.extend(step.places.iter().filter(|place| at.covers(place) || place.covers(at)));
            if RESUMED_PLACES_MAX < touched.len() {
                return None;
            }
        }
        Some(touched)
    }
}

/// The deepest place at or above both.
fn common(a: &Path, b: &Path) -> Path {
    a.keys().iter().zip(b.keys()).take_while(|(a, b)| a == b).map(|(key, _)| key.clone()).collect()
}

impl Publisher {
    /// Where whoever is told something now stands.
    pub(super) fn moment(&self) -> Moment {
        Moment { revision: self.published.revision, rules: self.rules_begun }
    }

    /// Follows from now on which places commits touch, unless it does.
    pub(super) fn begin_trail(&mut self) {
        self.trail.get_or_insert_with(|| Trail::new(self.published.revision));
    }

    /// What a new listener has to be told whose client was told everything up to that moment.
    pub(super) fn missed_since(&self, id: ListenerId, left: Moment) -> Missed {
        let now = self.moment();
        let (Some(trail), Some(listener)) = (&self.trail, self.listeners.get(&id)) else {
            return Missed::Unknown;
        };
        if left.rules != now.rules || now.revision < left.revision {
            return Missed::Unknown;
        }
        let Listener { at, query, .. } = listener;
        match trail.touched_since(left.revision, at) {
            None => Missed::Unknown,
            Some(touched) if touched.is_empty() => Missed::Nothing,
            Some(touched) => what_is_at(touched, at, query, &self.published.tree),
        }
    }
}

/// What is now at places that were touched, for a client that knows everything else. In order.
fn what_is_at(touched: BTreeSet<&Path>, at: &Path, query: &Query, tree: &Snapshot) -> Missed {
    let places: Option<BTreeSet<RelativePath>> =
        touched.into_iter().map(|place| to_be_told(place, at, query, tree)).collect();
    // Of a place that was touched itself, or is gone.
    let Some(places) = places.filter(|places| places.first().is_some_and(|first| !first.is_here())) else {
        return Missed::Unknown;
    };
    let mut parts: Vec<(RelativePath, To)> = Vec::with_capacity(places.len());
    for place in places {
        let is_told = parts.last().is_some_and(|(last, _)| place.keys().starts_with(last.keys()));
        if !is_told && shows(query, &place) {
            let whole: Path = at.keys().iter().chain(place.keys()).cloned().collect();
            parts.push((place, To::Node(tree.get(&whole).cloned())));
        }
    }
    if parts.is_empty() { Missed::Nothing } else { Missed::Parts(Content::Merge(parts)) }
}

/// The place, seen from a listener, whose value says what has become of one that was touched; nothing if the listener has to
/// be told everything. What is not there any more is told by the highest node that is gone: whatever was written there
/// meanwhile may have replaced a value above, which the client still has.
fn to_be_told(touched: &Path, at: &Path, query: &Query, tree: &Snapshot) -> Option<RelativePath> {
    let below = touched.strip(at)?;
    let is_there = |depth: usize| touched.up_to(depth).is_some_and(|place| tree.get(&place).is_some());
    let deepest = touched.keys().len();
    let told = (at.keys().len()..deepest).find(|&depth| !is_there(depth)).unwrap_or(deepest);
    let told = touched.up_to(told)?.strip(at)?;
    if query.is_everything() || told.is_here() {
        return Some(told);
    }
    match (&query.order, query.window) {
        // Whether a child shows is said by its key alone.
        (Order::Key(_), Window::All) => Some(below.keys().first().cloned().into_iter().collect()),
        // What was shown is not known any more.
        (Order::Key(_) | Order::Value(_) | Order::Child(..) | Order::Priority(_), _) => None,
    }
}

fn shows(query: &Query, place: &RelativePath) -> bool {
    match (&query.order, place.keys()) {
        (Order::Key(range), [child, ..]) => range.holds(child),
        (Order::Key(_) | Order::Value(_) | Order::Child(..) | Order::Priority(_), _) => true,
    }
}
