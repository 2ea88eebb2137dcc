//! What the tree costs: times, instructions and memory, on one chat room.
//!
//! * `cargo bench -p hearth-tree` measures times with divan; `-- append` those of one operation, `-- --help` says more.
//!   On a busy machine pin it to one core (`taskset -c 1`) and look at the column `fastest`.
//! * `tree/benches/callgrind` counts instructions under valgrind, which repeat to a few in a thousand on any machine:
//!   compare these before and after an optimisation. `tree/benches/callgrind append` counts those of one operation.
//! * `cargo bench -p hearth-tree -- memory` prints the resident bytes per leaf (Linux).
//!
//! None of this is a test: nothing fails because it has become slower.

mod chat;
mod instructions;
mod memory;
mod operations;

use divan::counter::BytesCount;
use operations::{Meter, Operation};

#[expect(clippy::disallowed_methods, reason = "what to measure comes from the command line")]
fn main() {
    // Cargo adds `--bench` at the end.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.split_first() {
        Some((mode, filters)) if mode == "instructions" => instructions::run(filters),
        Some((mode, [])) if mode == "memory" => memory::print(),
        Some(_) | None => divan::main(),
    }
}

#[divan::bench(args = operations::ALL)]
fn tree(bencher: divan::Bencher<'_, '_>, operation: &Operation) {
    operation.measure(Stopwatch(bencher));
}

/// Measures time.
struct Stopwatch<'a, 'b>(divan::Bencher<'a, 'b>);

impl Meter for Stopwatch<'_, '_> {
    fn over_bytes(self, bytes: usize) -> Self {
        Self(self.0.counter(BytesCount::new(bytes)))
    }

    fn measure<I, O>(self, _: usize, input: impl FnMut() -> I, operation: impl FnMut(I) -> O) {
        self.0.with_inputs(input).bench_local_values(operation);
    }
}
