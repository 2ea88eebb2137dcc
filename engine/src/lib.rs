//! Decides, orders and routes: from requests to verdicts, to commits that are durable, to what each listener is told.
//!
//! Plain step functions over owned state. Nothing here knows a socket, a file, a clock or a thread: time is an argument,
//! the log and the queues of connections are seams, and the shell around decides which thread runs which step.
//!
//! ```text
//! Request -> Committer::decide -> Verdict -> LogStep::keep -> Durable -> Publisher::publish -> Delivery
//! ```

mod armed;
mod body;
mod commit;
mod committer;
mod delivery;
mod door;
mod forgotten;
mod indexes;
pub mod limits;
mod log;
mod moment;
mod onlooker;
mod outdated;
mod own_rules;
mod parked;
mod path_map;
mod published;
mod publisher;
mod request;
mod revision;
mod settings;
mod standing;
mod turns;
mod weight;

pub use armed::{ArmError, Armed};
pub use body::{Body, Content, Encoded, HeldRanges};
pub use commit::{Arming, ArmingStep, Commit};
pub use committer::Committer;
pub use delivery::{Answer, Delivery, Item, Outboxes, Push, Revoked};
pub use door::{Denied, Door, Identity, Pass, WatchedDoor};
pub use log::{DatabaseId, Decided, Durable, Entry, Log, LogError, LogStep, MemoryLog};
pub use moment::Moment;
pub use onlooker::{Onlooker, REASONS_BYTES_MAX};
pub use outdated::Outdated;
pub use own_rules::{Governed, Governing, OwnRules};
pub use published::Published;
pub use publisher::{Begun, Listen, ListenRefusal, Publisher, WantedIndex};
pub use request::{Accepted, Act, Refusal, Request, SessionId, Ticket, Verdict};
pub use revision::Revision;
pub use settings::{DefaultWriteSize, Setting, Settings, StrictTriggers};
pub use standing::Tag;
pub use weight::is_heavy;
