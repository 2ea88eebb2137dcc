//! Rules that are made up, judged by the real evaluator and by the naive one beside this folder.

use crate::naive::Question;
use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
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
