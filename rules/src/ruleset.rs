//! A whole ruleset: the text as it was given, and what it means.

use crate::ast::{Ast, ExprId};
use crate::check::RuleKind;
use crate::diagnostic::{Problems, Rejected};
use crate::document::read;
use crate::limits::DOCUMENT_BYTES_MAX;
use crate::outline::{NodeId, Outline, RuleId, RuleNode, node_path, rule_path};
use crate::problem::Problem;
use crate::program::Program;
use crate::source_text::SourceText;
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
    pub(crate) kind: RuleKind,
    pub(crate) node: NodeId,
    pub(crate) text: SourceText,
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

    /// Its expression.
    pub const fn text(&self) -> &SourceText {
        &self.text
    }

    /// Where a part of its expression stands, in [`Rule::text`]. Parentheses around it do not belong to it.
    pub fn part(&self, part: ExprId) -> Span {
        self.ast.get(part).span
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
        let mut problems = Problems::default();
        if DOCUMENT_BYTES_MAX < source.len() {
            problems.add(Span::new(0, 0), Problem::DocumentTooLong { bytes: source.len() });
            return Err(problems.into_rejected("", &Lines::of("")));
        }
        let lines = Lines::of(source);
        let document = read(source, &mut problems);
        let outline = Outline::read(document, &mut problems);
        if problems.is_empty() {
            let Outline { nodes, rules } = outline;
            return Ok(Self { source: source.into(), lines, nodes, rules });
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

    /// The node that a rule stands at: `/rooms/$room`; `/` for the root. O(depth).
    pub fn node_path(&self, id: RuleId) -> String {
        node_path(&self.nodes, self.rule(id).node)
    }

    /// The place of a rule: `/rooms/$room/.write`. O(depth).
    pub fn rule_path(&self, id: RuleId) -> String {
        let rule = self.rule(id);
        rule_path(&self.nodes, rule.node, rule.kind)
    }

    /// As [`Ruleset::node_path`], of any node.
    pub(crate) fn path_of(&self, id: NodeId) -> String {
        node_path(&self.nodes, id)
    }

    /// All nodes; those above before those below.
    pub(crate) fn nodes(&self) -> &[RuleNode] {
        &self.nodes
    }

    pub(crate) fn node(&self, id: NodeId) -> &RuleNode {
        &self.nodes[id.0 as usize]
    }
}
