//! Everything that a client could make grow, with its bound.

/// How long the one whose conditional write was refused as stale is waited for at that place, in milliseconds: the way
/// there and back of a client 50 ms away, a sync, and some. Longer, and a client that never comes back costs more; of
/// several who do not come back each one is waited for half as long as the one before.
pub const TURN_MS: i64 = 150;

/// After so many refusals in its own turn a session goes to the end of the line: others may write there without asking
/// for a hash, but who is wrong every time must not keep the rest waiting.
pub const REFUSALS_IN_TURN_MAX: u32 = 3;

/// Most clients that stand in line at one place; more are served as they come.
pub const TURNS_MAX: usize = 1_000;

/// Most requests that wait for somebody else's turn, over all sessions; more are decided at once, after those of the same
/// session that wait.
pub const PARKED_MAX: usize = 10_000;

/// Most places that one session may have armed for its disconnect. JavaScript apps arm a handful; a bound on what one
/// disconnect may cost everybody.
pub const ARMED_PLACES_MAX: usize = 1_000;

/// Most listens of one session.
pub const LISTENS_MAX: usize = 100_000;

/// Most places that a session has stopped listening to and that are remembered; with more, each new listen is told
/// everything, whatever its hash.
pub const FORGOTTEN_MAX: usize = 1_000;

/// Most listeners that are judged again in one step when rules, identity or time change. A verdict takes some
/// microseconds, so that nobody else waits longer than for a large commit; the rest stays suspended until its turn.
pub const JUDGED_AT_ONCE_MAX: usize = 500;
