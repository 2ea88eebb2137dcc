//! Whom a server for production believes: tokens of issuers, and those that are signed with a secret of its own.
//!
//! Why keys of these tests stand in files: making an RSA key without optimization takes longer than all of them.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]

mod attacks;
mod fetched;
mod logged;
mod minted;
#[path = "../polls/mod.rs"]
mod polls;
mod proved;
mod server;
mod signed;
mod starting;
mod until;
