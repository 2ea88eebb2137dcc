//! Conversations on the socket, message by message and byte by byte (wire reference 3 to 6, 9, 10): what clients of other
//! kinds than the JavaScript SDK send, too, and what the JavaScript SDK would not show.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]

mod auth;
mod basics;
mod disconnects;
mod listens;
mod queries;
mod ranges;
mod script;
mod writes;
