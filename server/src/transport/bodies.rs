//! How much of the bodies of requests is in memory because more of it is to come.
//!
//! Why: each body is bounded, and so is the time that a part of it may take, but not how many come at once. The first part
//! of each is free, so that who announces much and sends it slowly keeps nobody from a small write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Most bytes of all bodies that are being received, in MiB, if nothing is said.
pub(crate) const MIB_MAX: u32 = 1024;
/// So much of each is not counted; bounded by how many connections there are.
const BYTES_FREE: usize = 64 * 1024;

/// Room for bodies.
#[derive(Debug)]
pub(crate) struct BodyRoom {
    most: AtomicUsize,
    taken: AtomicUsize,
    refused: AtomicU64,
}

/// What one body has of it. Free again when it is dropped.
#[derive(Debug)]
pub(crate) struct BodyShare {
    room: Arc<BodyRoom>,
    /// All that has come.
    bytes: usize,
}

/// There is no room for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server receives too many large requests at once; try again in a moment")]
pub(crate) struct NoRoom;

impl Default for BodyRoom {
    fn default() -> Self {
        let room = Self { most: AtomicUsize::new(0), taken: AtomicUsize::new(0), refused: AtomicU64::new(0) };
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

    /// A body of which nothing has come.
    pub(crate) fn share(self: &Arc<Self>) -> BodyShare {
        BodyShare { room: self.clone(), bytes: 0 }
    }

    /// How many bodies found no room.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
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
        let counted = counted(self.bytes + more) - counted(self.bytes);
        let most = self.room.most.load(Ordering::Relaxed);
        let add = |taken: usize| taken.checked_add(counted).filter(|&taken| counted == 0 || taken <= most);
        if self.room.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_err() {
            self.room.refused.fetch_add(1, Ordering::Relaxed);
            return Err(NoRoom);
        }
        self.bytes += more;
        Ok(())
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        self.room.taken.fetch_sub(counted(self.bytes), Ordering::Relaxed);
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
        let mut shares = [room.share(), room.share()];
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
        let [first, second] = shares;
        drop(second);
        assert_eq!(room.bytes_now(), 600);
        drop(first);
        assert_eq!(room.bytes_now(), 0);
    }
}
