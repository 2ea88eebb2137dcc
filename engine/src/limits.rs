//! Everything that a client could make grow, with its bound.

/// How long the one whose conditional write was refused as stale goes first at that place, in milliseconds: a few round
/// trips. Longer, and a client that never comes back would be waited for.
pub const TURN_MS: i64 = 40;

/// Most clients that wait for their turn at one place; more are served as they come.
pub const TURNS_MAX: usize = 1_000;

/// Most requests that wait for somebody else's turn, over all sessions; more are decided at once.
pub const PARKED_MAX: usize = 10_000;

/// Most places that one session may have armed for its disconnect. JavaScript apps arm a handful; a bound on what one
/// disconnect may cost everybody.
pub const ARMED_PLACES_MAX: usize = 1_000;

/// Most listens of one session.
pub const LISTENS_MAX: usize = 100_000;

/// Most places that a session has stopped listening to and that are remembered; with more, each new listen is told
/// everything, whatever its hash.
pub const FORGOTTEN_MAX: usize = 1_000;
