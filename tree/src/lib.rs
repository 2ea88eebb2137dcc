//! The data of Hearth: what a JSON tree is, how it changes, how it is ordered, queried, compared and spelled.
//!
//! Nothing here knows a socket, a file, a clock, a thread or a random source; time and randomness are arguments.
//!
//! ```
//! use hearth_tree::{Assignment, Change, Draft, Number, Path, Pending, Scalar, ServerValue, Snapshot, Write};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // "One star more", as a client asks for it: only the server knows what that will be.
//!     let at = Path::parse("/posts/hello/stars")?;
//!     let one_more = Pending::Server(ServerValue::Increment(Number::from(1)));
//!     let star = Write::Set(Assignment::value(at.clone(), Some(Draft::leaf(one_more, None)))?);
//!
//!     // Against a snapshot, a write becomes a change; applied to it, a change makes the next snapshot.
//!     let now_ms = 1_767_225_600_000; // The tree has no clock: time is an argument.
//!     let empty = Snapshot::default();
//!     let once = empty.apply(&star.resolve(now_ms, &empty)?);
//!     let twice = once.apply(&star.resolve(now_ms, &once)?);
//!
//!     // Snapshots never change, and what two of them have in common exists once.
//!     let stars = |tree: &Snapshot| tree.get(&at)?.value().and_then(Scalar::number)?.as_i64();
//!     assert_eq!([stars(&empty), stars(&once), stars(&twice)], [None, Some(1), Some(2)]);
//!
//!     // What happened between two snapshots is a change again.
//!     let change = Change::between(once.root(), twice.root());
//!     assert_eq!(change.edits().len(), 1);
//!     assert_eq!(once.apply(&change), twice);
//!     Ok(())
//! }
//! ```

mod change;
mod counted;
mod draft;
mod hash;
mod index;
mod json;
mod key;
mod leaf_range;
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
pub use draft::{Draft, IncrementError, Pending, Shape};
pub use hash::{Hash, HashError};
pub use index::{Index, IndexBy};
pub use json::{
    BoundedText, Compact, ControlCharacters, Form, Json, JsonPieces, NODE_BYTES, NODES_MAX, NodeSeed,
    OverBound, Place, Pretty, PrioritySeed, Problem, ReadError, ReadOptions, Reader, Top, UpdateParts,
    UpdatePieces, UpdateSeed, ValuePieces, ValueSeed, read_node, read_priority, read_update, read_value,
    repair_surrogates, weight_of_nodes,
};
pub use key::{Excerpt, Key, KeyError, OneLine, Printable, disturbs_lines, key_order, text_order};
pub use leaf_range::LeafRange;
pub use limits::{DEPTH_MAX, KEY_BYTES_MAX, TEXT_BYTES_MAX, UPDATE_KEYS_MAX};
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
