//! What leaves and priorities hold (wire reference 7.1), and the order of values (7.4).

use super::{Node, text_order};
use std::cmp::Ordering;

/// A boolean, a number or a text. A whole number within 64 bits is always `Int`, whichever way it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number within 64 bits.
    Int(i64),
    /// Any other finite number.
    Double(f64),
    /// A text.
    Text(String),
}

impl Value {
    /// The number as a value: whole ones within 64 bits become integers, -0 becomes 0. Nothing for NaN and infinities.
    pub fn from_f64(number: f64) -> Option<Self> {
        let two_to_63 = 9_223_372_036_854_775_808.0;
        if !number.is_finite() {
            None
        } else if number == number.trunc() && -two_to_63 <= number && number < two_to_63 {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 64 bits")]
            Some(Self::Int(number as i64))
        } else {
            Some(Self::Double(number))
        }
    }

    /// The nearest double of a number.
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "the nearest double is meant")]
            Self::Int(integer) => Some(*integer as f64),
            Self::Double(double) => Some(*double),
            Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// The value after an increment (7.6); nothing, if the sum is not finite. `self` is what is there now.
    pub fn incremented(current: Option<&Self>, delta: &Self) -> Option<Self> {
        match (current, delta) {
            (Some(Self::Int(a)), Self::Int(b)) => match a.checked_add(*b) {
                Some(sum) => Some(Self::Int(sum)),
                #[expect(clippy::cast_precision_loss, reason = "the sum as a double is what 7.6 asks for")]
                None => Self::from_f64(*a as f64 + *b as f64),
            },
            (Some(current), delta) => match (current.as_f64(), delta.as_f64()) {
                (Some(a), Some(b)) => Self::from_f64(a + b),
                _ => Some(delta.clone()),
            },
            (None, delta) => Some(delta.clone()),
        }
    }
}

/// What a child is sorted by: nothing, a value, or "some object".
#[derive(Clone, Debug, PartialEq)]
pub enum Sort {
    /// Nothing is there.
    Null,
    /// A leaf's value, or a priority.
    Value(Value),
    /// An inner node.
    Object,
}

impl Sort {
    /// What a node counts as.
    pub fn of(node: Option<&Node>) -> Self {
        match node {
            None => Self::Null,
            Some(node) => node.value().map_or(Self::Object, |value| Self::Value(value.clone())),
        }
    }

    /// What a node's priority counts as.
    pub fn of_priority(node: &Node) -> Self {
        node.priority.clone().map_or(Self::Null, Self::Value)
    }
}

/// `null` < `false` < `true` < numbers < texts < objects (7.4). Priorities are null, numbers and texts, so their order
/// is the same.
pub fn sort_order(a: &Sort, b: &Sort) -> Ordering {
    match (a, b) {
        (Sort::Value(Value::Text(a)), Sort::Value(Value::Text(b))) => text_order(a, b),
        (Sort::Value(x), Sort::Value(y)) => match (x.as_f64(), y.as_f64()) {
            (Some(x), Some(y)) => x.partial_cmp(&y).expect("no value is NaN"),
            _ => class(a).cmp(&class(b)),
        },
        _ => class(a).cmp(&class(b)),
    }
}

fn class(sort: &Sort) -> usize {
    match sort {
        Sort::Null => 0,
        Sort::Value(Value::Bool(false)) => 1,
        Sort::Value(Value::Bool(true)) => 2,
        Sort::Value(Value::Int(_) | Value::Double(_)) => 3,
        Sort::Value(Value::Text(_)) => 4,
        Sort::Object => 5,
    }
}
