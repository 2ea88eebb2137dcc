//! Counts instructions: runs operations so that callgrind can tell them from everything around them.

use crate::operations::{self, Meter};
use std::iter;

/// Runs the operations whose names contain one of `filters`, or all. Prints for each, in this order, its name, how often
/// it ran within its one call of [`counted`], and over how many bytes of text each time, 0 if that is not the point.
pub(crate) fn run(filters: &[String]) {
    for operation in operations::ALL {
        let name = operation.to_string();
        if filters.is_empty() || filters.iter().any(|filter| name.contains(filter)) {
            operation.measure(Counted { name: &name, bytes: 0 });
        }
    }
}

struct Counted<'a> {
    name: &'a str,
    bytes: usize,
}

impl Meter for Counted<'_> {
    fn over_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    #[expect(clippy::print_stdout, reason = "the script reads it")]
    fn measure<I, O>(self, times: usize, input: impl FnMut() -> I, operation: impl FnMut(I) -> O) {
        let inputs = iter::repeat_with(input).take(times).collect();
        drop(counted(inputs, Vec::with_capacity(times), operation));
        println!("{} {times} {}", self.name, self.bytes);
    }
}

/// What callgrind counts: the script names this function. Results are dropped by the caller, and so not counted.
#[inline(never)]
fn counted<I, O>(inputs: Vec<I>, mut outputs: Vec<O>, operation: impl FnMut(I) -> O) -> Vec<O> {
    outputs.extend(inputs.into_iter().map(operation));
    outputs
}
