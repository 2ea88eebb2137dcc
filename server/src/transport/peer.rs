//! Who is at the other end of a connection.

use super::proxies::Proxies;
use crate::database::Database;
use crate::limits::{Line, Who};
use axum::http::{Extensions, HeaderMap};
use hearth_engine::Identity;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};

/// One connection of HTTP, and where it comes from. With every request that came over it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    /// Never used for another one. None, if a proxy shares it among its clients.
    pub(crate) connection: Option<u64>,
}

/// Numbers connections.
#[derive(Debug, Default)]
pub(super) struct Connections(AtomicU64);

impl Connections {
    /// A connection that begins.
    pub(super) fn next(&self, address: SocketAddr) -> Peer {
        Peer {
            address: address.ip().to_canonical(),
            connection: Some(self.0.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

impl Peer {
    /// As somebody who asks something of a database by a request of their own.
    pub(crate) fn who<'a>(&self, database: &'a Database, identity: &'a Identity) -> Who<'a> {
        let Self { address, connection } = *self;
        let line = connection.map_or(Line::Shared, Line::Http);
        Who { database: database.name(), identity, address, line }
    }

    /// Of a request that has come over the connection of this one: of whom a proxy says that it is.
    pub(super) fn behind(self, proxies: &Proxies, headers: &HeaderMap) -> Self {
        if proxies.has(self.address) {
            Self { address: proxies.client(self.address, headers), connection: None }
        } else {
            self
        }
    }

    /// Of a request. One that came over no connection, as in tests, comes from nowhere.
    pub(crate) fn of(extensions: &Extensions) -> Self {
        let nowhere = Self { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), connection: None };
        extensions.get().copied().unwrap_or(nowhere)
    }
}
