//! JSON as clients write it and as they read it.

use super::generate::{cases, leaf, node, number, path, path_node};
use super::twin::{self, model_root, snapshot, tree_node};
use hearth_tests::naive::{self, Tree};
use hearth_tree::{
    Assignment, Form, Json as Written, ReadOptions, Write, read_node, read_priority, read_update, read_value,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

const NOW_MS: i64 = 1_764_500_000_000;

/// Legal values and near misses.
fn value() -> impl Strategy<Value = Json> {
    let known = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Json::from),
        number().prop_map(|number| naive::export(Some(&naive::Node::leaf(number)))),
        select(vec!["", "x", "timestamp"]).prop_map(Json::from),
    ];
    let server = prop_oneof![
        Just(json!({".sv": "timestamp"})),
        number().prop_map(|delta| {
            json!({".sv": {"increment": naive::export(Some(&naive::Node::leaf(delta)))}})
        }),
        Just(json!({".sv": "bogus"})),
        Just(json!({".sv": {"increment": "1"}})),
        Just(json!({".sv": {"increment": 1, "decrement": 1}})),
        Just(json!({".sv": null})),
    ];
    let leaf = prop_oneof![8 => known, 2 => server];
    let key = prop_oneof![
        20 => select(vec!["a", "b", "0", "01", "-x"]),
        4 => Just(".priority"),
        2 => Just(".value"),
        1 => select(vec![".sv", ".other", "a/b", "a.b", "", "\u{7f}"]),
    ]
    .prop_map(String::from);
    leaf.prop_recursive(3, 24, 5, move |below| {
        prop_oneof![
            4 => btree_map(key.clone(), below.clone(), 0..5).prop_map(|members| members.into_iter().collect()),
            1 => vec(below, 0..4).prop_map(Json::from),
        ]
    })
}

/// Nodes that are nearly arrays.
fn list() -> impl Strategy<Value = naive::Node> {
    let key = prop_oneof![30 => (0..12).prop_map(|n: i32| n.to_string()), 1 => Just("01".into()), 1 => Just("-1".into())];
    vec((key, leaf()), 1..8).prop_map(|children| {
        let (mut node, plain) = (None, children.len() % 2 == 0);
        for (key, child) in children {
            let priority = child.priority.filter(|_| !plain);
            node =
                naive::Node::with_child(node, &key, Some(naive::Node { priority, content: child.content }));
        }
        node.expect("there is at least one child")
    })
}

fn text(json: &Json) -> Vec<u8> {
    json.to_string().into_bytes()
}

/// The JSON of a text, with one spelling for every number.
fn parsed(text: &[u8]) -> Json {
    fn canonical(json: Json) -> Json {
        match json {
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => integer.into(),
                (None, double) => double.into(),
            },
            Json::Array(items) => items.into_iter().map(canonical).collect(),
            Json::Object(members) => {
                members.into_iter().map(|(key, member)| (key, canonical(member))).collect()
            }
            Json::Null | Json::Bool(_) | Json::String(_) => json,
        }
    }
    canonical(serde_json::from_slice(text).expect("what the tree writes is JSON"))
}

proptest! {
    #![proptest_config(cases(4096))]

    #[test]
    fn a_value_is_read_and_resolved_as_by_the_model(
        before in option::of(path_node()),
        at in path(2),
        value in value(),
    ) {
        let mut model = Tree { root: before.clone() };
        let verdict = model.set(&at, &value, NOW_MS);
        let tree = snapshot(before.as_ref());
        let resolved = read_value(&text(&value), &ReadOptions::default()).ok().and_then(|draft| {
            let assignment = Assignment::value(twin::path(&at), draft).expect("nothing goes deep here");
            Write::Set(assignment).resolve(NOW_MS, &tree).ok()
        });
        prop_assert_eq!(resolved.is_some(), verdict.is_ok(), "{:?}", verdict);
        let after = resolved.map_or(tree.clone(), |change| tree.apply(&change));
        prop_assert_eq!(model_root(&after), model.root);
    }

    #[test]
    fn a_priority_is_read_and_resolved_as_by_the_model(before in path_node(), value in value()) {
        let mut model = Tree { root: Some(before.clone()) };
        let verdict = model.set("/.priority", &value, NOW_MS);
        let tree = snapshot(Some(&before));
        let resolved = read_priority(&text(&value), &ReadOptions::default()).ok().and_then(|priority| {
            Write::Set(Assignment::priority(twin::path(""), priority)).resolve(NOW_MS, &tree).ok()
        });
        prop_assert_eq!(resolved.is_some(), verdict.is_ok(), "{:?}", verdict);
        let after = resolved.map_or(tree.clone(), |change| tree.apply(&change));
        prop_assert_eq!(model_root(&after), model.root);
    }

    #[test]
    fn an_update_is_read_and_resolved_as_by_the_model(
        before in option::of(path_node()),
        at in path(1),
        parts in btree_map(
            prop_oneof![
                6 => path(2),
                3 => path(2).prop_map(|path| format!("{path}/.priority")),
                1 => select(vec!["a//b/", "/", ".value", ".priority/a", "a/.sv", "a.b"]).prop_map(String::from),
            ],
            value(),
            0..5,
        ),
    ) {
        let parts: Vec<(String, Json)> = parts.into_iter().collect();
        let mut model = Tree { root: before.clone() };
        let verdict = model.update(&at, &parts, NOW_MS);
        let tree = snapshot(before.as_ref());
        let body: Json = parts.into_iter().collect();
        let update = read_update(&text(&body), &twin::path(&at), &ReadOptions::default());
        let resolved = update.ok().and_then(|update| Write::Update(update).resolve(NOW_MS, &tree).ok());
        prop_assert_eq!(resolved.is_some(), verdict.is_ok(), "{:?}", verdict);
        let after = resolved.map_or(tree.clone(), |change| tree.apply(&change));
        prop_assert_eq!(model_root(&after), model.root);
    }

    #[test]
    fn a_node_is_written_as_by_the_model(model in prop_oneof![node(), list()]) {
        let node = tree_node(&model);
        for (form, expected) in [
            (Form::SOCKET, naive::export(Some(&model))),
            (Form::REST, naive::rest(Some(&model))),
            (Form::EXPORT, naive::rest_export(Some(&model))),
        ] {
            let written = Written::new(Some(&node), form);
            prop_assert_eq!(parsed(&written.to_bytes()), parsed(&text(&expected)), "{:?}", form);
            let mut pretty = Vec::new();
            written.append_pretty_to(&mut pretty);
            prop_assert_eq!(parsed(&pretty), parsed(&text(&expected)), "{:?} pretty", form);
        }
        for form in [Form::SOCKET, Form::EXPORT] {
            let read = read_node(&Written::new(Some(&node), form).to_bytes(), &ReadOptions::default());
            prop_assert_eq!(read.as_ref().map(Option::as_ref), Ok(Some(&node)), "{:?}", form);
        }
    }
}
