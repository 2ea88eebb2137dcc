//! Every bound on rules, with its unit and its reason.
//!
//! They stand together because the documentation for operators quotes them, and because nothing a ruleset or a request
//! can make grow may be missing here.

use hearth_tree::{DEPTH_MAX, KEY_BYTES_MAX};

/// Longest rules document, in bytes of UTF-8. The service documents no figure; it was seen to accept 300 KB
/// (rules reference 7).
pub const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;

/// Documents longer than this are warned about: other products of the service take no more (rules reference 7).
pub const DOCUMENT_BYTES_ADVISED: usize = 256 * 1024;

/// Most objects and lists inside each other in a rules document. Data is at most 32 levels deep, so nothing below that
/// could ever apply; twice as much leaves room to say so in the right words.
pub const DOCUMENT_NESTING_MAX: usize = 64;

/// Most parentheses, arguments, indexes and conditionals inside each other in one expression (rules reference 7).
pub const EXPRESSION_NESTING_MAX: usize = 256;

/// Most problems reported for one document. Whoever has more needs the first hundred.
pub const DIAGNOSTICS_MAX: usize = 100;

/// Most groups inside each other in one pattern.
pub const PATTERN_NESTING_MAX: usize = 64;

/// Largest count in the braces of a pattern, as in `a{1000}`.
pub const PATTERN_REPEAT_MAX: u32 = 1000;

/// Most memory that one compiled pattern may take, in bytes; refuses `(a{1000}){1000}`.
pub const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// Most memory that one pattern may take on one thread to be fast, in bytes; without it it is slower, never wrong.
pub const PATTERN_CACHE_BYTES_MAX: usize = 256 * 1024;

/// Most repeats behind each other, as in `a+?`. Nobody means more than two.
pub const REPEATS_MAX: usize = 4;

/// Most character sets in all patterns of one ruleset, those in repeats counted as often as they may repeat. Each takes
/// some hundred bytes once compiled, so this keeps a ruleset below some dozen megabytes.
pub const PATTERNS_WEIGHT_MAX: u64 = 100_000;

const _: () = assert!(DOCUMENT_BYTES_ADVISED < DOCUMENT_BYTES_MAX, "what is refused needs no warning");
const _: () = assert!(DOCUMENT_BYTES_MAX <= u32::MAX as usize, "a span counts bytes in 32 bits");

/// Longest path that a rule can go down at once, in bytes: 32 keys of 768 bytes with a slash before each, and as much
/// again for empty ones. Beyond that no data can be.
pub(crate) const RULE_PATH_BYTES_MAX: usize = 2 * DEPTH_MAX * (KEY_BYTES_MAX + 1);
