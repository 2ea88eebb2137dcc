//! Looks for what is suspicious: down the tree of rules with what stands above, then through each expression.

use crate::ast::{Ast, Binary, ExprId, ExprKind, Logic};
use crate::check::RuleKind;
use crate::contradiction::contradiction;
use crate::index::IndexOn;
use crate::limits::DOCUMENT_BYTES_ADVISED;
use crate::lint::{Lint, WARNINGS_MAX, Warning};
use crate::outline::{NodeId, RuleId, RuleNode};
use crate::possible::{Assumed, Possible, Who, possible};
use crate::ruleset::{Rule, Ruleset};
use crate::span::Span;
use crate::types::{Method, Type};
use hearth_tree::DEPTH_MAX;
use std::collections::HashSet;

impl Ruleset {
    /// Everything suspicious, in the order of the document. O(document).
    pub fn lint(&self) -> Vec<Warning> {
        let mut linter = Linter::new(self);
        if DOCUMENT_BYTES_ADVISED < self.source().len() {
            linter.warn(Span::default(), "/", Lint::LargeDocument(self.source().len()));
        }
        linter.node(NodeId::ROOT, 0, Above { is_whole: true, ..Above::default() });
        for (id, _) in self.rules() {
            linter.expression(id);
        }
        let mut warnings = linter.warnings;
        warnings.sort_by_key(|warning| (warning.span.start, warning.span.end));
        warnings
    }
}

struct Linter<'a> {
    ruleset: &'a Ruleset,
    /// For each node, how far below the root it is.
    depths: Vec<usize>,
    /// For each rule, what its parts can come to.
    possible: Vec<Vec<Possible>>,
    /// For each node, whether it or a node below it has a `.validate` that asks for anything.
    bounds: Vec<bool>,
    warnings: Vec<Warning>,
}

/// What the nodes above have.
#[derive(Clone, Copy, Default)]
struct Above {
    /// The rule that already grants to everybody.
    reads: Option<RuleId>,
    writes: Option<RuleId>,
    /// Whether some `.write` can grant.
    may_write: bool,
    /// Whether some `.write` that can grant lets deletes pass, and whether one does for everybody who signs up.
    may_delete: bool,
    all_delete: bool,
    validated: bool,
    /// The `.validate` that accepts nothing with children.
    sealed: Option<RuleId>,
    /// Whether all data are here: nothing but captures leads here, and nothing stands beside them.
    is_whole: bool,
}

impl<'a> Linter<'a> {
    fn new(ruleset: &'a Ruleset) -> Self {
        let nodes = ruleset.nodes();
        let mut depths = vec![0; nodes.len()];
        for (id, node) in nodes.iter().enumerate() {
            // Those above come first.
            depths[id] = node.parent.map_or(0, |parent| depths[parent.0 as usize] + 1);
        }
        let mut linter = Self {
            ruleset,
            depths,
            possible: Vec::new(),
            bounds: vec![false; nodes.len()],
            warnings: Vec::new(),
        };
        linter.possible = ruleset.rules().map(|(_, rule)| linter.parts(rule)).collect();
        for (id, node) in nodes.iter().enumerate().rev() {
            linter.bounds[id] |= node.validate.is_some_and(|rule| !linter.whole(rule).is_true());
            if let Some(parent) = node.parent {
                linter.bounds[parent.0 as usize] |= linter.bounds[id];
            }
        }
        linter
    }

    /// What the parts of a rule can come to. Nobody and somebody apart: `auth == null || auth.uid == 'x'` is about one of
    /// them at a time.
    fn parts(&self, rule: &Rule) -> Vec<Possible> {
        let assumed = Assumed::of(rule.kind());
        let depth = self.depths[rule.node.0 as usize];
        let [nobody, somebody] =
            [Who::Nobody, Who::Somebody].map(|who| possible(rule, depth, Assumed { who, ..assumed }));
        nobody.into_iter().zip(somebody).map(|(nobody, somebody)| nobody | somebody).collect()
    }

    /// What a rule can come to, if this is so.
    fn if_so(&self, rule: RuleId, assume: impl Fn(Assumed) -> Assumed) -> Possible {
        let rule = self.ruleset.rule(rule);
        let depth = self.depths[rule.node.0 as usize];
        let parts = possible(rule, depth, assume(Assumed::of(rule.kind())));
        parts.last().copied().unwrap_or(Possible::NOTHING)
    }

    fn warn(&mut self, span: Span, at: &str, lint: Lint) {
        if self.warnings.len() < WARNINGS_MAX {
            let position = self.ruleset.lines().position(self.ruleset.source(), span.start);
            self.warnings.push(Warning { span, position, at: at.into(), lint });
        }
    }

    fn warn_part(&mut self, rule: RuleId, span: Span, lint: Lint) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warn(span, &self.ruleset.rule_path(rule), lint);
        }
    }

    fn warn_node(&mut self, id: NodeId, lint: Lint) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warn(self.ruleset.node(id).span, &self.ruleset.path_of(id), lint);
        }
    }

    fn warn_rule(&mut self, rule: RuleId, lint: Lint) {
        self.warn_part(rule, self.ruleset.rule(rule).text().span(), lint);
    }

    fn whole(&self, rule: RuleId) -> Possible {
        self.possible[rule.0 as usize].last().copied().unwrap_or(Possible::NOTHING)
    }

    fn can_hold(&self, rule: Option<RuleId>) -> bool {
        rule.is_some_and(|rule| self.whole(rule).can_hold())
    }

    /// Goes down the rules; as deep as a document can be nested.
    fn node(&mut self, id: NodeId, depth: usize, above: Above) {
        let node = self.ruleset.node(id);
        if depth == DEPTH_MAX + 1 {
            self.warn_node(id, Lint::TooDeep);
            return;
        }
        let reads = self.grant(RuleKind::Read, node.read, above.is_whole, above.reads);
        let grants_writes = self.grant(RuleKind::Write, node.write, above.is_whole, above.writes);
        let write = node.write.filter(|&rule| self.whole(rule).can_hold());
        let [lets_delete, lets_all_delete] = write.map_or([false; 2], |rule| self.deletes(rule));
        let own = Above {
            reads: above.reads.or(reads),
            writes: above.writes.or(grants_writes),
            may_write: above.may_write || write.is_some(),
            may_delete: above.may_delete || lets_delete,
            all_delete: above.all_delete || lets_all_delete,
            validated: above.validated || node.validate.is_some_and(|rule| !self.whole(rule).is_true()),
            sealed: above.sealed.or(node.validate.filter(|&rule| !self.accepts(rule, Possible::INNER))),
            is_whole: above.is_whole && node.literals.is_empty(),
        };
        if let Some(rule) = write.filter(|&rule| self.accepts(rule, Possible::THERE)) {
            if let Some(sealed) = above.sealed {
                self.warn_rule(rule, Lint::OnlyDeletes { above: self.ruleset.rule_path(sealed) });
            } else if !own.validated && !self.bounds[id.0 as usize] && self.accepts_all(rule) {
                self.warn_rule(rule, Lint::Unvalidated);
            }
        }
        if let Some(rule) = node.validate {
            match above.sealed {
                // What forbids does no harm where nothing can be.
                Some(_) if !self.whole(rule).can_hold() => {}
                Some(sealed) => {
                    self.warn_rule(rule, Lint::NothingBelow { above: self.ruleset.rule_path(sealed) });
                }
                None => self.validate(rule, node, own),
            }
        }
        self.hidden(node, own);
        self.indexes(id);
        for child in node.children() {
            self.node(child, depth + 1, own);
        }
    }

    fn indexes(&mut self, id: NodeId) {
        let node = self.ruleset.node(id);
        let mut seen = HashSet::new();
        for index in &node.index_on {
            match index {
                IndexOn::Child(path) if path.is_here() => self.warn_node(id, Lint::IndexOfNothing),
                IndexOn::Child(_) | IndexOn::Value => {
                    if !seen.insert(index) {
                        self.warn_node(id, Lint::IndexTwice { on: index.to_string() });
                    }
                }
                IndexOn::Inherent => {}
            }
        }
    }

    /// Whether a rule can hold where this will be.
    fn accepts(&self, rule: RuleId, new_data: Possible) -> bool {
        self.if_so(rule, |assumed| Assumed { new_data, ..assumed }).can_hold()
    }

    /// Whether a rule can hold whatever kind of value will be.
    fn accepts_all(&self, rule: RuleId) -> bool {
        let kinds = [Possible::BOOLEAN, Possible::NUMBER, Possible::TEXT, Possible::INNER];
        kinds.into_iter().all(|kind| self.accepts(rule, kind))
    }

    /// Whether a `.write` lets what is there be removed without having thought of it, and lets everybody who signs up.
    fn deletes(&self, rule: RuleId) -> [bool; 2] {
        if mentions(self.ruleset.rule(rule), "newData") {
            return [false; 2];
        }
        let gone = |assumed| Assumed { data: Possible::THERE, new_data: Possible::NULL, ..assumed };
        let lets = self.if_so(rule, gone).can_hold();
        [lets, lets && self.if_so(rule, |assumed| Assumed { who: Who::Newcomer, ..gone(assumed) }).is_true()]
    }

    /// Looks at a `.read` or `.write`; gives it back if it grants to everybody. `is_whole`: it is about all data.
    fn grant(
        &mut self,
        kind: RuleKind,
        rule: Option<RuleId>,
        is_whole: bool,
        above: Option<RuleId>,
    ) -> Option<RuleId> {
        let rule = rule?;
        let possible = self.whole(rule);
        if let Some(above) = above {
            let above = self.ruleset.rule_path(above);
            let lint =
                if possible.can_hold() { Lint::Overruled { above } } else { Lint::CannotTakeBack { above } };
            self.warn_rule(rule, lint);
            return None;
        }
        let by = |who: Who, now: Option<f64>| {
            self.if_so(rule, |assumed| Assumed { who, now, ..assumed }).is_true()
        };
        let lint = match kind {
            // Whoever is signed in can also not be.
            RuleKind::Read | RuleKind::Write if is_whole => {
                if by(Who::Nobody, None) {
                    Some(Lint::OpenRoot(kind))
                } else if by(Who::Nobody, Some(f64::MAX)) {
                    Some(Lint::OpenRootSince(kind))
                } else if by(Who::Nobody, Some(0.0)) {
                    Some(Lint::OpenRootForATime(kind))
                } else {
                    by(Who::Newcomer, None).then_some(Lint::OpenRootToSignedIn(kind))
                }
            }
            RuleKind::Write => by(Who::Nobody, None).then_some(Lint::PublicWrite),
            RuleKind::Read | RuleKind::Validate => None,
        };
        if let Some(lint) = lint {
            self.warn_rule(rule, lint);
        }
        possible.is_true().then_some(rule)
    }

    fn validate(&mut self, rule: RuleId, node: &RuleNode, own: Above) {
        if !own.may_write && !self.holds_below(node, |node| node.write) {
            self.warn_rule(rule, Lint::ValidateNeverRuns);
        }
        if own.may_delete && self.protects(rule, own.all_delete) {
            self.warn_rule(rule, Lint::DeletesSkip);
        }
    }

    /// Whether a `.validate` has a condition on who may, or on what is there: such a one is likely meant for deletes, too.
    /// What asks for a relation of the new value to who writes it is so only where everybody can delete.
    fn protects(&self, rule: RuleId, all_delete: bool) -> bool {
        conditions(self.ruleset.rule(rule)).into_iter().any(|Mentioned { auth, data, root, new_data }| {
            data || ((auth || root) && !new_data) || (auth && all_delete)
        })
    }

    /// Literal children that miss a rule of the capture beside them.
    fn hidden(&mut self, node: &RuleNode, own: Above) {
        let Some(capture) = node.capture.map(|id| self.ruleset.node(id)) else { return };
        for &(_, id) in &node.literals {
            let literal = self.ruleset.node(id);
            // Rules of its own further down are a decision; nothing at all is more likely an oversight.
            if literal.children().next().is_some() {
                continue;
            }
            let has_none = literal.read.is_none() && literal.write.is_none() && literal.validate.is_none();
            let may_write = own.may_write || self.can_hold(literal.write);
            for (kind, of, needed) in [
                // What everybody may already is not missed, nor is a shape where nobody writes.
                (RuleKind::Read, (|node: &RuleNode| node.read) as fn(&RuleNode) -> _, own.reads.is_none()),
                (RuleKind::Write, |node: &RuleNode| node.write, own.writes.is_none()),
                (RuleKind::Validate, |node: &RuleNode| node.validate, may_write),
            ] {
                let is_missed = self.can_hold(of(capture)) || (has_none && self.holds_below(capture, of));
                if needed && of(literal).is_none() && is_missed {
                    self.warn_node(id, Lint::HidesCapture { capture: capture.name.clone(), kind });
                }
            }
        }
    }

    /// Whether a rule of a kind below a node can hold.
    fn holds_below(&self, node: &RuleNode, of: fn(&RuleNode) -> Option<RuleId>) -> bool {
        let mut open: Vec<NodeId> = node.children().collect();
        while let Some(id) = open.pop() {
            let node = self.ruleset.node(id);
            if self.can_hold(of(node)) {
                return true;
            }
            open.extend(node.children());
        }
        false
    }

    /// Looks at the parts of a rule.
    fn expression(&mut self, id: RuleId) {
        let rule = self.ruleset.rule(id);
        let known = self.warnings.len();
        let possible = self.possible[id.0 as usize].clone();
        let compares_inner = self.has_children(rule);
        for (part, expr) in rule.ast.iter() {
            let lint = match &expr.kind {
                ExprKind::Binary { operator, left, right } => {
                    let can_fail_before = [left, right].map(|side| possible[side.index()]);
                    let dead = can_fail_before.contains(&Possible::FAILURE);
                    match decided(possible[part.index()]) {
                        Some(lint) if !dead => Some(lint),
                        Some(_) | None => (compares_inner && is_of_two_nodes(rule, *operator, *left, *right))
                            .then_some(Lint::InnerNodes),
                    }
                }
                ExprKind::Regex { pattern, .. } => has_loose_anchors(pattern).then_some(Lint::LooseAnchors),
                ExprKind::Call { .. }
                    if rule.kind() == RuleKind::Validate && is_new_data_exists(&rule.ast, part) =>
                {
                    Some(Lint::ExistsInValidate)
                }
                ExprKind::Boolean(_)
                | ExprKind::Number(_)
                | ExprKind::Text(_)
                | ExprKind::Null
                | ExprKind::Name(_)
                | ExprKind::List(_)
                | ExprKind::Member { .. }
                | ExprKind::Index { .. }
                | ExprKind::Call { .. }
                | ExprKind::Not(_)
                | ExprKind::Negate(_)
                | ExprKind::Logic { .. }
                | ExprKind::Conditional { .. } => None,
            };
            if let Some(lint) = lint {
                self.warn_part(id, rule.text().locate(expr.span), lint);
            }
        }
        let contradiction = contradiction(rule, &possible);
        let says_so = rule.ast.len() == 1;
        let is_explained = self.warnings.len() != known && contradiction.is_none();
        if !says_so && !is_explained && (contradiction.is_some() || !self.whole(id).can_hold()) {
            self.warn_rule(id, Lint::NeverHolds(contradiction));
        }
    }

    /// Whether values with children are likely where a rule stands: rules for children that can be are below it.
    fn has_children(&self, rule: &Rule) -> bool {
        let mut children = self.ruleset.node(rule.node).children().map(|id| self.ruleset.node(id));
        children.any(|child| child.validate.is_none_or(|rule| self.whole(rule).can_hold()))
    }
}

/// What is to be said of a comparison that comes to this; an operation that only gives a value says nothing.
fn decided(comes_to: Possible) -> Option<Lint> {
    if comes_to == Possible::FAILURE {
        return Some(Lint::AlwaysFails);
    }
    match [Possible::TRUE, Possible::FALSE].map(|side| comes_to.has(side)) {
        [true, false] => Some(Lint::Decided(true)),
        [false, true] => Some(Lint::Decided(false)),
        [true, true] | [false, false] => None,
    }
}

/// `newData.val() == data.val()`: of the whole of what is at the rule's place.
fn is_of_two_nodes(rule: &Rule, operator: Binary, left: ExprId, right: ExprId) -> bool {
    let is_equality = match operator {
        Binary::Equal | Binary::StrictEqual | Binary::NotEqual | Binary::StrictNotEqual => true,
        Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual
        | Binary::Plus
        | Binary::Minus
        | Binary::Times
        | Binary::Divide
        | Binary::Remainder => false,
    };
    let value_of = |part| {
        plain_call(&rule.ast, part)
            .filter(|&(on, name)| name == Method::Val.name() && rule.types[on.index()] == Type::Snapshot)
    };
    let (Some((left, _)), Some((right, _))) = (value_of(left), value_of(right)) else { return false };
    let is_here = |part| is_name(&rule.ast, part, "data") || is_name(&rule.ast, part, "newData");
    is_equality && is_here(left) && is_here(right)
}

/// What a condition asks about.
#[derive(Clone, Copy, Default)]
struct Mentioned {
    auth: bool,
    data: bool,
    root: bool,
    new_data: bool,
}

/// What each of the conditions that `&&` joins asks about. O(parts).
fn conditions(rule: &Rule) -> Vec<Mentioned> {
    let Some((whole, _)) = rule.ast.iter().last() else { return Vec::new() };
    let (mut open, mut found) = (vec![whole], Vec::new());
    while let Some(part) = open.pop() {
        if let ExprKind::Logic { operator: Logic::And, left, right } = &rule.ast.get(part).kind {
            open.extend([*right, *left]);
        } else {
            found.push((rule.part(part), Mentioned::default()));
        }
    }
    // Both in the order of the text.
    let mut at = 0;
    for (part, expr) in rule.ast.iter() {
        let ExprKind::Name(name) = &expr.kind else { continue };
        while found.get(at).is_some_and(|(span, _)| span.end <= rule.part(part).start) {
            at += 1;
        }
        let Some((_, mentioned)) = found.get_mut(at) else { break };
        match name.as_str() {
            "auth" => mentioned.auth = true,
            "data" => mentioned.data = true,
            "root" => mentioned.root = true,
            "newData" => mentioned.new_data = true,
            _ => {}
        }
    }
    found.into_iter().map(|(_, mentioned)| mentioned).collect()
}

fn mentions(rule: &Rule, variable: &str) -> bool {
    rule.ast.iter().any(|(_, expr)| matches!(&expr.kind, ExprKind::Name(name) if name == variable))
}

fn is_name(ast: &Ast, part: ExprId, variable: &str) -> bool {
    matches!(&ast.get(part).kind, ExprKind::Name(name) if name == variable)
}

/// What a method without arguments is called on, and its name.
fn plain_call(ast: &Ast, part: ExprId) -> Option<(ExprId, &str)> {
    let ExprKind::Call { callee, .. } = &ast.get(part).kind else { return None };
    let ExprKind::Member { target, name, .. } = &ast.get(*callee).kind else { return None };
    Some((*target, name))
}

fn is_new_data_exists(ast: &Ast, part: ExprId) -> bool {
    plain_call(ast, part).is_some_and(|(on, name)| name == "exists" && is_name(ast, on, "newData"))
}

/// `^a|b$`: an anchor beside an alternation that no group holds together.
fn has_loose_anchors(pattern: &str) -> bool {
    let anchored = pattern.starts_with('^') || (pattern.ends_with('$') && !pattern.ends_with(r"\$"));
    let (mut depth, mut in_set, mut escaped) = (0_u32, false, false);
    anchored
        && pattern.chars().any(|ch| {
            match ch {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => in_set = true,
                ']' => in_set = false,
                '(' if !in_set => depth += 1,
                ')' if !in_set => depth = depth.saturating_sub(1),
                '|' if !in_set && depth == 0 => return true,
                _ => {}
            }
            false
        })
}
