//! Long polling, by which browsers speak the protocol in script tags where they cannot use a WebSocket (wire reference 14).
//!
//! A client asks by URLs ([`Visit`]) and is told by script texts ([`Script`]). What it says is Base64 in pieces that fit
//! into URLs and may overtake each other ([`Segments`]).

mod page;
mod script;
mod segments;
mod visit;

pub use page::farewell_page;
pub use script::{Callback, Script};
pub use segments::{SEGMENT_CHARS_MAX, SEGMENTS_AHEAD_MAX, Segment, SegmentError, Segments};
pub use visit::{Ticket, Visit, VisitError};
