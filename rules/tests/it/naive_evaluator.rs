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
}
