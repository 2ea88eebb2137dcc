//! The document as a tree of rules: which node holds which rules, children and indexes (rules reference 1.2).

use crate::ast::Ast;
use crate::check::{Checked, RuleKind, Scope, check};
use crate::diagnostic::Problems;
use crate::document::{Kind, Member, SourceText, Value};
use crate::index::IndexOn;
use crate::limits::PATTERNS_WEIGHT_MAX;
use crate::parser::parse;
use crate::pattern::Pattern;
use crate::problem::Problem;
use crate::span::Span;
use crate::types::Capture;
use hearth_tree::{Key, KeyError};

/// What a document says. The first node is the root.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) nodes: Vec<RuleNode>,
    pub(crate) rules: Vec<CheckedRule>,
}

/// The place of a node in its [`Outline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) u32);

/// The place of a rule in its ruleset: rules are numbered in the order of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) u32);

/// The rules for one place, or for every key of a level.
#[derive(Debug, Default)]
pub(crate) struct RuleNode {
    /// As it stands in the document: `/rooms/$room`; the root is `/`.
    pub(crate) path: String,
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

/// A rule without a mistake.
#[derive(Debug)]
pub(crate) struct CheckedRule {
    pub(crate) kind: RuleKind,
    /// Of its node.
    pub(crate) path: String,
    pub(crate) text: SourceText,
    pub(crate) ast: Ast,
    pub(crate) checked: Checked,
    pub(crate) captures: Vec<Capture>,
}

impl NodeId {
    pub(crate) const ROOT: Self = Self(0);
}

impl RuleNode {
    /// The node for a child's key: the literal one hides the capture (rules reference 1.3).
    pub(crate) fn child(&self, key: &Key) -> Option<NodeId> {
        match self.literals.binary_search_by(|(own, _)| own.cmp(key)) {
            Ok(at) => Some(self.literals[at].1),
            Err(_) => self.capture,
        }
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
                self.child_object(String::new(), &key, value);
            } else {
                self.problems.add(key.span(), Problem::UnexpectedMember { name: key.as_str().into() });
            }
        }
    }

    /// The rules in an object, as a new node.
    fn child_object(&mut self, path: String, key: &SourceText, value: Value) -> Option<NodeId> {
        match value.kind {
            Kind::Object(members) => Some(self.node(path, key.span(), members)),
            Kind::Broken => None,
            Kind::Null | Kind::Bool(_) | Kind::Number | Kind::Text(_) | Kind::List(_) => {
                self.problems.add(value.span, Problem::ExpectedObject { key: key.as_str().into() });
                None
            }
        }
    }

    fn node(&mut self, path: String, span: Span, members: Vec<Member>) -> NodeId {
        let id =
            NodeId(u32::try_from(self.outline.nodes.len()).expect("fewer nodes than bytes of a document"));
        self.outline.nodes.push(RuleNode::default());
        let mut node = RuleNode { path, span, ..RuleNode::default() };
        let mut capture_name: Option<String> = None;
        for Member { key, value } in members {
            match key.as_str() {
                ".read" => node.read = self.rule(RuleKind::Read, &node, value),
                ".write" => node.write = self.rule(RuleKind::Write, &node, value),
                ".validate" => node.validate = self.rule(RuleKind::Validate, &node, value),
                ".indexOn" => node.index_on = self.index_on(&node, &value),
                name if name.starts_with('$') => match &capture_name {
                    None => {
                        capture_name = Some(name.into());
                        node.capture = self.capture(&node, &key, value);
                    }
                    Some(first) => {
                        let problem = Problem::MultipleCaptures { first: first.clone(), second: name.into() };
                        self.problems.add(key.span(), problem);
                    }
                },
                _ => node.literals.extend(self.literal(&node, &key, value)),
            }
        }
        node.literals.sort_by(|a, b| a.0.cmp(&b.0));
        let below = node.children().any(|child| self.outline.nodes[child.0 as usize].validates);
        node.validates = node.validate.is_some() || below;
        if node.path.is_empty() {
            node.path = "/".into();
        }
        self.outline.nodes[id.0 as usize] = node;
        id
    }

    fn literal(&mut self, above: &RuleNode, key: &SourceText, value: Value) -> Option<(Key, NodeId)> {
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
        let node = self.below(above, key, value);
        Some((parsed?, node?))
    }

    fn capture(&mut self, above: &RuleNode, key: &SourceText, value: Value) -> Option<NodeId> {
        let name = key.as_str();
        if name[1..].contains(['.', '#', '$', '/', '[', ']']) {
            self.problems.add(key.span(), Problem::ForbiddenInKey { key: name.into() });
        } else if self.captures.iter().any(|known| known.name == name) {
            self.problems.add(key.span(), Problem::RepeatedCapture { name: name.into() });
        }
        self.captures.push(Capture { name: name.into(), depth: self.depth + 1 });
        let node = self.below(above, key, value);
        self.captures.pop();
        node
    }

    fn below(&mut self, above: &RuleNode, key: &SourceText, value: Value) -> Option<NodeId> {
        self.depth += 1;
        let node = self.child_object(format!("{}/{}", above.path, key.as_str()), key, value);
        self.depth -= 1;
        node
    }

    fn rule(&mut self, kind: RuleKind, node: &RuleNode, value: Value) -> Option<RuleId> {
        let text = match value.kind {
            Kind::Text(text) => text,
            Kind::Bool(decided) => SourceText::verbatim(if decided { "true" } else { "false" }, value.span),
            Kind::Broken => return None,
            Kind::Null | Kind::Number | Kind::List(_) | Kind::Object(_) => {
                self.problems.add_in_rule(value.span, &rule_path(&node.path, kind), Problem::InvalidRule);
                return None;
            }
        };
        if self.problems.is_full() {
            return None;
        }
        match self.checked(kind, &text) {
            Ok((ast, checked)) => {
                let id = RuleId(u32::try_from(self.outline.rules.len()).expect("fewer rules than bytes"));
                let path = if node.path.is_empty() { "/".into() } else { node.path.clone() };
                let captures = self.captures.clone();
                self.outline.rules.push(CheckedRule { kind, path, text, ast, checked, captures });
                Some(id)
            }
            Err(found) => {
                for (span, problem) in found {
                    self.problems.add_in_rule(text.locate(span), &rule_path(&node.path, kind), problem);
                }
                None
            }
        }
    }

    fn checked(&mut self, kind: RuleKind, text: &SourceText) -> Result<(Ast, Checked), Vec<(Span, Problem)>> {
        let ast = parse(text.as_str()).map_err(|found| vec![found])?;
        let checked = check(&ast, &Scope { kind, captures: &self.captures })?;
        let weight: u64 = checked.patterns.values().map(Pattern::weight).sum();
        self.weight = self.weight.saturating_add(weight);
        if PATTERNS_WEIGHT_MAX < self.weight {
            return Err(vec![(Span::new(0, text.as_str().len()), Problem::PatternsTooLarge)]);
        }
        Ok((ast, checked))
    }

    fn index_on(&mut self, node: &RuleNode, value: &Value) -> Vec<IndexOn> {
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

    fn index_entry(&mut self, node: &RuleNode, entry: &Value) -> Option<IndexOn> {
        let parsed = match &entry.kind {
            Kind::Text(text) => {
                IndexOn::parse(text.as_str()).map_err(|error| Problem::InvalidIndexPath { error })
            }
            Kind::Broken => return None,
            Kind::Null | Kind::Bool(_) | Kind::Number | Kind::List(_) | Kind::Object(_) => {
                Err(Problem::InvalidIndexOn)
            }
        };
        let at = format!("{}/.indexOn", node.path);
        parsed.map_err(|problem| self.problems.add_in_rule(entry.span, &at, problem)).ok()
    }
}

/// As people name a rule: `/rooms/$room/.write`.
pub(crate) fn rule_path(node: &str, kind: RuleKind) -> String {
    format!("{}/{kind}", node.trim_end_matches('/'))
}
