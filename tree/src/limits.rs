//! Every bound on the data itself, with its unit and its source.
//!
//! They stand together because they depend on each other, and because the messages that name them quote them.

/// Longest key, in bytes of UTF-8. Source: Firebase's documented limits; wire reference 7.3.
pub const KEY_BYTES_MAX: usize = 768;

/// Most keys between the root and a leaf: a path of 32 segments passes, one of 33 does not.
/// Source: Firebase's documented limits ("maximum depth of child nodes"); wire reference 7.3.
///
/// Everything that recurses over the tree is bounded by this.
pub const DEPTH_MAX: usize = 32;

/// Longest string value, in bytes of UTF-8. Source: Firebase's documented limits (10 MB); wire reference 7.3.
pub const TEXT_BYTES_MAX: usize = 10 * 1024 * 1024;

/// Most keys in the paths of one update, those above the place of the update counted with each. A key takes 24 bytes, and
/// an update of 16 MB has room for half a million places of 8 keys; sent to a place 30 levels down, a message of the same
/// length took 1.4 GB.
pub const UPDATE_KEYS_MAX: usize = 4_000_000;

const _: () =
    assert!(KEY_BYTES_MAX * DEPTH_MAX < TEXT_BYTES_MAX, "a whole path always fits where a text does");
