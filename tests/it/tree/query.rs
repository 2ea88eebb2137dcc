//! Queries, their windows and what a change does to them.

use super::generate::{KEYS, cases, many_keys, node, priority, value};
use super::twin::{model_node, priority as tree_priority, scalar, tree_node};
use hearth_tests::naive::{self, Limit, OrderBy, Sort, Value, key_order};
use hearth_tree::{
    ChildChange, ChildPath, Form, Index, Json as Written, KeyBound, Node, Order, Position, Query, Range,
    View, Window,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index as Place, select};
use serde_json::{Map, Value as Json};
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

fn query() -> impl Strategy<Value = naive::Query> {
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
fn tree_query(query: &naive::Query) -> Query {
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
fn is_sent(query: &naive::Query) -> bool {
    let sent = |bound: &Option<naive::Bound>| {
        bound
            .as_ref()
            .is_none_or(|bound| bound.inclusive || bound.key.is_some() || query.order == OrderBy::Key)
    };
    sent(&query.start) && sent(&query.end)
}

/// The export form of changes, as a listener is sent them.
fn export(changes: impl IntoIterator<Item = (String, Option<Node>)>) -> Map<String, Json> {
    let export = |node: Option<Node>| {
        let bytes = Written::new(node.as_ref(), Form::SOCKET).to_bytes();
        naive::read(&serde_json::from_slice(&bytes).expect("the tree writes JSON"), None, 0)
            .map(|model| naive::export(model.as_ref()))
            .expect("the tree writes legal values")
    };
    changes.into_iter().map(|(key, node)| (key, export(node))).collect()
}

fn check(query: &naive::Query, before: Option<&naive::Node>, after: Option<&naive::Node>) {
    let tree_query = tree_query(query);
    assert_eq!(tree_query.is_everything(), query.loads_all_data());
    let twins = [before.map(tree_node), after.map(tree_node)];
    let [old, new] = [twins[0].as_ref(), twins[1].as_ref()];
    // The later index grows out of the earlier one where one is needed at all.
    let by = tree_query.index_for(old).or(tree_query.index_for(new));
    let old_index = by.clone().map(|by| Index::build(by, old));
    let new_index = old_index.as_ref().map(|index| index.updated(old, new));
    let view = |node, index| View::new(&tree_query, node, index).expect("the index is given");
    let views = [view(old, old_index.as_ref()), view(new, new_index.as_ref())];
    let windows = [query.window(before), query.window(after)];
    for (view, window) in views.iter().zip(&windows) {
        let shown: Vec<_> = view.iter().map(|(key, _)| key.as_str()).collect();
        let expected: Vec<_> = window.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(shown, expected, "{query:?}");
        assert_eq!(view.len(), expected.len());
        let reversed: Vec<_> = view.iter().rev().map(|(key, _)| key.as_str()).collect();
        assert!(reversed.iter().eq(expected.iter().rev()), "{query:?} reversed");
    }
    if !query.loads_all_data() {
        assert_eq!(views[0].to_node().as_ref().map(model_node), query.answer(before));
        assert_eq!(views[1].to_node().as_ref().map(model_node), query.answer(after));
    }
    let changes = views[0].changes(&views[1]).into_iter().map(|(key, change)| {
        let node = match change {
            ChildChange::Entered(node) | ChildChange::Changed { after: node, .. } => Some(node.clone()),
            ChildChange::Left => None,
        };
        (key.as_str().to_owned(), node)
    });
    assert_eq!(export(changes), naive::difference(&windows[0], &windows[1]), "{query:?}");
}

/// What becomes of some children of a node.
fn edited(
    node: &naive::Node,
    edits: &[(Place, Option<naive::Node>)],
    keys: &[String],
) -> Option<naive::Node> {
    let mut node = Some(node.clone());
    for (place, child) in edits {
        node = naive::Node::with_child(node, &keys[place.index(keys.len())], child.clone());
    }
    node
}

proptest! {
    #![proptest_config(cases(4096))]

    #[test]
    fn a_view_shows_what_the_model_does(
        query in query().prop_filter("sent", is_sent),
        before in option::weighted(0.9, node()),
        after in option::weighted(0.9, node()),
    ) {
        check(&query, before.as_ref(), after.as_ref());
    }

    #[test]
    fn a_view_follows_edits_as_the_model_does(
        query in query().prop_filter("sent", is_sent),
        before in node(),
        edits in vec((any::<Place>(), option::of(node())), 1..4),
    ) {
        let keys: Vec<String> = KEYS.iter().map(|&key| key.into()).collect();
        let after = edited(&before, &edits, &keys);
        check(&query, Some(&before), after.as_ref());
    }

    #[test]
    fn pages_visit_every_child_once(
        query in query().prop_filter("unbounded", |query| query.order != OrderBy::Key),
        node in node(),
        page in 1_usize..4,
    ) {
        let all = naive::Query::all(query.order.clone());
        let expected: Vec<String> = all.window(Some(&node)).into_iter().map(|(key, _)| key).collect();
        let (twin, mut seen) = (tree_node(&node), Vec::new());
        let mut next = naive::Query { limit: Some(Limit::First(page)), ..all };
        loop {
            let query = tree_query(&next);
            let index = query.index_for(Some(&twin)).map(|by| Index::build(by, Some(&twin)));
            let view = View::new(&query, Some(&twin), index.as_ref()).expect("the index is given");
            let page: Vec<_> = view.iter().map(|(key, child)| (key.as_str().to_owned(), model_node(child))).collect();
            let Some((key, child)) = page.last() else {
                prop_assert_eq!(&seen, &expected);
                break;
            };
            seen.extend(page.iter().map(|(key, _)| key.clone()));
            prop_assert_eq!(&seen[..], &expected[..seen.len()]);
            let value = match &next.order {
                OrderBy::Priority => Sort::of_priority(child),
                OrderBy::Key | OrderBy::Value => Sort::of(Some(child)),
                OrderBy::Child(keys) => Sort::of(child.get(keys)),
            };
            // No bound is an object, so nobody can page on among them.
            if value == Sort::Object {
                break;
            }
            let key = Some(naive::KeyBound::Key(key.clone()));
            next.start = Some(naive::Bound { value, key, inclusive: false });
        }
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_view_of_a_large_node_shows_what_the_model_does(
        query in query().prop_filter("sent", is_sent),
        count in 30_usize..700,
        values in vec(node(), 1..6),
        edits in vec((any::<Place>(), option::of(node())), 1..8),
    ) {
        let keys = many_keys(count);
        let mut children: Vec<(String, naive::Node)> =
            keys.iter().zip(values.iter().cycle()).map(|(key, value)| (key.clone(), value.clone())).collect();
        children.sort_by(|(a, _), (b, _)| key_order(a, b));
        let before = naive::Node { priority: None, content: naive::Content::Children(children) };
        let after = edited(&before, &edits, &keys);
        check(&query, Some(&before), after.as_ref());
    }
}
