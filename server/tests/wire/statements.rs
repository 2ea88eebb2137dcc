//! What the wire reference says a server does, section by section, and where it is played. Statements about what happens
//! inside of clients are left out.

use crate::{
    auth, basics, bounds, disconnects, frames, hashes, listens, queries, ranges, sessions, upgrades, writes,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where a statement holds.
enum Shown {
    /// In a conversation of this name, over each transport.
    Played(&'static str),
    /// In a test, of this file and name: conversations cannot say it.
    Tested(&'static str, &'static str),
    /// Nowhere, for this reason.
    Never(&'static str),
}

use Shown::{Never, Played, Tested};

const LONG_POLL: &str = "server/tests/wire/long_poll.rs";
const LINE: &str = "server/src/transport/long_poll/line.rs";
const PITFALLS: &str = "wire/tests/validator/pitfalls.rs";

/// Sections, what they say, and where it is shown.
const STATEMENTS: &[(&str, &str, Shown)] = &[
    (
        "2.2",
        "a message of 16 384 units is sent whole, a longer one in parts, never cut inside a character",
        Played("long messages both ways"),
    ),
    (
        "2.2",
        "a count announces parts; within a message digits are content; a count of 1 is one",
        Played("counts of parts"),
    ),
    ("2.2", "parts are joined before they are read", Played("parts")),
    ("2.2", "C++ cuts inside a character", Played("parts that are cut inside a character")),
    ("2.2", "C++ announces one part too many", Played("one part less than was announced")),
    ("2.2", "more parts than may be written are refused", Played("counts of parts")),
    ("2.3", "a `0` of the client is ignored and not answered", Played("keepalives and pings")),
    (
        "2.3",
        "a client that is gone without a word is found, and what it has armed is made",
        Tested("server/src/transport/pulse.rs", "a_client_is_lost_that_neither_speaks_nor_takes_anything"),
    ),
    ("2.4", "a ping is answered with a pong at once", Played("keepalives and pings")),
    ("2.4", "kinds and layers that nobody knows are passed over", Played("what nobody knows")),
    (
        "2.4",
        "`n` and `a` where no transport changes are passed over",
        Played("a kind of control message that belongs to long polling"),
    ),
    (
        "2.5",
        "the handshake comes first, with a whole time, the version, the host that was asked, a session",
        Played("sessions that nobody has and other names of the server"),
    ),
    (
        "2.5",
        "the time is above 2^31",
        Tested("wire/tests/messages/control.rs", "the_time_of_a_handshake_is_always_one_that_android_reads"),
    ),
    ("2.6", "a reset names a host", Played("a WebSocket of a session that nobody has")),
    ("2.6", "shutdown and error", Never("clients would never come back, and what is too long is answered")),
    ("3.1", "numbers begin at 0 or 1", Played("statistics and the number zero")),
    ("3.1", "numbers go on across connections", Played("a client of JavaScript comes back")),
    (
        "3.1",
        "fields come in any order; numbers are whole and may be large",
        Played("fields in any order and numbers of any size"),
    ),
    (
        "3.1",
        "paths have a slash in front or not, empty parts, escaped slashes, and no percent-encoding",
        Played("paths as clients spell them"),
    ),
    (
        "3.2",
        "every request is answered exactly once, in its turn, with `s` and `d`",
        Played("every action is answered once and in its turn"),
    ),
    ("3.2", "the `d` of an error is a text", Played("what nobody knows")),
    ("3.2", "there is no `{\"error\":…}`", Tested("wire/tests/validator/typing.rs", "responses")),
    ("3.3", "`d` overwrites, with an explicit null", Played("first data and news")),
    (
        "3.3",
        "`m` has relative paths, also deep ones among nulls and new children, with a tag and without",
        Played("one update is one message to each listen"),
    ),
    (
        "3.3",
        "`rm` goes to who sent a compound hash, with a tag and without",
        Played("two ranges and the query of a window"),
    ),
    (
        "3.3",
        "`ac` says why",
        Tested("server/tests/tokens/until.rs", "a_connection_is_nobodys_when_its_token_ends"),
    ),
    ("3.3", "`apc`", Never("App Check tokens are taken as they are, so none is ever revoked")),
    (
        "3.3",
        "`sd` comes before the refusal that it explains",
        Played("who asks for reasons is told before the refusal"),
    ),
    (
        "3.3",
        "paths have no slash in front; that of the root is empty",
        Played("the root and places above it and below"),
    ),
    ("3.3", "a tag is there for tagged listens only", Played("all of a place and a part of it")),
    ("3.3", "the first data come before a merge", Played("who leaves and who comes in")),
    (
        "3.4",
        "`c` ends a default listen without `q`, a tagged one with an array of its query",
        Played("a right that ends"),
    ),
    (
        "3.4",
        "the query is spelled as the client did",
        Played("rules that change end what they no longer allow"),
    ),
    ("3.4", "`c` when rules, data or identity change", Played("what comes behind a token is judged by it")),
    (
        "3.5",
        "1: requests are done in order, also while a token is looked at",
        Played("what comes behind a token is judged by it"),
    ),
    ("3.5", "2: data before the ok of a listen", Played("first data and news")),
    (
        "3.5",
        "3: registering and the first data are one step",
        Tested("tests/it/engine/lives.rs", "listeners_end_equal_to_the_model_whatever_happens"),
    ),
    ("3.5", "4: the news of a write before its ok, to the writer as well", Played("first data and news")),
    ("3.5", "5: the data before `datastale`", Played("a stale transaction")),
    (
        "3.5",
        "6: nothing but the error for a write that is refused",
        Played("refused writes tell nobody anything"),
    ),
    ("3.5", "7: one message per listen for an update", Played("one update is one message to each listen")),
    (
        "3.5",
        "8: news follow the order of commits, answers and news are one stream",
        Played("transactions one behind the other"),
    ),
    ("3.5", "9: listens before repeated writes", Played("a client of JavaScript comes back")),
    ("3.6", "a session ends by a goodbye", Played("set update and cancel")),
    (
        "3.6",
        "a session ends by a fault of its client",
        Played("a message without a number ends the connection"),
    ),
    ("3.6", "a session ends without a word", Played("a client that vanishes leaves what it has armed")),
    (
        "3.6",
        "the database is the parameter `ns`, or else the first label of the host",
        Tested("wire/src/namespace.rs", "a_namespace_comes_from_the_parameter_or_the_host"),
    ),
    (
        "3.6",
        "a slow client is told one difference, at one revision",
        Tested(LONG_POLL, "a_client_that_does_not_ask_is_told_the_difference_when_it_does"),
    ),
    ("4", "every action, and the `d` of its ok", Played("every action is answered once and in its turn")),
    ("4", "an action that is none is answered with an error", Played("what nobody knows")),
    (
        "4.1",
        "statistics are answered, whatever they count",
        Played("every action is answered once and in its turn"),
    ),
    ("4.1", "the counter of C++ is its user agent", Played("fields in any order and numbers of any size")),
    (
        "4.2",
        "a hash that fits is answered with ok alone, also that of nothing",
        Played("what the client has is not sent again"),
    ),
    ("4.2", "without a hash `d` is sent, even null", Played("what the client has is not sent again")),
    ("4.2", "the `d` of ok is an object", Played("first data and news")),
    (
        "4.2",
        "`no_index` where an index is missing, not by key or priority",
        Played("a query without its index"),
    ),
    ("4.2", "who may not read gets an error", Played("a listen that is refused is asked for again")),
    ("4.2", "a second `q` replaces the first", Played("a listen again replaces the one before")),
    (
        "4.2",
        "Android sends all of it again on a living connection",
        Played("everything again on a living connection"),
    ),
    (
        "4.2",
        "`q` and `t` belong together; different queries have different tags; a tag serves again",
        Played("tags"),
    ),
    ("4.3", "`n` is found by path and tag, and always ok", Played("tags")),
    ("4.3", "`n` after a listen that was refused", Played("a right that ends")),
    (
        "4.4",
        "a read applies the whole query, in export form, and sees the writes before it",
        Played("reads apply the whole query and see the writes before them"),
    ),
    ("4.4", "a query of an order alone", Played("a query without its index")),
    (
        "4.4",
        "without an index it is refused with the words of the service, an admin's too",
        Played("a query without its index"),
    ),
    ("4.5", "a set replaces children and priority", Played("a set replaces children and priority")),
    (
        "4.5",
        "null and an empty object delete, arrays are objects",
        Played("values as they come and as they are told"),
    ),
    (
        "4.5",
        "a priority is set at `.priority`; of nothing it is nothing",
        Played("priorities below a listen and at it"),
    ),
    ("4.5", "with `h` only what was expected is replaced", Played("transactions one behind the other")),
    ("4.5", "the hash is looked at first; who may not read is not told", Played("the hash before the rules")),
    (
        "4.6",
        "an update replaces each place that it names, in one commit",
        Played("an update with every kind of value"),
    ),
    ("4.6", "all of it or nothing", Played("refused writes tell nobody anything")),
    (
        "4.6",
        "arrays, priorities as the last key, server values in it",
        Played("an update with every kind of value"),
    ),
    (
        "4.6",
        "one key above another is refused; an empty update is ok",
        Played("refused writes tell nobody anything"),
    ),
    ("4.7", "`o`, `om`, `oc`", Played("set update and cancel")),
    (
        "4.7",
        "what is armed below, above and inside of what is armed",
        Played("what is armed is a tree of its own"),
    ),
    (
        "4.7",
        "rules are asked when it is armed and when it is made",
        Played("judged when armed and when made"),
    ),
    ("4.7", "what is refused when it is armed", Played("what is armed and refused")),
    ("4.7", "server values are those of the end", Played("what is armed is a tree of its own")),
    (
        "4.7",
        "it is made once, as one commit, however the session ends",
        Played("a client that vanishes leaves what it has armed"),
    ),
    (
        "4.8",
        "`auth` says who the client is and until when",
        Played("every action is answered once and in its turn"),
    ),
    ("4.8", "`owner`, `noauth`, `authvar`, also with `auth`", Played("admins and whom they act as")),
    ("4.8", "an unsigned token of an emulator", Played("an unsigned token as the SDK makes it")),
    (
        "4.8",
        "a later token is another identity, and ends what that may not see",
        Played("what comes behind a token is judged by it"),
    ),
    (
        "4.8",
        "a token that is none is `invalid_token`",
        Played("who fails to be somebody stays nobody and connected"),
    ),
    (
        "4.8",
        "a token that has ended is `expired_token`; then the client is nobody",
        Tested("server/tests/tokens/until.rs", "a_connection_is_nobodys_when_its_token_ends"),
    ),
    ("4.8", "`unauth` is back to nobody", Played("what comes behind a token is judged by it")),
    (
        "4.9",
        "App Check tokens are accepted, in the URL as well",
        Played("who fails to be somebody stays nobody and connected"),
    ),
    ("4.9", "`appcheck`, `unappeck`, `unappcheck`", Played("tokens that are none and app check")),
    ("5.1", "every key of a query, as JavaScript and Android send it", Played("bounds of values and keys")),
    (
        "5.1",
        "orders by a child, by a deep one, by priority; null as a bound",
        Played("bounds of children and priorities"),
    ),
    (
        "5.1",
        "bounds longer than keys, both names of the last key, doubles",
        Played("bounds of values and keys"),
    ),
    ("5.1", "a limit without a side", Played("bounds of values and keys")),
    ("5.2", "a leaf or nothing shows nothing", Played("bounds of values and keys")),
    ("5.2", "the order of values, then of keys", Played("bounds of values and keys")),
    (
        "5.2",
        "the priority of the place is not part of it",
        Played("a window by a child in every way that it can change"),
    ),
    ("5.3", "all of a place and a part of it are both served", Played("all of a place and a part of it")),
    (
        "5.3",
        "listens that cover each other, begun and ended in the order of the SDK",
        Played("listens that cover each other"),
    ),
    ("5.3", "the hash of all children is none of a window", Played("who no longer matches leaves")),
    ("5.3", "the same tag again, with a hash", Played("all of a place and a part of it")),
    ("5.4", "writes at, below and above a listen", Played("first data and news")),
    (
        "5.4",
        "an update with a key at or above the listen",
        Played("one update is one message to each listen"),
    ),
    ("5.4", "priorities, as a place and as a key", Played("priorities below a listen and at it")),
    ("5.4", "what stays is not told, and ok all the same", Played("what stays as it was is not told")),
    (
        "5.5",
        "who leaves, enters and changes are one merge; who enters comes whole",
        Played("a window by a child in every way that it can change"),
    ),
    ("5.5", "who is pushed out by its own value, or by another child", Played("who leaves and who comes in")),
    ("5.5", "a deep update inside the window, none outside", Played("the chat of the reference")),
    ("5.5", "who no longer matches leaves", Played("who no longer matches leaves")),
    ("5.5", "everything goes, or becomes a leaf", Played("who leaves and who comes in")),
    ("5.6", "a listen is served with a warning, a read is refused", Played("a query without its index")),
    (
        "6.1",
        "the hash of a value with or without priority, of children by priority and key",
        Played("a hash for each value"),
    ),
    ("6.2", "every vector", Played("a hash for each value")),
    (
        "6.3",
        "the hash of JavaScript for numbers that it gets wrong counts as well",
        Played("a hash by JavaScript of a number that it gets wrong"),
    ),
    ("6.4", "a hash that fits: only the ok", Played("a client of JavaScript comes back")),
    ("6.4", "the hash of a window is that of what it shows", Played("the chat of the reference")),
    ("6.4", "an empty hash on something is `datastale`", Played("the hash before the rules")),
    ("6.4", "writes before it count, but for server values", Played("transactions one behind the other")),
    ("6.5", "a compound hash that fits, and its vectors", Played("a cache that is right")),
    (
        "6.5",
        "the texts of ranges",
        Tested("tests/it/tree/leaf_range.rs", "the_vectors_of_the_reference_hold"),
    ),
    ("6.6", "ranges that differ", Played("two ranges and the query of a window")),
    (
        "6.6",
        "ranges side by side, and empty ones",
        Played("ranges side by side are one and a range can be empty"),
    ),
    (
        "6.6",
        "priorities of nodes with children are sent whole",
        Played("priorities of nodes with children are sent whole"),
    ),
    (
        "6.6",
        "nothing in common: all of it",
        Played("where everything differs it is sent whole and nothing is nothing"),
    ),
    (
        "7.1",
        "values in every form; numbers without decimals they do not need",
        Played("a set replaces children and priority"),
    ),
    (
        "7.1",
        "half a surrogate pair does not end the connection",
        Played("half a surrogate pair is replaced and the connection goes on"),
    ),
    ("7.5", "the order of keys", Played("keys in their order")),
    ("7.6", "increments and times", Played("increments")),
    ("8", "`.info` is answered, with nothing", Played("what only clients have")),
    ("9.1", "`permission_denied`", Played("refused writes tell nobody anything")),
    ("9.1", "`permission_denied` for what is armed", Played("what is armed and refused")),
    ("9.1", "`datastale`", Played("a stale transaction")),
    (
        "9.1",
        "`unavailable`, `write_too_big` where a limit says so",
        Tested("server/tests/hostile/limits.rs", "sockets_are_limited_as_the_file_says"),
    ),
    ("9.1", "`too_big`", Tested("server/tests/hostile/main.rs", "a_connection_listens_to_so_many_places")),
    (
        "9.1",
        "`write_too_big`",
        Tested("server/tests/hostile/main.rs", "values_that_would_take_much_memory_are_refused"),
    ),
    ("9.1", "`invalid_token`", Played("tokens that are none and app check")),
    (
        "9.1",
        "`expired_token`",
        Tested("server/tests/tokens/until.rs", "a_connection_is_nobodys_when_its_token_ends"),
    ),
    ("9.1", "`failure`, with a text for the app", Played("a query without its index")),
    ("9.1", "`disconnected`", Never("whoever has no connection cannot be told")),
    ("9.1", "any other: `invalid`", Played("what nobody knows")),
    ("9.2", "the text of a refused read can be shown", Played("a right that ends")),
    (
        "9.3",
        "statuses that clients make are no statuses of a server",
        Tested("wire/src/status.rs", "what_clients_make_up_is_no_status"),
    ),
    (
        "10.1",
        "a client without back-off is slowed down",
        Tested("server/tests/hostile/connections.rs", "there_are_so_many_connections_and_no_more"),
    ),
    ("10.2", "JavaScript sends everything at once", Played("a client of JavaScript comes back")),
    ("10.2", "Android waits for its tokens", Played("a client of Android comes back")),
    (
        "10.2",
        "an increment whose answer was lost is made twice",
        Played("a write whose answer was lost is made twice"),
    ),
    (
        "10.3",
        "`ls` ends the session before, with what it has armed, first",
        Played("a client of JavaScript comes back"),
    ),
    (
        "10.3",
        "ids that nobody has are ignored",
        Played("sessions that nobody has and other names of the server"),
    ),
    ("10.4", "a listen again with its hash", Played("the chat of the reference")),
    (
        "10.5",
        "a new token on the same connection, and none",
        Played("what comes behind a token is judged by it"),
    ),
    (
        "10.5",
        "the end of a token",
        Tested("server/tests/tokens/until.rs", "the_newer_token_counts_whether_it_ends_later_or_sooner"),
    ),
    ("10.6", "a goodbye makes what is armed at once", Played("a client of JavaScript comes back")),
    ("12", "1: no `0` and no empty text", Tested(PITFALLS, "a_server_that_falls_into_a_pitfall_is_told")),
    ("12", "2: pings are answered", Played("keepalives and pings")),
    (
        "12",
        "3: the time is whole and in milliseconds",
        Tested("wire/tests/messages/control.rs", "the_time_of_a_handshake_is_always_one_that_android_reads"),
    ),
    (
        "12",
        "4: the host is the one that was asked",
        Played("sessions that nobody has and other names of the server"),
    ),
    ("12", "5: the ok of a listen has an object", Played("first data and news")),
    ("12", "6: the `d` of an error is no object", Played("what nobody knows")),
    ("12", "7: data before the ok of a listen", Played("first data and news")),
    ("12", "8: news before the ok of a write, to its writer too", Played("first data and news")),
    ("12", "9: data before `datastale`", Played("a stale transaction")),
    ("12", "10: tags for windows and for nothing else", Played("all of a place and a part of it")),
    (
        "12",
        "11: who leaves and who comes in are one message, and who comes in is whole",
        Played("a window by a child in every way that it can change"),
    ),
    ("12", "12: the query of `c` is an array", Played("a right that ends")),
    ("12", "13: keys and texts by UTF-16 units, integers of 32 bits", Played("keys in their order")),
    ("12", "14: hashes by priority first, with padding, of doubles", Played("a hash for each value")),
    ("12", "15: both hashes of a number", Played("two hashes for one number")),
    ("12", "16: the number 0", Played("statistics and the number zero")),
    ("12", "17: no percent-decoding, no slash in front", Played("paths as clients spell them")),
    ("12", "18: ids need no escapes", Tested(LONG_POLL, "a_session_starts_with_a_script")),
    (
        "12",
        "19: no shutdown at a restart",
        Tested(LONG_POLL, "the_end_of_the_server_lets_waiting_clients_go"),
    ),
    ("12", "20: what follows a token waits for it", Played("what comes behind a token is judged by it")),
    (
        "12",
        "21: the old session is over before the new one begins",
        Played("a client of JavaScript comes back"),
    ),
    ("12", "22: a read is filtered", Played("reads apply the whole query and see the writes before them")),
    ("12", "23: long polling is there", Tested(LONG_POLL, "what_is_written_is_read_and_told")),
    (
        "12",
        "24: the goodbye of an old transport ends nothing",
        Tested(LONG_POLL, "a_websocket_takes_a_session_over"),
    ),
    ("12", "25: no compression, no cut inside a character", Played("long messages both ways")),
    (
        "12",
        "26: parts that are no text, a count that is one too high",
        Played("parts that are cut inside a character"),
    ),
    ("12", "27: long bounds, `[MAX_KEY]`", Played("bounds of values and keys")),
    ("12", "28: no `rm` to JavaScript", Played("a listen again replaces the one before")),
    ("12", "29: the same listen again", Played("everything again on a living connection")),
    (
        "12",
        "30: no priority of the place in a window",
        Played("a window by a child in every way that it can change"),
    ),
    ("12", "31: priorities are told", Played("priorities below a listen and at it")),
    ("12", "32: an update is one message", Played("an update is one message")),
    ("12", "33: `1` and not `1.0`", Played("a set replaces children and priority")),
    ("12", "34: no `{\"error\":…}`", Tested(PITFALLS, "a_server_that_falls_into_a_pitfall_is_told")),
    (
        "14.1",
        "long polling serves whoever begins with it, and its conversations are those of a WebSocket",
        Played("the chat of the reference"),
    ),
    (
        "14.2",
        "the start: headers, functions, ticket, handshake",
        Tested(LONG_POLL, "a_session_starts_with_a_script"),
    ),
    ("14.2", "`cb` is digits", Tested(LONG_POLL, "what_nobody_can_understand_is_refused")),
    (
        "14.2",
        "what means something else in a script is escaped",
        Tested(LONG_POLL, "what_is_written_is_read_and_told"),
    ),
    ("14.3", "1: the page of the frame", Tested(LONG_POLL, "the_page_of_the_frame_says_goodbye")),
    (
        "14.3",
        "1: a goodbye ends the session",
        Tested(LONG_POLL, "the_end_of_a_session_makes_the_armed_writes"),
    ),
    (
        "14.3",
        "2: a request waits until there is something to tell",
        Tested(LONG_POLL, "what_is_written_is_read_and_told"),
    ),
    (
        "14.3",
        "3: a newer request ends the older one",
        Tested(LONG_POLL, "a_newer_request_lets_the_older_one_go"),
    ),
    ("14.3", "3: a request ends by itself", Tested(LINE, "a_request_is_let_go_before_the_client_asks_anew")),
    ("14.3", "4: who asks no more is gone", Tested(LINE, "a_client_that_asks_no_more_has_left")),
    (
        "14.3",
        "5: a ticket that opens nothing",
        Tested(LONG_POLL, "tickets_that_open_nothing_are_told_to_begin_anew"),
    ),
    (
        "14.4",
        "segments overtake each other and come twice",
        Tested(LONG_POLL, "segments_may_overtake_each_other_and_come_twice"),
    ),
    (
        "14.4",
        "several segments in one URL, with indexes of their own",
        Tested(LONG_POLL, "a_websocket_takes_a_session_over"),
    ),
    ("14.4", "a URL of 8 KiB", Tested(LONG_POLL, "a_url_of_eight_kilobytes_is_read")),
    ("14.4", "a message in many segments", Tested(LONG_POLL, "a_large_write_comes_in_pieces")),
    ("14.5", "the upgrade, message by message", Played("a WebSocket takes over")),
    ("14.5", "what comes early on the WebSocket waits", Played("a WebSocket takes over")),
    ("14.5", "a session that nobody has: `r`", Played("a WebSocket of a session that nobody has")),
    (
        "14.5",
        "`close` with a number, and the goodbye afterwards",
        Tested(LONG_POLL, "a_websocket_takes_a_session_over"),
    ),
    (
        "14.5",
        "a WebSocket that is given up leaves the session to long polling",
        Played("a WebSocket that is given up"),
    ),
    ("17", "values and their hashes", Played("a hash for each value")),
    ("17", "numbers with two hashes", Played("two hashes for one number")),
    ("17", "the order of keys", Played("keys in their order")),
];

/// The names of all conversations.
fn names() -> BTreeSet<&'static str> {
    let listed = [
        auth::CONVERSATIONS,
        basics::CONVERSATIONS,
        disconnects::CONVERSATIONS,
        listens::CONVERSATIONS,
        queries::CONVERSATIONS,
        sessions::CONVERSATIONS,
        upgrades::CONVERSATIONS,
        writes::CONVERSATIONS,
    ];
    let listed = listed.into_iter().flatten().map(|(name, _)| *name);
    let made =
        [bounds::conversations(), frames::conversations(), hashes::conversations(), ranges::conversations()];
    let made = made.into_iter().flatten().map(|(name, _)| name);
    let all: Vec<_> = listed.chain(made).collect();
    let names: BTreeSet<_> = all.iter().copied().collect();
    assert_eq!(names.len(), all.len(), "a name stands twice");
    names
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn every_statement_is_shown_where_it_says() {
    let names = names();
    let mut unused = names.clone();
    for (section, statement, shown) in STATEMENTS {
        match shown {
            Played(name) => {
                assert!(names.contains(name), "{section}, {statement}: there is no conversation `{name}`");
                unused.remove(name);
            }
            Tested(file, name) => {
                let text = fs::read_to_string(root().join(file)).expect(file);
                assert!(
                    text.contains(&format!("fn {name}(")),
                    "{section}, {statement}: {file} has no `{name}`"
                );
            }
            Never(reason) => assert!(!reason.is_empty(), "{section}, {statement}"),
        }
    }
    assert!(unused.is_empty(), "these show nothing: {unused:?}");
}

#[test]
fn every_section_and_pitfall_has_its_statements() {
    let page = fs::read_to_string(root().join("docs/reference/wire-protocol.md")).unwrap();
    let chapters = ["3", "4", "5", "6", "9", "10", "14"];
    let headings = page.lines().filter_map(|line| line.strip_prefix("### ")?.split(' ').next());
    let sections = headings.filter(|section| chapters.contains(&section.split('.').next().unwrap()));
    let missing: Vec<_> =
        sections.filter(|section| STATEMENTS.iter().all(|(own, ..)| own != section)).collect();
    assert!(missing.is_empty(), "nothing is said of {missing:?}");
    let (_, pitfalls) = page.split_once("## 12. Pitfalls\n").unwrap();
    let pitfalls = pitfalls.split("\n---").next().unwrap();
    let numbers = pitfalls.lines().filter_map(|line| line.split_once(". ")?.0.parse::<u32>().ok());
    for number in numbers {
        let of = |(section, statement, _): &&(&str, &str, Shown)| {
            *section == "12" && statement.starts_with(&format!("{number}: "))
        };
        assert!(STATEMENTS.iter().any(|row| of(&row)), "nothing is said of pitfall {number}");
    }
}
