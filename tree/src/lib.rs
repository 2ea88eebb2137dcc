//! The data of Hearth: what a JSON tree is, how it changes, how it is ordered, queried, compared and spelled.
//!
//! Nothing here knows a socket, a file, a clock, a thread or a random source; time and randomness are arguments.

mod change;
mod counted;
mod draft;
mod hash;
mod index;
mod json;
mod key;
mod limits;
mod node;
mod order;
mod path;
mod push_id;
mod query;
mod scalar;
mod server_value;
mod snapshot;
mod view;
mod write;

pub use change::{Change, Conflict, Edit, To};
pub use draft::{Draft, IncrementError, Pending};
pub use hash::{Hash, HashError};
pub use index::{Index, IndexBy};
pub use json::{
    Compact, ControlCharacters, Form, Json, NODES_MAX, NodeSeed, Place, Pretty, PrioritySeed, Problem,
    ReadError, ReadOptions, Reader, UpdateParts, UpdateSeed, ValueSeed, read_node, read_priority,
    read_update, read_value, repair_surrogates,
};
pub use key::{Excerpt, Key, KeyError, key_order, text_order};
pub use limits::{DEPTH_MAX, KEY_BYTES_MAX, TEXT_BYTES_MAX};
pub use node::{ChildIter, Children, Node};
pub use order::SortValue;
pub use path::{Path, PathError, RelativePath};
pub use push_id::PushIds;
pub use query::{ChildPath, ChildPathError, KeyBound, LimitError, Order, Position, Query, Range, Window};
pub use scalar::{NotFinite, Number, Priority, Scalar, Text, TextTooLong};
pub use server_value::ServerValue;
pub use snapshot::Snapshot;
pub use view::{ChildChange, IndexNeeded, View, ViewIter};
pub use write::{Assigned, Assignment, Part, ResolveError, Target, Update, Write, WriteError};
