//! An expression as a tree.
//!
//! Why a list in post-order and not boxes: whatever somebody writes, checking, lowering and dropping it are loops, so
//! no expression can be deep enough to exhaust a stack. Every operand stands before its operator, and an expression
//! with all its parts is one stretch of the list.

use crate::span::Span;
use std::fmt;

/// One expression with all its parts; the last one is the whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ast {
    exprs: Vec<Expr>,
}

/// A part of an expression: parts are numbered, operands before their operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub(crate) u32);

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    /// In the text of the expression, parentheses around it not included.
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    Boolean(bool),
    Number(f64),
    Text(String),
    Null,
    Regex {
        pattern: String,
        flags: String,
    },
    Name(String),
    List(Vec<ExprId>),
    /// `target.name`, and `target['name']`, which is the same.
    Member {
        target: ExprId,
        name: String,
        name_span: Span,
    },
    Index {
        target: ExprId,
        index: ExprId,
    },
    Call {
        callee: ExprId,
        arguments: Vec<ExprId>,
    },
    Not(ExprId),
    Negate(ExprId),
    Binary {
        operator: Binary,
        left: ExprId,
        right: ExprId,
    },
    Logic {
        operator: Logic,
        left: ExprId,
        right: ExprId,
    },
    Conditional {
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
    },
}

/// Operators that need both operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "nothing beyond the names")]
pub enum Binary {
    Equal,
    StrictEqual,
    NotEqual,
    StrictNotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
}

/// Operators that may do without their right operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "nothing beyond the names")]
pub enum Logic {
    And,
    Or,
}

impl ExprId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Ast {
    pub(crate) fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        let id = u32::try_from(self.exprs.len())
            .expect("an expression has no more parts than a document has bytes");
        self.exprs.push(Expr { kind, span });
        ExprId(id)
    }

    /// Takes back the last one, which nothing refers to yet.
    pub(crate) fn pop(&mut self) -> Option<Expr> {
        self.exprs.pop()
    }

    pub(crate) fn last(&self) -> Option<&Expr> {
        self.exprs.last()
    }

    pub(crate) fn get(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()]
    }

    pub(crate) const fn len(&self) -> usize {
        self.exprs.len()
    }

    /// All parts, operands before operators.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ExprId, &Expr)> {
        (0..).map(ExprId).zip(&self.exprs)
    }

    /// For each part, the one that it is an operand of. O(parts).
    pub(crate) fn parents(&self) -> Vec<Option<ExprId>> {
        let mut parents = vec![None; self.len()];
        for (part, expr) in self.iter() {
            let mut adopt = |operand: ExprId| parents[operand.index()] = Some(part);
            match &expr.kind {
                ExprKind::Boolean(_)
                | ExprKind::Number(_)
                | ExprKind::Text(_)
                | ExprKind::Null
                | ExprKind::Regex { .. }
                | ExprKind::Name(_) => {}
                ExprKind::List(parts) => parts.iter().copied().for_each(adopt),
                ExprKind::Member { target, .. } => adopt(*target),
                ExprKind::Not(operand) | ExprKind::Negate(operand) => adopt(*operand),
                ExprKind::Index { target: first, index: second }
                | ExprKind::Binary { left: first, right: second, .. }
                | ExprKind::Logic { left: first, right: second, .. } => {
                    [*first, *second].into_iter().for_each(adopt);
                }
                ExprKind::Call { callee, arguments } => {
                    adopt(*callee);
                    arguments.iter().copied().for_each(adopt);
                }
                ExprKind::Conditional { condition, then, otherwise } => {
                    [*condition, *then, *otherwise].into_iter().for_each(adopt);
                }
            }
        }
        parents
    }
}

impl Binary {
    /// Whether it comes to true or false.
    pub(crate) const fn compares(self) -> bool {
        match self {
            Self::Equal
            | Self::StrictEqual
            | Self::NotEqual
            | Self::StrictNotEqual
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual => true,
            Self::Plus | Self::Minus | Self::Times | Self::Divide | Self::Remainder => false,
        }
    }

    /// As the service names it in a complaint: the strict forms by their short ones.
    pub(crate) const fn reported(self) -> &'static str {
        match self {
            Self::Equal | Self::StrictEqual => "==",
            Self::NotEqual | Self::StrictNotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StrictEqual => "===",
            Self::StrictNotEqual => "!==",
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual
            | Self::Plus
            | Self::Minus
            | Self::Times
            | Self::Divide
            | Self::Remainder => self.reported(),
        })
    }
}

impl fmt::Display for Logic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::And => "&&",
            Self::Or => "||",
        })
    }
}
