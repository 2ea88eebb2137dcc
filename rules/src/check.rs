//! Types of an expression, before it ever runs (rules reference 2.3).
//!
//! One loop over the parts, operands first. A part that was complained about has the type `Broken`, which every
//! operator accepts: one mistake is reported once.

use crate::ast::{Ast, Binary, Expr, ExprId, ExprKind, Logic};
use crate::pattern::Pattern;
use crate::problem::{Problem, Side};
use crate::span::Span;
use crate::types::{Capture, Method, QueryProperty, Type, Variable};
use std::collections::BTreeMap;
use std::fmt;

/// What a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleKind {
    /// `.read`
    Read,
    /// `.write`
    Write,
    /// `.validate`
    Validate,
}

/// As it stands in a document.
impl fmt::Display for RuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => ".read",
            Self::Write => ".write",
            Self::Validate => ".validate",
        })
    }
}

/// Where an expression stands, as far as its types depend on it.
pub(crate) struct Scope<'a> {
    pub(crate) kind: RuleKind,
    pub(crate) captures: &'a [Capture],
}

/// An expression without a mistake.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) types: Vec<Type>,
    pub(crate) patterns: BTreeMap<ExprId, Pattern>,
}

/// Every mistake, in the order in which the service would look for the first.
pub(crate) fn check(ast: &Ast, scope: &Scope<'_>) -> Result<Checked, Vec<(Span, Problem)>> {
    let checked = Checked { types: Vec::with_capacity(ast.len()), patterns: BTreeMap::new() };
    let mut checker = Checker { ast, scope, checked, found: Vec::new() };
    for (id, expr) in ast.iter() {
        let found = checker.type_of(id, expr).unwrap_or(Type::Broken);
        checker.checked.types.push(found);
    }
    if let Some((root, expr)) = ast.iter().last() {
        checker.rule(root, expr.span);
    }
    if checker.found.is_empty() { Ok(checker.checked) } else { Err(checker.found) }
}

struct Checker<'a> {
    ast: &'a Ast,
    scope: &'a Scope<'a>,
    checked: Checked,
    found: Vec<(Span, Problem)>,
}

/// `None`: complained about.
type Typed = Option<Type>;

impl Checker<'_> {
    fn found(&self, id: ExprId) -> Type {
        self.checked.types[id.index()]
    }

    fn complain(&mut self, span: Span, problem: Problem) -> Typed {
        self.found.push((span, problem));
        None
    }

    fn rule(&mut self, root: ExprId, span: Span) {
        let found = self.found(root);
        if found == Type::Array {
            self.complain(span, Problem::UnexpectedArray);
        } else if !found.is_boolean() {
            self.complain(span, Problem::RuleNotBoolean { found });
        }
    }

    fn type_of(&mut self, id: ExprId, expr: &Expr) -> Typed {
        match &expr.kind {
            ExprKind::Boolean(_) => Some(Type::Boolean),
            ExprKind::Number(_) => Some(Type::Number),
            ExprKind::Text(_) => Some(Type::String),
            ExprKind::Null => Some(Type::Null),
            ExprKind::Regex { pattern, flags } => self.regex(id, expr.span, pattern, flags),
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::List(_) => Some(Type::Array),
            ExprKind::Member { target, name, name_span } => self.member(*target, name, *name_span),
            ExprKind::Index { target, index } => self.index(*target, *index),
            ExprKind::Call { callee, arguments } => self.call(*callee, arguments, expr.span),
            ExprKind::Not(operand) => self
                .operand(*operand, Type::is_boolean, |found| Problem::NotOperand { found })
                .map(|_| Type::Boolean),
            ExprKind::Negate(operand) => self
                .operand(*operand, Type::is_numeric, |found| Problem::NegateOperand { found })
                .map(|_| Type::Number),
            ExprKind::Binary { operator, left, right } => self.binary(*operator, *left, *right),
            ExprKind::Logic { operator, left, right } => self.logic(*operator, *left, *right),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.conditional(*condition, *then, *otherwise)
            }
        }
    }

    fn operand(&mut self, id: ExprId, accepts: fn(Type) -> bool, problem: impl Fn(Type) -> Problem) -> Typed {
        let (found, span) = (self.found(id), self.ast.get(id).span);
        if found == Type::Broken {
            None
        } else if found == Type::Array {
            self.complain(span, Problem::UnexpectedArray)
        } else if accepts(found) {
            Some(found)
        } else {
            self.complain(span, problem(found))
        }
    }

    /// The left operand is looked at first; the right one only if that is in order.
    fn operands(
        &mut self,
        [left, right]: [ExprId; 2],
        accepts: fn(Type) -> bool,
        problem: impl Fn(Side, Type) -> Problem,
    ) -> Option<[Type; 2]> {
        let left = self.operand(left, accepts, |found| problem(Side::Left, found));
        let right = self.operand(right, accepts, |found| problem(Side::Right, found));
        Some([left?, right?])
    }

    fn binary(&mut self, operator: Binary, left: ExprId, right: ExprId) -> Typed {
        let both = [left, right];
        match operator {
            Binary::Equal | Binary::StrictEqual | Binary::NotEqual | Binary::StrictNotEqual => self
                .operands(both, Type::is_comparable, |side, found| Problem::EqualityOperand {
                    side,
                    operator,
                    found,
                })
                .map(|_| Type::Boolean),
            Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => self
                .operands(both, Type::is_orderable, |side, found| Problem::OrderOperand {
                    side,
                    operator,
                    found,
                })
                .map(|_| Type::Boolean),
            Binary::Plus => {
                let types = self
                    .operands(both, Type::is_orderable, |side, found| Problem::PlusOperand { side, found })?;
                Some(match types {
                    [Type::String, _] | [_, Type::String] => Type::String,
                    [Type::Number, Type::Number] => Type::Number,
                    _ => Type::Value,
                })
            }
            Binary::Minus | Binary::Times | Binary::Divide | Binary::Remainder => self
                .operands(both, Type::is_numeric, |side, found| Problem::ArithmeticOperand {
                    side,
                    operator,
                    found,
                })
                .map(|_| Type::Number),
        }
    }

    fn logic(&mut self, operator: Logic, left: ExprId, right: ExprId) -> Typed {
        let problem = |side, found| Problem::LogicOperand { side, operator, found };
        self.operands([left, right], Type::is_boolean, problem).map(|_| Type::Boolean)
    }

    fn conditional(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> Typed {
        let condition = self.operand(condition, Type::is_boolean, |found| Problem::Condition { found });
        // Neither is worth anything where it stands: a pattern is for `matches` alone, a method for a call.
        let is_worth = |found| !matches!(found, Type::Regex | Type::Method);
        let then = self.operand(then, is_worth, |found| Problem::Branch { found });
        let otherwise = self.operand(otherwise, is_worth, |found| Problem::Branch { found });
        condition?;
        let (then, otherwise) = (then?, otherwise?);
        let is_value = |found| matches!(found, Type::String | Type::Value | Type::Auth);
        Some(match (then, otherwise) {
            _ if then == otherwise => then,
            _ if is_value(then) || is_value(otherwise) => Type::Value,
            _ => Type::Mixed,
        })
    }

    fn regex(&mut self, id: ExprId, span: Span, text: &str, flags: &str) -> Typed {
        if !matches!(flags, "" | "i") {
            return self.complain(span, Problem::RegexFlags);
        }
        match Pattern::compile(text, flags == "i") {
            Ok(pattern) => {
                self.checked.patterns.insert(id, pattern);
                Some(Type::Regex)
            }
            Err((at, mistake)) => {
                // Behind the slash; the rest of the literal is what the mistake is about.
                let start = span.start as usize + 1 + at;
                self.complain(Span::new(start, span.end as usize), Problem::Pattern { mistake })
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Typed {
        match Variable::parse(name, self.scope.captures) {
            Some(Variable::NewData) if self.scope.kind == RuleKind::Read => {
                self.complain(span, Problem::NewDataInRead)
            }
            Some(variable) => Some(variable.type_of()),
            None => self.complain(span, Problem::UnknownVariable { name: name.into() }),
        }
    }

    fn member(&mut self, target: ExprId, name: &str, span: Span) -> Typed {
        let on = self.found(target);
        if Method::parse(name, on).is_some() {
            return Some(Type::Method);
        }
        let found = match on {
            Type::Broken => return None,
            Type::Array => return self.complain(self.ast.get(target).span, Problem::UnexpectedArray),
            Type::Auth => Some(Type::Auth),
            Type::String | Type::Value => (name == "length").then_some(Type::Number),
            Type::Query => QueryProperty::parse(name).map(QueryProperty::type_of),
            Type::Snapshot => None,
            Type::Boolean
            | Type::Number
            | Type::Null
            | Type::Regex
            | Type::Method
            | Type::QueryValue
            | Type::Mixed => {
                return self.complain(self.ast.get(target).span, Problem::NotAnObject { found: on });
            }
        };
        found.or_else(|| self.complain(span, Problem::NoSuchMember { name: name.into(), on }))
    }

    fn index(&mut self, target: ExprId, index: ExprId) -> Typed {
        let (found, span) = (self.found(target), self.ast.get(index).span);
        match (found, self.found(index)) {
            (Type::Broken, _) | (_, Type::Broken) => None,
            (_, Type::Array) => self.complain(span, Problem::UnexpectedArray),
            (Type::Auth, Type::Regex | Type::Method) => self.complain(span, Problem::InvalidIndex { found }),
            (Type::Auth, _) => Some(Type::Auth),
            (found, _) => self.complain(span, Problem::InvalidIndex { found }),
        }
    }

    fn call(&mut self, callee: ExprId, arguments: &[ExprId], span: Span) -> Typed {
        let (target, name) = if let ExprKind::Member { target, name, .. } = &self.ast.get(callee).kind {
            (self.found(*target), Some(name))
        } else {
            (Type::Broken, None)
        };
        let Some(method) = name.and_then(|name| Method::parse(name, target)) else {
            // A member that does not exist is already reported.
            let known = self.found(callee) != Type::Broken;
            return if known {
                let name = name.cloned();
                self.complain(self.ast.get(callee).span, Problem::NotAFunction { name })
            } else {
                None
            };
        };
        self.arguments(method, arguments, span)?;
        Some(method.result())
    }

    fn arguments(&mut self, method: Method, arguments: &[ExprId], span: Span) -> Option<()> {
        let name = method.name();
        match method {
            Method::Val
            | Method::Parent
            | Method::Exists
            | Method::GetPriority
            | Method::IsNumber
            | Method::IsString
            | Method::IsBoolean
            | Method::ToLowerCase
            | Method::ToUpperCase => match arguments {
                [] => Some(()),
                [_, ..] => {
                    self.complain(span, Problem::ExpectsNoArguments { method: name });
                    None
                }
            },
            Method::Child | Method::HasChild | Method::Contains | Method::BeginsWith | Method::EndsWith => {
                let &[argument] = arguments else {
                    self.complain(span, Problem::ExpectsOneArgument { method: name });
                    return None;
                };
                self.operand(argument, Type::is_textual, |found| Problem::ExpectsText {
                    method: name,
                    found,
                })?;
                Some(())
            }
            Method::Replace => self.replace_arguments(arguments, span),
            Method::Matches => self.matches_arguments(arguments, span),
            Method::HasChildren => self.has_children_arguments(arguments, span),
        }
    }

    fn replace_arguments(&mut self, arguments: &[ExprId], span: Span) -> Option<()> {
        let &[old, new] = arguments else {
            self.complain(span, Problem::ReplaceCount);
            return None;
        };
        let problem = |position| move |found| Problem::ReplaceArgument { position, found };
        let old = self.operand(old, Type::is_textual, problem(1));
        let new = self.operand(new, Type::is_textual, problem(2));
        old.and(new).map(|_| ())
    }

    fn matches_arguments(&mut self, arguments: &[ExprId], span: Span) -> Option<()> {
        let &[argument] = arguments else {
            self.complain(span, Problem::MatchesCount);
            return None;
        };
        let is_literal = matches!(self.ast.get(argument).kind, ExprKind::Regex { .. });
        let accepts = if is_literal { |found| found == Type::Regex } else { |_| false };
        self.operand(argument, accepts, |found| Problem::MatchesArgument { found })?;
        Some(())
    }

    fn has_children_arguments(&mut self, arguments: &[ExprId], span: Span) -> Option<()> {
        let argument = match arguments {
            [] => return Some(()),
            [argument] => *argument,
            [_, _, ..] => {
                self.complain(span, Problem::HasChildrenCount);
                return None;
            }
        };
        let expr = self.ast.get(argument);
        let ExprKind::List(elements) = &expr.kind else {
            let found = self.found(argument);
            if found != Type::Broken {
                self.complain(expr.span, Problem::HasChildrenArgument { found });
            }
            return None;
        };
        let mut all = Some(());
        for &element in elements {
            let typed =
                self.operand(element, Type::is_textual, |found| Problem::HasChildrenElement { found });
            all = all.and(typed.map(|_| ()));
        }
        all
    }
}
