//! The machine that a URL means, as far as that can be told without asking anybody.

use std::net::{IpAddr, Ipv4Addr};

/// How the emulators of Android (the official one, and another) call the loopback of the machine that they run on.
const EMULATOR_LOOPBACKS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 2, 2), Ipv4Addr::new(10, 0, 3, 2)];

/// A host without its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// An address.
    Address(IpAddr),
    /// A name in lower case, without the dot that may end it.
    Name(String),
}

impl Host {
    /// Reads `host` or `host:port`; nothing, if it is neither.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            // The colons of an address stand in brackets, its port behind them.
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            Some(_) | None => (text, None),
        };
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return None;
        }
        if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            return address.parse().ok().map(|address| Self::Address(IpAddr::V6(address)));
        }
        if let Ok(address) = host.parse() {
            return Some(Self::Address(IpAddr::V4(address)));
        }
        let name = host.strip_suffix('.').unwrap_or(host);
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        (!name.is_empty() && name.bytes().all(is_name)).then(|| Self::Name(name.to_ascii_lowercase()))
    }

    /// Whether it means this machine, wherever it is said: no name of somebody else can be made to look like that.
    pub(crate) fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.to_canonical().is_loopback(),
            Self::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        }
    }

    /// Whether an emulated phone on this machine means this machine by it.
    pub(crate) fn is_loopback_of_emulator(&self) -> bool {
        EMULATOR_LOOPBACKS.iter().any(|&own| *self == Self::Address(own.into()))
    }

    /// Whether nobody can have registered it to point it at whom they like: an address, or a name of one label, as
    /// containers have.
    pub(crate) fn cannot_be_rebound(&self) -> bool {
        match self {
            Self::Address(_) => true,
            Self::Name(name) => self.is_loopback() || !name.contains('.'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_apart() {
        // The text; whether it is loopback, and whether it cannot be rebound.
        for (text, expected) in [
            ("localhost", Some((true, true))),
            ("localhost:9000", Some((true, true))),
            ("LocalHost.:9000", Some((true, true))),
            ("chat.localhost:9000", Some((true, true))),
            ("127.0.0.1", Some((true, true))),
            ("127.9.9.9:1", Some((true, true))),
            ("[::1]:9000", Some((true, true))),
            ("[::1]", Some((true, true))),
            ("[::ffff:127.0.0.1]:9000", Some((true, true))),
            ("10.0.2.2:9000", Some((false, true))),
            ("192.168.1.5:9000", Some((false, true))),
            ("[2001:db8::1]:9000", Some((false, true))),
            ("hearth:9000", Some((false, true))),
            ("localhost.evil.example", Some((false, false))),
            ("127.0.0.1.evil.example:9000", Some((false, false))),
            ("evil-localhost", Some((false, true))),
            ("evil.example", Some((false, false))),
            ("", None),
            (":9000", None),
            (".", None),
            ("localhost:", None),
            ("localhost:http", None),
            ("localhost:99999", None),
            ("user@localhost", None),
            ("localhost/x", None),
            ("local host", None),
            ("::1", None),
            ("[localhost]", None),
            ("[::1", None),
            ("exämple", None),
        ] {
            let found = Host::parse(text).map(|host| (host.is_loopback(), host.cannot_be_rebound()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
