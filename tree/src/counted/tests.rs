//! The shape of the map after edits in every order. What it holds is checked from outside, by the children of a node;
//! only here it can be seen that it stays balanced, packed and shared.

use super::{BRANCH_MAX, Difference, LEAF_MAX, Tree, View};

const COUNT: u32 = 20_000;
/// Entries that fill several leaves, and the last one of the first leaf.
const LEAVES: u32 = 320;
const LEAF_LAST: u32 = 31;

type Map = Tree<u32, u32>;

/// How many leaves, and how high.
struct Shape {
    leaves: usize,
    height: usize,
}

fn full(keys: impl Iterator<Item = u32>) -> Map {
    Tree::from_sorted(keys.map(|key| (key, key)).collect())
}

fn filled(map: Map, keys: impl Iterator<Item = u32>) -> Map {
    keys.fold(map, |map, key| map.with(&key, Some(key)))
}

fn cleared(map: Map, keys: impl Iterator<Item = u32>) -> Map {
    keys.fold(map, |map, key| map.with(&key, None))
}

/// Every key once, far from the one before.
fn scattered() -> impl Iterator<Item = u32> {
    (0..COUNT).map(|n| n * 7_919 % COUNT)
}

/// Checks what every map keeps to, and measures it.
fn shape(view: View<'_, u32, u32>) -> Shape {
    match view {
        View::Leaf(entries) => {
            assert!(entries.len() <= LEAF_MAX, "{} entries in a leaf", entries.len());
            Shape { leaves: 1, height: 0 }
        }
        View::Branch(len, twigs) => {
            assert!((1..=BRANCH_MAX).contains(&twigs.len()), "{} twigs in a branch", twigs.len());
            assert_eq!(twigs.iter().map(|twig| twig.len).sum::<usize>(), len);
            let shapes: Vec<Shape> = twigs
                .iter()
                .map(|twig| {
                    let view = twig.tree.view();
                    assert_eq!((view.len(), view.nth(0).map(|(key, _)| *key)), (twig.len, Some(twig.first)));
                    shape(view)
                })
                .collect();
            assert!(
                shapes.iter().all(|each| each.height == shapes[0].height),
                "all leaves are at one height"
            );
            Shape { leaves: shapes.iter().map(|each| each.leaves).sum(), height: shapes[0].height + 1 }
        }
    }
}

#[test]
fn a_map_stays_balanced_and_packed_whatever_the_order_of_edits() {
    let nothing = || full(0..0);
    let all = || full(0..COUNT);
    let middle = COUNT / 2;
    // What stands behind the edits: the map, and how full its leaves are at least, in hundredths.
    for (edits, map, filling_min) in [
        ("packed at once", all(), 99),
        ("ascending", filled(nothing(), 0..COUNT), 99),
        ("descending", filled(nothing(), (0..COUNT).rev()), 50),
        ("downwards before a half", filled(full(0..middle), (middle..COUNT).rev()), 50),
        ("upwards before a last one", filled(full(COUNT..=COUNT), 0..COUNT), 50),
        (
            "downwards between two full leaves",
            filled(
                full((0..LEAVES).map(|key| key * COUNT)),
                (LEAF_LAST * COUNT + 1..(LEAF_LAST + 1) * COUNT).rev(),
            ),
            50,
        ),
        ("scattered", filled(nothing(), scattered()), 50),
        ("deleted upwards", cleared(all(), (0..COUNT).filter(|key| key % 40 != 0)), 25),
        ("deleted downwards", cleared(all(), (0..COUNT).rev().filter(|key| key % 40 != 0)), 25),
        ("deleted here and there", cleared(all(), scattered().filter(|key| key % 40 != 0)), 25),
        ("deleted but for few", cleared(all(), (0..COUNT).filter(|key| key % 900 != 0)), 25),
        ("deleted but for the last", cleared(all(), 0..COUNT - 1), 3),
        (
            "the oldest deleted for every new one",
            (1_000..COUNT)
                .fold(full(0..1_000), |map, key| map.with(&key, Some(key)).with(&(key - 1_000), None)),
            50,
        ),
    ] {
        let Shape { leaves, height } = shape(map.view());
        let filling = 100 * map.view().len() / (leaves * LEAF_MAX);
        assert!(filling_min <= filling, "{edits}: leaves are filled by {filling} in a hundred");
        assert!(height <= 4, "{edits}: the leaves are {height} branches below the root");
    }
}

#[test]
fn a_difference_looks_only_at_what_was_edited() {
    let before = full((0..COUNT).map(|key| 2 * key));
    for (edits, keys) in [
        ("one", vec![999]),
        ("the first and the last", vec![0, 2 * COUNT - 2]),
        ("a run in one place", (10_001..10_100).step_by(2).collect()),
        ("some far apart", (1..2 * COUNT).step_by(4_000).collect()),
    ] {
        let after = keys.iter().fold(before.clone(), |map, key| map.with(key, Some(*key)));
        let seen = Difference::new(before.view(), after.view()).count();
        assert!(seen <= keys.len() * 2 * LEAF_MAX, "{edits}: {seen} entries looked at");
        let back = keys.iter().filter(|key| *key % 2 == 1).fold(after, |map, key| map.with(key, None));
        let seen = Difference::new(before.view(), back.view()).count();
        assert!(seen <= keys.len() * 2 * LEAF_MAX, "{edits}, and back: {seen} entries looked at");
    }
}
