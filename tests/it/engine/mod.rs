//! `hearth-engine` in a world of its own, and against tables.

mod answers;
mod armed;
mod ask;
mod judged;
mod lives;
mod news;
mod own_rules;
mod turns;
mod waiting;
