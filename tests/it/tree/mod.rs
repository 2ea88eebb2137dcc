//! `hearth-tree` against the naive model and against the tables of the wire reference.

mod between;
mod children;
mod generate;
mod hash;
mod json;
mod key_order;
mod leaf_range;
mod query;
mod reports;
mod view;
mod write;

use hearth_tests::twin;
