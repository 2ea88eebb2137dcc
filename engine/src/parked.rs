//! Requests that wait for somebody else's turn, and all later ones of the same sessions.
//!
//! Why by session: the requests of a session keep their order, so only the first of each can be next.

use crate::request::{Request, SessionId};
use std::collections::{BTreeMap, VecDeque};

/// Requests by session, with the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Parked {
    by_session: BTreeMap<SessionId, VecDeque<(u64, Request)>>,
    len: usize,
    arrivals: u64,
}

impl Parked {
    /// How many there are.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn push(&mut self, request: Request) {
        self.by_session.entry(request.session).or_default().push_back((self.arrivals, request));
        self.arrivals += 1;
        self.len += 1;
    }

    /// Whether a session has any.
    pub(crate) fn has(&self, session: SessionId) -> bool {
        self.by_session.contains_key(&session)
    }

    /// The first request of each session, with its place in the order of arrival.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = (u64, &Request)> {
        self.by_session.values().filter_map(|requests| requests.front()).map(|(at, request)| (*at, request))
    }

    /// The first request of a session.
    pub(crate) fn first(&self, session: SessionId) -> Option<&Request> {
        self.by_session.get(&session)?.front().map(|(_, request)| request)
    }

    /// Takes the first request of a session.
    pub(crate) fn take(&mut self, session: SessionId) -> Option<Request> {
        let requests = self.by_session.get_mut(&session)?;
        let (_, request) = requests.pop_front()?;
        if requests.is_empty() {
            self.by_session.remove(&session);
        }
        self.len -= 1;
        Some(request)
    }
}
