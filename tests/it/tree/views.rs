//! Views of queries against filtering and sorting everything, and indexes against building them anew.

use super::generate::{cases, key, many_keys, path_node, priority, value};
use super::twin::{grown_node, model_node, path, priority as tree_priority, scalar, tree_node};
use hearth_tests::naive::{self, Content, Limit, OrderBy, Sort, Value};
use hearth_tree::{
    ChildChange, ChildPath, Form, Index, IndexBy, Json, Key, KeyBound, Node, Order, Position, Query, Range,
    View, Window,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::ops::Bound;

const RANKS: &[&str] = &["a", "a/b", "01"];

/// Few values, so that ties are common.
fn sort() -> impl Strategy<Value = Sort> {
    prop_oneof![
        1 => Just(Sort::Null),
        2 => any::<bool>().prop_map(|value| Sort::Value(Value::Bool(value))),
        4 => (0_i64..4).prop_map(|value| Sort::Value(Value::Int(value))),
        2 => select(vec!["", "x", "😀", "\u{ffee}"]).prop_map(|text| Sort::Value(Value::Text(text.into()))),
        1 => value().prop_map(Sort::Value),
    ]
}

fn key_bound() -> impl Strategy<Value = naive::KeyBound> {
    prop_oneof![
        1 => Just(naive::KeyBound::Min),
        6 => key().prop_map(naive::KeyBound::Key),
        1 => select(vec!["", "/", "b.c", "`zzzz"]).prop_map(|text| naive::KeyBound::Key(text.into())),
        1 => Just(naive::KeyBound::Max),
    ]
}

fn query() -> impl Strategy<Value = naive::Query> {
    let order = prop_oneof![
        Just(OrderBy::Priority),
        Just(OrderBy::Key),
        Just(OrderBy::Value),
        select(RANKS).prop_map(|path| OrderBy::Child(naive::split(path))),
    ];
    let bound = || {
        let parts = (sort(), option::of(key_bound()), key_bound(), any::<bool>());
        option::of(parts)
    };
    let limit = option::of(
        (1_usize..12, any::<bool>()).prop_map(
            |(most, first)| {
                if first { Limit::First(most) } else { Limit::Last(most) }
            },
        ),
    );
    (order, bound(), bound(), limit).prop_map(|(order, start, end, limit)| {
        let bound = |(value, tie, key, inclusive)| match &order {
            OrderBy::Key => {
                let text = match key {
                    naive::KeyBound::Min => "[MIN_NAME]".into(),
                    naive::KeyBound::Key(text) => text,
                    naive::KeyBound::Max => "[MAX_KEY]".into(),
                };
                naive::Bound { value: Sort::Value(Value::Text(text)), key: None, inclusive }
            }
            OrderBy::Priority | OrderBy::Value | OrderBy::Child(_) => {
                let no_boolean = |sort: &Sort| !matches!(sort, Sort::Value(Value::Bool(_)));
                let value = Some(value).filter(|sort| order != OrderBy::Priority || no_boolean(sort));
                naive::Bound { value: value.unwrap_or(Sort::Null), key: tie, inclusive }
            }
        };
        naive::Query { start: start.map(bound), end: end.map(bound), limit, order: order.clone() }
    })
}

/// The tree's twin of a query of the model.
fn tree_query(model: &naive::Query) -> Query {
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
        value: value(bound).as_ref().map(tree_priority),
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

/// One version of a node with the indexes that any query here may need.
struct Version {
    node: Option<Node>,
    indexes: Vec<Index>,
}

impl Version {
    fn new(node: Option<Node>) -> Self {
        let by_child =
            |path: &&str| IndexBy::Child(ChildPath::parse(path).expect("the tests make legal paths"));
        let orders = RANKS.iter().map(by_child).chain([IndexBy::Value, IndexBy::Priority]);
        let indexes = orders.map(|by| Index::build(by, node.as_ref())).collect();
        Self { node, indexes }
    }

    fn updated(&self, node: Option<Node>) -> Self {
        let indexes =
            self.indexes.iter().map(|index| index.updated(self.node.as_ref(), node.as_ref())).collect();
        Self { node, indexes }
    }

    fn view<'a>(&'a self, query: &'a Query) -> View<'a> {
        let index = query.index_for(self.node.as_ref());
        let index = index.and_then(|by| self.indexes.iter().find(|index| *index.by() == by));
        View::new(query, self.node.as_ref(), index).expect("every index is here")
    }
}

fn keys_of(view: &View<'_>) -> Vec<String> {
    view.iter().map(|(key, _)| key.to_string()).collect()
}

/// The changes as the push of wire reference 5.5, children whole.
fn pushed(view: &View<'_>, later: &View<'_>) -> serde_json::Map<String, serde_json::Value> {
    let json =
        |node: &Node| serde_json::to_value(Json::new(Some(node), Form::SOCKET)).expect("a node is JSON");
    let entry = |(key, change): (&Key, ChildChange<'_>)| {
        let value = match change {
            ChildChange::Entered(node) => json(node),
            ChildChange::Changed { before, after } => {
                assert_ne!(before, after, "`{key}` is said to have changed");
                json(after)
            }
            ChildChange::Left => serde_json::Value::Null,
        };
        (key.to_string(), value)
    };
    view.changes(later).into_iter().map(entry).collect()
}

fn check(
    model: &naive::Query,
    before: (&Version, Option<&naive::Node>),
    after: (&Version, Option<&naive::Node>),
) {
    let query = tree_query(model);
    let views = [before.0.view(&query), after.0.view(&query)];
    let windows = [model.window(before.1), model.window(after.1)];
    for (view, window) in views.iter().zip(&windows) {
        let expected: Vec<_> = window.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(keys_of(view), expected, "{query:?}");
        let from_the_end: Vec<_> = view.iter().rev().map(|(key, _)| key.to_string()).collect();
        assert!(from_the_end.iter().eq(expected.iter().rev()), "{query:?}");
        assert_eq!(
            (view.len(), view.is_empty(), view.iter().len()),
            (window.len(), window.is_empty(), window.len())
        );
    }
    if !model.loads_all_data() {
        assert_eq!(views[1].to_node().as_ref().map(model_node), model.answer(after.1));
    }
    assert_eq!(pushed(&views[0], &views[1]), naive::difference(&windows[0], &windows[1]), "{query:?}");
}

fn edited(model: Option<naive::Node>, at: &str, to: Option<naive::Node>) -> Option<naive::Node> {
    naive::Node::with(model, &naive::split(at), to)
}

proptest! {
    #![proptest_config(cases(2048))]

    #[test]
    fn a_view_shows_what_sorting_everything_shows(
        query in query(),
        node in option::weighted(0.9, path_node()),
        edits in vec((super::generate::path(3), option::of(path_node())), 1..6),
    ) {
        let mut model = node;
        let mut version = Version::new(model.as_ref().map(tree_node));
        for (at, to) in edits {
            let edited = edited(model.clone(), &at, to);
            // Built child by child it shares nothing: whatever is equal must be seen to be.
            let apart = Version::new(edited.as_ref().map(grown_node));
            check(&query, (&version, model.as_ref()), (&apart, edited.as_ref()));
            let later = version.updated(edited.as_ref().map(tree_node));
            check(&query, (&version, model.as_ref()), (&later, edited.as_ref()));
            (version, model) = (later, edited);
        }
    }

    #[test]
    fn pages_by_value_and_key_visit_each_child_once(
        ranks in vec((key(), option::of(sort())), 1..30),
        order in select(vec![OrderBy::Value, OrderBy::Priority, OrderBy::Child(naive::split("a"))]),
        size in 1_usize..4,
        forward in any::<bool>(),
    ) {
        // R043: the block of children without a value is paged through like any other.
        let leaf = |value: Value| naive::Node::leaf(value);
        let model = ranks.into_iter().fold(None, |node, (key, rank)| {
            let rank = match rank { Some(Sort::Value(value)) => Some(value), _ => None };
            let child = match (&order, rank) {
                (OrderBy::Value, rank) => leaf(rank.unwrap_or(Value::Bool(true))),
                (OrderBy::Priority, rank) => {
                    let priority = rank.filter(|rank| !matches!(rank, Value::Bool(_)));
                    naive::Node { priority, ..leaf(Value::Bool(true)) }
                }
                (OrderBy::Key | OrderBy::Child(_), None) => leaf(Value::Bool(true)),
                (OrderBy::Key | OrderBy::Child(_), Some(rank)) => {
                    naive::Node { priority: None, content: Content::Children(vec![("a".into(), leaf(rank))]) }
                }
            };
            naive::Node::with_child(node, &key, Some(child))
        });
        let version = Version::new(model.as_ref().map(tree_node));
        let limit = if forward { Limit::First(size) } else { Limit::Last(size) };
        let all = naive::Query::all(order.clone());
        let (mut visited, mut cursor) = (Vec::new(), None);
        loop {
            let (start, end) = if forward { (cursor, None) } else { (None, cursor) };
            let query = tree_query(&naive::Query { order: order.clone(), start, end, limit: Some(limit) });
            let page = keys_of(&version.view(&query));
            let Some(last) = (if forward { page.last() } else { page.first() }) else { break };
            let child = model.as_ref().and_then(|model| model.child(last)).expect("it was shown");
            let value = match &order {
                OrderBy::Value => Sort::of(Some(child)),
                OrderBy::Priority => Sort::of_priority(child),
                OrderBy::Key | OrderBy::Child(_) => Sort::of(child.child("a")),
            };
            let key = Some(naive::KeyBound::Key(last.clone()));
            cursor = Some(naive::Bound { value, key, inclusive: false });
            if forward { visited.extend(page) } else { visited.splice(0..0, page); }
        }
        let sorted: Vec<_> = all.window(model.as_ref()).into_iter().map(|(key, _)| key).collect();
        prop_assert_eq!(visited, sorted);
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn views_of_large_nodes_follow_many_edits(
        query in query(),
        count in 20_usize..500,
        edits in vec((any::<proptest::sample::Index>(), option::weighted(0.7, (value(), priority()))), 1..30),
    ) {
        let keys = many_keys(count);
        let ranked = |n: i64| naive::Node {
            priority: (n % 3 == 0).then_some(Value::Int(n % 5)),
            content: Content::Leaf(Value::Int(n % 7)),
        };
        let entries = keys.iter().zip(0..).map(|(key, n)| (key, ranked(n)));
        let mut model = entries.fold(None, |node, (key, child)| naive::Node::with_child(node, key, Some(child)));
        let mut version = Version::new(model.as_ref().map(tree_node));
        for (index, to) in edits {
            let key = &keys[index.index(count)];
            let to = to.map(|(value, priority)| naive::Node { priority, ..naive::Node::leaf(value) });
            let node = version.node.as_ref().and_then(|node| {
                node.with_child(&super::twin::key(key), to.as_ref().map(tree_node))
            });
            let later = version.updated(node);
            let edited = naive::Node::with_child(model.clone(), key, to);
            check(&query, (&version, model.as_ref()), (&later, edited.as_ref()));
            (version, model) = (later, edited);
        }
        // What was updated all along is what would be built now.
        let anew = Version::new(version.node.clone());
        check(&query, (&version, model.as_ref()), (&anew, model.as_ref()));
    }
}

#[test]
fn events_of_a_window_are_those_of_the_reports() {
    /// A tree, an edit, and what the window of `orderByChild("rank")` is told.
    struct Row {
        report: &'static str,
        window: Window,
        edit: (&'static str, &'static str),
        told: &'static str,
    }
    let row = |report, window, edit, told| Row { report, window, edit, told };
    let (last, first) = (Window::last(2).expect("not 0"), Window::first(2).expect("not 0"));
    let tree = r#"{"a":{"rank":10},"b":{"rank":20},"c":{"rank":30}}"#;
    for Row { report, window, edit: (at, to), told } in [
        row("R041", Window::All, ("b/rank", "40"), r#"{"b":{"rank":40}}"#),
        row("R041", Window::All, ("c/label", "\"x\""), r#"{"c":{"label":"x","rank":30}}"#),
        row("R041", Window::All, ("c/rank", "35"), r#"{"c":{"rank":35}}"#),
        row("R041", Window::All, ("c/rank", "30"), "{}"),
        row("R071", last, ("c/rank", "5"), r#"{"a":{"rank":10},"c":null}"#),
        row("R071", last, ("c", "null"), r#"{"a":{"rank":10},"c":null}"#),
        row("", last, ("d/rank", "15"), "{}"),
        row("", last, ("d/rank", "25"), r#"{"b":null,"d":{"rank":25}}"#),
        row("", first, ("d/rank", "5"), r#"{"b":null,"d":{"rank":5}}"#),
        row("", first, ("d/label", "1"), r#"{"b":null,"d":{"label":1}}"#),
        row("", first, ("", "null"), r#"{"a":null,"b":null}"#),
        row("", first, ("", "true"), r#"{"a":null,"b":null}"#),
    ] {
        let path_of = |text: &str| ChildPath::parse(text).expect("a legal path");
        let query = Query { order: Order::Child(path_of("rank"), Range::ALL), window };
        let read = |text: &str| hearth_tree::read_node(text.as_bytes(), &Default::default()).expect("JSON");
        let before = hearth_tree::Snapshot::new(read(tree));
        let edit = hearth_tree::Edit { at: path(at), to: hearth_tree::To::Node(read(to)) };
        let after = before.apply(&hearth_tree::Change::new(vec![edit]).expect("one edit"));
        let index = Index::build(IndexBy::Child(path_of("rank")), before.root());
        let later = index.updated(before.root(), after.root());
        let [before, after] = [(&before, &index), (&after, &later)]
            .map(|(tree, index)| View::new(&query, tree.root(), Some(index)).expect("the index is there"));
        let told: serde_json::Map<_, _> = serde_json::from_str(told).expect("JSON");
        assert_eq!(pushed(&before, &after), told, "{report}: {at} = {to}");
    }
}

#[test]
fn a_view_without_its_index_is_refused() {
    let path_of = |text: &str| ChildPath::parse(text).expect("a legal path");
    let node =
        hearth_tree::read_node(br#"{"a":{".value":1,".priority":2}}"#, &Default::default()).expect("JSON");
    let other = Index::build(IndexBy::Value, node.as_ref());
    for (order, refused) in [
        (Order::Key(Range::ALL), None),
        (Order::Value(Range::ALL), Some("value")),
        (Order::Priority(Range::ALL), Some("priority")),
        (Order::Child(path_of("x/y"), Range::ALL), Some("`x/y`")),
    ] {
        let query = Query { order, window: Window::All };
        let error = View::new(&query, node.as_ref(), None).err().map(|error| error.to_string());
        let expected =
            refused.map(|by| format!("the children would have to be sorted: an index by {by} is needed"));
        assert_eq!(error, expected);
        let with_another = View::new(&query, node.as_ref(), Some(&other));
        assert_eq!(with_another.is_err(), refused.is_some_and(|by| by != "value"));
    }
}
