//! The document as a tree of rules: which node holds which rules, children and indexes (rules reference 1.2).

use crate::check::{RuleKind, Scope, check};
use crate::diagnostic::Problems;
use crate::document::{Kind, Member, Value};
use crate::index::IndexOn;
use crate::limits::PATTERNS_WEIGHT_MAX;
use crate::parser::parse;
use crate::pattern::Pattern;
use crate::problem::Problem;
use crate::program::Program;
use crate::ruleset::Rule;
use crate::source_text::{SourceText, excerpt};
use crate::span::Span;
use crate::types::Capture;
use hearth_tree::{KEY_BYTES_MAX, Key, KeyError};
use std::fmt;

/// What a document says. The first node is the root.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) nodes: Vec<RuleNode>,
    pub(crate) rules: Vec<Rule>,
}

/// The place of a node in its [`Outline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) u32);

/// The place of a rule in its ruleset: rules are numbered in the order of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) u32);

/// The rules for one place, or for every key of a level.
///
/// Why no path: a document can have a hundred thousand nodes below the longest of paths. A path is put together when
/// somebody reads it.
#[derive(Debug, Default)]
pub(crate) struct RuleNode {
    /// Its key as it stands in the document: `rooms`, `$room`; of no meaning for the root.
    pub(crate) name: String,
    /// Nothing for the root.
    pub(crate) parent: Option<NodeId>,
    /// Of its key in the document.
    pub(crate) span: Span,
    /// Ascending by key.
    pub(crate) literals: Vec<(Key, NodeId)>,
    /// The child for every other key.
    pub(crate) capture: Option<NodeId>,
    pub(crate) read: Option<RuleId>,
    pub(crate) write: Option<RuleId>,
    pub(crate) validate: Option<RuleId>,
    pub(crate) index_on: Vec<IndexOn>,
    /// Whether it or a node below it has a `.validate`.
    pub(crate) validates: bool,
}

/// As people name a node: `/rooms/$room`; the root is `/`. O(depth).
pub(crate) fn node_path(nodes: &[RuleNode], id: NodeId) -> String {
    let above = std::iter::successors(Some(id), |id| nodes[id.0 as usize].parent);
    let mut names: Vec<String> = above
        .map(|id| &nodes[id.0 as usize])
        .filter(|node| node.parent.is_some())
        // A name that is no key is not worth a megabyte.
        .map(|node| if KEY_BYTES_MAX < node.name.len() { excerpt(&node.name) } else { node.name.clone() })
        .collect();
    names.reverse();
    format!("/{}", names.join("/"))
}

/// As people name a rule: `/rooms/$room/.write`.
pub(crate) fn rule_path(nodes: &[RuleNode], node: NodeId, kind: impl fmt::Display) -> String {
    format!("{}/{kind}", node_path(nodes, node).trim_end_matches('/'))
}

/// Up to so many children of a node are looked through for a key.
const LOOKED_THROUGH_MAX: usize = 8;

impl NodeId {
    pub(crate) const ROOT: Self = Self(0);
}

impl RuleNode {
    /// The node for a child's key: the literal one hides the capture (rules reference 1.3).
    pub(crate) fn child(&self, key: &Key) -> Option<NodeId> {
        // That two keys differ is seen sooner than how they are ordered.
        let literal = if self.literals.len() <= LOOKED_THROUGH_MAX {
            self.literals.iter().find(|(own, _)| own.as_str() == key.as_str())
        } else {
            let found = self.literals.binary_search_by(|(own, _)| own.cmp(key));
            found.ok().map(|at| &self.literals[at])
        };
        literal.map(|&(_, child)| child).or(self.capture)
    }

    /// All children.
    pub(crate) fn children(&self) -> impl Iterator<Item = NodeId> {
        self.literals.iter().map(|&(_, child)| child).chain(self.capture)
    }
}

impl Outline {
    /// Reads a document. What is wrong goes to `problems`; then what comes back is of no use.
    pub(crate) fn read(document: Value, problems: &mut Problems) -> Self {
        let broken = !problems.is_empty();
        let mut reader =
            Reader { problems, outline: Self::default(), captures: Vec::new(), depth: 0, weight: 0, broken };
        reader.document(document);
        reader.outline
    }
}

struct Reader<'a> {
    problems: &'a mut Problems,
    outline: Outline,
    /// Those of the node that is read and of those above it.
    captures: Vec<Capture>,
    depth: usize,
    /// Of all patterns so far.
    weight: u64,
    /// The document has a mistake as JSON, so something missing may only be unreadable.
    broken: bool,
}

impl Reader<'_> {
    fn document(&mut self, document: Value) {
        let Kind::Object(members) = document.kind else {
            if !matches!(document.kind, Kind::Broken) {
                self.problems.add(document.span, Problem::ExpectedObject { key: String::new() });
            }
            return;
        };
        if !members.iter().any(|member| member.key.as_str() == "rules") {
            if !self.broken {
                let closing = Span::new(document.span.end as usize - 1, document.span.end as usize);
                let found = members.first().map_or(closing, |member| member.key.span());
                self.problems.add(found, Problem::MissingRules);
            }
            return;
        }
        for Member { key, value } in members {
            if key.as_str() == "rules" {
                self.object(None, &key, value);
            } else {
                self.problems.add(key.span(), Problem::UnexpectedMember { name: key.as_str().into() });
            }
        }
    }

    /// The rules in an object, as a new node.
    fn object(&mut self, parent: Option<NodeId>, key: &SourceText, value: Value) -> Option<NodeId> {
        match value.kind {
            Kind::Object(members) => Some(self.node(parent, key, members)),
            Kind::Broken => None,
            Kind::Null | Kind::Bool(_) | Kind::Number | Kind::Text(_) | Kind::List(_) => {
                self.problems.add(value.span, Problem::ExpectedObject { key: key.as_str().into() });
                None
            }
        }
    }

    fn node(&mut self, parent: Option<NodeId>, key: &SourceText, members: Vec<Member>) -> NodeId {
        let nodes = &mut self.outline.nodes;
        let id = NodeId(u32::try_from(nodes.len()).expect("fewer nodes than bytes of a document"));
        nodes.push(RuleNode { name: key.as_str().into(), parent, span: key.span(), ..RuleNode::default() });
        let mut node = RuleNode::default();
        let mut capture_name: Option<String> = None;
        for Member { key, value } in members {
            match key.as_str() {
                ".read" => node.read = self.rule(RuleKind::Read, id, value),
                ".write" => node.write = self.rule(RuleKind::Write, id, value),
                ".validate" => node.validate = self.rule(RuleKind::Validate, id, value),
                ".indexOn" => node.index_on = self.index_on(id, &value),
                name if name.starts_with('$') => match &capture_name {
                    None => {
                        capture_name = Some(name.into());
                        node.capture = self.capture(id, &key, value);
                    }
                    Some(first) => {
                        let problem = Problem::MultipleCaptures { first: first.clone(), second: name.into() };
                        self.problems.add(key.span(), problem);
                    }
                },
                _ => node.literals.extend(self.literal(id, &key, value)),
            }
        }
        node.literals.sort_by(|a, b| a.0.cmp(&b.0));
        let nodes = &mut self.outline.nodes;
        let below = node.children().any(|child| nodes[child.0 as usize].validates);
        node.validates = node.validate.is_some() || below;
        let own = &mut nodes[id.0 as usize];
        let (name, span) = (std::mem::take(&mut own.name), own.span);
        *own = RuleNode { name, parent, span, ..node };
        id
    }

    fn literal(&mut self, parent: NodeId, key: &SourceText, value: Value) -> Option<(Key, NodeId)> {
        let name = key.as_str();
        // The value is looked at first: a misspelt rule is more often meant than a child (rules reference 1.2).
        let is_object = matches!(value.kind, Kind::Object(_));
        let parsed = match Key::parse(name) {
            Ok(key) => Some(key),
            Err(_) if !is_object => None,
            Err(KeyError::Forbidden { ch, .. }) if !ch.is_ascii_control() => {
                self.problems.add(key.span(), Problem::ForbiddenInKey { key: name.into() });
                None
            }
            Err(error) => {
                self.problems.add(key.span(), Problem::InvalidKey { error });
                None
            }
        };
        let node = self.below(parent, key, value);
        Some((parsed?, node?))
    }

    fn capture(&mut self, parent: NodeId, key: &SourceText, value: Value) -> Option<NodeId> {
        let name = key.as_str();
        if name[1..].contains(['.', '#', '$', '/', '[', ']']) {
            self.problems.add(key.span(), Problem::ForbiddenInKey { key: name.into() });
        } else if self.captures.iter().any(|known| known.name == name) {
            self.problems.add(key.span(), Problem::RepeatedCapture { name: name.into() });
        }
        self.captures.push(Capture { name: name.into(), depth: self.depth + 1 });
        let node = self.below(parent, key, value);
        self.captures.pop();
        node
    }

    fn below(&mut self, parent: NodeId, key: &SourceText, value: Value) -> Option<NodeId> {
        self.depth += 1;
        let node = self.object(Some(parent), key, value);
        self.depth -= 1;
        node
    }

    fn rule(&mut self, kind: RuleKind, node: NodeId, value: Value) -> Option<RuleId> {
        let text = match value.kind {
            Kind::Text(text) => text,
            Kind::Bool(decided) => SourceText::verbatim(if decided { "true" } else { "false" }, value.span),
            Kind::Broken => return None,
            Kind::Null | Kind::Number | Kind::List(_) | Kind::Object(_) => {
                self.complain(value.span, node, kind, Problem::InvalidRule);
                return None;
            }
        };
        if self.problems.is_full() {
            return None;
        }
        match self.compile(kind, node, text) {
            Ok(rule) => {
                let id = RuleId(u32::try_from(self.outline.rules.len()).expect("fewer rules than bytes"));
                self.outline.rules.push(rule);
                Some(id)
            }
            Err(found) => {
                for (span, problem) in found {
                    self.complain(span, node, kind, problem);
                }
                None
            }
        }
    }

    /// Every mistake comes with its place in the document.
    fn compile(
        &mut self,
        kind: RuleKind,
        node: NodeId,
        text: SourceText,
    ) -> Result<Rule, Vec<(Span, Problem)>> {
        let located = |(span, problem): (Span, Problem)| (text.locate(span), problem);
        let ast = parse(text.as_str()).map_err(|found| vec![located(found)])?;
        let mut checked = check(&ast, &Scope { kind, captures: &self.captures })
            .map_err(|found| found.into_iter().map(located).collect::<Vec<_>>())?;
        let weight: u64 = checked.patterns.values().map(Pattern::weight).sum();
        self.weight = self.weight.saturating_add(weight);
        if PATTERNS_WEIGHT_MAX < self.weight {
            return Err(vec![(text.span(), Problem::PatternsTooLarge)]);
        }
        let program = Program::lower(&ast, &mut checked, &self.captures, self.depth);
        Ok(Rule { kind, node, text, ast, types: checked.types, program })
    }

    fn complain(&mut self, span: Span, node: NodeId, member: impl fmt::Display, problem: Problem) {
        // A path is as long as a page; it is made only for what is kept.
        if !self.problems.is_full() {
            self.problems.add_in_rule(span, &rule_path(&self.outline.nodes, node, member), problem);
        }
    }

    fn index_on(&mut self, node: NodeId, value: &Value) -> Vec<IndexOn> {
        let entries = match &value.kind {
            Kind::Text(_) => std::slice::from_ref(value),
            Kind::List(entries) => entries,
            Kind::Broken => &[],
            Kind::Null | Kind::Bool(_) | Kind::Number | Kind::Object(_) => {
                self.problems.add(value.span, Problem::InvalidIndexOn);
                &[]
            }
        };
        entries.iter().filter_map(|entry| self.index_entry(node, entry)).collect()
    }

    fn index_entry(&mut self, node: NodeId, entry: &Value) -> Option<IndexOn> {
        let parsed = match &entry.kind {
            Kind::Text(text) => {
                IndexOn::parse(text.as_str()).map_err(|error| Problem::InvalidIndexPath { error })
            }
            Kind::Broken => return None,
            Kind::Null | Kind::Bool(_) | Kind::Number | Kind::List(_) | Kind::Object(_) => {
                Err(Problem::InvalidIndexOn)
            }
        };
        parsed.map_err(|problem| self.complain(entry.span, node, ".indexOn", problem)).ok()
    }
}
