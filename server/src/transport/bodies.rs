//! How much memory there is for what clients send: bodies of requests and messages, from their first byte to the answer.
//!
//! Why: each is bounded, and so is the time that a part of it may take, but not how many come at once. What counts is what
//! has come, and what is made of it: two bytes of text can be a node of fifty. The first part of each is free, so that who
//! announces much and sends it slowly keeps nobody from a small write, and so that small ones need not be counted.

use crate::seldom::Seldom;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Most bytes of all together, in MiB, if nothing is said.
pub(crate) const MIB_MAX: u32 = 1024;
/// So much of each is not counted; bounded by how many connections there are.
pub(crate) const BYTES_FREE: usize = 64 * 1024;

/// Room for bodies and messages.
#[derive(Debug)]
pub(crate) struct BodyRoom {
    most: AtomicUsize,
    taken: AtomicUsize,
    refused_bodies: AtomicU64,
    refused_messages: AtomicU64,
    told: Seldom,
}

/// What a share is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Coming {
    /// The body of a request over REST.
    Body,
    /// What a session is sent.
    Message,
}

/// What one client has of it. Free again when it is dropped.
#[derive(Debug)]
pub(crate) struct BodyShare {
    room: Arc<BodyRoom>,
    coming: Coming,
    /// All that is held, with what is free of it.
    bytes: usize,
}

/// There is no room for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server receives too many large requests at once; try again in a moment")]
pub(crate) struct NoRoom;

impl Default for BodyRoom {
    fn default() -> Self {
        let room = Self {
            most: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            refused_bodies: AtomicU64::new(0),
            refused_messages: AtomicU64::new(0),
            told: Seldom::default(),
        };
        room.allow(MIB_MAX);
        room
    }
}

impl BodyRoom {
    /// There is room for so many MiB from now on.
    pub(crate) fn allow(&self, mib: u32) {
        let bytes = usize::try_from(u64::from(mib) * 1024 * 1024).unwrap_or(usize::MAX);
        self.most.store(bytes, Ordering::Relaxed);
    }

    /// For one of which nothing has come.
    pub(crate) fn share(self: &Arc<Self>, coming: Coming) -> BodyShare {
        BodyShare { room: self.clone(), coming, bytes: 0 }
    }

    /// How many of them found no room.
    pub(crate) fn refused(&self, coming: Coming) -> u64 {
        self.refused_of(coming).load(Ordering::Relaxed)
    }

    const fn refused_of(&self, coming: Coming) -> &AtomicU64 {
        match coming {
            Coming::Body => &self.refused_bodies,
            Coming::Message => &self.refused_messages,
        }
    }

    #[cold]
    fn refuse(&self, coming: Coming) -> NoRoom {
        self.refused_of(coming).fetch_add(1, Ordering::Relaxed);
        if let Some(untold) = self.told.is_due(coming, Instant::now()) {
            let mib = self.most.load(Ordering::Relaxed) / 1024 / 1024;
            let what = match coming {
                Coming::Body => "body of a request",
                Coming::Message => "message",
            };
            tracing::warn!(
                "a large {what} found no room, and was refused ({untold} more since this was said last): all that is \
                 received may take {mib} MiB (`--max-body-memory`)"
            );
        }
        NoRoom
    }

    /// How many bytes there are.
    pub(crate) fn bytes_now(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl BodyShare {
    /// More of it has come.
    ///
    /// # Errors
    /// [`NoRoom`]; then it is not counted, and is not to be kept.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), NoRoom> {
        let bytes = self.bytes.saturating_add(more);
        let counted = counted(bytes) - counted(self.bytes);
        if 0 < counted {
            let most = self.room.most.load(Ordering::Relaxed);
            let add = |taken: usize| taken.checked_add(counted).filter(|&taken| taken <= most);
            let added = self.room.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
            added.map_err(|_| self.room.refuse(self.coming))?;
        }
        self.bytes = bytes;
        Ok(())
    }

    /// No more than so many bytes are held any more.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let bytes = self.bytes.min(bytes);
        let counted = counted(self.bytes) - counted(bytes);
        if 0 < counted {
            self.room.taken.fetch_sub(counted, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }

    /// All that is held.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it takes room from others.
    pub(crate) const fn counts(&self) -> bool {
        0 < counted(self.bytes)
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

const fn counted(bytes: usize) -> usize {
    bytes.saturating_sub(BYTES_FREE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_is_free_and_the_rest_is_bounded() {
        let room = Arc::new(BodyRoom::default());
        room.most.store(1_000, Ordering::Relaxed);
        let mut shares = [room.share(Coming::Body), room.share(Coming::Message)];
        for (share, more, expected, taken) in [
            (0, BYTES_FREE, Ok(()), 0),
            (0, 600, Ok(()), 600),
            (1, BYTES_FREE - 1, Ok(()), 600),
            (1, 402, Err(NoRoom), 600),
            (1, 401, Ok(()), 1_000),
            (1, 1, Err(NoRoom), 1_000),
            (0, 0, Ok(()), 1_000),
        ] {
            assert_eq!((shares[share].grow(more), room.bytes_now()), (expected, taken), "{share} {more}");
        }
        for (share, to, taken) in [
            (0, usize::MAX, 1_000),
            (0, BYTES_FREE + 100, 500),
            (0, BYTES_FREE + 200, 500),
            (1, BYTES_FREE - 1, 100),
            (1, 0, 100),
        ] {
            shares[share].shrink_to(to);
            assert_eq!(room.bytes_now(), taken, "{share} {to}");
        }
        assert_eq!([Coming::Body, Coming::Message].map(|coming| room.refused(coming)), [0, 2]);
        assert_eq!(shares[1].grow(BYTES_FREE + 900), Ok(()));
        let [first, second] = shares;
        drop(second);
        assert_eq!(room.bytes_now(), 100);
        drop(first);
        assert_eq!(room.bytes_now(), 0);
    }
}
