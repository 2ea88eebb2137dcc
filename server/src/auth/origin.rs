//! Whose page a browser shows while it sends a request.

use super::host::Host;
use hearth_tree::Excerpt;
use std::fmt;

/// `scheme://host[:port]` in lower case, as browsers write it: without the port that the scheme has anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    text: String,
    host: Host,
}

/// A text that is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not an origin: it looks like `http://localhost:5173`, without a path", Excerpt(.text))]
pub(crate) struct OriginError {
    text: String,
}

impl Origin {
    /// Reads it.
    ///
    /// # Errors
    /// [`OriginError`] if it is none. `null` is none either: every page may call itself that.
    pub(crate) fn parse(text: &str) -> Result<Self, OriginError> {
        let error = || OriginError { text: text.into() };
        let own = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let (scheme, authority) = own.split_once("://").ok_or_else(error)?;
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        if scheme.is_empty() || !scheme.bytes().all(is_scheme) {
            return Err(error());
        }
        let host = Host::parse(authority).ok_or_else(error)?;
        let own_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => "",
        };
        let authority = authority.strip_suffix(own_port).unwrap_or(authority);
        Ok(Self { text: format!("{scheme}://{authority}"), host })
    }

    /// Whether it is a page that this machine serves. Pages of other schemes are not, even if they say `localhost`:
    /// some apps show everything under that name.
    pub(crate) fn is_loopback(&self) -> bool {
        let of_web = self.text.starts_with("http://") || self.text.starts_with("https://");
        of_web && self.host.is_loopback()
    }

    /// Where the page comes from.
    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_read_as_browsers_write_them() {
        // The text; how it is written, and whether it is loopback.
        for (text, expected) in [
            ("http://localhost:5173", Some(("http://localhost:5173", true))),
            ("http://LOCALHOST:5173/", Some(("http://localhost:5173", true))),
            ("https://localhost:443", Some(("https://localhost", true))),
            ("http://localhost:443", Some(("http://localhost:443", true))),
            ("http://[::1]:80", Some(("http://[::1]", true))),
            ("http://app.localhost", Some(("http://app.localhost", true))),
            ("capacitor://localhost", Some(("capacitor://localhost", false))),
            ("http://10.0.2.2:8080", Some(("http://10.0.2.2:8080", false))),
            ("https://evil.example", Some(("https://evil.example", false))),
            ("http://localhost.evil.example", Some(("http://localhost.evil.example", false))),
            ("null", None),
            ("*", None),
            ("", None),
            ("localhost:5173", None),
            ("http://localhost/path", None),
            ("http://a@localhost", None),
            ("://localhost", None),
            ("http://", None),
        ] {
            let origin = Origin::parse(text).ok();
            let found = origin.as_ref().map(|origin| (origin.text.as_str(), origin.is_loopback()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
