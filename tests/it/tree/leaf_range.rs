//! Ranges of leaves (wire reference 6.5, 6.6).

use super::generate::{cases, node, path_node};
use super::twin::{model_node, tree_node};
use hearth_tests::naive::{self, Leaf};
use hearth_tree::{LeafRange, Node, RelativePath};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// A node in export form, the places where a client cuts it, the texts between these, and their hashes; wire reference 6.5.
type Row = (Json, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

fn vectors() -> Vec<Row> {
    vec![
        (json!("leaf"), &["/"], &[r#"(string:"leaf")"#], &["VzY3K/KprOmpGGrk0qFm5kfIo0I="]),
        (json!({"foo": "bar"}), &["foo"], &[r#"("foo":(string:"bar"))"#], &["LmKmJmXugtGlEGoulMbz86myDNw="]),
        (
            json!({"foo": {".value": "bar", ".priority": "baz"}}),
            &["foo"],
            &[r#"("foo":(priority:string:"baz":string:"bar"))"#],
            &["Pg7xV/cwDhcX65Z5lEn4rKdDmX0="],
        ),
        (
            json!({"a": 1, "b": true, "c": {"d": 1.5, "e": "x\"y\\z"}, ".priority": 7}),
            &["c/e"],
            &[
                r#"(".priority":(number:401c000000000000),"a":(number:3ff0000000000000),"b":(boolean:true),"c":("d":(number:3ff8000000000000),"e":(string:"x\"y\\z")))"#,
            ],
            &["Q1TYF9sFL1bJjmHjlXj+N9jjDuw="],
        ),
        (
            json!({"1": "one", "2": "two", "10": "ten", "-x": {"k": false}}),
            &["-x/k"],
            &[r#"("1":(string:"one"),"2":(string:"two"),"10":(string:"ten"),"-x":("k":(boolean:false)))"#],
            &["GHoNGlmNrHmDFe+4L8y9+q+mkQE="],
        ),
        (
            json!({"-a": 1, "z": 2, ".priority": "p"}),
            &["z"],
            &[r#"("-a":(number:3ff0000000000000),".priority":(string:"p"),"z":(number:4000000000000000))"#],
            &["xDka7pRUcxrrPPejvg0/H9An7s8="],
        ),
        (
            json!({"-a": 1, ".priority": "p"}),
            &["-a"],
            &[r#"("-a":(number:3ff0000000000000))"#],
            &["sqgXmlAHJYY9X5rYJ7FDt4pLx+U="],
        ),
        (
            (0..40)
                .map(|i| (format!("k{i:02}"), json!({"t": 1000 + i, "x": format!("message number {i}")})))
                .collect(),
            &["k07/t", "k14/x", "k22/t", "k29/x", "k37/t", "k39/x"],
            &[],
            &[
                "BJEEsXix5+fOIIf4PEvdO+yD0mo=",
                "vKT0WwTaDsXtwWJ04Q+lhuUcBD4=",
                "DcXXKQccloCK7npCh/0gyvYcwtw=",
                "3E8d1992pkQUGbMUkmytfGyrQwc=",
                "6kk33VhmAO/ttlwn1Gmz6wD4RjU=",
                "FStugJ3K6v4JqN3FX2fOPD2mKpo=",
            ],
        ),
    ]
}

/// What the tree says of a range, and what the model does.
fn check(model: &naive::Node, leaves: &[Leaf], after: Option<&RelativePath>, up_to: Option<&RelativePath>) {
    let names =
        |path: &RelativePath| -> Vec<String> { path.keys().iter().map(|key| key.as_str().into()).collect() };
    let (from, to) = (after.map(names), up_to.map(names));
    let within = naive::between(leaves, from.as_deref(), to.as_deref());
    let tree = tree_node(model);
    let range = LeafRange { after, up_to };
    let hash = tree.range_hash(range).map(|hash| hash.to_string());
    assert_eq!(
        hash,
        naive::range_hash(&within),
        "{:?} between {from:?} and {to:?}",
        naive::range_text(&within)
    );
    let part = tree.in_range(range).as_ref().map(model_node);
    assert_eq!(part, naive::tree_of(&within), "{model:?} between {from:?} and {to:?}");
}

#[test]
fn the_vectors_of_the_reference_hold() {
    for (json, posts, texts, hashes) in vectors() {
        let model = naive::read(&json, None, 0).expect("the vectors are legal").expect("and not empty");
        let leaves = naive::leaves(Some(&model));
        let posts: Vec<_> = posts.iter().map(|post| RelativePath::parse(post).expect("a place")).collect();
        let mut after = None;
        for (number, (post, expected)) in posts.iter().zip(hashes).enumerate() {
            check(&model, &leaves, after, Some(post));
            let range = LeafRange { after, up_to: Some(post) };
            let hash = tree_node(&model).range_hash(range).map(|hash| hash.to_string());
            assert_eq!(hash.as_deref(), Some(*expected), "{json} up to {post}");
            if let Some(text) = texts.get(number) {
                let all: Vec<&Leaf> = leaves.iter().collect();
                assert_eq!(naive::range_text(&all).as_deref(), Some(*text), "{json}");
            }
            after = Some(post);
        }
        check(&model, &leaves, after, None);
        let rest = tree_node(&model).range_hash(LeafRange { after, up_to: None });
        assert_eq!(rest, None, "{json}: nothing lies behind the last place");
    }
}

#[test]
fn a_node_with_children_and_a_priority_is_found_wherever_it_is() {
    for (json, expected) in [
        (json!(1), false),
        (json!({".value": 1, ".priority": 2}), false),
        (json!({"a": {".value": 1, ".priority": 2}}), false),
        (json!({"a": 1, ".priority": 2}), true),
        (json!({"a": {"b": {"c": 1, ".priority": 2}}, "d": 3}), true),
    ] {
        let model = naive::read(&json, None, 0).expect("legal").expect("not empty");
        assert_eq!(tree_node(&model).has_inner_priority(), expected, "{json}");
    }
}

/// Places at leaves, above them, below them, and where nothing is.
fn place(leaves: &[Leaf], at: usize, cut: usize, more: &str) -> RelativePath {
    let names = leaves.get(at % leaves.len().max(1)).map_or(&[][..], |leaf| &leaf.names);
    let names = names.iter().take_while(|name| *name != ".priority").take(cut).map(String::as_str);
    let text: Vec<&str> = names.chain(more.split('/')).collect();
    RelativePath::parse(&text.join("/")).expect("the names are keys")
}

/// Ends of a range: where, how many names of that leaf, and what follows them.
fn ends() -> impl Strategy<Value = Option<(usize, usize, &'static str)>> {
    let more = proptest::sample::select(vec!["", "", "", "a", "0", "-x", "a/b", "😀"]);
    proptest::option::weighted(0.9, (any::<usize>(), 0_usize..5, more))
}

proptest! {
    #![proptest_config(cases(2048))]

    #[test]
    fn ranges_are_those_of_the_model(model in prop_oneof![node(), path_node()], ends in (ends(), ends())) {
        let leaves = naive::leaves(Some(&model));
        let end = |end: Option<(usize, usize, &str)>| end.map(|(at, cut, more)| place(&leaves, at, cut, more));
        let (after, up_to) = (end(ends.0), end(ends.1));
        check(&model, &leaves, after.as_ref(), up_to.as_ref());
    }

    #[test]
    fn ranges_side_by_side_are_the_whole(model in path_node(), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        let leaves = naive::leaves(Some(&model));
        let mut posts: Vec<_> = cuts.iter().map(|&at| place(&leaves, at, 9, "")).collect();
        posts.sort();
        posts.dedup();
        let tree = tree_node(&model);
        let bounds: Vec<_> = [None].into_iter().chain(posts.iter().map(Some)).chain([None]).collect();
        let parts = bounds.windows(2).map(|ends| tree.in_range(LeafRange { after: ends[0], up_to: ends[1] }));
        let mut found: Vec<Vec<String>> = Vec::new();
        for part in parts.flatten() {
            let part: Node = part;
            found.extend(naive::leaves(Some(&model_node(&part))).into_iter().map(|leaf| leaf.names));
        }
        let is_value = |names: &Vec<String>| names.last().is_none_or(|name| name != ".priority");
        let expected: Vec<_> = leaves.into_iter().map(|leaf| leaf.names).filter(is_value).collect();
        found.retain(is_value);
        prop_assert_eq!(found, expected);
    }
}
