//! What the tests that look at Hearth from outside share.

/// The code in the README compiles and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
