//! The data of Hearth as the wire reference describes it, and nothing else: the model that servers, clients and the
//! tree itself are judged by.
//!
//! Slow and obvious on purpose. Children are a sorted list that is searched from its start, a query sorts everything
//! there is, a hash is computed anew whenever it is asked for. Nothing is shared with the crates of Hearth, not even
//! the crates for SHA-1 and Base64: each rule is written down a second time, from the text of the reference.

mod base64;
mod double;
mod hash;
mod json;
mod key;
mod leaves;
mod node;
mod push_id;
mod query;
mod refusal;
mod sha1;
mod tree;
mod value;

pub use double::{js_bits, true_bits};
pub use hash::{Doubles, hash, hash_text};
pub use json::{export, read, rest, rest_export};
pub use key::{check_key, key_order, text_order};
pub use leaves::{Leaf, between, leaves, path_order, range_hash, range_text, tree_of};
pub use node::{Content, Node};
pub use push_id::{PushId, decode};
pub use query::{Bound, KeyBound, Limit, OrderBy, Query, difference};
pub use refusal::Refusal;
pub use tree::{Tree, split};
pub use value::{Sort, Value, sort_order};
