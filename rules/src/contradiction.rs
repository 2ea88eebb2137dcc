//! Conditions joined by `&&` that cannot be true together.
//!
//! Each condition that must hold says something of a place in the data or of a claim; what says two things that exclude each
//! other never holds. Places and claims are told apart by how they are written.

use crate::ast::{Ast, Binary, ExprId, ExprKind, Logic};
use crate::check::RuleKind;
use crate::lint::Contradiction;
use crate::possible::{Exact, Possible};
use crate::ruleset::Rule;
use crate::types::{Method, Type};
use hearth_tree::DEPTH_MAX;
use std::collections::HashMap;

/// The first contradiction, if one can be seen. `possible` is what the parts can come to. O(length).
pub(crate) fn contradiction(rule: &Rule, possible: &[Possible]) -> Option<Contradiction> {
    let mut learned = Learned { rule, possible, values: HashMap::new(), found: None };
    if rule.kind() == RuleKind::Validate {
        learned.values.insert("newData", (Possible::THERE, None));
    }
    let mut open = vec![(rule.ast.iter().last()?.0, true)];
    while let Some((part, holds)) = open.pop()
        && learned.found.is_none()
    {
        match &rule.ast.get(part).kind {
            ExprKind::Logic { operator: Logic::And, left, right } if holds => {
                open.extend([(*right, true), (*left, true)]);
            }
            ExprKind::Logic { operator: Logic::Or, left, right } if !holds => {
                open.extend([(*right, false), (*left, false)]);
            }
            ExprKind::Not(operand) => open.push((*operand, !holds)),
            ExprKind::Binary { operator, left, right } => learned.comparison(*operator, *left, *right, holds),
            ExprKind::Call { callee, arguments } => learned.test(*callee, arguments, holds),
            ExprKind::Boolean(_)
            | ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Null
            | ExprKind::Regex { .. }
            | ExprKind::Name(_)
            | ExprKind::List(_)
            | ExprKind::Member { .. }
            | ExprKind::Index { .. }
            | ExprKind::Negate(_)
            | ExprKind::Logic { .. }
            | ExprKind::Conditional { .. } => {}
        }
    }
    learned.found
}

type Value<'a> = (Possible, Option<Exact<'a>>);

struct Learned<'a> {
    rule: &'a Rule,
    possible: &'a [Possible],
    /// Of places, what `val()` gives there; of claims, what they are.
    values: HashMap<&'a str, Value<'a>>,
    found: Option<Contradiction>,
}

impl<'a> Learned<'a> {
    fn ast(&self) -> &'a Ast {
        &self.rule.ast
    }

    fn comparison(&mut self, operator: Binary, left: ExprId, right: ExprId, holds: bool) {
        let is_equal = match operator {
            Binary::Equal | Binary::StrictEqual => holds,
            Binary::NotEqual | Binary::StrictNotEqual => !holds,
            Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
                // Whether it holds or not: it has not failed.
                for (part, other) in [(left, right), (right, left)] {
                    let kinds = self.possible[other.index()] & (Possible::NUMBER | Possible::TEXT);
                    self.value(part, (kinds, None));
                }
                return;
            }
            Binary::Plus | Binary::Minus | Binary::Times | Binary::Divide | Binary::Remainder => return,
        };
        for (part, other) in [(left, right), (right, left)] {
            let kinds = self.possible[other.index()] & Possible::VALUE;
            if is_equal {
                self.value(part, (kinds - Possible::INNER, Exact::of(&self.ast().get(other).kind)));
            } else if kinds == Possible::NULL {
                self.value(part, (Possible::THERE, None));
            }
        }
    }

    fn test(&mut self, callee: ExprId, arguments: &[ExprId], holds: bool) {
        let ExprKind::Member { target, name, .. } = &self.ast().get(callee).kind else { return };
        let on = self.rule.types[target.index()];
        let Some(method) = Method::parse(name, on) else { return };
        if on != Type::Snapshot {
            self.value(*target, (Possible::TEXT, None));
            return;
        }
        let is = match method {
            Method::Exists => Possible::THERE,
            Method::IsNumber => Possible::NUMBER,
            Method::IsString => Possible::TEXT,
            Method::IsBoolean => Possible::BOOLEAN,
            Method::HasChild if holds => Possible::INNER,
            Method::HasChildren => match arguments.first().map(|list| &self.ast().get(*list).kind) {
                None => Possible::INNER,
                Some(ExprKind::List(names)) if holds && !names.is_empty() => Possible::INNER,
                Some(_) => return,
            },
            Method::HasChild
            | Method::Val
            | Method::Child
            | Method::Parent
            | Method::GetPriority
            | Method::Contains
            | Method::BeginsWith
            | Method::EndsWith
            | Method::Replace
            | Method::ToLowerCase
            | Method::ToUpperCase
            | Method::Matches => return,
        };
        self.place(*target, (if holds { is } else { Possible::VALUE - is }, None));
    }

    /// A part has such a value.
    fn value(&mut self, part: ExprId, value: Value<'a>) {
        match &self.ast().get(part).kind {
            ExprKind::Call { callee, .. } => {
                let ExprKind::Member { target, name, .. } = &self.ast().get(*callee).kind else { return };
                if self.rule.types[target.index()] == Type::Snapshot && name == Method::Val.name() {
                    self.place(*target, value);
                }
            }
            ExprKind::Member { target, .. } => match self.rule.types[target.index()] {
                Type::Auth => self.claim(part, value),
                Type::String | Type::Value => self.value(*target, (Possible::TEXT, None)),
                Type::Query => self.note(part, value),
                Type::Boolean
                | Type::Number
                | Type::Null
                | Type::Regex
                | Type::Array
                | Type::Snapshot
                | Type::Method
                | Type::QueryValue
                | Type::Mixed
                | Type::Broken => {}
            },
            ExprKind::Name(name) if name == "auth" => self.note(part, value),
            ExprKind::Boolean(_)
            | ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Null
            | ExprKind::Regex { .. }
            | ExprKind::Name(_)
            | ExprKind::List(_)
            | ExprKind::Index { .. }
            | ExprKind::Not(_)
            | ExprKind::Negate(_)
            | ExprKind::Binary { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Conditional { .. } => {}
        }
    }

    /// A place has such a value, and if it has one, there are children above it.
    fn place(&mut self, mut place: ExprId, mut value: Value<'a>) {
        for _ in 0..DEPTH_MAX {
            self.note(place, value);
            let ExprKind::Call { callee, .. } = &self.ast().get(place).kind else { return };
            let ExprKind::Member { target, name, .. } = &self.ast().get(*callee).kind else { return };
            if value.0.has(Possible::NULL) || name != Method::Child.name() {
                return;
            }
            (place, value) = (*target, (Possible::INNER, None));
        }
    }

    /// A claim has such a value, and if it has one, it is a member of something.
    fn claim(&mut self, mut claim: ExprId, mut value: Value<'a>) {
        for _ in 0..DEPTH_MAX {
            self.note(claim, value);
            let ExprKind::Member { target, name, .. } = &self.ast().get(claim).kind else { return };
            if value.0.has(Possible::NULL) {
                return;
            }
            let length = if name == "length" { Possible::TEXT } else { Possible::NOTHING };
            (claim, value) = (*target, (Possible::INNER | length, None));
        }
    }

    fn note(&mut self, subject: ExprId, (kinds, exact): Value<'a>) {
        let name = &self.rule.text().as_str()[self.rule.part(subject).range()];
        let known = self.values.entry(name).or_insert((Possible::VALUE, None));
        let (before, exact_before) = *known;
        *known = (before & kinds, exact.or(exact_before));
        if self.found.is_some() {
            return;
        }
        let is_null = before == Possible::NULL || kinds == Possible::NULL;
        self.found = if !(before & kinds).is_empty() {
            let differ = exact.zip(exact_before).is_some_and(|(a, b)| a != b);
            differ.then_some(Contradiction::TwoValues)
        } else if is_null && self.rule.kind() == RuleKind::Validate && name == "newData" {
            Some(Contradiction::ValidatesNothing)
        } else if is_null {
            Some(Contradiction::NullAndMore)
        } else {
            Some(Contradiction::TwoTypes)
        };
    }
}
