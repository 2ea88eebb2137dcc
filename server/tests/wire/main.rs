//! Conversations, message by message and byte by byte (wire reference 3 to 6, 9, 10, 12, 14): what clients of other kinds
//! than the JavaScript SDK send, too, and what the JavaScript SDK would not show. What is said where stands in
//! `statements.rs`.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]

mod auth;
mod basics;
mod bounds;
mod disconnects;
mod frames;
mod hashes;
mod listens;
mod long_poll;
mod polled;
#[path = "../polls/mod.rs"]
mod polls;
mod queries;
mod ranges;
mod script;
mod server;
mod sessions;
mod socket;
mod statements;
mod upgrades;
mod writes;
