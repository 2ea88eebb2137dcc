//! The same query as the model reads it and as the tree reads it.

use super::{priority, scalar};
use crate::naive::{self, Limit, OrderBy, Sort, Value};
use hearth_tree::{ChildPath, KeyBound, Order, Position, Query, Range, Window};
use std::ops::Bound;

/// The tree's twin of a query of the model.
pub fn tree_query(model: &naive::Query) -> Query {
    let text = |bound: &naive::Bound| match &bound.value {
        Sort::Value(Value::Text(text)) => KeyBound::parse(text),
        Sort::Null | Sort::Value(_) | Sort::Object => unreachable!("bounds of keys are texts"),
    };
    let value = |bound: &naive::Bound| match &bound.value {
        Sort::Value(value) => Some(value.clone()),
        Sort::Null | Sort::Object => None,
    };
    let by_value = |bound: &naive::Bound, whole| Position {
        value: value(bound).as_ref().map(scalar),
        key: Some(bound.key.as_ref().map_or(whole, tree_bound)),
    };
    let by_priority = |bound: &naive::Bound, whole| Position {
        value: value(bound).as_ref().map(priority),
        key: Some(bound.key.as_ref().map_or(whole, tree_bound)),
    };
    let order = match &model.order {
        OrderBy::Key => Order::Key(range(model, |bound, _| text(bound))),
        OrderBy::Value => Order::Value(range(model, by_value)),
        OrderBy::Child(keys) => {
            let path = ChildPath::parse(&keys.join("/")).expect("the tests make legal paths");
            Order::Child(path, range(model, by_value))
        }
        OrderBy::Priority => Order::Priority(range(model, by_priority)),
    };
    let limit = |most| u32::try_from(most).expect("the tests make small limits");
    let window = match model.limit {
        None => Ok(Window::All),
        Some(Limit::First(most)) => Window::first(limit(most)),
        Some(Limit::Last(most)) => Window::last(limit(most)),
    };
    Query { order, window: window.expect("the tests make no limit of 0") }
}

/// The reference reads a missing key as the lowest in a start and the highest in an end, included or not.
fn range<B>(model: &naive::Query, read: impl Fn(&naive::Bound, KeyBound) -> B) -> Range<B> {
    let bound = |bound: Option<&naive::Bound>, whole| match bound {
        None => Bound::Unbounded,
        Some(bound) if bound.inclusive => Bound::Included(read(bound, whole)),
        Some(bound) => Bound::Excluded(read(bound, whole)),
    };
    Range { start: bound(model.start.as_ref(), KeyBound::Min), end: bound(model.end.as_ref(), KeyBound::Max) }
}

fn tree_bound(bound: &naive::KeyBound) -> KeyBound {
    match bound {
        naive::KeyBound::Min => KeyBound::Min,
        naive::KeyBound::Key(text) => KeyBound::At(text.as_str().into()),
        naive::KeyBound::Max => KeyBound::Max,
    }
}
