//! What a client asks for by one URL.

use super::script::Callback;
use super::segments::{SEGMENT_CHARS_MAX, Segment};
use crate::connect::{ConnectError, ConnectParams, find};
use crate::session::{SessionId, SessionIdError};
use hearth_tree::Excerpt;
use std::borrow::Cow;

/// What proves to the server which session a client asks for, and that it is its own. Shows nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The session's name among those that are polled. Must be unguessable, as the password must.
    pub id: SessionId,
    /// What only its client knows.
    pub password: SessionId,
}

/// A request of long polling.
#[derive(Debug, PartialEq, Eq)]
pub enum Visit {
    /// A new session.
    Start {
        /// Whose functions the answer calls.
        callback: Callback,
        /// As for a WebSocket.
        connect: Box<ConnectParams>,
    },
    /// Brings something, and waits for something.
    Poll {
        /// Of which session.
        ticket: Ticket,
        /// What the client says. May be nothing.
        segments: Vec<Segment>,
    },
    /// The page that says goodbye.
    FarewellPage {
        /// For which session.
        ticket: Ticket,
    },
    /// Goodbye.
    Farewell {
        /// To which session.
        ticket: Ticket,
    },
}

/// Why a URL asks for nothing. To be answered with HTTP 400.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VisitError {
    /// What every connection must say.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Neither a start nor a ticket.
    #[error("a parameter is missing: `start` to begin a session, or `id` and `pw` of one")]
    NoTicket,
    /// No ticket can look like that.
    #[error("parameter `{name}`: {error}")]
    Ticket {
        /// The parameter.
        name: &'static str,
        /// What is wrong with it.
        error: SessionIdError,
    },
    /// A start without functions to call.
    #[error("parameter `cb` must be a number of 1 to 16 digits, not `{}`", Excerpt(.found))]
    Callback {
        /// What it is; empty, if it is missing.
        found: String,
    },
    /// A part of a message of which something is missing.
    #[error("parameter `{name}{index}` is missing: `seg`, `ts` and `d` come together")]
    Missing {
        /// `seg`, `ts` or `d`.
        name: &'static str,
        /// Which of the segments in the URL.
        index: usize,
    },
    /// No number where one belongs.
    #[error("parameter `{name}{index}` must be a number, not `{}`", Excerpt(.found))]
    Number {
        /// `seg` or `ts`.
        name: &'static str,
        /// Which of the segments in the URL.
        index: usize,
        /// What it is.
        found: String,
    },
    /// More than a segment may have.
    #[error("parameter `d{index}` has {chars} characters; at most {SEGMENT_CHARS_MAX} are allowed")]
    TooLong {
        /// Which of the segments in the URL.
        index: usize,
        /// Its length.
        chars: usize,
    },
}

impl Ticket {
    /// Checks the characters of both.
    ///
    /// # Errors
    /// [`VisitError::Ticket`] says which of them cannot be.
    pub fn parse(id: &str, password: &str) -> Result<Self, VisitError> {
        let checked = |name, text| SessionId::parse(text).map_err(|error| VisitError::Ticket { name, error });
        Ok(Self { id: checked("id", id)?, password: checked("pw", password)? })
    }
}

impl Visit {
    /// Reads what stands behind the `?` of the URL. Parameters of other names are passed over. O(length).
    ///
    /// # Errors
    /// [`VisitError`] says which parameter is wrong.
    pub fn parse(query: &str) -> Result<Self, VisitError> {
        let is_set = |name| find(query, name).map(|value| value.is_some_and(|value| value == "t"));
        if is_set("start")? {
            let found = find(query, "cb")?.unwrap_or_default();
            let Some(callback) = Callback::parse(&found) else {
                return Err(VisitError::Callback { found: found.into_owned() });
            };
            return Ok(Self::Start { callback, connect: Box::new(ConnectParams::parse(query)?) });
        }
        let (Some(id), Some(password)) = (find(query, "id")?, find(query, "pw")?) else {
            return Err(VisitError::NoTicket);
        };
        let ticket = Ticket::parse(&id, &password)?;
        if is_set("disconn")? {
            return Ok(Self::Farewell { ticket });
        }
        if is_set("dframe")? {
            return Ok(Self::FarewellPage { ticket });
        }
        Ok(Self::Poll { ticket, segments: segments(query)? })
    }
}

/// The segments of a URL, in one pass: there may be many, and clients write each as `seg`, `ts`, `d`, in this order.
fn segments(query: &str) -> Result<Vec<Segment>, VisitError> {
    let mut found = Vec::new();
    let mut pairs = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .skip_while(|(key, _)| *key != "seg0")
        .peekable();
    while pairs.peek().is_some() {
        let index = found.len();
        let mut next = |name: &'static str| {
            let own = |key: &str| key.strip_prefix(name).is_some_and(|digits| digits == index.to_string());
            let value = pairs.next_if(|(key, _)| own(key)).map(|(_, value)| value);
            value.ok_or(VisitError::Missing { name, index })
        };
        let (number, of, data) = (next("seg")?, next("ts")?, next("d")?);
        let data = crate::connect::decoded(data);
        if SEGMENT_CHARS_MAX < data.len() {
            return Err(VisitError::TooLong { index, chars: data.chars().count() });
        }
        found.push(Segment {
            number: parsed("seg", index, number)?,
            of: parsed("ts", index, of)?,
            data: Cow::into_owned(data),
        });
        // What else stands in the URL stands before the segments, and is not looked at here; behind them is nothing.
        if pairs.peek().is_some_and(|(key, _)| !key.starts_with("seg")) {
            break;
        }
    }
    Ok(found)
}

fn parsed<N: std::str::FromStr>(name: &'static str, index: usize, text: &str) -> Result<N, VisitError> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { text.parse().ok() } else { None };
    number.ok_or_else(|| VisitError::Number { name, index, found: text.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket() -> Ticket {
        Ticket::parse("41", "pW3f").unwrap()
    }

    fn poll(segments: &[(u64, u64, &str)]) -> Visit {
        let segments =
            segments.iter().map(|&(number, of, data)| Segment { number, of, data: data.into() }).collect();
        Visit::Poll { ticket: ticket(), segments }
    }

    #[test]
    fn urls_are_read() {
        let start = |connect: &str| Visit::Start {
            callback: Callback::parse("7").unwrap(),
            connect: Box::new(ConnectParams::parse(connect).unwrap()),
        };
        for (query, expected) in [
            ("start=t&ser=48210332&cb=7&v=5&ns=demo", start("v=5&ns=demo")),
            ("start=t&ser=1&cb=7&v=5&ls=a&p=1:2&ns=demo", start("v=5&ls=a&p=1:2&ns=demo")),
            ("id=41&pw=pW3f&ser=48210333&ns=demo", poll(&[])),
            ("id=41&pw=pW3f&ser=1&ns=demo&seg0=12&ts0=2&d0=eyJ0", poll(&[(12, 2, "eyJ0")])),
            (
                "id=41&pw=pW3f&ser=1&seg0=0&ts0=1&d0=e30.&seg1=1&ts1=1&d1=e30%2E",
                poll(&[(0, 1, "e30."), (1, 1, "e30.")]),
            ),
            ("id=41&pw=pW3f&seg0=0&ts0=1&d0=", poll(&[(0, 1, "")])),
            ("id=41&pw=pW3f&seg0=0&ts0=1&d0=e30.&ns=demo", poll(&[(0, 1, "e30.")])),
            ("dframe=t&id=41&pw=pW3f&ns=demo", Visit::FarewellPage { ticket: ticket() }),
            ("disconn=t&id=41&pw=pW3f", Visit::Farewell { ticket: ticket() }),
        ] {
            assert_eq!(Visit::parse(query), Ok(expected), "{query}");
        }
    }

    #[test]
    fn a_url_that_asks_for_nothing_says_why() {
        let long = format!("id=41&pw=p&seg0=0&ts0=1&d0={}", "x".repeat(SEGMENT_CHARS_MAX + 1));
        for (query, expected) in [
            ("", "a parameter is missing: `start` to begin a session, or `id` and `pw` of one"),
            ("id=41", "a parameter is missing: `start` to begin a session, or `id` and `pw` of one"),
            (
                "start=f&cb=7&v=5",
                "a parameter is missing: `start` to begin a session, or `id` and `pw` of one",
            ),
            ("start=t&v=5", "parameter `cb` must be a number of 1 to 16 digits, not ``"),
            ("start=t&v=5&cb=a", "parameter `cb` must be a number of 1 to 16 digits, not `a`"),
            ("start=t&cb=7&v=4", "parameter `v` must be 5, the version of the protocol, not `4`"),
            ("id=41&id=42&pw=p", "parameter `id` stands twice in the URL"),
            (
                "id=4/1&pw=p",
                "parameter `id`: `4/1` is not a session id: 1 to 128 of A-Z a-z 0-9 . _ ~ - are allowed",
            ),
            (
                "id=41&pw=",
                "parameter `pw`: `` is not a session id: 1 to 128 of A-Z a-z 0-9 . _ ~ - are allowed",
            ),
            ("id=41&pw=p&seg0=1", "parameter `ts0` is missing: `seg`, `ts` and `d` come together"),
            ("id=41&pw=p&seg0=1&ts0=1", "parameter `d0` is missing: `seg`, `ts` and `d` come together"),
            (
                "id=41&pw=p&seg0=1&ts0=1&d0=&seg2=2&ts2=1&d2=",
                "parameter `seg1` is missing: `seg`, `ts` and `d` come together",
            ),
            ("id=41&pw=p&seg0=-1&ts0=1&d0=", "parameter `seg0` must be a number, not `-1`"),
            ("id=41&pw=p&seg0=+1&ts0=1&d0=", "parameter `seg0` must be a number, not `+1`"),
            ("id=41&pw=p&seg0=1&ts0=&d0=", "parameter `ts0` must be a number, not ``"),
            (
                "id=41&pw=p&seg0=99999999999999999999&ts0=1&d0=",
                "parameter `seg0` must be a number, not `99999999999999999999`",
            ),
            (&long, "parameter `d0` has 4097 characters; at most 4096 are allowed"),
        ] {
            let error = Visit::parse(query).expect_err(query);
            assert_eq!(error.to_string(), expected, "{query}");
        }
    }
}
