//! A whole ruleset: the text as it was given, and what it means.

use crate::ast::{Ast, ExprId};
use crate::check::RuleKind;
use crate::diagnostic::{Problems, Rejected};
use crate::document::{SourceText, read};
use crate::limits::DOCUMENT_BYTES_MAX;
use crate::outline::{CheckedRule, NodeId, Outline, RuleId, RuleNode, rule_path};
use crate::problem::Problem;
use crate::program::Program;
use crate::span::{Lines, Span};
use crate::types::Type;

/// Rules that are in order. Immutable; share it behind an `Arc`.
#[derive(Debug)]
pub struct Ruleset {
    source: String,
    lines: Lines,
    /// The root first.
    nodes: Vec<RuleNode>,
    /// In the order of the document.
    rules: Vec<Rule>,
}

/// One rule of a ruleset.
#[derive(Debug)]
pub struct Rule {
    kind: RuleKind,
    node: String,
    text: SourceText,
    pub(crate) ast: Ast,
    /// Of each of its parts.
    pub(crate) types: Vec<Type>,
    pub(crate) program: Program,
}

impl Rule {
    /// What it decides.
    pub const fn kind(&self) -> RuleKind {
        self.kind
    }

    /// The node that it stands at: `/rooms/$room`; `/` for the root.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Its place: `/rooms/$room/.write`.
    pub fn path(&self) -> String {
        rule_path(&self.node, self.kind)
    }

    /// Its expression.
    pub const fn text(&self) -> &SourceText {
        &self.text
    }

    /// Where a part of its expression stands, in [`Rule::text`]. Parentheses around it do not belong to it.
    pub fn part(&self, part: ExprId) -> Span {
        self.ast.get(part).span
    }
}

impl From<CheckedRule> for Rule {
    fn from(rule: CheckedRule) -> Self {
        let CheckedRule { kind, path, text, ast, mut checked, captures } = rule;
        let program = Program::lower(&ast, &mut checked, &captures);
        Self { kind, node: path, text, ast, types: checked.types, program }
    }
}

impl Ruleset {
    /// Reads, checks and compiles a rules document. O(length).
    ///
    /// ```
    /// let rejected = hearth_rules::Ruleset::compile(r#"{"rules": {".read": "auth = null"}}"#).unwrap_err();
    /// assert_eq!(rejected.to_string(), "1:27: Rule expressions may not contain assignments.");
    /// ```
    ///
    /// # Errors
    /// [`Rejected`] holds every problem that was found, with its place.
    pub fn compile(source: &str) -> Result<Self, Rejected> {
        let lines = Lines::of(source.get(..DOCUMENT_BYTES_MAX).unwrap_or(source));
        let mut problems = Problems::default();
        if DOCUMENT_BYTES_MAX < source.len() {
            problems.add(Span::new(0, 0), Problem::DocumentTooLong { bytes: source.len() });
        } else {
            let document = read(source, &mut problems);
            let outline = Outline::read(document, &mut problems);
            if problems.is_empty() {
                let rules = outline.rules.into_iter().map(Rule::from).collect();
                return Ok(Self { source: source.into(), lines, nodes: outline.nodes, rules });
            }
        }
        Err(problems.into_rejected(source, &lines))
    }

    /// The text that it was compiled from, comments included.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The lines of that text.
    pub const fn lines(&self) -> &Lines {
        &self.lines
    }

    /// All rules, in the order of the document.
    pub fn rules(&self) -> impl Iterator<Item = (RuleId, &Rule)> {
        (0..).map(RuleId).zip(&self.rules)
    }

    /// One of its rules.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.0 as usize]
    }

    pub(crate) fn node(&self, id: NodeId) -> &RuleNode {
        &self.nodes[id.0 as usize]
    }
}
