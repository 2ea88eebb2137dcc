//! Which parts of the rules were exercised, and how they came out.
//!
//! Why sides and not lines: a ruleset is one expression after the other; what a suite forgets is the case in which the
//! right side of an `&&` matters, or in which a rule says no.

use crate::access::{Denial, ReadVerdict, Situation};
use crate::ast::{ExprId, ExprKind, Logic};
use crate::eval::Observer;
use crate::fault::Failure;
use crate::outline::RuleId;
use crate::query::QueryValues;
use crate::ruleset::{Rule, Ruleset};
use crate::span::Span;
use crate::value::Value;
use hearth_tree::{Key, Path, Snapshot, Target};
use std::fmt;

/// What was seen of one ruleset so far. Merging is adding, so operations may run side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    rules: Vec<RuleCounts>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RuleCounts {
    whole: Counts,
    parts: Vec<Counts>,
}

/// How often something came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// True.
    pub truths: u64,
    /// False.
    pub falsehoods: u64,
    /// Any other value.
    pub others: u64,
    /// An error.
    pub failures: u64,
}

/// Something that a suite should exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The rule.
    pub rule: RuleId,
    /// Where in the document it stands.
    pub span: Span,
    /// What of it.
    pub side: CoveredSide,
    /// How often that happened.
    pub hits: u64,
}

/// What can happen at an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoveredSide {
    /// A rule that can only come out one way ran.
    Ran,
    /// The rule held.
    Held,
    /// The rule did not hold, or failed.
    DidNotHold,
    /// The left side of `&&` or `||` decided alone.
    LeftDecided(Logic),
    /// The right side of `&&` or `||` was needed.
    RightNeeded(Logic),
    /// The condition of `?:` held.
    Then,
    /// The condition of `?:` did not hold.
    Otherwise,
}

/// As the end of "never: …".
impl fmt::Display for CoveredSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ran => f.write_str("evaluated"),
            Self::Held => f.write_str("true"),
            Self::DidNotHold => f.write_str("false"),
            Self::LeftDecided(logic) => write!(f, "decided by the left side of {logic}"),
            Self::RightNeeded(logic) => write!(f, "decided by the right side of {logic}"),
            Self::Then => f.write_str("the first branch of ?:"),
            Self::Otherwise => f.write_str("the second branch of ?:"),
        }
    }
}

impl Counts {
    /// How often it was evaluated.
    pub const fn total(self) -> u64 {
        self.truths + self.falsehoods + self.others + self.failures
    }

    const fn add(&mut self, other: Self) {
        self.truths += other.truths;
        self.falsehoods += other.falsehoods;
        self.others += other.others;
        self.failures += other.failures;
    }
}

impl Ruleset {
    /// As [`Ruleset::read`], counted in `coverage`, which is of this ruleset.
    pub fn cover_read(
        &self,
        situation: &Situation<'_>,
        at: &Path,
        query: &QueryValues,
        coverage: &mut Coverage,
    ) -> ReadVerdict {
        self.read_observed(situation, at, query, coverage)
    }

    /// As [`Ruleset::write`], counted in `coverage`, which is of this ruleset.
    ///
    /// # Errors
    /// As [`Ruleset::write`].
    pub fn cover_write(
        &self,
        situation: &Situation<'_>,
        after: &Snapshot,
        targets: &[Target],
        coverage: &mut Coverage,
    ) -> Result<(), Denial> {
        self.write_observed(situation, after, targets, coverage)
    }
}

impl Coverage {
    /// Nothing seen yet.
    pub fn new(ruleset: &Ruleset) -> Self {
        let counts = |rule: &Rule| RuleCounts {
            whole: Counts::default(),
            parts: vec![Counts::default(); rule.ast.len()],
        };
        Self { rules: ruleset.rules().map(|(_, rule)| counts(rule)).collect() }
    }

    /// Adds what was seen elsewhere of the same ruleset.
    pub fn merge(&mut self, other: &Self) {
        for (own, other) in self.rules.iter_mut().zip(&other.rules) {
            own.whole.add(other.whole);
            for (own, other) in own.parts.iter_mut().zip(&other.parts) {
                own.add(*other);
            }
        }
    }

    /// How a whole rule came out.
    pub fn rule(&self, rule: RuleId) -> Counts {
        self.rules[rule.0 as usize].whole
    }

    /// How the parts of a rule came out, operands before operators. Parts that are only named (methods, patterns,
    /// lists) are never evaluated on their own and are left out.
    pub fn parts<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        rule: RuleId,
    ) -> impl Iterator<Item = (ExprId, Counts)> + 'a {
        let counts = &self.rules[rule.0 as usize].parts;
        let steps = &ruleset.rule(rule).program.steps;
        let mut evaluated: Vec<ExprId> = steps.iter().map(|step| step.part).collect();
        evaluated.sort_unstable();
        evaluated.dedup();
        evaluated.into_iter().map(|part| (part, counts[part.index()]))
    }

    /// Everything that a suite should exercise, in the order of the document.
    pub fn points(&self, ruleset: &Ruleset) -> Vec<Point> {
        ruleset.rules().flat_map(|(id, rule)| self.points_of(id, rule)).collect()
    }

    fn points_of(&self, id: RuleId, rule: &Rule) -> Vec<Point> {
        let RuleCounts { whole, parts } = &self.rules[id.0 as usize];
        let point = |span, side, hits| Point { rule: id, span, side, hits };
        let text = rule.text().span();
        let mut points = if rule.ast.len() == 1 {
            vec![point(text, CoveredSide::Ran, whole.total())]
        } else {
            vec![
                point(text, CoveredSide::Held, whole.truths),
                point(text, CoveredSide::DidNotHold, whole.falsehoods + whole.failures),
            ]
        };
        for (part, expr) in rule.ast.iter() {
            let span = rule.text().locate(rule.part(part));
            let (sides, first) = match &expr.kind {
                ExprKind::Logic { operator, left, .. } => {
                    ([CoveredSide::LeftDecided(*operator), CoveredSide::RightNeeded(*operator)], *left)
                }
                ExprKind::Conditional { condition, .. } => {
                    ([CoveredSide::Then, CoveredSide::Otherwise], *condition)
                }
                ExprKind::Boolean(_)
                | ExprKind::Number(_)
                | ExprKind::Text(_)
                | ExprKind::Null
                | ExprKind::Regex { .. }
                | ExprKind::Name(_)
                | ExprKind::List(_)
                | ExprKind::Member { .. }
                | ExprKind::Index { .. }
                | ExprKind::Call { .. }
                | ExprKind::Not(_)
                | ExprKind::Negate(_)
                | ExprKind::Binary { .. } => continue,
            };
            let Counts { truths, falsehoods, .. } = parts[first.index()];
            let [held, did_not] = [truths, falsehoods];
            let hits = if sides[0] == CoveredSide::LeftDecided(Logic::And) {
                [did_not, held]
            } else {
                [held, did_not]
            };
            points.extend([point(span, sides[0], hits[0]), point(span, sides[1], hits[1])]);
        }
        points
    }

    fn count(&mut self, rule: RuleId) -> &mut RuleCounts {
        &mut self.rules[rule.0 as usize]
    }
}

impl Observer for Coverage {
    fn node(&mut self, _keys: &[Key]) {}

    fn rule(&mut self, _rule: RuleId) {}

    fn part(&mut self, rule: RuleId, part: ExprId, value: &Value<'_>) {
        let counts = &mut self.count(rule).parts[part.index()];
        if let Value::Bool(value) = value {
            *(if *value { &mut counts.truths } else { &mut counts.falsehoods }) += 1;
        } else {
            counts.others += 1;
        }
    }

    fn outcome(&mut self, rule: RuleId, outcome: &Result<bool, Failure>) {
        let RuleCounts { whole, parts } = self.count(rule);
        match outcome {
            Ok(true) => whole.truths += 1,
            Ok(false) => whole.falsehoods += 1,
            Err(Failure { part, .. }) => {
                whole.failures += 1;
                parts[part.index()].failures += 1;
            }
        }
    }
}
