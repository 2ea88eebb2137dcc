//! Where a commit stands in the history of its database.

use std::fmt;

/// Position in one database's commit order; 0 means nothing was ever written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(u64);

impl Revision {
    /// That many commits after the beginning.
    pub const fn new(commits: u64) -> Self {
        Self(commits)
    }

    /// The number of commits up to here.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The one after this.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
