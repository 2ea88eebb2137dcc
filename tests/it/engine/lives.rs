//! Whole lives of a server and its clients, from seeds. `HEARTH_SEEDS=10000` lives more of them, `HEARTH_SEEDS=7..8` one.

use hearth_tests::world::{Counts, World};
use std::panic::{AssertUnwindSafe, catch_unwind};

const SEEDS: u64 = 300;
const STEPS: usize = 500;

fn seeds() -> std::ops::Range<u64> {
    match std::env::var("HEARTH_SEEDS") {
        Err(_) => 0..SEEDS,
        Ok(text) => match text.split_once("..") {
            None => 0..text.parse().expect("a number of seeds"),
            Some((from, to)) => from.parse().expect("a seed")..to.parse().expect("a seed"),
        },
    }
}

fn live(kind: &str, world: fn(u64) -> World) -> Counts {
    let mut total = Counts::default();
    for seed in seeds() {
        let life = AssertUnwindSafe(|| {
            let mut world = world(seed);
            (0..STEPS).for_each(|_| world.step());
            world.settle();
            world.counts
        });
        match catch_unwind(life) {
            Ok(counts) => total = total + counts,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map_or("", String::as_str);
                panic!("{kind}, seed {seed}: {text}");
            }
        }
    }
    total
}

#[test]
fn listeners_end_equal_to_the_model_whatever_happens() {
    let counts = live("open", World::open);
    assert!(counts.all_happened(), "{counts:?}");
}

#[test]
fn nobody_is_told_what_the_rules_do_not_allow() {
    let counts = live("ruled", World::ruled);
    let Counts { denied, revoked, stored, restored, .. } = counts;
    assert!(
        counts.all_happened() && [denied, revoked, stored, restored].iter().all(|&of| 0 < of),
        "{counts:?}"
    );
}
