//! One step of a database's history: what the log keeps and the publisher shows.

use crate::door::Identity;
use crate::request::SessionId;
use crate::revision::Revision;
use hearth_tree::{Change, Path, Write};

/// What happened at one revision. Everything in it is resolved: to apply it takes no clock and no rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    /// Its place in the order.
    pub revision: Revision,
    /// What it does to the tree; nothing, if it only arms or disarms.
    pub change: Change,
    /// What it does to the writes that are armed for the end of a session.
    pub arming: Option<Arming>,
}

/// Why armed writes are part of the history: what a client was told is armed must be there after a crash.
#[derive(Clone, Debug, PartialEq)]
pub struct Arming {
    /// Whose.
    pub session: SessionId,
    /// What becomes of them.
    pub step: ArmingStep,
}

/// What becomes of the armed writes of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum ArmingStep {
    /// One more, to be judged as this identity when the time comes.
    Arm(Identity, Write),
    /// None at this place and below.
    Disarm(Path),
    /// They have been made, or dropped where they were not allowed: none is left.
    Fired,
}
