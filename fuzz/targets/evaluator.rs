//! Rules that are made up, against an evaluator that shares no code with the real one.

#![no_main]

// What the tests of the rules ask, too.
#[path = "../../rules/tests/it/case.rs"]
mod case;
#[path = "../../rules/tests/naive/mod.rs"]
mod naive;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|question: naive::Question| {
    if let Some(disagreement) = question.disagreement().or_else(|| question.miscount()) {
        panic!("{disagreement}");
    }
});
