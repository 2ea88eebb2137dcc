//! How many connections there are at once.
//!
//! Why counted before anything is read: a connection costs a descriptor and some kilobytes from its first moment, and the
//! log and the checkpoints need descriptors, too. A server that has none left loses more than whoever came last.

use crate::limits::network_of;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room for connections.
#[derive(Debug)]
pub(crate) struct Seats {
    most: NonZeroUsize,
    /// Nothing: as many as there are.
    most_per_address: Option<NonZeroUsize>,
    taken: AtomicUsize,
    /// Only those that have any, and only where they are bounded.
    by_address: DashMap<IpAddr, usize>,
}

/// A connection's place. Free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    /// Whose it is, if that is counted.
    address: Option<IpAddr>,
}

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    #[error("this server has too many connections")]
    Server,
    #[error("there are too many connections from this address")]
    Address,
}

impl Seats {
    pub(crate) fn new(most: NonZeroUsize, most_per_address: Option<NonZeroUsize>) -> Self {
        Self { most, most_per_address, taken: AtomicUsize::new(0), by_address: DashMap::new() }
    }

    /// A place for a connection; those of a proxy have any address, so that only their number counts.
    ///
    /// # Errors
    /// [`Full`] says what there is too much of.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr, is_proxy: bool) -> Result<Seat, Full> {
        let taken = |taken| (taken < self.most.get()).then_some(taken + 1);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).map_err(|_| Full::Server)?;
        // From here on it is given back whatever happens.
        let mut seat = Seat { seats: self.clone(), address: None };
        if let Some(most) = self.most_per_address.filter(|_| !is_proxy) {
            let network = network_of(address);
            let mut own = self.by_address.entry(network).or_insert(0);
            if most.get() <= *own {
                return Err(Full::Address);
            }
            *own += 1;
            drop(own);
            seat.address = Some(network);
        }
        Ok(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.taken.fetch_sub(1, Ordering::Relaxed);
        if let Some(address) = self.address
            && let Entry::Occupied(mut own) = self.seats.by_address.entry(address)
        {
            *own.get_mut() -= 1;
            if *own.get() == 0 {
                own.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_and_so_many_of_one_address() {
        let most = |count| NonZeroUsize::new(count).unwrap();
        let seats = Arc::new(Seats::new(most(5), Some(most(2))));
        let mut taken = Vec::new();
        for (address, is_proxy, expected) in [
            ("192.0.2.1", false, None),
            ("192.0.2.1", false, None),
            ("192.0.2.1", false, Some(Full::Address)),
            ("2001:db8::1", false, None),
            ("2001:db8::2", false, None),
            ("2001:db8::3", false, Some(Full::Address)),
            ("192.0.2.1", true, None),
            ("192.0.2.1", true, Some(Full::Server)),
            ("192.0.2.3", false, Some(Full::Server)),
        ] {
            let seat = seats.take(address.parse().unwrap(), is_proxy);
            assert_eq!(seat.as_ref().err().copied(), expected, "{address}");
            taken.extend(seat);
        }
        drop(taken);
        assert_eq!((seats.taken.load(Ordering::Relaxed), seats.by_address.len()), (0, 0));
    }
}
