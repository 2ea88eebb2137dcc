//! Who is counted.

use super::limit::Per;
use hearth_engine::{Identity, SessionId};
use hearth_rules::Claim;
use std::net::{IpAddr, Ipv6Addr};

/// Somebody who wants something of one database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who<'a> {
    pub(crate) database: &'a str,
    pub(crate) identity: &'a Identity,
    pub(crate) address: IpAddr,
    pub(crate) line: Line,
}

/// What somebody is connected by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Line {
    /// A WebSocket, or a session of long polling.
    Session(SessionId),
    /// A connection of HTTP, whatever is asked over it.
    Http(u64),
    /// One that a proxy shares among its clients, so that the address stands for it.
    Shared,
}

/// Whoever has a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Subject<'a> {
    Line(Line),
    Network(IpAddr),
    Uid(&'a str),
}

impl<'a> Who<'a> {
    /// Who is counted by that. Somebody without a `uid` is counted by the address instead, or a limit by `uid` would hold
    /// for those alone who have signed in.
    pub(super) fn subject(&self, per: Per) -> Subject<'a> {
        let network = Subject::Network(network_of(self.address));
        match per {
            Per::Address => network,
            Per::Connection => match self.line {
                Line::Session(_) | Line::Http(_) => Subject::Line(self.line),
                Line::Shared => network,
            },
            Per::Uid => uid_of(self.identity).map_or(network, Subject::Uid),
        }
    }
}

/// The `uid` of somebody who has one.
pub(crate) fn uid_of(identity: &Identity) -> Option<&str> {
    let Identity::User(claim) = identity else { return None };
    let Claim::Object(members) = &**claim else { return None };
    match members.get("uid") {
        Some(Claim::Text(uid)) => Some(uid),
        Some(Claim::Null | Claim::Bool(_) | Claim::Number(_) | Claim::List(_) | Claim::Object(_)) | None => {
            None
        }
    }
}

/// What one customer of a network has: of IPv6 a /64, in which anybody takes as many addresses as they like.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_customer_are_one() {
        for (address, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:3::1", "2001:db8:1:3::"),
            ("::1", "::"),
        ] {
            assert_eq!(network_of(address.parse().unwrap()).to_string(), expected, "{address}");
        }
    }
}
