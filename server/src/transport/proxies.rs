//! The proxies in front of the server, and whom they speak for.
//!
//! Why only those that are named: whoever reaches the server can write anything into a header, and would be counted as
//! somebody else each time. Why the right-most address that is no proxy's: each proxy appends whom it was asked by, so
//! that what stands further left was written by the client.

use axum::http::header::FORWARDED;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde::de::{Deserialize, Deserializer, Error};
use std::net::{IpAddr, SocketAddr};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Addresses that may speak for others; none, if nobody stands in front.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proxies(Vec<Network>);

/// An address, or all that begin like it: `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    first: IpAddr,
    bits: u32,
}

/// Why something is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is neither an address nor a network such as 10.0.0.0/8")]
pub(crate) struct NetworkError {
    text: String,
}

impl Network {
    /// # Errors
    /// [`NetworkError`] quotes the text.
    pub(crate) fn parse(text: &str) -> Result<Self, NetworkError> {
        let error = || NetworkError { text: text.into() };
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let first = address.parse::<IpAddr>().map_err(|_| error())?.to_canonical();
        let bits_max = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(bits_max), |bits| bits.parse().map_err(|_| error()))?;
        if bits_max < bits { Err(error()) } else { Ok(Self { first, bits }) }
    }

    fn has(self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                (first.to_bits() ^ address.to_bits()).checked_shr(32 - self.bits).unwrap_or(0) == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                (first.to_bits() ^ address.to_bits()).checked_shr(128 - self.bits).unwrap_or(0) == 0
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

impl From<Vec<Network>> for Proxies {
    fn from(networks: Vec<Network>) -> Self {
        Self(networks)
    }
}

impl Proxies {
    /// Whether an address may speak for others.
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.has(address))
    }

    /// Where a request really comes from, that has come from `address`. Where both headers are there and do not agree, one
    /// of them was not written by the proxy, and nobody can tell which: then it is the proxy itself. Elements are told apart
    /// as bytes, before anything is read: one that is no text makes none of the others unreadable.
    pub(crate) fn client(&self, address: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.has(address) {
            return address;
        }
        let elements = |name: &HeaderName| {
            let lines = headers.get_all(name).into_iter().map(HeaderValue::as_bytes);
            let elements = lines.flat_map(|line| line.split(|&byte| byte == b','));
            // One that is no text is as one that is empty: no address.
            elements.map(|element| str::from_utf8(element).unwrap_or_default().trim()).collect::<Vec<_>>()
        };
        let (plain, standard) = (elements(&X_FORWARDED_FOR), elements(&FORWARDED));
        let plain = (!plain.is_empty()).then(|| self.first_stranger(address, &plain, address_of));
        let standard = (!standard.is_empty())
            .then(|| self.first_stranger(address, &standard, |text| address_of(node_of(text)?)));
        match (plain, standard) {
            (Some(plain), Some(standard)) if plain != standard => address,
            (Some(client), _) | (None, Some(client)) => client,
            (None, None) => address,
        }
    }

    /// The last that is no proxy's. What cannot be read was written by the last proxy before it, of whom nothing more is
    /// known.
    fn first_stranger(
        &self,
        address: IpAddr,
        elements: &[&str],
        read: impl Fn(&str) -> Option<IpAddr>,
    ) -> IpAddr {
        let mut client = address;
        for element in elements.iter().rev() {
            match read(element) {
                Some(before) => client = before,
                None => break,
            }
            if !self.has(client) {
                break;
            }
        }
        client
    }
}

/// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
fn address_of(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

/// What `for` says in one element of `Forwarded` (RFC 7239): `for="[2001:db8::1]:80";proto=http`.
fn node_of(element: &str) -> Option<&str> {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, node) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    Some(node.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_the_addresses_that_begin_alike() {
        for (network, address, expected) in [
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false),
            ("10.1.0.0/16", "10.1.255.4", true),
            ("10.1.0.0/16", "10.2.0.0", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:5::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::/0", "2001:db9::1", true),
            ("::ffff:10.1.2.3", "10.1.2.3", true),
        ] {
            let found = Network::parse(network).unwrap().has(address.parse().unwrap());
            assert_eq!(found, expected, "{network} {address}");
        }
        for text in ["", "10.1.2", "10.1.2.3/33", "10.1.2.3/x", "localhost", "10.1.2.3/-1"] {
            Network::parse(text).unwrap_err();
        }
    }

    #[test]
    fn the_client_is_the_last_that_is_no_proxy() {
        let proxies = Proxies(["127.0.0.1", "10.0.0.0/8"].map(|text| Network::parse(text).unwrap()).into());
        for (from, headers, expected) in [
            // Who is no proxy can say what they like.
            ("192.0.2.1", &[("x-forwarded-for", "203.0.113.9")][..], "192.0.2.1"),
            ("127.0.0.1", &[], "127.0.0.1"),
            ("127.0.0.1", &[("x-forwarded-for", "203.0.113.9")], "203.0.113.9"),
            ("127.0.0.1", &[("x-forwarded-for", "1.1.1.1, 203.0.113.9")], "203.0.113.9"),
            ("127.0.0.1", &[("x-forwarded-for", "1.1.1.1, 203.0.113.9, 10.1.1.1")], "203.0.113.9"),
            (
                "127.0.0.1",
                &[("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "203.0.113.9")],
                "203.0.113.9",
            ),
            ("127.0.0.1", &[("x-forwarded-for", "203.0.113.9:4711")], "203.0.113.9"),
            ("127.0.0.1", &[("x-forwarded-for", "[2001:db8::1]:80")], "2001:db8::1"),
            ("127.0.0.1", &[("x-forwarded-for", "::ffff:203.0.113.9")], "203.0.113.9"),
            ("127.0.0.1", &[("x-forwarded-for", "203.0.113.9, unknown")], "127.0.0.1"),
            ("127.0.0.1", &[("x-forwarded-for", "203.0.113.9, unknown, 10.1.1.1")], "10.1.1.1"),
            ("127.0.0.1", &[("x-forwarded-for", "10.1.1.1")], "10.1.1.1"),
            ("127.0.0.1", &[("forwarded", "for=203.0.113.9;proto=https")], "203.0.113.9"),
            (
                "127.0.0.1",
                &[("forwarded", "for=1.1.1.1, For=\"[2001:db8::1]:80\";by=10.0.0.1")],
                "2001:db8::1",
            ),
            ("127.0.0.1", &[("forwarded", "for=_hidden")], "127.0.0.1"),
            (
                "127.0.0.1",
                &[("forwarded", "for=203.0.113.9"), ("x-forwarded-for", "203.0.113.9")],
                "203.0.113.9",
            ),
            // What is no text is one element, and what the proxy has written behind it still counts.
            ("127.0.0.1", &[("x-forwarded-for", "#, 203.0.113.9")], "203.0.113.9"),
            ("127.0.0.1", &[("x-forwarded-for", "é, 203.0.113.9")], "203.0.113.9"),
            ("127.0.0.1", &[("x-forwarded-for", "1.1.1.1, x#x, 203.0.113.9, 10.1.1.1")], "203.0.113.9"),
            ("127.0.0.1", &[("x-forwarded-for", "#"), ("x-forwarded-for", "203.0.113.9")], "203.0.113.9"),
            ("127.0.0.1", &[("forwarded", "for=#, for=203.0.113.9")], "203.0.113.9"),
            ("127.0.0.1", &[("x-forwarded-for", "203.0.113.9, #")], "127.0.0.1"),
            ("127.0.0.1", &[("x-forwarded-for", "203.0.113.9#")], "127.0.0.1"),
            ("127.0.0.1", &[("x-forwarded-for", "203.0.113.9, #, 10.1.1.1")], "10.1.1.1"),
            // One of the two is the client's own.
            ("127.0.0.1", &[("forwarded", "for=1.1.1.1"), ("x-forwarded-for", "203.0.113.9")], "127.0.0.1"),
        ] {
            let mut map = HeaderMap::new();
            for &(name, value) in headers {
                // A pound sign for a byte that is no text by itself: no header has one otherwise.
                let bytes: Vec<u8> =
                    value.bytes().map(|byte| if byte == b'#' { 0xff } else { byte }).collect();
                map.append(name, HeaderValue::from_bytes(&bytes).unwrap());
            }
            let client = proxies.client(from.parse().unwrap(), &map);
            assert_eq!(client, expected.parse::<IpAddr>().unwrap(), "{from} {headers:?}");
        }
    }
}
