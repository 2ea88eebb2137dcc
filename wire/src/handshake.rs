//! The first message on a connection (wire reference 2.5).

use crate::session::SessionId;
use serde::de::Error;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// The version of the protocol, in the handshake and in the URL.
pub const PROTOCOL_VERSION: &str = "5";

/// The lowest time that may be in a handshake. At or below it Android takes the number for one of 32 bits, fails to
/// read the handshake and connects again, for ever (wire reference 2.5).
pub const HANDSHAKE_TIME_MS_MIN: i64 = 1 << 31;

/// What a client is told first.
#[derive(Clone, Debug, PartialEq)]
pub struct Handshake {
    /// The server's time, in milliseconds since 1970. Written as something above [`HANDSHAKE_TIME_MS_MIN`], whatever
    /// it is.
    pub now_ms: i64,
    /// The host (`host[:port]`) that the client shall connect to from now on: what its `Host` header says, unless it is
    /// meant to go elsewhere. An address that it cannot reach makes every later connection fail.
    pub host: String,
    /// The session. Without one the client names none when it connects again.
    pub session: Option<SessionId>,
}

impl Serialize for Handshake {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Handshake", 4)?;
        // A machine that starts without a clock says 1970. Its clients get a wrong time then, but they get in.
        fields.serialize_field("ts", &self.now_ms.max(HANDSHAKE_TIME_MS_MIN + 1))?;
        fields.serialize_field("v", PROTOCOL_VERSION)?;
        fields.serialize_field("h", &self.host)?;
        fields.serialize_field("s", self.session.as_ref().map_or("", SessionId::as_str))?;
        fields.end()
    }
}

impl<'de> Deserialize<'de> for Handshake {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields<'a> {
            ts: i64,
            #[serde(borrow)]
            h: Cow<'a, str>,
            #[serde(borrow, default)]
            s: Cow<'a, str>,
        }
        let Fields { ts, h, s } = Fields::deserialize(deserializer)?;
        let session = match &*s {
            "" => None,
            id => Some(SessionId::parse(id).map_err(D::Error::custom)?),
        };
        Ok(Self { now_ms: ts, host: h.into_owned(), session })
    }
}
