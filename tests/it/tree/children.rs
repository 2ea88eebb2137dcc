//! Children of nodes of every size, edited in every order.

use super::generate::{cases, leaf, many_keys, node};
use super::twin::{grown_node, key, model_node, tree_node};
use hearth_tests::naive;
use hearth_tree::{Children, Node, Number, Scalar};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A run of edits of neighbouring keys.
#[derive(Clone, Debug)]
struct Run {
    act: Act,
    /// Which of the sorted keys, as two places among them.
    between: (Index, Index),
    order: Order,
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Insert,
    Remove,
}

#[derive(Clone, Debug)]
enum Order {
    Ascending,
    Descending,
    FromTheMiddle,
    Shuffled(Vec<Index>),
}

impl Run {
    /// The keys to edit, in the order to edit them.
    fn keys<'a>(&self, sorted: &'a [String]) -> Vec<&'a String> {
        let (a, b) = (self.between.0.index(sorted.len()), self.between.1.index(sorted.len()));
        let mut keys: Vec<&String> = sorted[a.min(b)..=a.max(b)].iter().collect();
        match &self.order {
            Order::Ascending => {}
            Order::Descending => keys.reverse(),
            Order::FromTheMiddle => {
                let middle = keys.len() / 2;
                let (low, high) = keys.split_at(middle);
                let low = low.iter().rev().map(Some).chain(std::iter::repeat(None));
                let high = high.iter().map(Some);
                keys = high.zip(low).flat_map(|(a, b)| [a, b]).flatten().copied().collect();
            }
            Order::Shuffled(places) => {
                for (at, place) in places.iter().cycle().take(keys.len()).enumerate() {
                    let other = (place.index(keys.len()) + at * at) % keys.len();
                    keys.swap(at, other);
                }
            }
        }
        keys
    }
}

fn run() -> impl Strategy<Value = Run> {
    let order = prop_oneof![
        Just(Order::Ascending),
        Just(Order::Descending),
        Just(Order::FromTheMiddle),
        vec(any::<Index>(), 40).prop_map(Order::Shuffled),
    ];
    (select(vec![Act::Insert, Act::Insert, Act::Remove]), any::<(Index, Index)>(), order)
        .prop_map(|(act, between, order)| Run { act, between, order })
}

/// Lives through the runs, and compares with the model after every edit.
fn live(count: usize, runs: &[Run], values: &[naive::Node], at: &Index) {
    let mut sorted = many_keys(count);
    sorted.sort_by(|a, b| naive::key_order(a, b));
    let (mut node, mut model): (Option<Node>, Option<naive::Node>) = (None, None);
    let mut versions = Vec::new();
    for run in runs {
        for (step, text) in run.keys(&sorted).into_iter().enumerate() {
            let child = match run.act {
                Act::Insert => Some(values[step % values.len()].clone()),
                Act::Remove => None,
            };
            let twin = child.as_ref().map(tree_node);
            node = match node {
                None => twin.and_then(|twin| Node::inner([(key(text), twin)])),
                Some(node) => node.with_child(&key(text), twin),
            };
            model = naive::Node::with_child(model, text, child);
            check_keys(node.as_ref(), model.as_ref());
            if let Some(node) = &node {
                check_place(node.children(), at.index(count), at.index(step + 1));
            }
        }
        versions.push((node.clone(), model.clone()));
    }
    // Later edits have left the earlier versions alone.
    for (node, model) in versions {
        assert_eq!(node.as_ref().map(model_node), model);
        if let (Some(node), Some(model)) = (&node, &model) {
            check_all(node.children());
            assert!(node == &tree_node(model), "a history of edits does not show");
            assert_eq!(node.hash(), tree_node(model).hash(), "a history of edits does not show in the hash");
            let prioritized = model.children().iter().any(|(_, child)| child.priority.is_some());
            assert_eq!(node.has_prioritized_children(), prioritized);
        }
    }
}

fn check_keys(node: Option<&Node>, model: Option<&naive::Node>) {
    assert_eq!(node.is_some(), model.is_some());
    let (Some(node), Some(model)) = (node, model) else { return };
    assert_eq!(node.children().len(), model.children().len());
    let keys = node.children().iter().map(|(key, _)| key.as_str());
    let expected = model.children().iter().map(|(key, _)| key.as_str());
    assert!(keys.eq(expected), "keys {:?}", node.children().iter().map(|(key, _)| key).collect::<Vec<_>>());
}

/// Looks at one place of the children through every accessor. `from` and `to` may lie beyond the end.
fn check_place(children: Children<'_>, from: usize, to: usize) {
    let all: Vec<_> = children.iter().collect();
    assert_eq!(children.nth(from).map(|(key, _)| key), all.get(from).map(|(key, _)| *key), "nth {from}");
    if let Some(&(own, child)) = all.get(from) {
        assert!(children.get(own).is_some_and(|found| found.is_same(child)), "get `{own}`");
        assert_eq!(children.rank(|key| key < own), from, "rank of `{own}`");
        assert_eq!(children.rank(|key| key <= own), from + 1, "rank after `{own}`");
    }
    let (low, high) = (from.min(all.len()), to.min(all.len()));
    let expected = if low < high { &all[low..high] } else { &[] };
    let range = children.range(from, to);
    assert_eq!(range.len(), expected.len(), "length of {from}..{to}");
    assert!(range.map(|(key, _)| key).eq(expected.iter().map(|(key, _)| *key)), "range {from}..{to}");
    let reversed = children.range(from, to).rev().map(|(key, _)| key);
    assert!(reversed.eq(expected.iter().rev().map(|(key, _)| *key)), "range {from}..{to} reversed");
    // From both ends in turn, in steps that do not divide the width of a leaf.
    let (mut range, mut rest) = (children.range(from, to), expected);
    for turn in 0.. {
        assert_eq!(range.len(), rest.len(), "rest of {from}..{to} in turn {turn}");
        let (next, expected) = if turn % 5 < 3 {
            (range.next(), take_first(&mut rest))
        } else {
            (range.next_back(), take_last(&mut rest))
        };
        assert_eq!(next.map(|(key, _)| key), expected.map(|(key, _)| *key), "turn {turn} of {from}..{to}");
        if next.is_none() {
            break;
        }
    }
}

fn check_all(children: Children<'_>) {
    for from in 0..=children.len() {
        check_place(children, from, from + 1);
    }
    for (from, to) in [(0, children.len()), (0, usize::MAX), (1, children.len() - 1), (7, 3)] {
        check_place(children, from, to);
    }
    assert_eq!(children.rank(|_| true), children.len());
    assert_eq!(children.rank(|_| false), 0);
    assert_eq!(children.iter().count(), children.len());
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn small_nodes_follow_the_model(
        count in 1_usize..80,
        runs in vec(run(), 1..8),
        values in vec(leaf(), 1..8),
        at in any::<Index>(),
    ) {
        live(count, &runs, &values, &at);
    }

    #[test]
    fn nodes_are_equal_when_their_content_is(a in node(), b in node()) {
        let (built, grown) = (tree_node(&a), grown_node(&a));
        prop_assert_eq!(&built, &grown);
        prop_assert_eq!(built.hash(), grown.hash());
        prop_assert_eq!(model_node(&grown), a.clone());
        prop_assert_eq!(built == tree_node(&b), a == b);
    }
}

proptest! {
    #![proptest_config(cases(10))]

    #[test]
    fn large_nodes_follow_the_model(
        count in 600_usize..900,
        runs in vec(run(), 4..8),
        values in vec(leaf(), 1..8),
        at in any::<Index>(),
    ) {
        live(count, &runs, &values, &at);
    }
}

#[test]
fn nodes_differ_in_any_one_thing() {
    let number = |number| naive::Node::leaf(naive::Value::Int(number));
    let wide = (0..700).fold(None, |node, n| naive::Node::with_child(node, &n.to_string(), Some(number(n))));
    let wide = wide.expect("it has 700 children");
    let other = naive::Node::with_child(Some(wide.clone()), "350", Some(number(-1)));
    let fewer = naive::Node::with_child(Some(wide.clone()), "699", None);
    let renamed = naive::Node::with_child(fewer.clone(), "700", Some(number(699)));
    let prioritized = Some(naive::Node { priority: Some(naive::Value::Int(1)), ..wide.clone() });
    for changed in [other, fewer, renamed, prioritized].into_iter().flatten() {
        let (a, b) = (tree_node(&wide), tree_node(&changed));
        assert_ne!(a, b);
        assert_ne!(a.hash(), b.hash());
    }
}

#[test]
fn of_children_with_one_key_the_last_counts() {
    let keys = ["b", "a", "b", "c", "a", "c", "c"];
    let number = |number| Scalar::Number(Number::from(number)).into();
    for (count, expected) in [
        (1, "{\"b\": 0}"),
        (3, "{\"a\": 1, \"b\": 2}"),
        (5, "{\"a\": 4, \"b\": 2, \"c\": 3}"),
        (7, "{\"a\": 4, \"b\": 2, \"c\": 6}"),
    ] {
        let node = Node::inner(keys[..count].iter().map(|text| key(text)).zip((0..).map(number)));
        let expected = naive::read(&serde_json::from_str(expected).expect("JSON"), None, 0);
        assert_eq!(node.as_ref().map(model_node), expected.expect("a legal tree"), "{count} children");
    }
}

fn take_first<'a, T>(rest: &mut &'a [T]) -> Option<&'a T> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    Some(first)
}

fn take_last<'a, T>(rest: &mut &'a [T]) -> Option<&'a T> {
    let (last, others) = rest.split_last()?;
    *rest = others;
    Some(last)
}
