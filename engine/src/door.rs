//! Who may pass: the one place where the engine asks the rules.
//!
//! Why a type between: an admin passes everywhere, and a database without rules is either open (a developer's) or
//! closed (production), and nobody below should have to know which.

use hearth_rules::{Budget, Claim, Denial, Look, MissingIndex, QueryValues, Ruleset, Situation};
use hearth_tree::{Path, Query, Snapshot, Target};
use std::sync::Arc;

/// Who asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Identity {
    /// Whom rules do not bind.
    Admin,
    /// The value of `auth` in rules; [`Claim::Null`] for somebody who has not signed in. Not a token: what was armed
    /// for a disconnect is judged by it when every token has expired.
    User(Arc<Claim>),
}

/// What stands between a request and the data.
#[derive(Clone, Debug)]
pub enum Door {
    /// Everybody may do everything.
    Open,
    /// Only admins may do anything.
    Closed,
    /// Rules decide.
    Rules(Arc<Ruleset>),
}

/// An allowed read, and what that depends on: it must be judged again when any of it changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    /// What of the data was looked at.
    pub looks: Vec<Look>,
    /// Whether the time was.
    pub saw_now: bool,
}

/// Why something is not allowed; for the operator's log, a client is told that it is denied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// There are no rules, and the database is closed without.
    #[error("there are no rules, and without rules only admins may use `{at}`")]
    NoRules {
        /// What was to be read or written.
        at: Path,
    },
    /// A rule stands against it, or none grants it.
    #[error(transparent)]
    Rules(#[from] Denial),
}

impl Identity {
    /// Somebody who has not signed in.
    pub fn nobody() -> Self {
        Self::User(Arc::new(Claim::Null))
    }
}

impl Door {
    /// Judges a read.
    ///
    /// # Errors
    /// [`Denied`] says what stands against it.
    pub fn read(
        &self,
        who: &Identity,
        now_ms: i64,
        tree: &Snapshot,
        at: &Path,
        query: &Query,
    ) -> Result<Pass, Denied> {
        match (who, self) {
            (Identity::Admin, _) | (_, Self::Open) => Ok(Pass::default()),
            (Identity::User(_), Self::Closed) => Err(Denied::NoRules { at: at.clone() }),
            (Identity::User(auth), Self::Rules(rules)) => {
                let verdict = rules.read(&situation(auth, now_ms, tree), at, &QueryValues::from(query));
                verdict.outcome?;
                Ok(Pass { looks: verdict.looks, saw_now: verdict.saw_now })
            }
        }
    }

    /// The index that a query needs and nobody has declared (wire reference 5.6). Where there are no rules nothing can be
    /// declared: a developer's open database serves every query, a closed one does not, admins included.
    pub fn missing_index(&self, at: &Path, query: &Query) -> Option<MissingIndex> {
        if query.is_everything() {
            return None;
        }
        match self {
            Self::Open => None,
            Self::Closed => MissingIndex::needed(at, &query.order),
            Self::Rules(rules) => rules.missing_index(at, &query.order),
        }
    }

    /// Judges a write of these places, which leads from one tree to the other.
    ///
    /// # Errors
    /// [`Denied`] says what stands against it.
    pub fn write(
        &self,
        who: &Identity,
        now_ms: i64,
        (before, after): (&Snapshot, &Snapshot),
        targets: &[Target],
    ) -> Result<(), Denied> {
        match (who, self) {
            (Identity::Admin, _) | (_, Self::Open) => Ok(()),
            (Identity::User(_), Self::Closed) => Err(Denied::NoRules {
                at: targets.first().map(|target| target.path.clone()).unwrap_or_default(),
            }),
            (Identity::User(auth), Self::Rules(rules)) => {
                Ok(rules.write(&situation(auth, now_ms, before), after, targets)?)
            }
        }
    }
}

const fn situation<'a>(auth: &'a Claim, now_ms: i64, before: &'a Snapshot) -> Situation<'a> {
    Situation { auth, now_ms, before, budget: Budget::DEFAULT }
}
