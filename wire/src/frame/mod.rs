//! Messages as WebSocket texts: one text each, or a count followed by that many parts (wire reference 2.2).
//!
//! Why here and not in the transport: long polling has its own segments, and the rules below come from the SDKs, not
//! from WebSocket.

mod assembler;
mod parts;
mod split;

pub use assembler::{Assembled, Assembler, FrameError, FrameLimits};
pub use parts::{Length, Parts};
pub use split::{Frames, TooManyParts, split};

/// Longest part of a split message, and longest message that is sent whole, in UTF-16 code units.
pub const FRAME_UNITS_MAX: usize = 16_384;

/// Most parts of one message. Source: Apple's SDK reads a count of at most four digits (wire reference 2.2).
pub const PARTS_MAX: usize = 9_999;

/// What a client sends after 45 s of silence (wire reference 2.3). A server ignores it and never sends it.
pub const KEEPALIVE: &str = "0";
