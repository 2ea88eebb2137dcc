//! What a session wants written when it ends (wire reference 4.7).
//!
//! Why a sparse tree and not a list: a later write below a queued one becomes part of it, and taking back a place takes
//! it out of what is queued above. The SDKs keep the same tree for their own simulation, and end as the server does.

use crate::door::Identity;
use crate::limits::{ARMED_BYTES_MAX, ARMED_PLACES_MAX};
use crate::weight::Scale;
use hearth_tree::{Assigned, Assignment, Draft, Key, Path, Pending, Priority, Update, Write};
use std::collections::BTreeMap;

/// The armed writes of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Armed {
    /// As whom they will be judged: the last one who armed any.
    identity: Identity,
    root: Spot,
    /// How many places are armed: counted, since a session that is refused may ask again as fast as it can.
    places: usize,
    /// No less than what it weighs: what was armed, with what has been covered since.
    bytes: usize,
}

/// Why something cannot be armed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArmError {
    /// The session has armed too many places.
    #[error(
        "a session can arm writes at {ARMED_PLACES_MAX} places for its disconnect, and this would be more"
    )]
    TooMany,
    /// The session has armed too much.
    #[error(
        "a session can arm {} KiB of writes for its disconnect, and this would be more",
        ARMED_BYTES_MAX / 1024
    )]
    TooHeavy,
}

/// A place at or above something armed.
#[derive(Clone, Debug, Default, PartialEq)]
struct Spot {
    /// What is queued here; then nothing is queued below, but taken into it.
    value: Option<Option<Draft>>,
    /// A priority alone, queued where no value is.
    priority: Option<Option<Pending<Priority>>>,
    below: BTreeMap<Key, Self>,
}

impl Armed {
    /// Nothing, for this identity.
    pub fn new(identity: Identity) -> Self {
        Self { identity, root: Spot::default(), places: 0, bytes: 0 }
    }

    /// As whom it is to be judged.
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Whether nothing is armed.
    pub fn is_empty(&self) -> bool {
        self.root.is_empty()
    }

    /// How many places are armed.
    pub const fn places(&self) -> usize {
        self.places
    }

    /// Whether one write more is within the limits. O(depth) for a place more than there may be, O(what is armed) for an
    /// update or a weight at the limit, and otherwise O(1).
    ///
    /// # Errors
    /// [`ArmError`] names the limit.
    pub(crate) fn check(&self, identity: &Identity, write: &Write) -> Result<(), ArmError> {
        let mut scale = Scale::up_to(ARMED_BYTES_MAX);
        scale.write(write);
        let is_far = self.bytes + scale.bytes() <= ARMED_BYTES_MAX
            && self.places + write.assignments().len() <= ARMED_PLACES_MAX;
        if is_far {
            return Ok(());
        }
        // Nothing makes up for a write that is too much by itself, and finding out would take the memory that is refused.
        if ARMED_PLACES_MAX < write.assignments().len() {
            return Err(ArmError::TooMany);
        }
        if ARMED_BYTES_MAX < scale.bytes() {
            return Err(ArmError::TooHeavy);
        }
        if let [assignment] = write.assignments()
            && ARMED_PLACES_MAX <= self.places
            && self.root.is_clear(assignment.at().keys())
        {
            return Err(ArmError::TooMany);
        }
        // What is armed anew takes no more; only near the limits it is worth finding out.
        let mut armed = self.clone();
        armed.arm(identity, write);
        if ARMED_PLACES_MAX < armed.places {
            return Err(ArmError::TooMany);
        }
        if ARMED_BYTES_MAX < armed.bytes { Err(ArmError::TooHeavy) } else { Ok(()) }
    }

    /// One write more; what it covers is forgotten.
    pub fn arm(&mut self, identity: &Identity, write: &Write) {
        self.identity = identity.clone();
        let mut scale = Scale::up_to(ARMED_BYTES_MAX);
        scale.write(write);
        self.bytes += scale.bytes();
        for assignment in write.assignments() {
            let Moved { more, less } = self.root.queue(assignment.at().keys(), assignment.to());
            self.places = self.places + more - less;
        }
        if ARMED_BYTES_MAX < self.bytes {
            let mut scale = Scale::up_to(ARMED_BYTES_MAX);
            self.root.weigh(&mut scale);
            self.bytes = scale.bytes();
        }
    }

    /// Forgets what is armed at a place and below.
    pub fn disarm(&mut self, at: &Path) {
        let Moved { more, less } = self.root.forget(at.keys());
        self.places = self.places + more - less;
    }

    /// What is to be written, in one piece; nothing, if nothing is armed.
    pub fn into_update(self) -> Option<Update> {
        let mut assignments = Vec::new();
        self.root.collect(&mut Vec::new(), &mut assignments);
        if assignments.is_empty() {
            return None;
        }
        let update = Update::new(Path::root(), assignments);
        Some(update.expect("the places of a sparse tree lie apart, and none is deeper than it was armed"))
    }
}

/// How many places have come and gone.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    more: usize,
    less: usize,
}

impl Moved {
    const fn more(more: usize) -> Self {
        Self { more, less: 0 }
    }

    const fn and(self, other: Self) -> Self {
        Self { more: self.more + other.more, less: self.less + other.less }
    }
}

impl Spot {
    fn is_empty(&self) -> bool {
        self.value.is_none() && self.priority.is_none() && self.below.is_empty()
    }

    fn places(&self) -> usize {
        let own = usize::from(self.value.is_some()) + usize::from(self.priority.is_some());
        own + self.below.values().map(Self::places).sum::<usize>()
    }

    /// Whether nothing is queued at a place, above or below it, so that what is queued there is one more. O(depth).
    fn is_clear(&self, keys: &[Key]) -> bool {
        match keys.split_first() {
            None => self.is_empty(),
            Some((key, below)) => {
                self.value.is_none() && self.below.get(key).is_none_or(|spot| spot.is_clear(below))
            }
        }
    }

    fn weigh(&self, scale: &mut Scale) {
        if let Some(value) = &self.value {
            scale.assigned(&Assigned::Value(value.clone()));
        }
        if let Some(priority) = &self.priority {
            scale.assigned(&Assigned::Priority(priority.clone()));
        }
        for (key, below) in &self.below {
            scale.keys(std::slice::from_ref(key));
            below.weigh(scale);
        }
    }

    fn queue(&mut self, keys: &[Key], to: &Assigned) -> Moved {
        match (keys.split_first(), to) {
            (None, Assigned::Value(draft)) => {
                let less = self.places();
                *self = Self { value: Some(draft.clone()), ..Self::default() };
                Moved { more: 1, less }
            }
            (None, Assigned::Priority(priority)) => match &mut self.value {
                Some(value) => {
                    *value = value.take().map(|value| value.with_priority(priority.clone()));
                    Moved::default()
                }
                None => Moved::more(usize::from(self.priority.replace(priority.clone()).is_none())),
            },
            (Some((key, below)), to) => match self.value.take() {
                Some(value) => {
                    self.value = Some(taken_in(value, keys, to));
                    Moved::default()
                }
                None => self.below.entry(key.clone()).or_default().queue(below, to),
            },
        }
    }

    fn forget(&mut self, keys: &[Key]) -> Moved {
        let Some((key, below)) = keys.split_first() else {
            let less = self.places();
            *self = Self::default();
            return Moved { more: 0, less };
        };
        let mut moved = Moved::default();
        match self.value.take() {
            // A queued leaf, or a queued delete, has nothing to take out.
            Some(value) if value.as_ref().is_none_or(Draft::is_leaf) => self.value = Some(value),
            Some(value) => {
                let (children, _) = value.map(Draft::into_children).unwrap_or_default();
                let spot = |child| Self { value: Some(Some(child)), ..Self::default() };
                self.below = children.into_iter().map(|(key, child)| (key, spot(child))).collect();
                moved = Moved { more: self.below.len(), less: 1 };
            }
            None => {}
        }
        if let Some(spot) = self.below.get_mut(key) {
            moved = moved.and(spot.forget(below));
            if spot.is_empty() {
                self.below.remove(key);
            }
        }
        moved
    }

    fn collect(self, keys: &mut Vec<Key>, into: &mut Vec<Assignment>) {
        let at = || keys.iter().cloned().collect::<Path>();
        if let Some(value) = self.value {
            into.push(Assignment::value(at(), value).expect("it was no deeper when it was armed"));
        }
        if let Some(priority) = self.priority {
            into.push(Assignment::priority(at(), priority));
        }
        for (key, spot) in self.below {
            keys.push(key);
            spot.collect(keys, into);
            keys.pop();
        }
    }
}

/// A queued value after a write below it.
fn taken_in(value: Option<Draft>, keys: &[Key], to: &Assigned) -> Option<Draft> {
    match to {
        Assigned::Value(draft) => Draft::with(value, keys, draft.clone()),
        Assigned::Priority(priority) => {
            let child = value.as_ref().and_then(|value| value.get(keys));
            match child {
                None => value,
                Some(child) => Draft::with(value, keys, Some(child.with_priority(priority.clone()))),
            }
        }
    }
}
