//! What an admin has said of a database beside its rules (rest reference 8.2).
//!
//! Why it is part of its history: who has set a limit is told so, and relies on it after a crash as on a write.

/// What was set with a database, as the log keeps it: all of it, whenever one thing changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Counts the changes. 0 means that nothing was ever set.
    pub version: u64,
    /// How large a write may be whose request says nothing of that.
    pub default_write_size: DefaultWriteSize,
    /// Whether a write is refused that would trigger too many functions. Nothing here triggers any, so it is only kept.
    pub strict_triggers: StrictTriggers,
}

/// How long a write may take as it is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultWriteSize {
    /// 10 seconds.
    Small,
    /// 30 seconds.
    Medium,
    /// A minute.
    #[default]
    Large,
    /// As long as it takes.
    Unlimited,
}

/// Whether writes are refused for what they would trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StrictTriggers {
    /// They are, as the service does unless it is told otherwise.
    #[default]
    On,
    /// They are not.
    Off,
}

/// One thing that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// How large a write may be.
    DefaultWriteSize(DefaultWriteSize),
    /// What becomes of writes that trigger too much.
    StrictTriggers(StrictTriggers),
}

impl Settings {
    /// What follows when this is set; nothing, where it is like that already.
    pub(crate) fn next(&self, setting: Setting) -> Option<Self> {
        let version = self.version + 1;
        let next = match setting {
            Setting::DefaultWriteSize(default_write_size) => Self { default_write_size, ..self.clone() },
            Setting::StrictTriggers(strict_triggers) => Self { strict_triggers, ..self.clone() },
        };
        (next != *self).then_some(Self { version, ..next })
    }
}
