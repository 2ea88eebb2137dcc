//! One rule, what it is asked about, and what both evaluators say to it.

use super::evaluate::{World, Worth};
use super::expression::Expr;
use super::generate::{Author, auth, query, tree};
use super::tree::with;
use crate::case::{Case, Operation, snapshot};
use arbitrary::{Arbitrary, Result, Unstructured};
use hearth_rules::{Budget, Coverage, CoveredSide, ExprId, Lint, RuleRun, Ruleset, Seen, Situation, Trace};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Deep enough for one thing inside another inside a third.
const DEPTH: u32 = 5;

/// A rule for `/a/$k`, and a read or a write of one such place.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    expr: Expr,
    is_write: bool,
    key: &'static str,
    data: Value,
    /// What is written.
    value: Value,
    /// What the data might be instead.
    other_data: Value,
    auth: Value,
    query: Value,
    now: i64,
    /// Steps that may not suffice.
    scant_steps: u64,
}

impl<'d> Arbitrary<'d> for Question {
    fn arbitrary(bytes: &mut Unstructured<'d>) -> Result<Self> {
        let is_write = bytes.arbitrary()?;
        let query = if is_write { json!({}) } else { query(bytes)? };
        Ok(Self {
            is_write,
            query,
            key: bytes.choose(&["k", "b", "x y"])?,
            now: bytes.int_in_range(0..=2)?,
            scant_steps: bytes.int_in_range(0..=63)?,
            auth: auth(bytes)?,
            data: tree(bytes, 4)?,
            value: tree(bytes, 2)?,
            other_data: tree(bytes, 4)?,
            expr: Author { bytes, is_write }.boolean(DEPTH)?,
        })
    }
}

impl Question {
    fn site(&self) -> [&'static str; 2] {
        ["a", self.key]
    }

    /// As a case of the recorded shape.
    fn row(&self, data: &Value, now: i64) -> Value {
        let path = format!("/a/{}", self.key);
        let (rule, op) = if self.is_write {
            (".write", json!({"kind": "set", "path": path, "value": self.value}))
        } else {
            (".read", json!({"kind": "read", "path": path, "query": self.query}))
        };
        json!({
            "rules": {"rules": {"a": {"$k": {rule: self.expr.print()}}}},
            "auth": self.auth, "now": now, "data": data, "op": op,
        })
    }

    /// Asks both evaluators; a sentence if they disagree, or if the real one contradicts itself.
    pub(crate) fn disagreement(&self) -> Option<String> {
        let row = self.row(&self.data, self.now);
        let case = Case::of(&row);
        let after = self.after(&self.data);
        let world = self.world(&self.data, &after, self.now);
        let naive = world.value(&self.expr);
        if world.is_overgrown.get() {
            return None;
        }
        let found = case.is_allowed();
        let told = |what: &str| Some(format!("{what}: {row:#}"));
        if found != naive.as_ref().is_some_and(Worth::is_true) {
            return told(&format!("allowed is {found}, and the naive evaluator says {naive:?}"));
        }
        if let Some(other) = traced(&case).into_iter().find(|other| *other != found) {
            return told(&format!("allowed is {found}, and {other} when it is watched"));
        }
        if self.costs_otherwise(&case) {
            return told(&format!("of {} steps another verdict comes when it is watched", self.scant_steps));
        }
        if let Some(wrong) = self.wrong_warning(&case, found) {
            return told(&wrong);
        }
        self.untold_dependence(&case).and_then(told)
    }

    /// What is said to be never so is so here.
    fn wrong_warning(&self, case: &Case, allowed: bool) -> Option<String> {
        let Case { rules, auth, now_ms, before, operation, budget } = case;
        let situation = Situation { auth, now_ms: *now_ms, before, budget: *budget };
        let trace = match operation {
            Operation::Read(at, query) => rules.trace_read(&situation, at, query).1,
            Operation::Write { after, targets } => rules.trace_write(&situation, after, targets).1,
        };
        let runs = || trace.visits.iter().flat_map(|visit| &visit.runs);
        rules.lint().into_iter().find_map(|warning| {
            let comes_to = |wanted: bool| {
                let is_it =
                    |run: &RuleRun, part| rules.rule(run.rule).text().locate(rules.rule(run.rule).part(part));
                runs().any(|run| {
                    let mut parts = run.parts.iter();
                    parts.any(|(part, value)| {
                        is_it(run, *part) == warning.span && *value == wanted.to_string()
                    })
                })
            };
            let lint = &warning.lint;
            let wrong = (matches!(lint, Lint::NeverHolds(_)) && allowed)
                || (*lint == Lint::PublicWrite && !allowed && self.auth.is_null())
                || (*lint == Lint::AlwaysFails && (comes_to(true) || comes_to(false)))
                || [true, false]
                    .into_iter()
                    .any(|always| *lint == Lint::Decided(always) && comes_to(!always));
            wrong.then(|| warning.to_string())
        })
    }

    /// Asks three times, and has coverage and the naive evaluator count which ways are gone; a sentence if they disagree.
    pub(crate) fn miscount(&self) -> Option<String> {
        let Case { rules, .. } = Case::of(&self.row(&self.data, self.now));
        let mut coverage = Coverage::new(&rules);
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        let mut told: BTreeMap<ExprId, u64> = BTreeMap::new();
        let asked = [(&self.data, self.now), (&self.other_data, self.now), (&self.data, self.now + 1)];
        for (data, now) in asked {
            let after = self.after(data);
            let world = self.world(data, &after, now);
            let holds = world.value(&self.expr).is_some_and(|worth| worth.is_true());
            if world.is_overgrown.get() {
                return None;
            }
            world
                .ways_gone
                .take()
                .into_iter()
                .for_each(|(way, times)| *expected.entry(way).or_default() += times);
            *expected.entry(if holds { "true" } else { "false" }.into()).or_default() += 1;
            let trace = Self::cover(&rules, &Case::of(&self.row(data, now)), &mut coverage);
            for run in trace.visits.iter().flat_map(|visit| &visit.runs) {
                let failed = run.outcome.as_ref().err().map(|failure| failure.part);
                let valued = run.parts.iter().map(|&(part, _)| part);
                valued.chain(failed).for_each(|part| *told.entry(part).or_default() += 1);
            }
        }
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for point in coverage.points(&rules) {
            // The naive evaluator counts that a way was gone, and not what came of it.
            let way = match point.side {
                CoveredSide::RightDecided(logic, _) => format!("decided by the right side of {logic}"),
                CoveredSide::Then(_) => CoveredSide::Then(None).to_string(),
                CoveredSide::Otherwise(_) => CoveredSide::Otherwise(None).to_string(),
                side @ (CoveredSide::Ran
                | CoveredSide::Held
                | CoveredSide::DidNotHold
                | CoveredSide::LeftDecided(_)) => side.to_string(),
            };
            *counted.entry(way).or_default() += point.hits;
        }
        // A rule that can only come out one way is only counted.
        if let Some(ran) = counted.remove("evaluated") {
            expected.retain(|way, _| way != "true" && way != "false");
            expected.insert("evaluated".into(), 3);
            counted.insert("evaluated".into(), ran);
        }
        counted.retain(|_, times| *times != 0);
        let (rule, _) = rules.rules().next()?;
        let of_parts = coverage.parts(&rules, rule).find(|(part, Seen { counts, values, .. })| {
            // Snapshots are counted, and no trace tells them.
            let is_told = counts.truths + counts.falsehoods != 0 || !values.is_empty();
            let times = told.get(part).copied().unwrap_or(0);
            if is_told { counts.total() != times } else { counts.failures != times }
        });
        let told = format!(
            "{} times, by {} {:#}",
            coverage.rule(rule).total(),
            self.row(&self.data, self.now),
            self.other_data
        );
        if counted != expected || coverage.rule(rule).total() != 3 {
            return Some(format!("coverage counts {counted:?} instead of {expected:?}, {told}"));
        }
        of_parts.map(|(part, seen)| format!("a trace does not tell {part:?} as often as {seen:?}, {told}"))
    }

    /// Has a rule judge a case and counts it.
    fn cover(rules: &Ruleset, case: &Case, coverage: &mut Coverage) -> Trace {
        let Case { auth, now_ms, before, operation, budget, .. } = case;
        let situation = Situation { auth, now_ms: *now_ms, before, budget: *budget };
        match operation {
            Operation::Read(at, query) => {
                rules.cover_read(&situation, at, query, coverage);
                rules.trace_read(&situation, at, query).1
            }
            Operation::Write { after, targets } => {
                // Denied or not, it is counted.
                rules.cover_write(&situation, after, targets, coverage).unwrap_or_default();
                rules.trace_write(&situation, after, targets).1
            }
        }
    }

    fn after(&self, data: &Value) -> Value {
        if self.is_write { with(data, &self.site(), &self.value) } else { data.clone() }
    }

    fn world<'a>(&'a self, before: &'a Value, after: &'a Value, now: i64) -> World<'a> {
        World {
            before,
            after,
            auth: &self.auth,
            now,
            query: &self.query,
            site: self.site(),
            is_overgrown: Cell::new(false),
            ways_gone: RefCell::default(),
        }
    }

    /// A verdict costs the same whether it is watched or not, and looks at the same until it may not any more.
    fn costs_otherwise(&self, case: &Case) -> bool {
        let Case { rules, auth, now_ms, before, operation, .. } = case;
        let budget = Budget { steps: self.scant_steps, ..Budget::DEFAULT };
        let situation = Situation { auth, now_ms: *now_ms, before, budget };
        match operation {
            Operation::Read(at, query) => {
                rules.read(&situation, at, query) != rules.trace_read(&situation, at, query).0
            }
            Operation::Write { after, targets } => {
                rules.write(&situation, after, targets) != rules.trace_write(&situation, after, targets).0
            }
        }
    }

    /// A verdict can only change with what it says that it looked at.
    fn untold_dependence(&self, case: &Case) -> Option<&'static str> {
        let Operation::Read(at, query) = &case.operation else { return None };
        let Case { rules, auth, now_ms, before, budget, .. } = case;
        let read =
            |before, now_ms| rules.read(&Situation { auth, now_ms, before, budget: *budget }, at, query);
        let verdict = read(before, *now_ms);
        if !verdict.saw_now && read(before, now_ms + 1).outcome != verdict.outcome {
            return Some("it depends on the time and does not say so");
        }
        let other = snapshot(&self.other_data);
        let same = verdict.looks.iter().all(|look| !look.differs(before, &other));
        (same && read(&other, *now_ms).outcome != verdict.outcome)
            .then_some("it depends on data and does not say so")
    }
}

/// What comes out when somebody watches: for a trace, and for coverage.
fn traced(case: &Case) -> [bool; 2] {
    let Case { rules, auth, now_ms, before, operation, budget } = case;
    let situation = Situation { auth, now_ms: *now_ms, before, budget: *budget };
    let mut coverage = Coverage::new(rules);
    match operation {
        Operation::Read(at, query) => [
            rules.trace_read(&situation, at, query).0.outcome.is_ok(),
            rules.cover_read(&situation, at, query, &mut coverage).outcome.is_ok(),
        ],
        Operation::Write { after, targets } => [
            rules.trace_write(&situation, after, targets).0.is_ok(),
            rules.cover_write(&situation, after, targets, &mut coverage).is_ok(),
        ],
    }
}
