//! The socket protocol as values, in both directions: what a server reads and writes, and what a client does
//! (wire protocol version 5, described in the wire reference).
//!
//! Nothing here knows a socket, the engine or a clock: text goes in, values come out, and the other way round.

mod connect;
mod control;
mod envelope;
mod frame;
mod handshake;
mod hash;
mod long;
mod namespace;
mod number;
mod poll;
mod push;
mod query;
mod received;
mod request;
mod response;
mod session;
mod status;
mod text;
mod validator;

pub use connect::{ConnectError, ConnectParams};
pub use control::{ClientControl, ServerControl};
pub use envelope::{ClientMessage, Refused, number_of};
pub use frame::{
    Assembled, Assembler, FRAME_UNITS_MAX, FrameError, FrameLimits, Frames, KEEPALIVE, Length, PARTS_MAX,
    Parts, TooManyParts, split,
};
pub use handshake::{HANDSHAKE_TIME_MS_MIN, Handshake, PROTOCOL_VERSION};
pub use hash::{CompoundHash, CompoundHashError, Held};
pub use long::LongMessage;
pub use namespace::{Addressed, NAMESPACE_CHARS_MAX, Namespace, NamespaceError};
pub use number::{RequestNumber, Tag};
pub use poll::{
    Callback, SEGMENT_CHARS_MAX, SEGMENTS_AHEAD_MAX, Script, Segment, SegmentError, Segments, Ticket, Visit,
    VisitError, farewell_page,
};
pub use push::{Body, Push, RangeData, ranges_that_differ};
pub use query::{QueryError, QueryText};
pub use received::{ReceiveError, ServerMessage};
pub use request::{
    ActingAs, Action, AppCheck, Auth, BODY_BYTES_MAX, Credential, CredentialKind, Get, Listen, ListenKind,
    Merge, OnDisconnect, Put, Request, RequestBody, RequestError, Stats, Unlisten,
};
pub use response::{Answer, Failure, Outcome, Reply, Response};
pub use session::{SESSION_ID_CHARS_MAX, SessionId, SessionIdError};
pub use status::Status;
pub use text::{RECEIVED_BYTES_MAX, TooLong};
pub use validator::{Ending, Validator};
