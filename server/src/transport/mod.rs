//! How clients reach the server.

mod accept;
mod account;
mod ahead;
mod backup;
mod bell;
mod bodies;
mod conduct;
mod frames;
mod http2;
mod hub;
mod long_poll;
mod malformed;
mod opening;
mod pace;
mod peer;
mod proxies;
mod public;
mod pulse;
mod raw_target;
mod request_id;
mod rest;
mod router;
mod seats;
mod session;
mod tls;
mod websocket;

pub(crate) use accept::{Entrance, serve};
pub(crate) use bodies::{BYTES_FREE, BodyRoom, BodyShare, Coming, MIB_MAX, NoRoom};
pub(crate) use proxies::{Network, Proxies};
pub(crate) use public::Public;
pub(crate) use public::PublicError;
pub(crate) use request_id::REQUEST_ID;
pub(crate) use rest::EventSecret;
pub use router::{Server, router};
pub(crate) use seats::{Seat, Seats};
pub(crate) use tls::{Tls, TlsError};
