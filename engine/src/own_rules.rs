//! Rules that belong to a database, which rules decide in it, and what else was set with it.
//!
//! Why they are part of its history: who has deployed rules is told so, and relies on them from then on. Kept anywhere else
//! they could be older or newer than the data beside them, or gone, and then what they forbid is allowed.

use crate::door::Door;
use crate::settings::{Setting, Settings};
use hearth_rules::{Rejected, Ruleset};
use std::sync::Arc;

/// The newest rules that were stored with a database, as the log keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnRules {
    /// Counts what was ever stored with this database, or taken back: one more each time, never used twice, so that whoever
    /// has seen a version can tell that it is still the one that holds. 0 means that nothing ever was.
    pub version: u64,
    /// When that was, in milliseconds since 1970.
    pub at_ms: i64,
    /// The text as it came; nothing, where none is stored.
    pub text: Option<Arc<str>>,
}

/// Another decision about who may do what.
#[derive(Clone, Debug)]
pub enum Governed {
    /// What decides in a database without rules of its own.
    ByDefault(Door),
    /// Rules of its own, and what they mean; nothing, where they are taken back.
    Own(OwnRules, Option<Arc<Ruleset>>),
    /// Something else was set.
    Set(Settings),
}

/// What decides in a database: its own rules, or the default where it has none; and its settings.
#[derive(Clone, Debug)]
pub struct Governing {
    default: Door,
    own: OwnRules,
    /// What the own rules mean. Closed until that is known, and where nobody can say it.
    own_door: Door,
    settings: Settings,
}

impl Governing {
    /// Without rules of its own.
    pub fn by_default(default: Door) -> Self {
        Self { default, own: OwnRules::default(), own_door: Door::Closed, settings: Settings::default() }
    }

    /// What stands between requests and the data.
    pub const fn door(&self) -> &Door {
        match self.own.text {
            Some(_) => &self.own_door,
            None => &self.default,
        }
    }

    /// Which rules it has of its own.
    pub const fn own(&self) -> &OwnRules {
        &self.own
    }

    /// What else was set.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether it has rules of its own that this program does not understand.
    pub const fn is_lost(&self) -> bool {
        self.own.text.is_some() && !matches!(self.own_door, Door::Rules(_))
    }

    /// Other rules of its own, as they were kept: closed until it is understood what they mean.
    pub(crate) fn replay(&mut self, own: OwnRules) {
        self.own = own;
        self.own_door = Door::Closed;
    }

    /// Other settings, as they were kept.
    pub(crate) fn replay_settings(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Finds out what rules mean that were kept. Closed where they do not compile: nobody knows what they would forbid, and
    /// so they allow nothing. O(length of the text).
    pub(crate) fn understand(&mut self) -> Result<(), Rejected> {
        if let Some(text) = &self.own.text {
            self.own_door = Door::Rules(Arc::new(Ruleset::compile(text)?));
        }
        Ok(())
    }

    /// Goes by something else from now on.
    pub(crate) fn follow(&mut self, governed: Governed) {
        match governed {
            Governed::ByDefault(door) => self.default = door,
            Governed::Own(own, rules) => {
                self.own = own;
                self.own_door = rules.map_or(Door::Closed, Door::Rules);
            }
            Governed::Set(settings) => self.settings = settings,
        }
    }

    /// What follows when rules are stored, or taken back; nothing, if there is nothing to take back.
    pub(crate) fn next(&self, now_ms: i64, rules: Option<Arc<Ruleset>>) -> Option<Governed> {
        if rules.is_none() && self.own.text.is_none() {
            return None;
        }
        let text = rules.as_ref().map(|rules| rules.source().into());
        let own = OwnRules { version: self.own.version + 1, at_ms: now_ms, text };
        Some(Governed::Own(own, rules))
    }

    /// What follows when something is set; nothing, where it is like that already.
    pub(crate) fn set(&self, setting: Setting) -> Option<Governed> {
        self.settings.next(setting).map(Governed::Set)
    }
}
