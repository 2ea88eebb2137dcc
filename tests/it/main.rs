//! Every test that looks at Hearth from outside, in one program: it links once, and its tests run side by side.

mod directions;
mod engine;
mod range_merge;
mod reports;
mod tree;
mod witness;
