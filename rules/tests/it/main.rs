//! The tests of the rules language from outside, in one program: it links once.

mod case;
mod compile;
mod conformance;
mod insight;
mod naive_access;
mod naive_evaluator;

#[path = "../naive/mod.rs"]
mod naive;
