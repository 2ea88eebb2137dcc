//! What can be said of an expression before it runs: whether it can be anything but true, false or an error.

use crate::ast::{Ast, Binary, ExprKind, Logic};
use crate::types::Type;

/// What a part always comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Always {
    True,
    /// False, or an error where it is not.
    False,
    /// An error.
    Fails,
    Unknown,
}

impl Always {
    const fn of(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }

    /// Whether a rule of this can never hold.
    pub(crate) const fn never_holds(self) -> bool {
        matches!(self, Self::False | Self::Fails)
    }
}

/// For each part, what it always comes to. One loop: operands come first.
pub(crate) fn constants(ast: &Ast, types: &[Type]) -> Vec<Always> {
    let mut known: Vec<Always> = Vec::with_capacity(ast.len());
    for (_, expr) in ast.iter() {
        let always = match &expr.kind {
            ExprKind::Boolean(value) => Always::of(*value),
            ExprKind::Not(operand) => match known[operand.index()] {
                Always::True => Always::False,
                // What is only "never true" may be an error, which `!` does not turn.
                Always::False if matches!(ast.get(*operand).kind, ExprKind::Logic { .. }) => Always::Unknown,
                Always::False => Always::True,
                Always::Fails => Always::Fails,
                Always::Unknown => Always::Unknown,
            },
            ExprKind::Logic { operator, left, right } => {
                logic(*operator, known[left.index()], known[right.index()])
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let (then, otherwise) = (known[then.index()], known[otherwise.index()]);
                match known[condition.index()] {
                    Always::True => then,
                    Always::False => otherwise,
                    Always::Fails => Always::Fails,
                    Always::Unknown if then.never_holds() && otherwise.never_holds() => Always::False,
                    Always::Unknown => Always::Unknown,
                }
            }
            ExprKind::Binary { operator, left, right } => {
                let literals = (&ast.get(*left).kind, &ast.get(*right).kind);
                binary(*operator, types[left.index()], types[right.index()], literals)
            }
            ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Null
            | ExprKind::Regex { .. }
            | ExprKind::Name(_)
            | ExprKind::List(_)
            | ExprKind::Member { .. }
            | ExprKind::Index { .. }
            | ExprKind::Call { .. }
            | ExprKind::Negate(_) => Always::Unknown,
        };
        known.push(always);
    }
    known
}

const fn logic(operator: Logic, left: Always, right: Always) -> Always {
    match (operator, left) {
        (_, Always::Fails) => Always::Fails,
        (Logic::And, Always::True) | (Logic::Or, Always::False) => right,
        (Logic::And, Always::False) => Always::False,
        (Logic::Or, Always::True) => Always::True,
        (Logic::And, Always::Unknown) if right.never_holds() => Always::False,
        (Logic::And | Logic::Or, Always::Unknown) => Always::Unknown,
    }
}

/// Two operands of known and different types are never equal, and cannot be ordered.
fn binary(operator: Binary, left: Type, right: Type, literals: (&ExprKind, &ExprKind)) -> Always {
    let differ = is_known(left) && is_known(right) && left != right;
    let equal = match literals {
        (ExprKind::Number(a), ExprKind::Number(b)) => Some(a.to_bits() == b.to_bits()),
        (ExprKind::Text(a), ExprKind::Text(b)) => Some(a == b),
        (ExprKind::Boolean(a), ExprKind::Boolean(b)) => Some(a == b),
        (ExprKind::Null, ExprKind::Null) => Some(true),
        _ if differ => Some(false),
        _ => None,
    };
    match operator {
        Binary::Equal | Binary::StrictEqual => equal.map_or(Always::Unknown, Always::of),
        Binary::NotEqual | Binary::StrictNotEqual => {
            equal.map_or(Always::Unknown, |equal| Always::of(!equal))
        }
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual if differ => {
            Always::Fails
        }
        Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual
        | Binary::Plus
        | Binary::Minus
        | Binary::Times
        | Binary::Divide
        | Binary::Remainder => Always::Unknown,
    }
}

const fn is_known(found: Type) -> bool {
    matches!(found, Type::Boolean | Type::Number | Type::String | Type::Null)
}
