//! Whose turn it is where many make conditional writes at one place.
//!
//! Why: of ten clients in a transaction loop each one that is refused has to fetch the newest value and try again, and
//! without turns the one with the shortest way wins every time; the others give up after 25 attempts. So who was refused
//! goes first for a moment, and the others wait instead of being refused in vain.

use crate::limits::{TURN_MS, TURNS_MAX};
use crate::request::SessionId;
use hearth_tree::Path;
use std::collections::{BTreeMap, VecDeque};

/// Who goes first at which place. Places without a queue take no memory.
#[derive(Debug, Default)]
pub(crate) struct Turns(BTreeMap<Path, Queue>);

#[derive(Debug)]
struct Queue {
    waiting: VecDeque<SessionId>,
    /// Until when the first one is waited for.
    until_ms: i64,
}

impl Turns {
    /// Whether a session must let somebody else go first at a place.
    pub(crate) fn must_wait(&self, at: &Path, session: SessionId, now_ms: i64) -> bool {
        self.0.get(at).is_some_and(|queue| {
            now_ms < queue.until_ms && queue.waiting.front().is_some_and(|&first| first != session)
        })
    }

    /// A session was refused: it goes first once those who were refused before it have written.
    pub(crate) fn refused(&mut self, at: &Path, session: SessionId, now_ms: i64) {
        let queue = self
            .0
            .entry(at.clone())
            .or_insert_with(|| Queue { waiting: VecDeque::new(), until_ms: now_ms + TURN_MS });
        if queue.waiting.front() == Some(&session) {
            // It tried with what it knew before its turn; now it knows better.
            queue.until_ms = now_ms + TURN_MS;
        } else if queue.waiting.len() < TURNS_MAX && !queue.waiting.contains(&session) {
            queue.waiting.push_back(session);
        }
    }

    /// A session has had its turn, or has lost interest.
    pub(crate) fn done(&mut self, at: &Path, session: SessionId, now_ms: i64) {
        let Some(queue) = self.0.get_mut(at) else { return };
        queue.waiting.retain(|&waiting| waiting != session);
        queue.until_ms = now_ms + TURN_MS;
        if queue.waiting.is_empty() {
            self.0.remove(at);
        }
    }

    /// A session has ended.
    pub(crate) fn forget(&mut self, session: SessionId) {
        self.0.retain(|_, queue| {
            queue.waiting.retain(|&waiting| waiting != session);
            !queue.waiting.is_empty()
        });
    }

    /// Passes turns on that were not taken in time.
    pub(crate) fn expire(&mut self, now_ms: i64) {
        self.0.retain(|_, queue| {
            if queue.until_ms <= now_ms {
                queue.waiting.pop_front();
                queue.until_ms = now_ms + TURN_MS;
            }
            !queue.waiting.is_empty()
        });
    }

    /// When the next turn runs out, in milliseconds since 1970.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.0.values().map(|queue| queue.until_ms).min()
    }
}
