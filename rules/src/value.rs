//! What an expression is worth while a rule runs, and what its operators make of it (rules reference 2.4).

use crate::ast::Binary;
use crate::budget::Budget;
use crate::claim::Claim;
use crate::fault::Fault;
use crate::place::Place;
use crate::source_text::excerpt;
use hearth_tree::{Node, Priority, Scalar, text_order};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// A value while a rule runs.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
    /// The value of an inner node: it is not null, equals nothing, and has no members.
    Object,
    /// A list or object of `auth`.
    Claims(&'a Claim),
    Place(Place<'a>),
    /// The variable `query` itself.
    Query,
}

impl<'a> From<&'a Scalar> for Value<'a> {
    fn from(scalar: &'a Scalar) -> Self {
        match scalar {
            Scalar::Bool(value) => Self::Bool(*value),
            Scalar::Number(number) => Self::Number(number.as_f64()),
            Scalar::Text(text) => Self::Text(Cow::Borrowed(text.as_str())),
        }
    }
}

impl<'a> From<&'a Priority> for Value<'a> {
    fn from(priority: &'a Priority) -> Self {
        match priority {
            Priority::Number(number) => Self::Number(number.as_f64()),
            Priority::Text(text) => Self::Text(Cow::Borrowed(text.as_str())),
        }
    }
}

impl<'a> From<&'a Claim> for Value<'a> {
    fn from(claim: &'a Claim) -> Self {
        match claim {
            Claim::Null => Self::Null,
            Claim::Bool(value) => Self::Bool(*value),
            Claim::Number(number) => Self::Number(*number),
            Claim::Text(text) => Self::Text(Cow::Borrowed(text)),
            Claim::List(_) | Claim::Object(_) => Self::Claims(claim),
        }
    }
}

impl<'a, T> From<Option<T>> for Value<'a>
where
    Self: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

impl<'a> Value<'a> {
    /// The text, or what it is instead.
    pub(crate) fn into_text(self) -> Result<Cow<'a, str>, &'static str> {
        let found = self.kind();
        let Self::Text(text) = self else { return Err(found) };
        Ok(text)
    }

    /// What it is, for a message.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::Object => "an object",
            Self::Claims(_) => "an object of auth",
            Self::Place(_) => "a snapshot",
            Self::Query => "the query",
        }
    }

    /// Identical pairs only; two inner nodes are never equal (rules reference 13, point 12).
    fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            #[expect(clippy::float_cmp, reason = "rules compare doubles exactly, as JavaScript does")]
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (
                Self::Null
                | Self::Bool(_)
                | Self::Number(_)
                | Self::Text(_)
                | Self::Object
                | Self::Claims(_)
                | Self::Place(_)
                | Self::Query,
                _,
            ) => false,
        }
    }
}

/// Applies an operator to both operands.
pub(crate) fn binary<'a>(
    operator: Binary,
    left: Value<'a>,
    right: Value<'a>,
    budget: &mut Budget,
) -> Result<Value<'a>, Fault> {
    match operator {
        Binary::Plus => plus(left, right, budget),
        Binary::Minus => arithmetic(operator, &left, &right, |a, b| a - b),
        Binary::Times => arithmetic(operator, &left, &right, |a, b| a * b),
        // The service has no infinities here: what is divided by zero is not a number (rules reference 2.4).
        Binary::Divide => arithmetic(operator, &left, &right, |a, b| if b == 0.0 { f64::NAN } else { a / b }),
        Binary::Remainder => arithmetic(operator, &left, &right, |a, b| a % b),
        Binary::Equal
        | Binary::StrictEqual
        | Binary::NotEqual
        | Binary::StrictNotEqual
        | Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual => compare(operator, &left, &right, budget).map(Value::Bool),
    }
}

/// Applies an operator that comes to true or false.
pub(crate) fn compare(
    operator: Binary,
    left: &Value<'_>,
    right: &Value<'_>,
    budget: &mut Budget,
) -> Result<bool, Fault> {
    scan_both(left, right, budget)?;
    match operator {
        Binary::Equal | Binary::StrictEqual => Ok(left.is_identical(right)),
        Binary::NotEqual | Binary::StrictNotEqual => Ok(!left.is_identical(right)),
        Binary::Less => order(operator, left, right, Ordering::is_lt),
        Binary::LessOrEqual => order(operator, left, right, Ordering::is_le),
        Binary::Greater => order(operator, left, right, Ordering::is_gt),
        Binary::GreaterOrEqual => order(operator, left, right, Ordering::is_ge),
        Binary::Plus | Binary::Minus | Binary::Times | Binary::Divide | Binary::Remainder => {
            Err(Fault::Unsound { what: "comparison", found: "arithmetic" })
        }
    }
}

/// Pays for looking at two texts.
fn scan_both(left: &Value<'_>, right: &Value<'_>, budget: &mut Budget) -> Result<(), Fault> {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) if !budget.scan(if a.len() < b.len() { a } else { b }) => {
            Err(Fault::OverBudget)
        }
        _ => Ok(()),
    }
}

fn order(
    operator: Binary,
    left: &Value<'_>,
    right: &Value<'_>,
    holds: fn(Ordering) -> bool,
) -> Result<bool, Fault> {
    match (left, right) {
        // Nothing compares with what is not a number.
        (Value::Number(a), Value::Number(b)) => Ok(a.partial_cmp(b).is_some_and(holds)),
        (Value::Text(a), Value::Text(b)) => Ok(holds(text_order(a, b))),
        _ => Err(Fault::Unordered { operator, left: left.kind(), right: right.kind() }),
    }
}

fn arithmetic<'a>(
    operator: Binary,
    left: &Value<'_>,
    right: &Value<'_>,
    compute: fn(f64, f64) -> f64,
) -> Result<Value<'a>, Fault> {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => Ok(Value::Number(compute(*a, *b))),
        _ => Err(Fault::NotNumbers { operator, left: left.kind(), right: right.kind() }),
    }
}

fn plus<'a>(left: Value<'a>, right: Value<'a>, budget: &mut Budget) -> Result<Value<'a>, Fault> {
    scan_both(&left, &right, budget)?;
    let (left, right) = match (left, right) {
        (Value::Number(a), Value::Number(b)) => return Ok(Value::Number(a + b)),
        (Value::Text(a), Value::Text(b)) => (a, b),
        (Value::Text(a), Value::Number(b)) => (a, Cow::Owned(number_text(b))),
        (Value::Number(a), Value::Text(b)) => (Cow::Owned(number_text(a)), b),
        (left, right) => return Err(Fault::NotAddable { left: left.kind(), right: right.kind() }),
    };
    if !budget.make(left.len() + right.len()) {
        return Err(Fault::OverBudget);
    }
    Ok(Value::Text(Cow::Owned(left.into_owned() + &right)))
}

/// The value of a node, or of nothing.
pub(crate) fn value_of(node: Option<&Node>) -> Value<'_> {
    node.map_or(Value::Null, |node| node.value().map_or(Value::Object, Value::from))
}

/// A member of something in auth: of null it is null, of a text only `length` is there (rules reference 2.4).
pub(crate) fn member<'a>(target: &Value<'a>, name: &str) -> Value<'a> {
    match target {
        Value::Claims(claim) => Value::from(claim.member(name)),
        Value::Text(text) if name == "length" => length(text),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::Object
        | Value::Place(_)
        | Value::Query => Value::Null,
    }
}

/// In UTF-16 units (rules reference 4.2).
pub(crate) fn length<'a>(text: &str) -> Value<'a> {
    // One for each first byte of a character, and one more for those of characters above U+FFFF.
    let units: usize =
        text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(0xF0 <= byte)).sum();
    #[expect(clippy::cast_precision_loss, reason = "no text is longer than 2^53")]
    Value::Number(units as f64)
}

/// A number as JavaScript writes it.
pub(crate) fn number_text(number: f64) -> String {
    ryu_js::Buffer::new().format(number).into()
}

/// As it is shown in a trace: short, and JSON where it can be.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => f.write_str(&number_text(*number)),
            Self::Text(text) => write!(f, "\"{}\"", excerpt(text)),
            Self::Object => f.write_str("{…}"),
            Self::Claims(Claim::List(_)) => f.write_str("[…]"),
            Self::Claims(_) => f.write_str("{…}"),
            Self::Place(_) => f.write_str("<snapshot>"),
            Self::Query => f.write_str("<query>"),
        }
    }
}
