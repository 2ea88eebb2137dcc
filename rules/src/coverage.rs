//! Which parts of the rules were exercised, and how they came out.
//!
//! Why sides and not lines: a ruleset is one expression after the other; what a suite forgets is the case in which the
//! right side of an `&&` matters, or in which a rule says no.

use crate::access::{Denial, ReadVerdict, Situation};
use crate::ast::{ExprId, ExprKind, Logic};
use crate::eval::Observer;
use crate::fault::{Failure, Fault};
use crate::level::Level;
use crate::outline::RuleId;
use crate::query::QueryValues;
use crate::ruleset::{Rule, Ruleset};
use crate::span::Span;
use crate::value::Value;
use hearth_tree::{Path, Snapshot, Target};
use std::fmt;

/// What was seen of one ruleset so far. Merging is adding, so operations may run side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    rules: Vec<RuleCounts>,
    /// What the values that are kept take, in bytes.
    values_bytes: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RuleCounts {
    whole: Counts,
    parts: Vec<Seen>,
}

/// What was seen of one part of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often it came to what.
    pub counts: Counts,
    /// The first few values other than true and false, as they are shown, and how often each came. Snapshots have none.
    pub values: Vec<(Box<str>, u64)>,
    /// What has gone wrong there, and how often.
    pub faults: Vec<(Fault, u64)>,
}

/// Most different values that are kept of one part. Further ones are counted and not named.
pub const SEEN_VALUES_MAX: usize = 8;

/// What one of them takes at most, in bytes: it is the start of a text, or short.
const SEEN_VALUE_BYTES_MAX: usize = 256;

/// Most memory that the values of one ruleset take, in bytes: whoever writes rules reads some of them.
pub const SEEN_BYTES_MAX: usize = 1024 * 1024;

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
    /// The operator whose side it is; nothing, if it is the rule's own.
    pub operator: Option<ExprId>,
    /// Where in the document that stands which decides: the operand, the branch, or the rule.
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
    /// The right side of `&&` or `||` decided, by holding or by not holding (or failing).
    RightDecided(Logic, bool),
    /// The condition of `?:` held, and the first branch, if it is a condition itself, held or did not.
    Then(Option<bool>),
    /// The condition of `?:` did not hold; the same of the second branch.
    Otherwise(Option<bool>),
}

/// As the end of "never: …".
impl fmt::Display for CoveredSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ran => f.write_str("evaluated"),
            Self::Held => f.write_str("true"),
            Self::DidNotHold => f.write_str("false"),
            Self::LeftDecided(logic) => write!(f, "decided by the left side of {logic}"),
            Self::RightDecided(logic, held) => write!(f, "{held} by the right side of {logic}"),
            Self::Then(None) => f.write_str("the first branch of ?:"),
            Self::Then(Some(held)) => write!(f, "{held} by the first branch of ?:"),
            Self::Otherwise(None) => f.write_str("the second branch of ?:"),
            Self::Otherwise(Some(held)) => write!(f, "{held} by the second branch of ?:"),
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
        self.judge_write(situation, after, targets, Some(coverage)).outcome
    }
}

impl Coverage {
    /// Nothing seen yet.
    pub fn new(ruleset: &Ruleset) -> Self {
        let counts = |rule: &Rule| RuleCounts {
            whole: Counts::default(),
            parts: vec![Seen::default(); rule.ast.len()],
        };
        Self { rules: ruleset.rules().map(|(_, rule)| counts(rule)).collect(), values_bytes: 0 }
    }

    /// The most memory that coverage of a ruleset takes, in bytes. O(rules).
    pub fn bytes_max(ruleset: &Ruleset) -> usize {
        let parts: usize = ruleset.rules().map(|(_, rule)| rule.ast.len()).sum();
        let values = SEEN_BYTES_MAX.min(parts * SEEN_VALUES_MAX * SEEN_VALUE_BYTES_MAX);
        let faults = parts * SEEN_VALUES_MAX * size_of::<(Fault, u64)>();
        parts * size_of::<Seen>() + values + faults
    }

    /// Adds what was seen elsewhere of the same ruleset.
    pub fn merge(&mut self, other: &Self) {
        let bytes = &mut self.values_bytes;
        for (own, other) in self.rules.iter_mut().zip(&other.rules) {
            own.whole.add(other.whole);
            for (own, other) in own.parts.iter_mut().zip(&other.parts) {
                own.counts.add(other.counts);
                for (value, count) in &other.values {
                    own.add_value(value, *count, bytes);
                }
                for (fault, count) in &other.faults {
                    own.add_fault(*fault, *count);
                }
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
    ) -> impl Iterator<Item = (ExprId, &'a Seen)> {
        let seen = &self.rules[rule.0 as usize].parts;
        let steps = &ruleset.rule(rule).program.steps;
        let mut evaluated: Vec<ExprId> = steps.iter().map(|step| step.part).collect();
        evaluated.sort_unstable();
        evaluated.dedup();
        evaluated.into_iter().map(|part| (part, &seen[part.index()]))
    }

    /// Everything that a suite should exercise, in the order of the document.
    pub fn points(&self, ruleset: &Ruleset) -> Vec<Point> {
        ruleset.rules().flat_map(|(id, rule)| self.points_of(id, rule)).collect()
    }

    fn points_of(&self, id: RuleId, rule: &Rule) -> Vec<Point> {
        let RuleCounts { whole, parts } = &self.rules[id.0 as usize];
        let text = rule.text().span();
        let own = |side, hits| Point { rule: id, operator: None, span: text, side, hits };
        let mut points = if rule.ast.len() == 1 {
            vec![own(CoveredSide::Ran, whole.total())]
        } else {
            vec![
                own(CoveredSide::Held, whole.truths),
                own(CoveredSide::DidNotHold, whole.falsehoods + whole.failures),
            ]
        };
        for (part, expr) in rule.ast.iter() {
            let point = |of: ExprId, side, hits| {
                let span = rule.text().locate(rule.part(of));
                Point { rule: id, operator: Some(part), span, side, hits }
            };
            match &expr.kind {
                ExprKind::Logic { operator, left, right } => {
                    let Counts { truths, falsehoods, .. } = parts[left.index()].counts;
                    let (decided, needed) = match operator {
                        Logic::And => (falsehoods, truths),
                        Logic::Or => (truths, falsehoods),
                    };
                    // In `a && b && c` the left side is `a && b`: what decides in it is a side already.
                    if !is_same(operator, &rule.ast.get(*left).kind) {
                        points.push(point(*left, CoveredSide::LeftDecided(*operator), decided));
                    }
                    let sides = self.outcomes(id, rule, *right, needed);
                    points.extend(
                        sides.into_iter().map(|(held, hits)| {
                            point(*right, CoveredSide::RightDecided(*operator, held), hits)
                        }),
                    );
                }
                ExprKind::Conditional { condition, then, otherwise } => {
                    let Counts { truths, falsehoods, .. } = parts[condition.index()].counts;
                    for (branch, needed, is_first) in [(*then, truths, true), (*otherwise, falsehoods, false)]
                    {
                        let side = if is_first { CoveredSide::Then } else { CoveredSide::Otherwise };
                        let sides = self.outcomes(id, rule, branch, needed);
                        if sides.len() < 2 {
                            points.push(point(branch, side(None), needed));
                        } else {
                            points.extend(
                                sides.into_iter().map(|(held, hits)| point(branch, side(Some(held)), hits)),
                            );
                        }
                    }
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
                | ExprKind::Binary { .. } => {}
            }
        }
        points
    }

    /// How a part that was needed so often can come out, and how often it did: a condition holds, or does not (or fails); a
    /// literal is what it is, and what is no condition is neither.
    fn outcomes(&self, id: RuleId, rule: &Rule, part: ExprId, needed: u64) -> Vec<(bool, u64)> {
        if let ExprKind::Boolean(value) = rule.ast.get(part).kind {
            return vec![(value, needed)];
        }
        if !rule.types[part.index()].is_boolean() {
            return Vec::new();
        }
        let held = self.rules[id.0 as usize].parts[part.index()].counts.truths;
        vec![(true, held), (false, needed.saturating_sub(held))]
    }

    /// For each of the [`Coverage::parts`] of a rule, how often it came to nothing because something in it failed. O(parts).
    pub fn interruptions(&self, ruleset: &Ruleset, rule: RuleId) -> Vec<u64> {
        let ast = &ruleset.rule(rule).ast;
        let seen = &self.rules[rule.0 as usize].parts;
        let mut interrupted = vec![0; ast.len()];
        // Operands come first, so what failed below a part is known when its turn comes.
        for ((part, parent), own) in ast.parents().into_iter().enumerate().zip(seen) {
            if let Some(parent) = parent {
                interrupted[parent.index()] += interrupted[part] + own.counts.failures;
            }
        }
        self.parts(ruleset, rule).map(|(part, _)| interrupted[part.index()]).collect()
    }
}

fn is_same(operator: &Logic, kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::Logic { operator: own, .. } if own == operator)
}

impl Seen {
    fn add_value(&mut self, value: &str, count: u64, bytes: &mut usize) {
        if let Some((_, times)) = self.values.iter_mut().find(|(own, _)| **own == *value) {
            *times += count;
            return;
        }
        let more = size_of::<(Box<str>, u64)>() + value.len();
        if self.values.len() < SEEN_VALUES_MAX && *bytes + more <= SEEN_BYTES_MAX {
            *bytes += more;
            self.values.push((value.into(), count));
        }
    }

    fn add_fault(&mut self, fault: Fault, count: u64) {
        if let Some((_, times)) = self.faults.iter_mut().find(|(own, _)| *own == fault) {
            *times += count;
        } else if self.faults.len() < SEEN_VALUES_MAX {
            self.faults.push((fault, count));
        }
    }
}

impl Observer for Coverage {
    fn node(&mut self, _levels: &[Level<'_>]) {}

    fn rule(&mut self, _rule: RuleId) {}

    fn part(&mut self, rule: RuleId, part: ExprId, value: &Value<'_>) {
        let seen = &mut self.rules[rule.0 as usize].parts[part.index()];
        match value {
            Value::Bool(true) => seen.counts.truths += 1,
            Value::Bool(false) => seen.counts.falsehoods += 1,
            Value::Place(_) | Value::Query => seen.counts.others += 1,
            Value::Null | Value::Number(_) | Value::Text(_) | Value::Object | Value::Claims(_) => {
                seen.counts.others += 1;
                seen.add_value(&value.to_string(), 1, &mut self.values_bytes);
            }
        }
    }

    fn outcome(&mut self, rule: RuleId, outcome: &Result<bool, Failure>) {
        let RuleCounts { whole, parts } = &mut self.rules[rule.0 as usize];
        match outcome {
            Ok(true) => whole.truths += 1,
            Ok(false) => whole.falsehoods += 1,
            Err(Failure { part, fault }) => {
                whole.failures += 1;
                let seen = &mut parts[part.index()];
                seen.counts.failures += 1;
                seen.add_fault(*fault, 1);
            }
        }
    }
}
