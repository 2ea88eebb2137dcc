//! What a client says in the URL by which it connects (wire reference 1.1).

use crate::handshake::PROTOCOL_VERSION;
use crate::session::{SessionId, SessionIdError};
use hearth_tree::Excerpt;
use std::borrow::Cow;
use std::fmt;

/// The parameters of a connection.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConnectParams {
    /// The database, as the client names it; see [`crate::Addressed::find`].
    pub namespace: Option<String>,
    /// The client's previous session, to be ended before anything else happens. One that cannot exist is left out.
    pub last_session: Option<SessionId>,
    /// The long-polling session that this WebSocket wants to take over.
    pub transport_session: Option<SessionId>,
    /// An App Check token.
    pub app_check: Option<String>,
    /// The app's id in the client's configuration; for logs.
    pub app_id: Option<String>,
}

/// Why a query string cannot begin a connection. To be answered with HTTP 400.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// Not the protocol of this crate.
    #[error("parameter `v` must be {PROTOCOL_VERSION}, the version of the protocol, not `{}`", Excerpt(.found))]
    Version {
        /// What it is; empty, if it is missing.
        found: String,
    },
    /// Two values for one parameter.
    #[error("parameter `{name}` stands twice in the URL")]
    Repeated {
        /// The parameter.
        name: &'static str,
    },
    /// A session that cannot be taken over, because it cannot exist.
    #[error("parameter `s`: {0}")]
    Session(#[from] SessionIdError),
}

impl ConnectParams {
    /// Reads what stands behind the `?` of the URL. Values may be percent-encoded or not: SDKs do not, browsers do with
    /// some characters. A plus is a plus. Parameters of other names are passed over.
    ///
    /// # Errors
    /// [`ConnectError`] says which parameter is wrong.
    pub fn parse(query: &str) -> Result<Self, ConnectError> {
        let version = find(query, "v")?.unwrap_or_default();
        if version != PROTOCOL_VERSION {
            return Err(ConnectError::Version { found: version.into_owned() });
        }
        let text = |name| {
            find(query, name).map(|value| value.filter(|value| !value.is_empty()).map(Cow::into_owned))
        };
        let transport_session = text("s")?.map(|id| SessionId::parse(&id)).transpose()?;
        Ok(Self {
            namespace: text("ns")?,
            last_session: text("ls")?.and_then(|id| SessionId::parse(&id).ok()),
            transport_session,
            app_check: text("ac")?,
            app_id: text("p")?,
        })
    }
}

/// Shows no token and no session: it ends up in logs.
impl fmt::Debug for ConnectParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, last_session, transport_session, app_check, app_id } = self;
        f.debug_struct("ConnectParams")
            .field("namespace", namespace)
            .field("last_session", last_session)
            .field("transport_session", transport_session)
            .field("app_check", &app_check.as_ref().map(|_| "…"))
            .field("app_id", app_id)
            .finish()
    }
}

/// The value of a parameter, if it is there.
pub(crate) fn find<'q>(query: &'q str, name: &'static str) -> Result<Option<Cow<'q, str>>, ConnectError> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut values = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value);
    match (values.next(), values.next()) {
        (value, None) => Ok(value.map(decoded)),
        (_, Some(_)) => Err(ConnectError::Repeated { name }),
    }
}

/// The text without percent-encoding. What is no encoding stays as it is; what is not UTF-8 becomes U+FFFD.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('%');
    let Some(start) = parts.next().filter(|start| start.len() < text.len()) else {
        return text.into();
    };
    let mut bytes = start.as_bytes().to_vec();
    for part in parts {
        let digit = |at: usize| part.as_bytes().get(at).and_then(|&byte| char::from(byte).to_digit(16));
        match (digit(0), digit(1)) {
            (Some(high), Some(low)) => {
                bytes.push(u8::try_from(high << 4 | low).expect("two hexadecimal digits are a byte"));
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            (Some(_) | None, _) => {
                bytes.push(b'%');
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(text: &str) -> Option<String> {
        Some(text.into())
    }

    fn session(text: &str) -> Option<SessionId> {
        Some(SessionId::parse(text).unwrap())
    }

    #[test]
    fn the_parameters_of_a_url_are_read() {
        let none = ConnectParams::default;
        for (query, expected) in [
            ("v=5", none()),
            (
                "v=5&p=1:123:web:abc&ns=demo-ns",
                ConnectParams { namespace: some("demo-ns"), app_id: some("1:123:web:abc"), ..none() },
            ),
            (
                "v=5&ls=sess-1&p=1:123:web:abc&ns=demo-ns",
                ConnectParams {
                    namespace: some("demo-ns"),
                    last_session: session("sess-1"),
                    app_id: some("1:123:web:abc"),
                    ..none()
                },
            ),
            (
                "v=5&ac=AC-TOK&ns=x",
                ConnectParams { namespace: some("x"), app_check: some("AC-TOK"), ..none() },
            ),
            // Android's order.
            ("ns=NS&v=5&ls=a", ConnectParams { namespace: some("NS"), last_session: session("a"), ..none() }),
            (
                "v=5&r=f&s=LPS1&ns=demo",
                ConnectParams { namespace: some("demo"), transport_session: session("LPS1"), ..none() },
            ),
            // Empty is absent, an impossible old session is none, others are passed over.
            ("v=5&ns=&ls=&s=&ac=&p=&x&&=1", none()),
            ("v=5&ls=a%20b", none()),
            ("v=5&ls=../..", none()),
            // Encoded or not.
            ("v=5&p=1%3a2+3%zz%", ConnectParams { app_id: some("1:2+3%zz%"), ..none() }),
            ("v=5&p=%C3%A9%FF", ConnectParams { app_id: some("é\u{FFFD}"), ..none() }),
        ] {
            assert_eq!(ConnectParams::parse(query), Ok(expected), "{query}");
        }
    }

    #[test]
    fn a_url_that_cannot_begin_a_connection_says_why() {
        for (query, expected) in [
            ("", "parameter `v` must be 5, the version of the protocol, not ``"),
            ("v=4", "parameter `v` must be 5, the version of the protocol, not `4`"),
            ("v=5&ns=a&ns=b", "parameter `ns` stands twice in the URL"),
            (
                "v=5&s=a/b",
                "parameter `s`: `a/b` is not a session id: 1 to 128 of A-Z a-z 0-9 . _ ~ - are allowed",
            ),
        ] {
            let error = ConnectParams::parse(query).expect_err(query);
            assert_eq!(error.to_string(), expected, "{query}");
        }
    }

    #[test]
    fn what_is_shown_of_the_parameters_keeps_secrets() {
        let params = ConnectParams::parse("v=5&ls=sess-1&ac=AC-TOK&s=LPS1&ns=x").unwrap();
        let shown = format!("{params:?}");
        assert!(shown.contains("\"x\""), "{shown}");
        for secret in ["sess-1", "AC-TOK", "LPS1"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
