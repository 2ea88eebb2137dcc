//! `test`: runs suites, and shows how each verdict that is not as expected came about.

use crate::Exit;
use crate::files::{Trouble, read_rules};
use crate::report::junit::junit;
use crate::run::{Outcome, Results, run};
use crate::suite::{Scenario, is_self_contained, is_suite, read_suite};
use hearth_rules::Ruleset;
use hearth_tree::Printable;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `test`.
#[derive(Debug, clap::Args)]
pub struct Test {
    /// The rules, then suites; suites that are lists of self-contained cases need no rules
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Junit,
}

/// The rules that the files begin with, if they do, and the suites.
pub(crate) fn read_files(files: &[PathBuf]) -> Result<(Option<Ruleset>, Vec<Scenario>), Trouble> {
    let (rules, suites) = match files.split_first() {
        Some((first, suites)) if !is_self_contained(first)? => {
            let rules = read_rules(first)
                .map_err(|trouble| if is_suite(first) { misplaced(first, "a suite") } else { trouble })?;
            (Some(rules), suites)
        }
        Some(_) | None => (None, files),
    };
    if suites.is_empty() {
        return Err(Trouble::Argument("name at least one suite behind the rules".into()));
    }
    let read = |file: &PathBuf| {
        read_suite(file)
            .map_err(|trouble| if read_rules(file).is_ok() { misplaced(file, "rules") } else { trouble })
    };
    let suites = suites.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok((rules, suites.into_iter().flatten().collect()))
}

fn misplaced(file: &Path, what: &str) -> Trouble {
    let said = format!(
        "`{}` holds {what}, and the order is: RULES SUITE…, one file of rules before all suites",
        file.display()
    );
    Trouble::Argument(said)
}

impl Test {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<Exit, Trouble> {
        let (rules, scenarios) = read_files(&self.files)?;
        let results = run(rules.as_ref(), &scenarios);
        let failed = results.outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
        match self.format {
            Format::Text => text(&results, failed, out)?,
            Format::Json => writeln!(out, "{:#}", as_json(&results, failed))?,
            Format::Junit => write!(out, "{}", junit(&results.outcomes))?,
        }
        Ok(if failed == 0 { Exit::Fine } else { Exit::Found })
    }
}

fn text(results: &Results, failed: usize, out: &mut dyn Write) -> Result<(), Trouble> {
    for Outcome { suite, scenario, step, failure } in &results.outcomes {
        let Some(failure) = failure else { continue };
        let head = format!("FAILED {suite}: {scenario}: {step}\n  {}", failure.message);
        writeln!(out, "{}", Printable(head))?;
        for line in failure.trace.lines() {
            writeln!(out, "{}", Printable(format!("  {line}").trim_end()))?;
        }
        writeln!(out)?;
    }
    for missing in &results.missing_indexes {
        writeln!(out, "warning: {}", Printable(missing))?;
    }
    writeln!(out, "{} passed, {failed} failed", results.outcomes.len() - failed)?;
    Ok(())
}

fn as_json(results: &Results, failed: usize) -> Value {
    let outcome = |each: &Outcome| {
        json!({
            "suite": each.suite, "test": each.scenario, "step": each.step, "passed": each.failure.is_none(),
            "message": each.failure.as_ref().map(|failure| &failure.message),
            "trace": each.failure.as_ref().map(|failure| &failure.trace),
        })
    };
    json!({
        "passed": results.outcomes.len() - failed, "failed": failed,
        "missingIndexes": results.missing_indexes,
        "results": results.outcomes.iter().map(outcome).collect::<Vec<_>>(),
    })
}
