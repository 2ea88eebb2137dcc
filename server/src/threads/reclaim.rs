//! The thread that lets go of what is large.
//!
//! Why a thread of its own: who drops the last hold on a million nodes has 60 to 400 ms to do, and where writes are decided,
//! kept or shown, or where sockets are served, everybody would wait for that.

use std::sync::mpsc::{Receiver, SyncSender};

/// What waits to be dropped. Full, whoever brings more drops it: then memory is freed as fast as it is replaced.
pub(super) const RECLAIM_QUEUE: usize = 1_024;

/// The way there. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Reclaim(SyncSender<Garbage>);

/// Anything. Nobody looks at it any more.
pub(super) type Garbage = Box<dyn Send>;

impl Reclaim {
    pub(super) const fn new(queue: SyncSender<Garbage>) -> Self {
        Self(queue)
    }

    /// Drops it elsewhere.
    pub(crate) fn let_go(&self, what: impl Send + 'static) {
        // What does not find room comes back in the error, and is dropped here.
        drop(self.0.try_send(Box::new(what)));
    }
}

/// Drops what it is handed until nobody can bring any more.
pub(super) fn run(queue: &Receiver<Garbage>) {
    while let Ok(garbage) = queue.recv() {
        drop(garbage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn what_finds_no_room_is_dropped_all_the_same() {
        let (queue, inbox) = sync_channel(2);
        let reclaim = Reclaim::new(queue);
        let kept = Arc::new(());
        for (handed, expected) in [(1, 1 + 1), (2, 1 + 2), (3, 1 + 2), (4, 1 + 2)] {
            reclaim.let_go(kept.clone());
            assert_eq!(Arc::strong_count(&kept), expected, "{handed} handed over");
        }
        drop(reclaim);
        run(&inbox);
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
