//! Looks for what is suspicious: down the tree of rules with what stands above, then through each expression.

use crate::ast::{Ast, Binary, ExprId, ExprKind, Logic};
use crate::check::RuleKind;
use crate::constant::{Always, constants};
use crate::limits::DOCUMENT_BYTES_ADVISED;
use crate::lint::{Contradiction, Lint, WARNINGS_MAX, Warning};
use crate::outline::{NodeId, RuleId, RuleNode};
use crate::ruleset::{Rule, Ruleset};
use crate::span::Span;
use hearth_tree::DEPTH_MAX;
use std::collections::HashMap;

impl Ruleset {
    /// Everything suspicious, in the order of the document. O(document).
    pub fn lint(&self) -> Vec<Warning> {
        let always = self.rules().map(|(_, rule)| constants(&rule.ast, &rule.types)).collect();
        let mut linter = Linter { ruleset: self, always, warnings: Vec::new() };
        if DOCUMENT_BYTES_ADVISED < self.source().len() {
            linter.warn(Span::default(), "/", Lint::LargeDocument(self.source().len()));
        }
        linter.node(NodeId::ROOT, 0, Above::default());
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
    /// For each rule, what its parts always come to.
    always: Vec<Vec<Always>>,
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
    /// Whether some `.write` that can grant lets deletes pass.
    may_delete: bool,
    validated: bool,
}

impl<'a> Linter<'a> {
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

    fn whole(&self, rule: RuleId) -> Always {
        self.always[rule.0 as usize].last().copied().unwrap_or(Always::Unknown)
    }

    fn can_hold(&self, rule: Option<RuleId>) -> bool {
        rule.is_some_and(|rule| !self.whole(rule).never_holds())
    }

    /// Goes down the rules; as deep as a document can be nested.
    fn node(&mut self, id: NodeId, depth: usize, above: Above) {
        let node = self.ruleset.node(id);
        if depth == DEPTH_MAX + 1 {
            self.warn_node(id, Lint::TooDeep);
            return;
        }
        let reads = self.grant(RuleKind::Read, node.read, depth, above.reads);
        let grants_writes = self.grant(RuleKind::Write, node.write, depth, above.writes);
        let writes = self.can_hold(node.write);
        let lets_delete =
            writes && node.write.is_some_and(|rule| !mentions(self.ruleset.rule(rule), "newData"));
        let own = Above {
            reads: above.reads.or(reads),
            writes: above.writes.or(grants_writes),
            may_write: above.may_write || writes,
            may_delete: above.may_delete || lets_delete,
            validated: above.validated || node.validate.is_some(),
        };
        if writes && !own.validated && !node.validates {
            self.warn_rule(node.write.expect("it can hold, so it is there"), Lint::Unvalidated);
        }
        if let Some(rule) = node.validate {
            self.validate(rule, node, own);
        }
        self.hidden(node);
        for child in node.children() {
            self.node(child, depth + 1, own);
        }
    }

    /// Looks at a `.read` or `.write`; gives it back if it grants to everybody.
    fn grant(
        &mut self,
        kind: RuleKind,
        rule: Option<RuleId>,
        depth: usize,
        above: Option<RuleId>,
    ) -> Option<RuleId> {
        let rule = rule?;
        let always = self.whole(rule);
        if let Some(above) = above {
            let above = self.ruleset.rule_path(above);
            let lint =
                if always.never_holds() { Lint::CannotTakeBack { above } } else { Lint::Overruled { above } };
            self.warn_rule(rule, lint);
            return None;
        }
        let open = always == Always::True;
        let shape = self.ruleset.rule(rule);
        let lint = match (depth, kind) {
            (0, _) if open => Some(Lint::OpenRoot(kind)),
            (0, _) if is_for_a_time(&shape.ast) => Some(Lint::OpenRootForATime(kind)),
            (0, _) if is_signed_in(&shape.ast) => Some(Lint::OpenRootToSignedIn(kind)),
            (_, RuleKind::Write) if open => Some(Lint::PublicWrite),
            (_, RuleKind::Read | RuleKind::Write | RuleKind::Validate) => None,
        };
        if let Some(lint) = lint {
            self.warn_rule(rule, lint);
        }
        open.then_some(rule)
    }

    fn validate(&mut self, rule: RuleId, node: &RuleNode, own: Above) {
        if !own.may_write && !self.writes_below(node) {
            self.warn_rule(rule, Lint::ValidateNeverRuns);
        }
        if own.may_delete && mentions(self.ruleset.rule(rule), "data") {
            self.warn_rule(rule, Lint::DeletesSkip);
        }
    }

    /// Whether a `.write` below a node can grant.
    fn writes_below(&self, node: &RuleNode) -> bool {
        let mut open: Vec<NodeId> = node.children().collect();
        while let Some(id) = open.pop() {
            let node = self.ruleset.node(id);
            if self.can_hold(node.write) {
                return true;
            }
            open.extend(node.children());
        }
        false
    }

    /// Literal children that miss a rule of the capture beside them.
    fn hidden(&mut self, node: &RuleNode) {
        let Some(capture) = node.capture.map(|id| self.ruleset.node(id)) else { return };
        for &(_, id) in &node.literals {
            let literal = self.ruleset.node(id);
            // Rules of its own further down are a decision; nothing at all is more likely an oversight.
            if literal.children().next().is_some() {
                continue;
            }
            for (kind, of_capture, own) in [
                (RuleKind::Read, capture.read, literal.read),
                (RuleKind::Write, capture.write, literal.write),
                (RuleKind::Validate, capture.validate, literal.validate),
            ] {
                if own.is_none() && self.can_hold(of_capture) {
                    self.warn_node(id, Lint::HidesCapture { capture: capture.name.clone(), kind });
                }
            }
        }
    }

    /// Looks at the parts of a rule.
    fn expression(&mut self, id: RuleId) {
        let rule = self.ruleset.rule(id);
        let known = self.warnings.len();
        let always = self.always[id.0 as usize].clone();
        for (part, expr) in rule.ast.iter() {
            let lint = match &expr.kind {
                ExprKind::Binary { .. } => match always[part.index()] {
                    Always::True => Some(Lint::Decided(true)),
                    Always::False => Some(Lint::Decided(false)),
                    Always::Fails => Some(Lint::AlwaysFails),
                    Always::Unknown => None,
                },
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
        let contradiction = contradiction(rule);
        let says_so = rule.ast.len() == 1;
        let is_explained = self.warnings.len() != known && contradiction.is_none();
        if !says_so && !is_explained && (contradiction.is_some() || self.whole(id).never_holds()) {
            self.warn_rule(id, Lint::NeverHolds(contradiction));
        }
    }
}

fn mentions(rule: &Rule, variable: &str) -> bool {
    rule.ast.iter().any(|(_, expr)| matches!(&expr.kind, ExprKind::Name(name) if name == variable))
}

fn is_name(ast: &Ast, part: ExprId, variable: &str) -> bool {
    matches!(&ast.get(part).kind, ExprKind::Name(name) if name == variable)
}

/// `now < 1700000000000` and nothing else.
fn is_for_a_time(ast: &Ast) -> bool {
    let Some(ExprKind::Binary { left, right, .. }) = ast.last().map(|whole| &whole.kind) else {
        return false;
    };
    let is_number = |part: &ExprId| matches!(ast.get(*part).kind, ExprKind::Number(_));
    (is_name(ast, *left, "now") && is_number(right)) || (is_number(left) && is_name(ast, *right, "now"))
}

/// `auth != null` or `auth.uid != null` and nothing else.
fn is_signed_in(ast: &Ast) -> bool {
    let Some(ExprKind::Binary { operator: Binary::NotEqual | Binary::StrictNotEqual, left, right }) =
        ast.last().map(|whole| &whole.kind)
    else {
        return false;
    };
    let is_null = |part: ExprId| ast.get(part).kind == ExprKind::Null;
    let is_uid = |part: ExprId| {
        let ExprKind::Member { target, name, .. } = &ast.get(part).kind else { return false };
        name == "uid" && is_name(ast, *target, "auth")
    };
    let is_auth = |part: ExprId| is_uid(part) || is_name(ast, part, "auth");
    (is_auth(*left) && is_null(*right)) || (is_null(*left) && is_auth(*right))
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

/// Whether the conditions that `&&` joins cannot be true together, as far as can be seen.
fn contradiction(rule: &Rule) -> Option<Contradiction> {
    let mut types: HashMap<&str, &str> = HashMap::new();
    let last = rule.ast.iter().last()?.0;
    let mut open = vec![last];
    while let Some(part) = open.pop() {
        let kind = &rule.ast.get(part).kind;
        if let ExprKind::Logic { operator: Logic::And, left, right } = kind {
            open.extend([*left, *right]);
        }
        if let ExprKind::Not(inner) = kind
            && rule.kind() == RuleKind::Validate
            && is_new_data_exists(&rule.ast, *inner)
        {
            return Some(Contradiction::ValidatesNothing);
        }
        if let Some((on, name @ ("isString" | "isNumber" | "isBoolean"))) = plain_call(&rule.ast, part) {
            let on = &rule.text().as_str()[rule.part(on).range()];
            if types.insert(on, name).is_some_and(|tested| tested != name) {
                return Some(Contradiction::TwoTypes);
            }
        }
    }
    None
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
