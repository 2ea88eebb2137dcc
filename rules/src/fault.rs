//! Why a rule came to no result. A rule that fails does not grant, and does not validate (rules reference 2.4).

use crate::ast::{Binary, ExprId};

/// What went wrong, and at which part of the expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The part.
    pub part: ExprId,
    /// What went wrong.
    pub fault: Fault,
}

/// What can go wrong while a rule runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(
    missing_docs,
    reason = "the message of each variant says what it is, its fields are the words in the message"
)]
pub enum Fault {
    #[error("`{operator}` orders two numbers or two texts; found {left} and {right}")]
    Unordered { operator: Binary, left: &'static str, right: &'static str },
    #[error("`{operator}` computes with two numbers; found {left} and {right}")]
    NotNumbers { operator: Binary, left: &'static str, right: &'static str },
    #[error("`+` adds numbers and joins texts; found {left} and {right}")]
    NotAddable { left: &'static str, right: &'static str },
    #[error("`-` needs a number; found {found}")]
    NotNegatable { found: &'static str },
    #[error("`{member}` is of texts; found {found}")]
    NotAText { member: &'static str, found: &'static str },
    #[error("`{method}` needs a text in its parentheses; found {found}")]
    ArgumentNotAText { method: &'static str, found: &'static str },
    #[error("members of auth have names; found {found} in the brackets")]
    IndexNotAName { found: &'static str },
    #[error("nothing is above the root, so it has no `parent()`")]
    AboveRoot,
    #[error("judging this took more steps or text than one operation may")]
    OverBudget,
    #[error("`{what}` met {found}, which the compiler should have refused; please report this")]
    Unsound { what: &'static str, found: &'static str },
}
