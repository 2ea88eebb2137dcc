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

/// Most memory of the writes that one session may have armed for its disconnect, in bytes: they are kept as long as the
/// session lives, and made in one piece when it ends. What apps arm are states and times of a few dozen bytes.
pub const ARMED_BYTES_MAX: usize = 1024 * 1024;

/// Most listens of one session.
pub const LISTENS_MAX: usize = 100_000;

/// Most memory of the places and queries that one session listens to, in bytes. As many listens as there may be have
/// 320 bytes each; without this bound a place could have 24 KB, and a bound of a query 10 MB.
pub const LISTENS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Most memory that is kept alive, in one database, so that sessions that have fallen behind can be told one difference
/// instead of everything, in bytes. Counted are what commits have replaced since the first of them fell behind; whoever
/// would keep more than this alive is shown everything anew.
pub const LAG_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How long a tree is kept for a session that has fallen behind, in milliseconds. Who takes nothing for so long is hardly
/// better off with a difference.
pub const LAG_MS_MAX: i64 = 15_000;

/// How long a session may have fallen behind, in milliseconds. Then it is closed; its client comes back with the hashes of
/// what it has. As long as a client may be silent (wire reference 2.3).
pub const LAG_END_MS: i64 = 60_000;

const _: () = assert!(LAG_MS_MAX < LAG_END_MS, "it is shown everything anew before it is given up");

/// A delivery above this many bytes waits in nobody's queue beside others: one that finds others there is refused, and
/// its session gets one difference instead. A queue of `n` deliveries then keeps at most one that is heavier and `n` times
/// this alive.
pub const HEAVY_BYTES: usize = 64 * 1024;

/// Most places that a session has stopped listening to and that are remembered; with more, each new listen is told
/// everything, whatever its hash.
pub const FORGOTTEN_MAX: usize = 1_000;

/// Most listeners that are judged again in one step when rules, identity or time change. A verdict takes some
/// microseconds, so that nobody else waits longer than for a large commit; the rest stays suspended until its turn.
pub const JUDGED_AT_ONCE_MAX: usize = 500;

/// Most listeners that are forgotten in one step when their session ends: a hundred thousand take a tenth of a second.
pub const FORGOTTEN_AT_ONCE_MAX: usize = 500;

/// A hash that is not known is computed where everybody waits only if it costs this many nodes at most, which takes about
/// a millisecond. Who compares with a larger one has it computed before ([`hearth_tree::Node::hash`] remembers); if the
/// node has changed since then, its client is taken not to have it.
pub const HASHED_AT_ONCE_MAX: usize = 4_000;

/// When a commit replaces more than this, in bytes, what was there is let go of elsewhere
/// ([`crate::Publisher::take_outdated`]): a million leaves take 60 to 400 ms, and this much less than one.
pub const OUTDATED_BYTES: usize = 256 * 1024;

/// The same for an index that nobody needs any more, by its entries.
pub const OUTDATED_ENTRIES: usize = 4 * 1024;

/// An index of more children than this is not built where everybody waits: a thousand are sorted in less than a
/// millisecond, a million in half a second.
pub const INDEXED_AT_ONCE_MAX: usize = 1_000;

/// So many children may have changed since an index was built; where more have, it is brought up to date elsewhere first. An
/// edit takes some microseconds.
pub const INDEX_EDITS_MAX: usize = 1_000;

/// Most memory of the places that the newest commits have touched, in one database, in bytes: those who come back are told
/// what they have missed as long as it is all here. Some 25,000 commits at three keys' depth; only where somebody has asked
/// for it.
pub const TRAIL_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Most places of one commit that are remembered one by one; of more, the node above all of them.
pub const TRAIL_PLACES_MAX: usize = 1_000;

/// Most places that somebody who comes back is told one by one; whoever has missed more is told everything.
pub const RESUMED_PLACES_MAX: usize = 1_000;
