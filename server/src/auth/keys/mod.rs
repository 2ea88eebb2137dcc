//! The keys with which issuers sign.

mod fetch;
mod set;
mod source;

pub(crate) use fetch::trust;
pub(super) use set::{ALGORITHMS, KeySet};
pub(crate) use source::{KeyError, KeyPlace, KeySource, Reread};
