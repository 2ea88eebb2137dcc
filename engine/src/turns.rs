//! Whose turn it is where many make conditional writes at one place.
//!
//! Why: of ten clients in a transaction loop each one that is refused has to fetch the newest value and try again, and
//! without turns the one with the shortest way wins every time; the others give up after 25 attempts. So who was refused
//! or came later stands in line: its request waits for its turn, and the one whose turn it is is waited for a moment.

use crate::limits::{REFUSALS_IN_TURN_MAX, TURN_MS, TURNS_MAX};
use crate::request::SessionId;
use hearth_tree::Path;
use std::collections::{BTreeMap, VecDeque};

/// Who stands in line at which place. Places without a line take no memory.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    lines: BTreeMap<Path, Line>,
    /// No turn runs out before.
    soonest_ms: i64,
}

#[derive(Debug)]
struct Line {
    waiting: VecDeque<Waiting>,
    /// How long the next one is waited for. Less after each who did not come: of those who only wanted to be the first
    /// none comes back.
    patience_ms: i64,
}

#[derive(Debug)]
struct Waiting {
    session: SessionId,
    /// Whether a request of it lies here; else until when it is waited for.
    presence: Presence,
    /// How often it was refused while it was first.
    refusals: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum Presence {
    Here,
    Until(i64),
}

impl Line {
    fn find(&self, session: SessionId) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.session == session)
    }

    /// When the first of all who are not here is late.
    fn soonest_ms(&self) -> Option<i64> {
        let late_ms = |waiting: &Waiting| match waiting.presence {
            Presence::Here => None,
            Presence::Until(late_ms) => Some(late_ms),
        };
        self.waiting.iter().filter_map(late_ms).min()
    }

    /// When the one who is waited for comes too late.
    fn late_ms(&self) -> Option<i64> {
        match self.waiting.front()?.presence {
            Presence::Here => None,
            Presence::Until(late_ms) => Some(late_ms),
        }
    }
}

impl Turns {
    /// Whether a session must let somebody else go first at a place. Where the line is full, who is not in it need not:
    /// its place would never come.
    pub(crate) fn must_wait(&self, at: &Path, session: SessionId) -> bool {
        self.lines.get(at).is_some_and(|line| {
            let is_first = line.waiting.front().is_none_or(|first| first.session == session);
            !is_first && (line.waiting.len() < TURNS_MAX || line.find(session).is_some())
        })
    }

    /// A request of a session waits at a place where it must.
    pub(crate) fn wait(&mut self, at: &Path, session: SessionId) {
        let Some(line) = self.lines.get_mut(at) else { return };
        match line.find(session) {
            Some(place) => line.waiting[place].presence = Presence::Here,
            None => line.waiting.push_back(Waiting { session, presence: Presence::Here, refusals: 0 }),
        }
    }

    /// A session was refused: it keeps its place in line or goes to the end.
    pub(crate) fn refused(&mut self, at: &Path, session: SessionId, now_ms: i64) {
        let new = || Line { waiting: VecDeque::new(), patience_ms: TURN_MS };
        let line = self.lines.entry(at.clone()).or_insert_with(new);
        let late_ms = now_ms + line.patience_ms;
        let presence = Presence::Until(late_ms);
        match line.find(session) {
            None if line.waiting.len() < TURNS_MAX => {
                line.waiting.push_back(Waiting { session, presence, refusals: 0 });
            }
            None => {}
            Some(place) => {
                line.waiting[place].presence = presence;
                if place == 0 {
                    line.waiting[0].refusals += 1;
                    if REFUSALS_IN_TURN_MAX <= line.waiting[0].refusals {
                        line.waiting[0].refusals = 0;
                        line.waiting.rotate_left(1);
                    }
                }
            }
        }
        self.soonest_ms = self.soonest_ms.min(late_ms);
    }

    /// A session has had its turn.
    pub(crate) fn done(&mut self, at: &Path, session: SessionId) {
        let Some(line) = self.lines.get_mut(at) else { return };
        line.waiting.retain(|waiting| waiting.session != session);
        line.patience_ms = TURN_MS;
        if line.waiting.is_empty() {
            self.lines.remove(at);
        }
    }

    /// A session has ended.
    pub(crate) fn forget(&mut self, session: SessionId) {
        self.lines.retain(|_, line| {
            line.waiting.retain(|waiting| waiting.session != session);
            !line.waiting.is_empty()
        });
    }

    /// Passes turns on that were not taken in time.
    pub(crate) fn expire(&mut self, now_ms: i64) {
        if now_ms < self.soonest_ms {
            return;
        }
        self.lines.retain(|_, line| {
            while line.late_ms().is_some_and(|late_ms| late_ms <= now_ms) {
                line.waiting.pop_front();
                line.patience_ms = (line.patience_ms / 2).max(1);
            }
            !line.waiting.is_empty()
        });
        self.soonest_ms = self.lines.values().filter_map(Line::soonest_ms).min().unwrap_or(i64::MAX);
    }

    /// When the next turn runs out, in milliseconds since 1970.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.lines.values().filter_map(Line::late_ms).min()
    }
}
