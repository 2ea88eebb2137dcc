//! Why something failed, in the words of the protocol (wire reference 9).

use std::fmt;

/// A status other than `ok`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The rules do not allow it.
    PermissionDenied,
    /// The data changed since the client read them; it computes its transaction again at once.
    DataStale,
    /// The server cannot do it now.
    Unavailable,
    /// More data than one read may have.
    TooBig,
    /// More data than one write may have.
    WriteTooBig,
    /// The token is no good.
    InvalidToken,
    /// The token was good once.
    ExpiredToken,
    /// The connection ended before it was done.
    Disconnected,
    /// Anything that is the server's fault.
    Failure,
    /// The request itself makes no sense. Not among the service's; clients show it in capitals as the code.
    Invalid,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::PermissionDenied,
        Self::DataStale,
        Self::Unavailable,
        Self::TooBig,
        Self::WriteTooBig,
        Self::InvalidToken,
        Self::ExpiredToken,
        Self::Disconnected,
        Self::Failure,
        Self::Invalid,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PermissionDenied => "permission_denied",
            Self::DataStale => "datastale",
            Self::Unavailable => "unavailable",
            Self::TooBig => "too_big",
            Self::WriteTooBig => "write_too_big",
            Self::InvalidToken => "invalid_token",
            Self::ExpiredToken => "expired_token",
            Self::Disconnected => "disconnected",
            Self::Failure => "failure",
            Self::Invalid => "invalid",
        }
    }

    /// What an app shows if nothing more precise is to be said: JavaScript's `get` and Android show the text and
    /// nothing else (wire reference 4.4, 9.2).
    pub const fn text(self) -> &'static str {
        match self {
            Self::PermissionDenied => "Permission denied",
            Self::DataStale => "Transaction hash does not match",
            Self::Unavailable => "The service is unavailable",
            Self::TooBig => {
                "The data requested exceeds the maximum size that can be accessed with a single request."
            }
            Self::WriteTooBig => {
                "Data to write exceeds the maximum size that can be modified with a single request."
            }
            Self::InvalidToken => "The auth token is not valid.",
            Self::ExpiredToken => "Auth token is expired.",
            Self::Disconnected => "The connection was lost",
            Self::Failure => "The server failed to do this",
            Self::Invalid => "The request is not valid",
        }
    }

    /// The status of this word, if it is one.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wire reference 9.3.
    #[test]
    fn what_clients_make_up_is_no_status() {
        for word in [
            "maxretry",
            "maxretries",
            "set",
            "overriddenbyset",
            "disconnect",
            "network_error",
            "write_canceled",
            "nodata",
        ] {
            assert_eq!(Status::parse(word), None, "{word}");
        }
    }
}
