//! The change between two trees.

use super::generate::{cases, leaf, many_keys, path, path_node};
use super::twin::{
    self, apply_one_by_one, check_change, check_needed, grown_node, model_root, snapshot, tree_node,
};
use hearth_tests::naive;
use hearth_tree::{Change, Node, Scalar, Snapshot, To};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

fn check(before: &Snapshot, after: &Snapshot) {
    let change = Change::between(before.root(), after.root());
    check_change(before, &change, after);
    assert_eq!(change.is_empty(), before == after);
    for edit in change.edits() {
        assert_ne!(before.get(&edit.at), after.get(&edit.at), "at {} nothing differs", edit.at);
        match edit.to {
            To::Node(_) => check_needed(before, &change, edit, after),
            // May be written again where the order of the other edits decides whether it is lost.
            To::Priority(_) => {}
        }
    }
    // Clients need not apply deletes in their place.
    let (mut edits, others): (Vec<_>, Vec<_>) =
        change.edits().iter().cloned().partition(|edit| edit.to == To::Node(None));
    edits.extend(others);
    assert_eq!(&apply_one_by_one(before, &edits), after, "deletes first: {edits:?}");
}

proptest! {
    #![proptest_config(cases(2048))]

    #[test]
    fn a_change_leads_from_any_tree_to_any_other(
        a in option::weighted(0.9, path_node()),
        b in option::weighted(0.9, path_node()),
    ) {
        check(&snapshot(a.as_ref()), &snapshot(b.as_ref()));
    }

    #[test]
    fn a_change_leads_to_an_edited_tree(
        a in path_node(),
        edits in vec((path(3), option::of(path_node())), 1..4),
    ) {
        let mut b = Some(a.clone());
        for (at, node) in edits {
            b = naive::Node::with(b, &naive::split(&at), node);
        }
        check(&snapshot(Some(&a)), &snapshot(b.as_ref()));
        check(&snapshot(b.as_ref()), &snapshot(Some(&a)));
    }

    #[test]
    fn nothing_lies_between_equal_trees(a in path_node()) {
        prop_assert!(Change::between(Some(&tree_node(&a)), Some(&grown_node(&a))).is_empty());
        prop_assert!(Change::between(None, None).is_empty());
    }
}

/// Nothing that is read or written goes so deep, but a node can be built so.
#[test]
fn what_is_deeper_than_a_path_is_taken_whole() {
    let tower = |levels: usize, top: &str| {
        let leaf = Node::inner([(twin::key(top), Scalar::Bool(true).into())]);
        let grown = (1..levels).fold(leaf, |node, _| Node::inner([(twin::key("t"), node?)]));
        Snapshot::new(grown)
    };
    for (levels, depth) in [(31, 31), (32, 32), (33, 32), (40, 32)] {
        let (before, after) = (tower(levels, "a"), tower(levels, "b"));
        let change = Change::between(before.root(), after.root());
        assert_eq!(before.apply(&change), after, "{levels} levels");
        let depths = change.edits().iter().map(|edit| edit.at.keys().len());
        assert_eq!(depths.max(), Some(depth), "{levels} levels");
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_change_leads_from_one_version_of_a_large_node_to_another(
        count in 20_usize..800,
        edits in vec((any::<Index>(), option::of(leaf())), 1..40),
    ) {
        let keys = many_keys(count);
        let (all, leaf) = (keys.iter(), naive::Node::leaf(naive::Value::Bool(true)));
        let model = all.fold(None, |node, key| naive::Node::with_child(node, key, Some(leaf.clone())));
        let model = model.expect("it has children");
        // One version is edited into the other, so the two share most of their slices.
        let (before, mut after, mut expected) = (tree_node(&model), Some(tree_node(&model)), Some(model));
        for (index, child) in edits {
            let key = &keys[index.index(count)];
            after = after.and_then(|after| after.with_child(&twin::key(key), child.as_ref().map(tree_node)));
            expected = naive::Node::with_child(expected, key, child);
        }
        let (before, after) = (Snapshot::new(Some(before)), Snapshot::new(after));
        prop_assert_eq!(model_root(&after), expected.clone());
        check(&before, &after);
        check(&after, &before);
        // The same without anything shared.
        check(&before, &snapshot(expected.as_ref()));
    }
}
