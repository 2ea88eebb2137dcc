//! What a query shows, and what a change does to that, against filtering and sorting everything.

use super::generate::{KEYS, cases, many_keys, node};
use super::query::{is_sent, query, tree_query};
use super::twin::{grown_node, key, model_node, path, tree_node};
use hearth_tests::naive::{self, Limit, OrderBy, Sort, key_order};
use hearth_tree::{
    Change, ChildChange, ChildPath, Edit, Form, Index, IndexBy, Json as Written, Key, Node, Order, Query,
    Range, ReadOptions, Snapshot, To, View, Window, read_node,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index as Place;
use serde_json::{Map, Value as Json};

/// One version of a node, with the index that a query needs of it.
struct Version {
    model: Option<naive::Node>,
    node: Option<Node>,
    index: Option<Index>,
}

impl Version {
    fn new(query: &Query, model: Option<naive::Node>, node: Option<Node>) -> Self {
        // The order by priority may come to need its index later on.
        let by = match &query.order {
            Order::Priority(_) => Some(IndexBy::Priority),
            Order::Key(_) | Order::Child(..) | Order::Value(_) => query.index_for(node.as_ref()),
        };
        let index = by.map(|by| Index::build(by, node.as_ref()));
        Self { model, node, index }
    }

    /// A later version, whose index grows out of this one's.
    fn then(&self, model: Option<naive::Node>, node: Option<Node>) -> Self {
        let index = self.index.as_ref().map(|index| index.updated(node.as_ref()));
        Self { model, node, index }
    }

    fn view<'a>(&'a self, query: &'a Query) -> View<'a> {
        View::new(query, self.node.as_ref(), self.index.as_ref()).expect("the index is given")
    }
}

fn keys_of(view: &View<'_>) -> Vec<String> {
    view.iter().map(|(key, _)| key.to_string()).collect()
}

/// The changes between two views as a listener is sent them (wire reference 5.5), children whole.
fn pushed(view: &View<'_>, later: &View<'_>) -> Map<String, Json> {
    let json = |node: &Node| {
        let written = Written::new(Some(node), Form::SOCKET).to_bytes();
        let read = serde_json::from_slice(&written).expect("the tree writes JSON");
        // Through the model, which spells each number in one way.
        let model = naive::read(&read, None, 0).expect("the tree writes legal values");
        naive::export(model.as_ref())
    };
    let entry = |(key, change): (&Key, ChildChange<'_>)| {
        let value = match change {
            ChildChange::Entered(node) => json(node),
            ChildChange::Changed { before, after } => {
                assert_ne!(before, after, "`{key}` is said to have changed");
                json(after)
            }
            ChildChange::Left => Json::Null,
        };
        (key.to_string(), value)
    };
    view.changes(later).into_iter().map(entry).collect()
}

fn check(model: &naive::Query, before: &Version, after: &Version) {
    let query = tree_query(model);
    assert_eq!(query.is_everything(), model.loads_all_data());
    let views = [before.view(&query), after.view(&query)];
    let windows = [model.window(before.model.as_ref()), model.window(after.model.as_ref())];
    for (view, window) in views.iter().zip(&windows) {
        let expected: Vec<_> = window.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(keys_of(view), expected, "{model:?}");
        let reversed: Vec<_> = view.iter().rev().map(|(key, _)| key.to_string()).collect();
        assert!(reversed.iter().eq(expected.iter().rev()), "{model:?} reversed");
        let lengths = (view.len(), view.iter().len(), view.is_empty());
        assert_eq!(lengths, (window.len(), window.len(), window.is_empty()));
    }
    if !model.loads_all_data() {
        assert_eq!(views[1].to_node().as_ref().map(model_node), model.answer(after.model.as_ref()));
    }
    assert_eq!(pushed(&views[0], &views[1]), naive::difference(&windows[0], &windows[1]), "{model:?}");
}

proptest! {
    #![proptest_config(cases(2048))]

    #[test]
    fn a_view_shows_what_the_model_does(
        model in query().prop_filter("sent", is_sent),
        before in option::weighted(0.9, node()),
        after in option::weighted(0.9, node()),
    ) {
        let query = tree_query(&model);
        let [before, after] = [before, after].map(|node| {
            let twin = node.as_ref().map(tree_node);
            Version::new(&query, node, twin)
        });
        check(&model, &before, &after);
    }

    #[test]
    fn a_view_follows_edits_as_the_model_does(
        model in query().prop_filter("sent", is_sent),
        node in node(),
        edits in vec((any::<Place>(), option::of(node())), 1..6),
    ) {
        let query = tree_query(&model);
        let twin = tree_node(&node);
        let mut version = Version::new(&query, Some(node), Some(twin));
        for (place, child) in edits {
            let key = KEYS[place.index(KEYS.len())];
            let edited = naive::Node::with_child(version.model.clone(), key, child);
            // Grown child by child, the later version shares nothing, and what is equal must be seen to be.
            let apart = version.then(edited.clone(), edited.as_ref().map(grown_node));
            check(&model, &version, &apart);
            let later = version.then(edited.clone(), edited.as_ref().map(tree_node));
            check(&model, &version, &later);
            version = later;
        }
    }

    #[test]
    fn pages_visit_every_child_once(
        order in query().prop_map(|query| query.order),
        node in node(),
        size in 1_usize..4,
        forward in any::<bool>(),
    ) {
        let all = naive::Query::all(order.clone());
        let expected: Vec<String> = all.window(Some(&node)).into_iter().map(|(key, _)| key).collect();
        let twin = tree_node(&node);
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let limit = Some(if forward { Limit::First(size) } else { Limit::Last(size) });
            let (start, end) = if forward { (cursor, None) } else { (None, cursor) };
            let query = tree_query(&naive::Query { order: order.clone(), start, end, limit });
            let version = Version::new(&query, None, Some(twin.clone()));
            let page = keys_of(&version.view(&query));
            let Some(last) = (if forward { page.last() } else { page.first() }) else {
                prop_assert_eq!(seen, expected);
                break;
            };
            let child = node.child(last).expect("the model has what is shown");
            let text = || Sort::Value(naive::Value::Text(last.clone()));
            let (value, key) = match &order {
                OrderBy::Key => (text(), None),
                OrderBy::Priority => (Sort::of_priority(child), Some(last)),
                OrderBy::Value => (Sort::of(Some(child)), Some(last)),
                OrderBy::Child(keys) => (Sort::of(child.get(keys)), Some(last)),
            };
            let key = key.map(|key| naive::KeyBound::Key(key.clone()));
            seen = if forward { [seen, page].concat() } else { [page, seen].concat() };
            let so_far = if forward { &expected[..seen.len()] } else { &expected[expected.len() - seen.len()..] };
            prop_assert_eq!(&seen[..], so_far);
            // No bound is an object, so nobody can page on among them.
            if value == Sort::Object {
                break;
            }
            cursor = Some(naive::Bound { value, key, inclusive: false });
        }
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_view_of_a_large_node_follows_edits_as_the_model_does(
        model in query().prop_filter("sent", is_sent),
        count in 20_usize..700,
        values in vec(node(), 1..6),
        edits in vec((any::<Place>(), option::of(node())), 1..20),
    ) {
        let query = tree_query(&model);
        let keys = many_keys(count);
        let mut children: Vec<(String, naive::Node)> =
            keys.iter().zip(values.iter().cycle()).map(|(key, value)| (key.clone(), value.clone())).collect();
        children.sort_by(|(a, _), (b, _)| key_order(a, b));
        let node = naive::Node { priority: None, content: naive::Content::Children(children) };
        let twin = tree_node(&node);
        let mut version = Version::new(&query, Some(node), Some(twin));
        for (place, child) in edits {
            let text = &keys[place.index(keys.len())];
            let twin = version.node.as_ref().and_then(|node| node.with_child(&key(text), child.as_ref().map(tree_node)));
            let edited = naive::Node::with_child(version.model.clone(), text, child);
            let later = version.then(edited, twin);
            check(&model, &version, &later);
            version = later;
        }
        // The index that grew all along is the one that would be built now.
        let anew = Version::new(&query, version.model.clone(), version.node.clone());
        check(&model, &version, &anew);
        check(&model, &anew, &version);
        // Nor does it matter that nearly all of it changes at once.
        let emptied = version.then(None, None);
        check(&model, &version, &emptied);
        let refilled = emptied.then(version.model.clone(), version.node.clone());
        check(&model, &emptied, &refilled);
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
        let read = |text: &str| read_node(text.as_bytes(), &ReadOptions::default()).expect("JSON");
        let before = Snapshot::new(read(tree));
        let edit = Edit { at: path(at), to: To::Node(read(to)) };
        let after = before.apply(&Change::new(vec![edit]).expect("one edit"));
        let index = Index::build(IndexBy::Child(path_of("rank")), before.root());
        let later = index.updated(after.root());
        let [before, after] = [(&before, &index), (&after, &later)]
            .map(|(tree, index)| View::new(&query, tree.root(), Some(index)).expect("the index is there"));
        let told: Map<_, _> = serde_json::from_str(told).expect("JSON");
        assert_eq!(pushed(&before, &after), told, "{report}: {at} = {to}");
    }
}

#[test]
fn a_view_without_its_index_is_refused() {
    let path_of = |text: &str| ChildPath::parse(text).expect("a legal path");
    let node = read_node(br#"{"a":{".value":1,".priority":2}}"#, &ReadOptions::default()).expect("JSON");
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
        // Nor does that of another snapshot do, however much alike.
        let later = node.as_ref().and_then(|node| node.with_child(&key("b"), Some(node.clone())));
        let stale = query.index_for(node.as_ref()).map(|by| Index::build(by, node.as_ref()));
        assert_eq!(View::new(&query, later.as_ref(), stale.as_ref()).is_err(), refused.is_some());
        let grown = stale.map(|stale| stale.updated(later.as_ref()));
        assert!(View::new(&query, later.as_ref(), grown.as_ref()).is_ok());
    }
}
