//! Reading what people name on the command line.

use crate::excerpt::excerpt;
use hearth_rules::{Rejected, Ruleset};
use hearth_tree::Printable;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// A file that cannot be read.
    #[error("cannot read `{}`: {error}", .file.display())]
    Unreadable {
        /// Its name.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file that cannot be written.
    #[error("cannot write `{}`: {error}", .file.display())]
    Unwritable {
        /// Its name.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Rules that are not in order, where rules were to be used.
    #[error("{shown}")]
    Rejected {
        /// Every problem, for people.
        shown: String,
    },
    /// A suite that is none.
    #[error("`{}`: {problem}", .file.display())]
    Suite {
        /// Its name.
        file: PathBuf,
        /// What is wrong, and where in it.
        problem: String,
    },
    /// An argument that means nothing.
    #[error("{0}")]
    Argument(String),
    /// Results that nobody takes.
    #[error("cannot write the results: {0}")]
    Output(#[from] io::Error),
}

/// The text of a file.
pub(crate) fn read(file: &Path) -> Result<String, Trouble> {
    fs::read_to_string(file).map_err(|error| Trouble::Unreadable { file: file.into(), error })
}

/// The rules in a file, which must be in order.
///
/// # Errors
/// [`Trouble`] if the file cannot be read, or with every problem of the rules in it.
pub fn read_rules(file: &Path) -> Result<Ruleset, Trouble> {
    let source = read(file)?;
    Ruleset::compile(&source)
        .map_err(|rejected| Trouble::Rejected { shown: show_rejected(file, &source, &rejected) })
}

/// What opens the database further than is likely meant, a line each; nothing, if nothing does. O(length).
pub fn show_risks(file: &Path, rules: &Ruleset) -> String {
    let risks = rules.lint().into_iter().filter(|warning| warning.lint.is_risk());
    plain(&risks.map(|risk| format!("warning: {}:{risk}\n", file.display())).collect::<String>())
}

/// Every problem of a rules file, for people.
pub(crate) fn show_rejected(file: &Path, source: &str, rejected: &Rejected) -> String {
    let mut shown = String::new();
    for found in rejected.diagnostics() {
        let place = format!("{}:{}:{}", file.display(), found.position.line, found.position.column);
        shown += &format!("error: {place}: {}\n", found.problem);
        if let Some(rule) = &found.rule {
            shown += &format!("  in {rule}\n");
        }
        shown += &excerpt(source, found.span);
        if let Some(advice) = found.advice() {
            shown += &format!("  help: {advice}\n");
        }
    }
    shown.truncate(shown.trim_end().len());
    plain(&shown)
}

/// Without what a terminal would obey; names in rules and suites can hold any character.
pub fn plain(text: &str) -> String {
    Printable(text).to_string()
}
