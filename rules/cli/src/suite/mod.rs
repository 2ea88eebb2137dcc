//! Test suites: what to try, as whom, on which data, and what should come of it.
//!
//! Three shapes are read, told apart by what they are: a mapping with a list `tests` (our own, YAML or JSON), a mapping
//! whose `tests` is a mapping (targaryen's), and a list of self-contained cases. All become the same scenarios. What a
//! reader does not know is refused: a test that is silently skipped is worse than none.

mod cases;
pub(crate) mod operation;
mod readable;
mod targaryen;
mod unique;

pub(crate) use readable::identity;

use crate::files::{Trouble, read};
use hearth_rules::{Claim, QueryValues, Ruleset};
use hearth_tree::{Path, Snapshot, Write};
use serde_json::{Map, Value};
use std::path::Path as File;
use std::sync::Arc;
use unique::Unique;

/// Steps on a database of their own, one after the other.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// The file.
    pub(crate) suite: String,
    pub(crate) name: String,
    /// Those of the command line, if none.
    pub(crate) rules: Option<Arc<Ruleset>>,
    pub(crate) data: Snapshot,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug)]
pub(crate) enum Step {
    /// Written whatever the rules say, at that time.
    Given(Vec<Write>, i64),
    /// Tried, and applied if it is allowed.
    Attempt(Attempt),
    /// Rules that should compile or not.
    Compile(Compile),
}

/// Somebody tries something.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// As it is reported: `ada can read /rooms`.
    pub(crate) title: String,
    pub(crate) auth: Claim,
    pub(crate) now_ms: i64,
    pub(crate) operation: Operation,
    /// Whether it should be allowed.
    pub(crate) allowed: bool,
    pub(crate) because: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Operation {
    Read(Path, QueryValues),
    /// With the place and the value as JSON, for the trace.
    Write(Write, Path, String),
}

#[derive(Debug)]
pub(crate) struct Compile {
    pub(crate) title: String,
    pub(crate) source: String,
    pub(crate) valid: bool,
    /// The first problem, as the service words it, where that is known.
    pub(crate) error: Option<String>,
}

/// What `now` is where nobody says: the first moment of 2026, so that a suite says the same every day.
pub(crate) const NOW_MS: i64 = 1_767_225_600_000;

/// What is wrong with a suite, and where in it.
pub(crate) type Read<T> = Result<T, String>;

/// Reads a suite of any shape.
pub(crate) fn read_suite(file: &File) -> Result<Vec<Scenario>, Trouble> {
    let text = read(file)?;
    let trouble = |problem: String| Trouble::Suite { file: file.into(), problem };
    let suite = parse(&text).map_err(trouble)?;
    let name = file.display().to_string();
    let scenarios = match &suite {
        Value::Array(rows) => cases::scenarios(&name, rows),
        Value::Object(members) if members.get("tests").is_some_and(Value::is_object) => {
            targaryen::scenarios(&name, members)
        }
        Value::Object(members) => readable::scenarios(&name, members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Err("a suite is a mapping with `tests`, or a list of cases".into())
        }
    };
    let scenarios = scenarios.map_err(trouble)?;
    if scenarios.iter().all(|scenario| scenario.steps.is_empty()) {
        return Err(trouble("holds no test".into()));
    }
    Ok(scenarios)
}

/// JSON where it is JSON, YAML 1.2 elsewhere, in which `yes` and `on` are texts.
fn parse(text: &str) -> Read<Value> {
    let text = without_mark(text);
    if text.trim_start().starts_with(['{', '[']) {
        let read = serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"));
        read.map(|Unique(value)| value)
    } else {
        let options = serde_saphyr::options! { strict_booleans: true };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| format!("is not YAML: {error}"))
    }
}

/// Without the byte order mark that some editors put in front.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Whether a file is a list of self-contained cases, so that it needs no rules.
pub(crate) fn is_self_contained(file: &File) -> Result<bool, Trouble> {
    let text = read(file)?;
    Ok(without_mark(&text)
        .lines()
        // YAML may begin with directives and a line of dashes.
        .map(|line| line.trim().trim_start_matches("---").trim_start())
        .find(|line| !line.is_empty() && !line.starts_with(['#', '%']))
        .is_some_and(|line| line == "-" || line.starts_with('[') || line.starts_with("- ")))
}

/// Whether a file that is not what it should be is a suite, or was meant to be one.
pub(crate) fn is_suite(file: &File) -> bool {
    let suite = read(file).ok().and_then(|text| parse(&text).ok());
    suite.is_some_and(|suite| suite.get("tests").is_some())
}

/// Refuses members that mean nothing.
pub(crate) fn only(members: &Map<String, Value>, known: &[&str], at: &str) -> Read<()> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(format!("{at}: `{name}` is not known here; there are {}", listed(known))),
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A text that may be left out.
pub(crate) fn text(members: &Map<String, Value>, name: &str, at: &str) -> Read<Option<String>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(format!("{at}: `{name}` is a text; put it in quotes"))
        }
    }
}

/// A time in milliseconds since 1970.
pub(crate) fn time(value: Option<&Value>, otherwise: i64, at: &str) -> Read<i64> {
    match value {
        None | Some(Value::Null) => Ok(otherwise),
        Some(value) => {
            value.as_i64().ok_or_else(|| format!("{at}: `now` is a number of milliseconds since 1970"))
        }
    }
}

pub(crate) fn claims(value: &Value, at: &str) -> Read<Claim> {
    serde_json::from_value(value.clone()).map_err(|error| format!("{at}: {error}"))
}
