//! How clients reach the server.

mod accept;
mod hub;
mod long_poll;
mod opening;
mod peer;
mod public;
mod pulse;
mod rest;
mod router;
mod session;
mod tls;
mod websocket;

pub(crate) use accept::serve;
pub(crate) use public::Public;
pub(crate) use public::PublicError;
pub use router::{Server, router};
pub(crate) use tls::{Tls, TlsError};
