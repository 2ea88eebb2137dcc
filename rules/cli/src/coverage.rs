//! `coverage`: which parts of the rules suites exercise.

use crate::Exit;
use crate::files::{Trouble, plain};
use crate::report::html::html;
use crate::report::json::json;
use crate::report::lcov::lcov;
use crate::report::percent;
use crate::run::run;
use crate::test::read_files;
use hearth_rules::{Counts, Coverage, Point, Ruleset};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `coverage`.
#[derive(Debug, clap::Args)]
pub struct Cover {
    /// The rules, then suites
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Where to write the report instead of the standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Exit with 1 if fewer sides than this were exercised, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percentage)]
    fail_under: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Html,
    Json,
    Lcov,
}

/// What can be asked for; more than all can never be covered.
fn percentage(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        Ok(_) | Err(_) => Err("a percentage is a number from 0 to 100".into()),
    }
}

impl Cover {
    /// The report goes to `out`, or to a file. What is to be said beside it follows a report for people, and goes to `err`
    /// where it would spoil one for programs.
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> Result<Exit, Trouble> {
        let (rules, scenarios) = read_files(&self.files)?;
        let results = run(rules.as_ref(), &scenarios);
        let (Some(rules), Some(coverage)) = (&rules, &results.coverage) else {
            return Err(Trouble::Argument("name the rules to cover before the suites".into()));
        };
        let failed = results.outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
        let points = coverage.points(rules);
        let file = self.files[0].display().to_string();
        let report = match self.format {
            Format::Text => plain(&text(&file, rules, coverage, &points)),
            Format::Html => html(&file, rules, coverage, ""),
            Format::Json => format!("{:#}\n", json(("file", &file), rules, coverage)),
            Format::Lcov => lcov(&file, rules, coverage),
        };
        match &self.output {
            None => write!(out, "{report}")?,
            Some(output) => {
                fs::write(output, report)
                    .map_err(|error| Trouble::Unwritable { file: output.clone(), error })?;
            }
        }
        let beside: &mut dyn Write = if self.format == Format::Text { out } else { err };
        match failed {
            0 => {}
            1 => writeln!(beside, "1 test failed; `test` says why")?,
            _ => writeln!(beside, "{failed} tests failed; `test` says why")?,
        }
        let covered = percent(&points);
        let enough = self.fail_under <= covered;
        if !enough {
            writeln!(beside, "{covered:.1} % is covered; `--fail-under {}` asks for more", self.fail_under)?;
        }
        Ok(if enough && failed == 0 { Exit::Fine } else { Exit::Found })
    }
}

fn text(file: &str, rules: &Ruleset, coverage: &Coverage, points: &[Point]) -> String {
    let mut text = String::new();
    for (id, rule) in rules.rules() {
        let Counts { truths, falsehoods, failures, .. } = coverage.rule(id);
        let position = rules.lines().position(rules.source(), rule.text().span().start);
        text += &format!(
            "{}:{} {}: {truths} true, {falsehoods} false, {failures} failed\n",
            position.line,
            position.column,
            rules.rule_path(id)
        );
        for point in points.iter().filter(|point| point.rule == id && point.hits == 0) {
            let position = rules.lines().position(rules.source(), point.span.start);
            let expression = excerpt(&rules.source()[point.span.range()]);
            let (line, column) = (position.line, position.column);
            text += &format!("  never: {} ({line}:{column} {expression})\n", point.side);
        }
    }
    let hit = points.iter().filter(|point| point.hits != 0).count();
    text + &format!("{file}: {hit} of {} sides, {:.1} %\n", points.len(), percent(points))
}

/// The start of an expression, on one line.
fn excerpt(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}
