//! The sessions that are polled, by the tickets of their clients.

use super::line::Call;
use crate::transport::websocket::Carrier;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use hearth_wire::{SessionId, Ticket};
use std::sync::Arc;
use subtle::ConstantTimeEq;
use tokio::sync::mpsc;

/// Most sessions at once. Whoever begins one needs no connection to keep it, so they are counted.
const LINES_MAX: usize = 16_384;
/// Requests of one session that have come and were not looked at yet. Clients have three under way at the most.
const CALLS_MAX: usize = 8;

/// The sessions that are polled.
#[derive(Default)]
pub(in crate::transport) struct Lines(DashMap<String, Known>);

struct Known {
    password: SessionId,
    at: At,
}

/// Where the client of a ticket is served.
#[derive(Clone)]
pub(super) enum At {
    /// Here.
    Line(mpsc::Sender<Call>),
    /// By a WebSocket that has taken the session over. Polls end with the message of this number, and what says goodbye
    /// to long polling says it to nothing else (wire reference 14.5).
    WebSocket { last: u64 },
}

/// A session's own end of it. Dropped when the session is over.
pub(super) struct Place {
    lines: Arc<Lines>,
    ticket: Ticket,
}

impl Lines {
    /// A session begins; not, if there are too many.
    pub(super) fn enter(self: &Arc<Self>, ticket: Ticket) -> Option<(Place, mpsc::Receiver<Call>)> {
        if LINES_MAX <= self.0.len() {
            return None;
        }
        let (calls, inbox) = mpsc::channel(CALLS_MAX);
        let known = Known { password: ticket.password.clone(), at: At::Line(calls) };
        self.0.insert(ticket.id.as_str().into(), known);
        Some((Place { lines: self.clone(), ticket }, inbox))
    }

    /// Where the session of this ticket is served, if there is one and the ticket is its own. How long that takes says
    /// nothing about the password.
    pub(super) fn find(&self, ticket: &Ticket) -> Option<At> {
        let known = self.0.get(ticket.id.as_str())?;
        let (own, shown) = (known.password.as_str().as_bytes(), ticket.password.as_str().as_bytes());
        bool::from(own.ct_eq(shown)).then(|| known.at.clone())
    }

    /// Has the session of that name taken over by a WebSocket; gives it back if there is none.
    pub(in crate::transport) async fn take_over(
        &self,
        name: &SessionId,
        carrier: Carrier,
    ) -> Result<(), Carrier> {
        let at = self.0.get(name.as_str()).map(|known| known.at.clone());
        let Some(At::Line(calls)) = at else { return Err(carrier) };
        // What is put into a queue that nobody reads any more could not be got back.
        let Ok(room) = calls.reserve().await else { return Err(carrier) };
        room.send(Call::TakeOver(Box::new(carrier)));
        Ok(())
    }
}

#[cfg(test)]
impl Lines {
    /// The calls to the one session that there is.
    pub(super) fn only(&self) -> Option<mpsc::Sender<Call>> {
        self.0.iter().find_map(|known| match &known.at {
            At::Line(calls) => Some(calls.clone()),
            At::WebSocket { .. } => None,
        })
    }
}

impl Place {
    /// The ticket of its client.
    pub(super) const fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// From now on a WebSocket carries the session.
    pub(super) fn move_away(&self, last: u64) {
        if let Entry::Occupied(mut known) = self.lines.0.entry(self.ticket.id.as_str().into()) {
            known.get_mut().at = At::WebSocket { last };
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lines.0.remove(self.ticket.id.as_str());
    }
}
