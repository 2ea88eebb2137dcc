//! What rules see of the query of a read (rules reference 3).

use crate::types::QueryProperty;
use crate::value::Value;
use hearth_tree::{KeyBound, Order, Position, Priority, Query, Range, Scalar, Text, Window};
use std::borrow::Cow;
use std::ops::Bound;

/// The values of the variable `query`. The default is a read without a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryValues {
    /// What it asks to order by.
    pub order: OrderedBy,
    /// Where it starts, included or not; nothing if it asks for one value.
    pub start_at: Option<Scalar>,
    /// Where it ends, included or not; nothing if it asks for one value.
    pub end_at: Option<Scalar>,
    /// The one value that it asks for.
    pub equal_to: Option<Scalar>,
    /// How many children it asks for.
    pub window: Window,
}

/// What a query asks to order by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OrderedBy {
    /// Nothing: a plain read. The service then says false to all of them (rules reference 13, point 1).
    #[default]
    Unasked,
    /// `orderByKey`.
    Key,
    /// `orderByValue`.
    Value,
    /// `orderByPriority`.
    Priority,
    /// `orderByChild`, with its path.
    Child(String),
}

impl QueryValues {
    /// A property of `query`; null where nothing is asked.
    pub(crate) fn property(&self, property: QueryProperty) -> Value<'_> {
        match property {
            QueryProperty::OrderByKey => Value::Bool(self.order == OrderedBy::Key),
            QueryProperty::OrderByValue => Value::Bool(self.order == OrderedBy::Value),
            QueryProperty::OrderByPriority => Value::Bool(self.order == OrderedBy::Priority),
            QueryProperty::OrderByChild => match &self.order {
                OrderedBy::Child(path) => Value::Text(Cow::Borrowed(path)),
                OrderedBy::Unasked | OrderedBy::Key | OrderedBy::Value | OrderedBy::Priority => Value::Null,
            },
            QueryProperty::StartAt => Value::from(self.start_at.as_ref()),
            QueryProperty::EndAt => Value::from(self.end_at.as_ref()),
            QueryProperty::EqualTo => Value::from(self.equal_to.as_ref()),
            QueryProperty::LimitToFirst => match self.window {
                Window::First(limit) => Value::Number(limit.get().into()),
                Window::Last(_) | Window::All => Value::Null,
            },
            QueryProperty::LimitToLast => match self.window {
                Window::Last(limit) => Value::Number(limit.get().into()),
                Window::First(_) | Window::All => Value::Null,
            },
        }
    }
}

impl From<&Query> for QueryValues {
    /// The order by priority is the one of a read that asks for none: it counts as asked for with bounds or a limit.
    fn from(query: &Query) -> Self {
        let (order, [start_at, end_at, equal_to]) = match &query.order {
            Order::Priority(_) if query.is_everything() => return Self::default(),
            Order::Priority(range) => (OrderedBy::Priority, bounds(range, of_priority)),
            Order::Key(range) => (OrderedBy::Key, bounds(range, of_key)),
            Order::Value(range) => (OrderedBy::Value, bounds(range, of_value)),
            Order::Child(path, range) => (OrderedBy::Child(path.to_string()), bounds(range, of_value)),
        };
        Self { order, start_at, end_at, equal_to, window: query.window }
    }
}

/// Start, end, and the one value if start and end are the same.
fn bounds<B: PartialEq>(range: &Range<B>, value: fn(&B) -> Option<Scalar>) -> [Option<Scalar>; 3] {
    match (&range.start, &range.end) {
        (Bound::Included(start), Bound::Included(end)) if start == end => [None, None, value(start)],
        (start, end) => {
            let of = |bound: &Bound<B>| match bound {
                Bound::Included(at) | Bound::Excluded(at) => value(at),
                Bound::Unbounded => None,
            };
            [of(start), of(end), None]
        }
    }
}

fn of_key(bound: &KeyBound) -> Option<Scalar> {
    match bound {
        KeyBound::Min | KeyBound::Max => None,
        KeyBound::At(text) => Text::new(text).ok().map(Scalar::Text),
    }
}

fn of_value(position: &Position<Option<Scalar>>) -> Option<Scalar> {
    position.value.clone()
}

fn of_priority(position: &Position<Option<Priority>>) -> Option<Scalar> {
    position.value.clone().map(Scalar::from)
}
