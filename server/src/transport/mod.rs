//! How clients reach the server.

mod accept;
mod rest;
mod router;
mod session;
mod websocket;

pub(crate) use accept::serve;
pub use router::{Server, router};
