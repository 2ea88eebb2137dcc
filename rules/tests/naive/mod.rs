//! An evaluator of rules that is slow, obvious and shares no code with the real one, and what it is asked: expressions
//! that are made up from any bytes. The tests of this crate and the fuzz target ask the same.

mod evaluate;
mod expression;
mod generate;
mod number;
mod pattern;
mod question;
mod tree;

pub(crate) use question::Question;
