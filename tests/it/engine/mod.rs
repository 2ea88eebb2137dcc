//! `hearth-engine` in a world of its own, and against tables.

mod lives;
mod turns;
