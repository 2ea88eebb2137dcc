//! The server: threads that own the databases, connections, transports.

mod audit;
mod auth;
mod backup;
mod checkpoint;
mod checkpoint_log;
mod clock;
pub mod command;
mod config;
mod connection;
mod database;
mod in_vain;
mod keep_alive;
mod kept_indexes;
mod limits;
mod log;
mod meters;
mod mode;
mod profile;
mod random;
mod rule_watch;
mod say;
mod seldom;
mod sessions;
mod slow;
mod study;
mod threads;
mod transport;
mod unhurried;
mod unindexed;

pub use database::{Database, Databases, FindError, Stopped};
pub use transport::{Server, router};
