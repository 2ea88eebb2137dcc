//! `check`: every problem of rules files, and what is suspicious about those in order.

use crate::Exit;
use crate::excerpt::excerpt;
use crate::files::{Trouble, plain, read, show_rejected};
use crate::report::sarif::{Finding, Level, sarif};
use crate::run::run;
use crate::suite::{Scenario, read_suite};
use hearth_rules::{Diagnostic, Lines, Position, Ruleset, Warning};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// Rules files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Suites whose queries should find their indexes in the rules; several may be named
    #[arg(long = "suite", value_name = "FILE")]
    suites: Vec<PathBuf>,
    /// Exit with 1 on warnings, too
    #[arg(long)]
    deny_warnings: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
}

/// The code of a warning about a query, beside those of the lint.
const MISSING_INDEX: &str = "missing-index";

/// What was found in one file.
struct Checked<'a> {
    file: &'a PathBuf,
    source: String,
    result: Result<Vec<Warning>, hearth_rules::Rejected>,
    /// Indexes that queries of the suites would need, as the service would say it.
    missing: Vec<String>,
}

impl Check {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<Exit, Trouble> {
        let suites = self.suites.iter().map(|file| read_suite(file)).collect::<Result<Vec<_>, _>>()?;
        let scenarios: Vec<Scenario> = suites.into_iter().flatten().collect();
        let checked = self
            .files
            .iter()
            .map(|file| {
                let source = read(file)?;
                let mut missing = Vec::new();
                let result = Ruleset::compile(&source).map(|ruleset| {
                    missing.extend(run(Some(&ruleset), &scenarios).missing_indexes);
                    ruleset.lint()
                });
                Ok(Checked { file, source, result, missing })
            })
            .collect::<Result<Vec<_>, Trouble>>()?;
        match self.format {
            Format::Text => checked.iter().try_for_each(|each| each.show(out))?,
            Format::Json => {
                let findings: Vec<Value> =
                    checked.iter().flat_map(Checked::findings).map(|each| each.json()).collect();
                writeln!(out, "{:#}", json!({ "findings": findings }))?;
            }
            Format::Sarif => {
                let findings: Vec<Finding> = checked.iter().flat_map(Checked::findings).collect();
                writeln!(out, "{:#}", sarif(&findings))?;
            }
        }
        let is_bad = |each: &Checked<'_>| match &each.result {
            Err(_) => true,
            Ok(warnings) => self.deny_warnings && !(warnings.is_empty() && each.missing.is_empty()),
        };
        Ok(if checked.iter().any(is_bad) { Exit::Found } else { Exit::Fine })
    }
}

impl Checked<'_> {
    fn show(&self, out: &mut dyn Write) -> Result<(), Trouble> {
        let file = self.file.display();
        match &self.result {
            Err(rejected) => {
                writeln!(out, "{}", show_rejected(self.file, &self.source, rejected))?;
                let count = rejected.diagnostics().len();
                writeln!(out, "{file}: {count} {}", if count == 1 { "error" } else { "errors" })?;
            }
            Ok(warnings) => {
                for warning in warnings {
                    let Position { line, column } = warning.position;
                    let (lint, code) = (plain(&warning.lint.to_string()), warning.lint.code());
                    writeln!(out, "warning: {file}:{line}:{column}: {lint} [{code}]")?;
                    write!(out, "  in {}\n{}", plain(&warning.at), excerpt(&self.source, warning.span))?;
                }
                for missing in &self.missing {
                    writeln!(out, "warning: {file}: {} [{MISSING_INDEX}]", plain(missing))?;
                }
                match warnings.len() + self.missing.len() {
                    0 => writeln!(out, "{file}: in order")?,
                    1 => writeln!(out, "{file}: in order, 1 warning")?,
                    count => writeln!(out, "{file}: in order, {count} warnings")?,
                }
            }
        }
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        let lines = Lines::of(&self.source);
        let end = |offset: u32| lines.position(&self.source, offset);
        let file = self.file.display().to_string();
        let of_error = |found: &Diagnostic| Finding {
            file: file.clone(),
            level: Level::Error,
            code: "invalid-rules",
            message: found.problem.to_string(),
            rule: found.rule.clone(),
            advice: found.advice(),
            start: found.position,
            end: end(found.span.end),
        };
        let of_warning = |found: &Warning| Finding {
            file: file.clone(),
            level: Level::Warning,
            code: found.lint.code(),
            message: found.lint.to_string(),
            rule: Some(found.at.clone()),
            advice: None,
            start: found.position,
            end: end(found.span.end),
        };
        // What is missing stands nowhere; the document begins at its beginning.
        let of_index = |missing: &String| Finding {
            file: file.clone(),
            level: Level::Warning,
            code: MISSING_INDEX,
            message: missing.clone(),
            rule: None,
            advice: None,
            start: Position { line: 1, column: 1 },
            end: Position { line: 1, column: 1 },
        };
        match &self.result {
            Err(rejected) => rejected.diagnostics().iter().map(of_error).collect(),
            Ok(warnings) => {
                warnings.iter().map(of_warning).chain(self.missing.iter().map(of_index)).collect()
            }
        }
    }
}
