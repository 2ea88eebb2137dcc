//! What is said about the connection itself (wire reference 2.4).

use crate::handshake::Handshake;
use crate::text::{Empty, Envelope, encode};

/// What a server says about the connection.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerControl {
    /// The first message on every connection.
    Handshake(Handshake),
    /// The answer to a ping. Without it an idle JavaScript client leaves after 30 s (wire reference 2.5).
    Pong,
    /// Connect to this host (`host[:port]`) instead.
    Reset {
        /// The other host.
        host: String,
    },
    /// Never connect again, not even after a restart of the server. Only for a database that is gone for good: a
    /// server that restarts closes the WebSocket and says nothing (wire reference 2.6).
    Shutdown {
        /// Why, for the client's log.
        reason: String,
    },
    /// A text for the client's log. It is no answer to anything.
    Error {
        /// The text.
        text: String,
    },
    /// This WebSocket takes over a long-polling session (wire reference 14.5).
    Upgraded,
    /// The last message on the old transport.
    End,
}

/// What a client says about the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientControl {
    /// To be answered with [`ServerControl::Pong`] at once.
    Ping,
    /// This WebSocket takes over a long-polling session.
    Upgraded,
    /// The last message on the old transport.
    End,
}

impl ServerControl {
    /// The message.
    pub fn to_text(&self) -> String {
        match self {
            Self::Handshake(handshake) => encode(&Envelope::control("h", handshake)),
            Self::Pong => encode(&Envelope::control("o", Empty {})),
            Self::Reset { host } => encode(&Envelope::control("r", host)),
            Self::Shutdown { reason } => encode(&Envelope::control("s", reason)),
            Self::Error { text } => encode(&Envelope::control("e", text)),
            Self::Upgraded => encode(&Envelope::control("a", Empty {})),
            Self::End => encode(&Envelope::control("n", Empty {})),
        }
    }
}

impl ClientControl {
    /// The message.
    pub fn to_text(self) -> String {
        let kind = match self {
            Self::Ping => "p",
            Self::Upgraded => "a",
            Self::End => "n",
        };
        encode(&Envelope::control(kind, Empty {}))
    }

    /// The control message of this kind, if a client sends it.
    pub(crate) fn parse(kind: &str) -> Option<Self> {
        match kind {
            "p" => Some(Self::Ping),
            "a" => Some(Self::Upgraded),
            "n" => Some(Self::End),
            _ => None,
        }
    }
}
