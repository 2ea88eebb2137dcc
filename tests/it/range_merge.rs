//! What a client with a cache is told, applied as the Android SDK does it, is what the server has (wire reference 6.6).

use hearth_tests::naive::{self, Content, Leaf, Node, Value};
use hearth_tests::twin::{model_node, tree_node};
use hearth_tree::{LeafRange, RelativePath};
use hearth_wire::{RangeData, ranges_that_differ};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Nodes without priorities but those of leaves: with others they are sent whole.
fn node() -> impl Strategy<Value = Node> {
    let leaf = (0_i64..4, proptest::option::weighted(0.1, 0_i64..2)).prop_map(|(value, priority)| Node {
        priority: priority.map(Value::Int),
        content: Content::Leaf(Value::Int(value)),
    });
    leaf.prop_recursive(3, 40, 8, |below| {
        let key = select(vec!["a", "b", "c", "0", "1", "01", "-x", "-y", "z"]).prop_map(String::from);
        vec((key, below), 1..8).prop_map(|children| {
            let add = |node, (key, child): (String, Node)| Node::with_child(node, &key, Some(child));
            children.into_iter().fold(None, add).expect("there is at least one child")
        })
    })
}

/// Of what a client has, every so many leaves a cut, and one at the end.
fn cuts(leaves: &[Leaf], every: usize) -> Vec<RelativePath> {
    let is_cut = |number: &usize| (number + 1).is_multiple_of(every) || number + 1 == leaves.len();
    let place = |number: usize| RelativePath::parse(&leaves[number].names.join("/")).expect("they are keys");
    (0..leaves.len()).filter(is_cut).map(place).collect()
}

fn names(path: &RelativePath) -> Vec<String> {
    path.keys().iter().map(|key| key.as_str().to_owned()).collect()
}

/// The leaves in each range are replaced by those that are told.
fn merged(has: Vec<Leaf>, ranges: &[RangeData]) -> Vec<Leaf> {
    ranges.iter().fold(has, |has, RangeData { after, up_to, data }| {
        let (after, up_to) = (after.as_ref().map(names), up_to.as_ref().map(names));
        let gone: Vec<Vec<String>> = naive::between(&has, after.as_deref(), up_to.as_deref())
            .into_iter()
            .map(|leaf| leaf.names.clone())
            .collect();
        let mut now: Vec<Leaf> = has.into_iter().filter(|leaf| !gone.contains(&leaf.names)).collect();
        let told = naive::leaves(data.as_ref().map(model_node).as_ref());
        for leaf in &told {
            let within = naive::between(std::slice::from_ref(leaf), after.as_deref(), up_to.as_deref());
            assert_eq!(within.len(), 1, "{:?} is told for the range from {after:?} to {up_to:?}", leaf.names);
        }
        now.extend(told);
        now.sort_by(|a, b| naive::path_order(&a.names, &b.names));
        now
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4096) })]

    #[test]
    fn a_cache_that_is_told_what_differs_is_right(
        has in node(),
        others in vec((any::<usize>(), proptest::option::of(node())), 0..4),
        every in 1_usize..6,
    ) {
        // What the server has: the same, but for a few places.
        let mut is = Some(has.clone());
        for (at, other) in others {
            let leaves = naive::leaves(is.as_ref());
            let place = leaves.get(at % leaves.len().max(1)).map_or(&[][..], |leaf| &leaf.names);
            is = Node::with(is, place, other);
        }
        let Some(is) = is else { return Ok(()) };
        let leaves = naive::leaves(Some(&has));
        let client = tree_node(&has);
        let cuts = cuts(&leaves, every);
        let starts = [None].into_iter().chain(cuts.iter().map(Some));
        let held: Vec<_> = starts
            .zip(&cuts)
            .map(|(after, up_to)| {
                let hash = client.range_hash(LeafRange { after, up_to: Some(up_to) });
                (up_to, hash.expect("there are leaves between two cuts"))
            })
            .collect();
        if let Some(ranges) = ranges_that_differ(&tree_node(&is), held) {
            let all = |leaves: &[Leaf]| naive::tree_of(&leaves.iter().collect::<Vec<_>>());
            prop_assert_eq!(all(&merged(leaves, &ranges)), Some(is));
            prop_assert!(ranges.windows(2).all(|pair| pair[0].up_to != pair[1].after), "{:?}", ranges);
        } else if is != has {
            // Sent whole: then nothing that the client has is right, range by range.
            let now = naive::leaves(Some(&is));
            let mut after = None;
            for up_to in &cuts {
                let text = |leaves: &[Leaf]| {
                    let (from, to) = (after.map(names), names(up_to));
                    naive::range_text(&naive::between(leaves, from.as_deref(), Some(&to)))
                };
                prop_assert_ne!(text(&now), text(&leaves), "up to {}", up_to);
                after = Some(up_to);
            }
        }
    }
}
