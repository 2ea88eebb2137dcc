//! Runs scenarios and says what came of each step.
//!
//! Scenarios share nothing, so they run on all cores; results come in the order of the files whatever finished first.

use crate::suite::operation::targets;
use crate::suite::{Attempt, Compile, Operation, Scenario, Step};
use hearth_rules::{
    Attempt as Attempted, Budget, Coverage, Denial, OrderedBy, QueryValues, Ruleset, Situation, Trace,
    debug_log, explain,
};
use hearth_tree::{ChildPath, Order, Path, Range, Snapshot};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::thread;

/// What came of one step.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) suite: String,
    pub(crate) scenario: String,
    pub(crate) step: String,
    pub(crate) failure: Option<Failure>,
}

/// Why a step is not as it should be.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// How the verdict came about.
    pub(crate) trace: String,
}

/// What came of all of them.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) outcomes: Vec<Outcome>,
    /// Of the rules of the command line, if there are any.
    pub(crate) coverage: Option<Coverage>,
    /// Indexes that queries would need, as the service would say it.
    pub(crate) missing_indexes: BTreeSet<String>,
}

impl Results {
    fn add(&mut self, other: Self) {
        self.outcomes.extend(other.outcomes);
        self.missing_indexes.extend(other.missing_indexes);
        match (&mut self.coverage, other.coverage) {
            (Some(own), Some(other)) => own.merge(&other),
            (own @ None, other) => *own = other,
            (Some(_), None) => {}
        }
    }
}

/// Runs everything; `rules` are for scenarios that bring none.
pub(crate) fn run(rules: Option<&Ruleset>, scenarios: &[Scenario]) -> Results {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = scenarios.len().div_ceil(cores).max(1);
    let mut results = Results::default();
    thread::scope(|scope| {
        let shares: Vec<_> =
            scenarios.chunks(share).map(|share| scope.spawn(move || run_share(rules, share))).collect();
        for share in shares {
            // A share that panicked is a fault of ours, to be seen as one.
            results.add(share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    });
    results
}

fn run_share(rules: Option<&Ruleset>, scenarios: &[Scenario]) -> Results {
    let mut results = Results { coverage: rules.map(Coverage::new), ..Results::default() };
    for scenario in scenarios {
        let mut data = scenario.data.clone();
        for step in &scenario.steps {
            let (title, failure) = match step {
                Step::Given(writes, now_ms) => match writes.iter().try_for_each(|write| {
                    data = data.apply(&write.resolve(*now_ms, &data)?);
                    Ok::<(), hearth_tree::ResolveError>(())
                }) {
                    Ok(()) => continue,
                    Err(error) => {
                        ("given".into(), Some(Failure { message: error.to_string(), trace: String::new() }))
                    }
                },
                Step::Compile(compile) => (compile.title.clone(), judge_text(compile)),
                Step::Attempt(attempt) => (
                    attempt.title.clone(),
                    match (&scenario.rules, rules) {
                        (Some(own), _) => try_step(own, attempt, &mut data, &mut Seen::default()),
                        (None, Some(rules)) => {
                            let mut seen = Seen {
                                coverage: results.coverage.as_mut(),
                                missing_indexes: Some(&mut results.missing_indexes),
                            };
                            try_step(rules, attempt, &mut data, &mut seen)
                        }
                        (None, None) => Some(Failure {
                            message: "no rules: name a rules file before the suite".into(),
                            trace: String::new(),
                        }),
                    },
                ),
            };
            let (suite, scenario) = (scenario.suite.clone(), scenario.name.clone());
            results.outcomes.push(Outcome { suite, scenario, step: title, failure });
        }
    }
    results
}

/// What is noted beside the outcome.
#[derive(Default)]
struct Seen<'a> {
    coverage: Option<&'a mut Coverage>,
    missing_indexes: Option<&'a mut BTreeSet<String>>,
}

/// Tries a step, applies it if it is allowed, and compares with what was expected.
fn try_step(rules: &Ruleset, attempt: &Attempt, data: &mut Snapshot, seen: &mut Seen<'_>) -> Option<Failure> {
    let before = data.clone();
    let Attempt { auth, now_ms, operation, allowed, because, .. } = attempt;
    let situation = Situation { auth, now_ms: *now_ms, before: &before, budget: Budget::DEFAULT };
    let outcome = match operation {
        Operation::Read(at, query) => {
            let outcome = match &mut seen.coverage {
                Some(coverage) => rules.cover_read(&situation, at, query, coverage).outcome,
                None => rules.read(&situation, at, query).outcome,
            };
            // What is denied looks for nothing.
            if outcome.is_ok() {
                note_index(rules, at, query, seen);
            }
            outcome
        }
        Operation::Write(write, ..) => {
            let change = match write.resolve(*now_ms, &before) {
                Ok(change) => change,
                Err(error) => return Some(Failure { message: error.to_string(), trace: String::new() }),
            };
            let after = before.apply(&change);
            let outcome = match &mut seen.coverage {
                Some(coverage) => rules.cover_write(&situation, &after, &targets(write), coverage),
                None => rules.write(&situation, &after, &targets(write)),
            };
            if outcome.is_ok() {
                *data = after;
            }
            outcome
        }
    };
    if outcome.is_ok() == *allowed {
        return None;
    }
    let reason = because.as_ref().map(|because| format!(" ({because})")).unwrap_or_default();
    let message = match &outcome {
        Ok(()) => format!("it is allowed{reason}"),
        Err(denial) => format!("{denial}{reason}"),
    };
    Some(Failure { message, trace: told(rules, &situation, operation) })
}

/// Traces are made only for what failed: the operation is judged once more.
fn told(rules: &Ruleset, situation: &Situation<'_>, operation: &Operation) -> String {
    let (log, explanation) = retell(rules, situation, operation);
    format!("{log}\n{explanation}")
}

/// The debug log and the explanation of an operation.
pub(crate) fn retell(rules: &Ruleset, situation: &Situation<'_>, operation: &Operation) -> (String, String) {
    let (outcome, trace, attempted): (Result<(), Denial>, Trace, Attempted<'_>) = match operation {
        Operation::Read(at, query) => {
            let (verdict, trace) = rules.trace_read(situation, at, query);
            (verdict.outcome, trace, Attempted::Read(at))
        }
        Operation::Write(write, at, value) => {
            let Ok(change) = write.resolve(situation.now_ms, situation.before) else {
                return (String::new(), String::new());
            };
            let after = situation.before.apply(&change);
            let (outcome, trace) = rules.trace_write(situation, &after, &targets(write));
            (outcome, trace, Attempted::Write(value, at))
        }
    };
    let log = debug_log(rules, attempted, situation.auth, outcome.as_ref().map(|&()| ()), &trace);
    (log, explain(rules, &trace))
}

fn note_index(rules: &Ruleset, at: &Path, query: &QueryValues, seen: &mut Seen<'_>) {
    let order = match &query.order {
        OrderedBy::Unasked | OrderedBy::Key | OrderedBy::Priority => return,
        OrderedBy::Value => Order::Value(Range::ALL),
        OrderedBy::Child(path) => match ChildPath::parse(path) {
            Ok(path) => Order::Child(path, Range::ALL),
            Err(_) => return,
        },
    };
    if let (Some(missing), Some(noted)) = (rules.missing_index(at, &order), &mut seen.missing_indexes) {
        noted.insert(missing.to_string());
    }
}

fn judge_text(compile: &Compile) -> Option<Failure> {
    let failure = |message: String| Some(Failure { message, trace: String::new() });
    match (Ruleset::compile(&compile.source), compile.valid, &compile.error) {
        (Ok(_), true, _) => None,
        (Ok(_), false, _) => failure("it compiles".into()),
        (Err(rejected), true, _) => failure(rejected.to_string()),
        (Err(rejected), false, Some(expected)) if rejected.first().problem.to_string() != *expected => {
            failure(format!("it is rejected with `{}` instead of `{expected}`", rejected.first()))
        }
        (Err(_), false, _) => None,
    }
}
