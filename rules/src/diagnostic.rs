//! What is wrong with a rules document, for people and for the wire.
//!
//! Why messages in the service's words: tools and people compare them. What helps beyond that is the advice beside it.

use crate::limits::DIAGNOSTICS_MAX;
use crate::problem::Problem;
use crate::span::{Lines, Position, Span};
use std::fmt;

/// One problem and where it is. Displayed as the service words it: `13:17: Expected '{'.`
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The place in the document, in bytes.
    pub span: Span,
    /// The same for people.
    pub position: Position,
    /// The rule it is in, such as `/rooms/$room/.write`, where it is in one.
    pub rule: Option<String>,
    /// What is wrong.
    pub problem: Problem,
}

impl Diagnostic {
    /// What to do about it, in one sentence, where that is known.
    pub fn advice(&self) -> Option<String> {
        self.problem.advice()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.position.line, self.position.column, self.problem)
    }
}

/// Why a text is not a ruleset: every problem, those of the JSON first, each group in the order of the document; at most [`DIAGNOSTICS_MAX`] of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// At least one.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Rejected {
    /// The problems; at least one.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The one that the service would report, which names only one.
    pub fn first(&self) -> &Diagnostic {
        self.diagnostics.first().expect("a ruleset is rejected for a reason")
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejected {}

/// Collects problems while a document is read; keeps the first [`DIAGNOSTICS_MAX`].
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<(Span, Option<String>, Problem)>,
}

impl Problems {
    pub(crate) fn add(&mut self, span: Span, problem: Problem) {
        self.push(span, None, problem);
    }

    pub(crate) fn add_in_rule(&mut self, span: Span, rule: &str, problem: Problem) {
        self.push(span, Some(rule.into()), problem);
    }

    fn push(&mut self, span: Span, rule: Option<String>, problem: Problem) {
        if self.found.len() < DIAGNOSTICS_MAX {
            self.found.push((span, rule, problem));
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// How many were found and kept.
    pub(crate) const fn count(&self) -> usize {
        self.found.len()
    }

    /// Whether no more can be kept, so that looking for more is in vain.
    pub(crate) const fn is_full(&self) -> bool {
        self.found.len() == DIAGNOSTICS_MAX
    }

    /// Of at least one problem.
    pub(crate) fn into_rejected(self, source: &str, lines: &Lines) -> Rejected {
        let locate = |(span, rule, problem): (Span, _, _)| {
            let position = lines.position(source, span.start);
            Diagnostic { span, position, rule, problem }
        };
        Rejected { diagnostics: self.found.into_iter().map(locate).collect() }
    }
}
