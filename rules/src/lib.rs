//! The rules language of Hearth, the one of the Firebase Realtime Database: who may read and write what.
//!
//! From a text to every problem in it ([`Rejected`]) or to a [`Ruleset`], which judges reads and writes. Nothing here
//! knows a file, a clock, a thread or a random source; time is an argument. "Rules reference" in the comments is the project's description of the language.

mod access;
mod advice;
mod answer;
mod ast;
mod budget;
mod check;
mod claim;
mod contradiction;
mod coverage;
mod diagnostic;
pub mod document;
mod eval;
mod fault;
mod index;
mod level;
mod lexer;
pub mod limits;
mod lint;
mod linter;
mod look;
mod outline;
mod parser;
mod pattern;
mod place;
mod possible;
mod problem;
mod program;
mod query;
mod question;
mod ruleset;
mod short;
mod source_text;
mod span;
mod strict;
mod text;
mod trace;
mod types;
mod value;

pub use access::{Denial, ReadVerdict, Situation, WriteVerdict};
pub use ast::{Binary, ExprId, Logic};
pub use budget::Budget;
pub use check::RuleKind;
pub use claim::{CLAIM_NESTING_MAX, Claim};
pub use coverage::{Counts, Coverage, CoveredSide, Point, SEEN_BYTES_MAX, SEEN_VALUES_MAX, Seen};
pub use diagnostic::{Diagnostic, Rejected};
pub use fault::{Failure, Fault};
pub use index::{IndexOn, IndexToAdd, MissingIndex};
pub use lint::{Contradiction, Lint, WARNINGS_MAX, Warning};
pub use look::{Aspect, Look};
pub use outline::RuleId;
pub use problem::{PatternMistake, Problem, Side};
pub use query::{OrderedBy, QueryValues};
pub use ruleset::{Rule, Ruleset};
pub use source_text::SourceText;
pub use span::{Lines, Position, Span};
pub use trace::{
    Attempt, RuleRun, TRACED_PARTS_MAX, TRACED_RULES_MAX, Trace, Visit, debug_log, explain, reasons,
};
pub use types::Type;
