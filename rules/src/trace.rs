//! How a verdict came about: node by node, rule by rule, with the value of every part.
//!
//! Why texts and not values: a trace outlives the trees it was made from, and is made to be read.

use crate::access::{Denial, ReadVerdict, Situation};
use crate::ast::{ExprId, ExprKind};
use crate::check::RuleKind;
use crate::claim::Claim;
use crate::eval::Observer;
use crate::fault::Failure;
use crate::level::{self, Level};
use crate::outline::RuleId;
use crate::query::QueryValues;
use crate::ruleset::Ruleset;
use crate::value::Value;
use hearth_tree::{OneLine, Path, Snapshot, Target};
use std::collections::BTreeSet;

/// Most rules whose running a trace keeps; a write can run a rule for each of a million nodes.
pub const TRACED_RULES_MAX: usize = 1000;

/// Most values of parts that a trace keeps; one rule can have hundreds of thousands.
pub const TRACED_PARTS_MAX: usize = 10_000;

/// Longest expression that is shown in full, in characters.
const SHOWN_CHARS_MAX: usize = 1000;

/// What ran for one operation, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The nodes of the data that were looked at, those without rules included.
    pub visits: Vec<Visit>,
    /// How many further rules ran.
    pub omitted: usize,
    runs: usize,
    parts: usize,
}

/// A node of the data, and the rules that ran for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// The node.
    pub at: Path,
    /// What ran; nothing, where there is no rule to ask.
    pub runs: Vec<RuleRun>,
}

/// One rule that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleRun {
    /// The rule.
    pub rule: RuleId,
    /// Every part that came to a value, in the order in which they did. Snapshots have none.
    pub parts: Vec<(ExprId, String)>,
    /// What it came to.
    pub outcome: Result<bool, Failure>,
}

impl Ruleset {
    /// As [`Ruleset::read`], and how it came about.
    pub fn trace_read(
        &self,
        situation: &Situation<'_>,
        at: &Path,
        query: &QueryValues,
    ) -> (ReadVerdict, Trace) {
        let mut trace = Trace::default();
        let verdict = self.read_observed(situation, at, query, &mut trace);
        (verdict, trace)
    }

    /// As [`Ruleset::write`], and how it came about.
    pub fn trace_write(
        &self,
        situation: &Situation<'_>,
        after: &Snapshot,
        targets: &[Target],
    ) -> (Result<(), Denial>, Trace) {
        let mut trace = Trace::default();
        let outcome = self.write_observed(situation, after, targets, &mut trace).outcome;
        (outcome, trace)
    }
}

impl Trace {
    fn run(&mut self) -> Option<&mut RuleRun> {
        // Once rules are omitted, what is told is about one of them.
        if self.omitted != 0 { None } else { self.visits.last_mut()?.runs.last_mut() }
    }
}

impl Observer for Trace {
    fn node(&mut self, levels: &[Level<'_>]) {
        let is_last = self.visits.last().is_some_and(|visit| visit.at.keys().iter().eq(level::keys(levels)));
        if !is_last && self.runs < TRACED_RULES_MAX {
            self.visits.push(Visit { at: level::path(levels), runs: Vec::new() });
        }
    }

    fn rule(&mut self, rule: RuleId) {
        match self.visits.last_mut() {
            Some(visit) if self.runs < TRACED_RULES_MAX => {
                self.runs += 1;
                visit.runs.push(RuleRun { rule, parts: Vec::new(), outcome: Ok(false) });
            }
            _ => self.omitted += 1,
        }
    }

    fn part(&mut self, _rule: RuleId, part: ExprId, value: &Value<'_>) {
        let is_snapshot = matches!(value, Value::Place(_) | Value::Query);
        if is_snapshot || self.parts == TRACED_PARTS_MAX {
            return;
        }
        if let Some(run) = self.run() {
            run.parts.push((part, value.to_string()));
            self.parts += 1;
        }
    }

    fn outcome(&mut self, _rule: RuleId, outcome: &Result<bool, Failure>) {
        if let Some(run) = self.run() {
            run.outcome = outcome.clone();
        }
    }
}

/// What was attempted, for the head of a log.
#[derive(Clone, Copy, Debug)]
pub enum Attempt<'a> {
    /// A read of a place.
    Read(&'a Path),
    /// A write of a value, as JSON, to a place.
    Write(&'a str, &'a Path),
}

impl Attempt<'_> {
    const fn noun(self) -> &'static str {
        match self {
            Self::Read(_) => "Read",
            Self::Write(..) => "Write",
        }
    }
}

/// A trace in the words and the layout of the service's debug messages (rules reference 8).
pub fn debug_log(
    ruleset: &Ruleset,
    attempt: Attempt<'_>,
    auth: &Claim,
    outcome: Result<(), &Denial>,
    trace: &Trace,
) -> String {
    log(ruleset, &[attempt], auth, outcome, trace, None)
}

/// As [`debug_log`], of an operation in several places, and below each rule the values of its parts: for whoever is denied
/// and may know why. Of a text longer than `bytes_max` only the beginning and the end are made, whatever else there would
/// be to say.
pub fn reasons(
    ruleset: &Ruleset,
    attempts: &[Attempt<'_>],
    auth: &Claim,
    denial: &Denial,
    trace: &Trace,
    bytes_max: usize,
) -> String {
    log(ruleset, attempts, auth, Err(denial), trace, Some(bytes_max))
}

/// With the values of parts, up to so many bytes, if any are asked for.
fn log(
    ruleset: &Ruleset,
    attempts: &[Attempt<'_>],
    auth: &Claim,
    outcome: Result<(), &Denial>,
    trace: &Trace,
    parts_bytes_max: Option<usize>,
) -> String {
    let mut log = String::new();
    for attempt in attempts {
        log += &match attempt {
            Attempt::Read(at) => format!("Attempt to read {} with auth={auth}\n", OneLine(at)),
            Attempt::Write(value, at) => {
                format!("Attempt to write {} to {} with auth={auth}\n", OneLine(value), OneLine(at))
            }
        };
    }
    for visit in &trace.visits {
        let at = OneLine(&visit.at);
        if visit.runs.is_empty() {
            log += &format!("    {at}\n");
        }
        for run in &visit.runs {
            let room = parts_bytes_max.map(|max| max.saturating_sub(log.len()));
            // What is beyond the room is cut off; so it is not even made.
            if room == Some(0) {
                break;
            }
            let rule = ruleset.rule(run.rule);
            let parts = room.map(|room| told_parts(ruleset, run, room)).unwrap_or_default();
            let holds = matches!(run.outcome, Ok(true));
            let source = one_line(rule.text().as_str());
            log += &format!("    {at}:{}: \"{source}\"\n{parts}      => {holds}\n", rule.kind());
        }
    }
    log += &omitted(trace);
    log.push('\n');
    log += &match outcome {
        Ok(()) => String::new(),
        Err(Denial::ReadNotGranted { .. }) => "No .read rule allowed the operation.\n".into(),
        Err(Denial::WriteNotGranted { .. }) => "No .write rule allowed the operation.\n".into(),
        Err(denial @ (Denial::Invalid { .. } | Denial::OverBudget { .. })) => format!("{denial}\n"),
    };
    let verdict = if outcome.is_ok() { "allowed" } else { "denied" };
    let noun = attempts.first().map_or("Operation", |attempt| attempt.noun());
    log + &format!("{noun} was {verdict}.\n")
}

/// A trace with the value of every part, and what made a rule fail.
pub fn explain(ruleset: &Ruleset, trace: &Trace) -> String {
    let mut text = String::new();
    for visit in &trace.visits {
        text += &format!("{}\n", OneLine(&visit.at));
        if visit.runs.is_empty() {
            text += "  no rule to ask here\n";
        }
        for run in &visit.runs {
            text += &explain_run(ruleset, run);
        }
    }
    text + &omitted(trace)
}

fn explain_run(ruleset: &Ruleset, run: &RuleRun) -> String {
    let rule = ruleset.rule(run.rule);
    let source = rule.text().as_str();
    let position = ruleset.lines().position(ruleset.source(), rule.text().span().start);
    let mut text = format!(
        "  {} ({}:{}): {}\n",
        OneLine(ruleset.rule_path(run.rule)),
        position.line,
        position.column,
        one_line(source)
    );
    text += &told_parts(ruleset, run, usize::MAX);
    text += &match &run.outcome {
        Ok(holds) => format!("    => {holds}\n"),
        Err(_) => {
            let verdict = match rule.kind() {
                RuleKind::Read | RuleKind::Write => "does not grant",
                RuleKind::Validate => "does not accept",
            };
            format!("    => failed, so it {verdict}\n")
        }
    };
    text
}

/// The values of the parts that say something, and what went wrong, a line each; of values, about so many bytes.
fn told_parts(ruleset: &Ruleset, run: &RuleRun, bytes_max: usize) -> String {
    let rule = ruleset.rule(run.rule);
    let text_of = |part: ExprId| one_line(&rule.text().as_str()[rule.part(part).range()]);
    let is_whole = |part: ExprId| part.index() + 1 == rule.ast.len();
    // What stands in a rule twice and is the same twice is told once.
    let mut told_before = BTreeSet::new();
    let mut bytes = 0;
    let told: Vec<_> = run
        .parts
        .iter()
        .filter(|&&(part, _)| !is_literal(&rule.ast.get(part).kind) && !is_whole(part))
        .map(|(part, value)| (text_of(*part), value))
        .take_while(|(part, value)| {
            let fits = bytes <= bytes_max;
            bytes += part.len() + value.len();
            fits
        })
        .filter(|told| told_before.insert(told.clone()))
        .collect();
    let width = told.iter().map(|(part, _)| part.chars().count()).max().unwrap_or(0).min(60);
    let mut text: String =
        told.iter().map(|(part, value)| format!("      {part:width$} = {value}\n")).collect();
    if let Err(Failure { part, fault }) = &run.outcome {
        text += &format!("      {}: {fault}\n", text_of(*part));
    }
    text
}

/// An expression on one line, without what a terminal would obey; the start of a long one. O(1) in what is left out.
fn one_line(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN_CHARS_MAX).map(|(end, _)| end);
    let words: Vec<&str> = text[..end.unwrap_or(text.len())].split_whitespace().collect();
    let shown = OneLine(words.join(" ")).to_string();
    if end.is_some() { shown + "…" } else { shown }
}

const fn is_literal(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::Boolean(_) | ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Null)
}

fn omitted(trace: &Trace) -> String {
    match trace.omitted {
        0 => String::new(),
        omitted => format!("    … and {omitted} further rules\n"),
    }
}
