//! Random queries, and the same query as the model holds it and as the tree does.

use super::generate::{KEYS, priority, value};
use super::twin::{priority as tree_priority, scalar};
use hearth_tests::naive::{self, Limit, OrderBy, Sort, Value};
use hearth_tree::{ChildPath, KeyBound, Order, Position, Query, Range, Window};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::ops::Bound;

fn key_bound() -> impl Strategy<Value = naive::KeyBound> {
    prop_oneof![
        1 => Just(naive::KeyBound::Min),
        1 => Just(naive::KeyBound::Max),
        4 => select(KEYS).prop_map(|key| naive::KeyBound::Key(key.into())),
        // Longer than any key, as Android sends them, and what is no key at all.
        1 => Just(naive::KeyBound::Key(format!("a{}", "z".repeat(785)))),
        1 => any::<String>().prop_map(naive::KeyBound::Key),
    ]
}

fn bound(order: &OrderBy) -> BoxedStrategy<naive::Bound> {
    let sort = |value: Option<Value>| value.map_or(Sort::Null, Sort::Value);
    let value = match order {
        OrderBy::Key => (select(KEYS).prop_map(|key| Sort::Value(Value::Text(key.into())))).boxed(),
        OrderBy::Priority => priority().prop_map(sort).boxed(),
        OrderBy::Value | OrderBy::Child(_) => option::weighted(0.8, value()).prop_map(sort).boxed(),
    };
    let key = if *order == OrderBy::Key { Just(None).boxed() } else { option::of(key_bound()).boxed() };
    (value, key, any::<bool>())
        .prop_map(|(value, key, inclusive)| naive::Bound { value, key, inclusive })
        .boxed()
}

pub(super) fn query() -> impl Strategy<Value = naive::Query> {
    let child = select(vec!["a", "b", "0", "a/b"]).prop_map(|path| OrderBy::Child(naive::split(path)));
    let order = prop_oneof![Just(OrderBy::Priority), Just(OrderBy::Key), Just(OrderBy::Value), child];
    let limit = prop_oneof![(1_usize..6).prop_map(Limit::First), (1_usize..6).prop_map(Limit::Last)];
    (order, option::of(limit)).prop_flat_map(|(order, limit)| {
        (option::of(bound(&order)), option::of(bound(&order))).prop_map(move |(start, end)| naive::Query {
            order: order.clone(),
            start,
            end,
            limit,
        })
    })
}

/// The tree's twin of a query.
pub(super) fn tree_query(query: &naive::Query) -> Query {
    let order = match &query.order {
        OrderBy::Key => Order::Key(range(query, |bound| match &bound.value {
            Sort::Value(Value::Text(text)) => KeyBound::parse(text),
            Sort::Null | Sort::Value(_) | Sort::Object => unreachable!("keys are bounded by texts"),
        })),
        OrderBy::Priority => Order::Priority(range(query, |bound| position(bound, tree_priority))),
        OrderBy::Value => Order::Value(range(query, |bound| position(bound, scalar))),
        OrderBy::Child(keys) => {
            let path = ChildPath::parse(&keys.join("/")).expect("the tests order by legal paths");
            Order::Child(path, range(query, |bound| position(bound, scalar)))
        }
    };
    let limit = |limit: usize| u32::try_from(limit).expect("the tests use small limits");
    let window = match query.limit {
        None => Ok(Window::All),
        Some(Limit::First(most)) => Window::first(limit(most)),
        Some(Limit::Last(most)) => Window::last(limit(most)),
    };
    Query { order, window: window.expect("the tests use limits from 1") }
}

fn range<B>(query: &naive::Query, place: impl Fn(&naive::Bound) -> B) -> Range<B> {
    let bound = |bound: &Option<naive::Bound>| match bound {
        None => Bound::Unbounded,
        Some(bound) if bound.inclusive => Bound::Included(place(bound)),
        Some(bound) => Bound::Excluded(place(bound)),
    };
    Range { start: bound(&query.start), end: bound(&query.end) }
}

fn position<V>(bound: &naive::Bound, value: impl Fn(&Value) -> V) -> Position<Option<V>> {
    let value = match &bound.value {
        Sort::Null => None,
        Sort::Value(known) => Some(value(known)),
        Sort::Object => unreachable!("no bound is an object"),
    };
    let key = bound.key.as_ref().map(|key| match key {
        naive::KeyBound::Min => KeyBound::Min,
        naive::KeyBound::Key(text) => KeyBound::At(text.as_str().into()),
        naive::KeyBound::Max => KeyBound::Max,
    });
    Position { value, key }
}

/// Whether the model's and the tree's reading of an excluded bound without a key agree. The reference takes it as the
/// place beside the lowest key (start) or the highest (end), so that nothing is excluded; no client sends that (5.1).
pub(super) fn is_sent(query: &naive::Query) -> bool {
    let sent = |bound: &Option<naive::Bound>| {
        bound
            .as_ref()
            .is_none_or(|bound| bound.inclusive || bound.key.is_some() || query.order == OrderBy::Key)
    };
    sent(&query.start) && sent(&query.end)
}
