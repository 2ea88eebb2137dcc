//! Who may pass: the one place where the engine asks the rules.
//!
//! Why a type between: an admin passes everywhere, and a database without rules is either open (a developer's) or
//! closed (production), and nobody below should have to know which.

use crate::onlooker::{Onlooker, reasons_of_read, reasons_of_write};
use hearth_rules::{
    Budget, Claim, Coverage, Denial, IndexToAdd, Look, MissingIndex, QueryValues, Ruleset, Situation,
};
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
    #[error("{denial}")]
    Rules {
        /// Which one, or none.
        denial: Denial,
        /// How that came about, if whoever asked may know it: it says what rules and data are.
        reasons: Option<Arc<str>>,
    },
}

/// A door, and who looks on.
#[derive(Clone, Copy, Debug)]
pub struct WatchedDoor<'a> {
    door: &'a Door,
    onlooker: Option<&'a dyn Onlooker>,
}

/// Whether a verdict is one that whoever looks on takes notes of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    Yes,
    No,
}

impl Identity {
    /// Somebody who has not signed in.
    pub fn nobody() -> Self {
        Self::User(Arc::new(Claim::Null))
    }
}

impl Door {
    /// This door while somebody looks on, or nobody.
    pub const fn seen_by<'a>(&'a self, onlooker: Option<&'a dyn Onlooker>) -> WatchedDoor<'a> {
        WatchedDoor { door: self, onlooker }
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

    /// What to add to the rules, so that an index is there that is not. O(depth).
    pub fn index_to_add(&self, missing: &MissingIndex) -> IndexToAdd {
        match self {
            Self::Open | Self::Closed => IndexToAdd::without_rules(missing),
            Self::Rules(rules) => rules.index_to_add(missing),
        }
    }
}

impl Denied {
    /// How it came about, if whoever asked may know it.
    pub const fn reasons(&self) -> Option<&Arc<str>> {
        match self {
            Self::NoRules { .. } => None,
            Self::Rules { reasons, .. } => reasons.as_ref(),
        }
    }
}

impl WatchedDoor<'_> {
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
        self.judge_read(who, now_ms, tree, (at, query), Noted::Yes)
    }

    /// As [`WatchedDoor::read`], where it was asked before, or only on the way to another verdict. Who looks on counts
    /// requests, so this counts if it ends one and not otherwise.
    ///
    /// # Errors
    /// [`Denied`] says what stands against it.
    pub fn read_again(
        &self,
        who: &Identity,
        now_ms: i64,
        tree: &Snapshot,
        at: &Path,
        query: &Query,
    ) -> Result<Pass, Denied> {
        let is_noted = self.onlooker.is_some_and(Onlooker::takes_notes);
        match self.judge_read(who, now_ms, tree, (at, query), Noted::No) {
            Err(_) if is_noted => self.read(who, now_ms, tree, at, query),
            judged => judged,
        }
    }

    fn judge_read(
        &self,
        who: &Identity,
        now_ms: i64,
        tree: &Snapshot,
        (at, query): (&Path, &Query),
        noted: Noted,
    ) -> Result<Pass, Denied> {
        let (auth, rules) = match (who, self.door) {
            (Identity::Admin, _) | (_, Door::Open) => return Ok(Pass::default()),
            (Identity::User(_), Door::Closed) => return Err(Denied::NoRules { at: at.clone() }),
            (Identity::User(auth), Door::Rules(rules)) => (auth, rules),
        };
        let (situation, query) = (situation(auth, now_ms, tree), QueryValues::from(query));
        let judge = |coverage: Option<&mut Coverage>| match coverage {
            None => rules.read(&situation, at, &query),
            Some(coverage) => rules.cover_read(&situation, at, &query, coverage),
        };
        let verdict = match noted {
            Noted::Yes => self.look_on(rules, judge),
            Noted::No => judge(None),
        };
        self.judged(verdict.steps);
        verdict.outcome.map_err(|denial| {
            let reasons = || reasons_of_read(rules, &situation, at, &query, &denial);
            Denied::Rules { reasons: self.tells_reasons(auth).then(reasons), denial }
        })?;
        Ok(Pass { looks: verdict.looks, saw_now: verdict.saw_now })
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
        let (auth, rules) = match (who, self.door) {
            (Identity::Admin, _) | (_, Door::Open) => return Ok(()),
            (Identity::User(_), Door::Closed) => {
                let at = targets.first().map(|target| target.path.clone()).unwrap_or_default();
                return Err(Denied::NoRules { at });
            }
            (Identity::User(auth), Door::Rules(rules)) => (auth, rules),
        };
        let situation = situation(auth, now_ms, before);
        let verdict = self.look_on(rules, |coverage| rules.judge_write(&situation, after, targets, coverage));
        self.judged(verdict.steps);
        verdict.outcome.map_err(|denial| {
            let reasons = || reasons_of_write(rules, &situation, after, targets, &denial);
            Denied::Rules { reasons: self.tells_reasons(auth).then(reasons), denial }
        })
    }

    /// Has a verdict made, counted if somebody counts.
    fn look_on<T>(&self, rules: &Arc<Ruleset>, judge: impl Fn(Option<&mut Coverage>) -> T) -> T {
        let Some(onlooker) = self.onlooker else { return judge(None) };
        let mut verdict = None;
        onlooker.look_on(rules, &mut |coverage| verdict = Some(judge(coverage)));
        // A verdict is made whether or not somebody has looked on.
        verdict.unwrap_or_else(|| judge(None))
    }

    fn judged(&self, steps: u64) {
        if let Some(onlooker) = self.onlooker {
            onlooker.judged(steps);
        }
    }

    fn tells_reasons(&self, auth: &Claim) -> bool {
        self.onlooker.is_some_and(|onlooker| onlooker.tells_reasons(auth))
    }
}

const fn situation<'a>(auth: &'a Claim, now_ms: i64, before: &'a Snapshot) -> Situation<'a> {
    Situation { auth, now_ms, before, budget: Budget::DEFAULT }
}
