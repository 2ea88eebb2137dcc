//! The server: threads that own the databases, connections, transports.

mod auth;
mod clock;
pub mod command;
mod connection;
mod database;
mod random;
mod sessions;
mod threads;
mod transport;

pub use database::{Database, Databases, Stopped};
pub use transport::{Server, router, serve};
