//! How results are written, for machines and for people.

pub(crate) mod html;
pub(crate) mod junit;
pub(crate) mod lcov;
pub(crate) mod sarif;
