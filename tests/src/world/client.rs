//! One client connection, as both of its ends know it.

use super::mirror::Mirror;
use super::wish::Wish;
use crate::naive::Query;
use hearth_engine::{Identity, SessionId, Tag, Ticket};
use hearth_tree::Hash;
use std::collections::{BTreeMap, VecDeque};

/// A client with a living connection.
#[derive(Debug)]
pub(super) struct Client {
    /// Its connection.
    pub session: SessionId,
    /// Who it is, as far as the server has read.
    pub identity: Identity,
    /// What it has sent and the server has not read yet, the oldest first.
    pub sent: VecDeque<Ask>,
    /// What it waits to be answered, the oldest first.
    pub awaited: VecDeque<Ticket>,
    /// How many of its writes the committer has and the publisher has not.
    pub under_way: usize,
    /// Its listeners.
    pub mirrors: BTreeMap<(String, Option<Tag>), Mirror>,
    /// What the server has been asked to listen to, and has not been asked to forget.
    pub standing: BTreeMap<(String, Option<Tag>), Query>,
    /// The revision that all listeners show together.
    pub seen: usize,
}

/// What a client asks.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    /// Of the committer.
    Decide(Ticket, Deed),
    /// To listen.
    Listen {
        /// The name of the request.
        ticket: Ticket,
        /// Where.
        at: String,
        /// To what.
        query: Query,
        /// By which name.
        tag: Option<Tag>,
        /// What it says to have.
        known: Option<Option<Hash>>,
    },
    /// To listen no longer.
    Unlisten(String, Option<Tag>),
    /// To be somebody else.
    Identify(Identity),
}

/// What a client asks of the committer.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    /// A write.
    Write(Wish),
    /// A write if a place has that hash.
    WriteIf(String, Option<Hash>, Wish),
    /// A write when it is gone.
    Arm(Wish),
    /// No write at a place and below when it is gone.
    Disarm(String),
}

impl Client {
    /// A client that has just connected.
    pub(super) fn new(session: SessionId, identity: Identity) -> Self {
        Self {
            session,
            identity,
            sent: VecDeque::new(),
            awaited: VecDeque::new(),
            under_way: 0,
            mirrors: BTreeMap::new(),
            standing: BTreeMap::new(),
            seen: 0,
        }
    }

    /// Sends a request.
    pub(super) fn send(&mut self, ask: Ask) {
        match &ask {
            Ask::Decide(ticket, _) | Ask::Listen { ticket, .. } => self.awaited.push_back(*ticket),
            Ask::Unlisten(..) | Ask::Identify(_) => {}
        }
        self.sent.push_back(ask);
    }

    /// A listen has been answered; gives the listener, if that is not forgotten.
    pub(super) fn answered(&mut self, ticket: Ticket, is_listening: bool) -> Option<(String, Option<Tag>)> {
        let asked = self.mirrors.iter_mut().find(|(_, mirror)| mirror.asked_by.contains(&ticket));
        let (place, mirror) = asked?;
        let place = place.clone();
        mirror.asked_by.retain(|&own| own != ticket);
        mirror.is_answered = is_listening;
        if !is_listening && mirror.asked_by.is_empty() {
            self.mirrors.remove(&place);
        }
        Some(place)
    }

    /// A listener has lost its permission; unless its client has asked anew since.
    pub(super) fn revoked(&mut self, place: &(String, Option<Tag>)) {
        if self.mirrors.get(place).is_some_and(|mirror| mirror.asked_by.is_empty()) {
            self.mirrors.remove(place);
        } else if let Some(mirror) = self.mirrors.get_mut(place) {
            mirror.is_answered = false;
        }
    }
}
