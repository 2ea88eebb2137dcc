//! JSON, straight between bytes and nodes.
//!
//! Why no generic value in between: a body of 100 MB would be built twice, and the generic value forgets what this data
//! model cares about (duplicate keys, 64-bit integers, where in the text something stands).

mod bounded;
mod error;
mod expected;
mod format;
mod incoming;
mod leaf;
mod members;
mod name;
mod object;
mod outgoing;
mod place;
mod read;
mod repair;
mod scan;
mod seeds;
mod server_value;
mod update;
mod weight;
mod write;
mod write_draft;

pub use bounded::{BoundedText, OverBound};
pub use error::{Problem, ReadError};
pub use format::{Compact, Pretty};
pub use incoming::{UpdatePieces, ValuePieces};
pub use outgoing::{JsonPieces, Top};
pub use place::Place;
pub use read::{
    ControlCharacters, NODES_MAX, ReadOptions, Reader, read_node, read_priority, read_update, read_value,
};
pub use repair::repair_surrogates;
pub use seeds::{NodeSeed, PrioritySeed, UpdateSeed, ValueSeed};
pub use update::UpdateParts;
pub use weight::{NODE_BYTES, weight_of_nodes};
pub use write::{Form, Json};
