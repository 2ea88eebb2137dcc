//! The thread that builds large indexes for the publisher, and looks after those that are kept for readers.
//!
//! Why one thread: a build takes a processor as long as it lasts, and each session waits for one index at a time, so that
//! nobody can keep others from theirs for longer than they are many.

use super::ToPublisher;
use crate::kept_indexes::{KeptIndexes, SWEEP};
use arc_swap::ArcSwap;
use hearth_engine::{DatabaseId, Published, WantedIndex};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;
use tokio::sync::mpsc;

/// What waits to be built. Full, the publisher keeps the rest until there is room.
pub(super) const INDEXER_QUEUE: usize = 64;
/// How often an index is brought to what is published by then before it is handed over. Each time takes as long as what has
/// changed meanwhile, so that in the end next to nothing is left for whoever must do it at once.
const ROUNDS: usize = 3;

/// An index to be built.
pub(super) struct Wanted {
    pub(super) database: DatabaseId,
    pub(super) published: Arc<ArcSwap<Published>>,
    pub(super) index: WantedIndex,
}

/// Builds what it is asked for until nobody can ask any more.
pub(super) fn run(queue: &Receiver<Wanted>, publisher: &mpsc::WeakSender<ToPublisher>, kept: &KeptIndexes) {
    let mut swept = Instant::now();
    loop {
        let wanted = queue.recv_timeout(SWEEP.saturating_sub(swept.elapsed()));
        if SWEEP <= swept.elapsed() {
            swept = Instant::now();
            kept.sweep(swept);
        }
        let Wanted { database, published, index: WantedIndex { at, by, outdated } } = match wanted {
            Ok(wanted) => wanted,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let current = || published.load_full();
        let mut index = match outdated {
            Some(index) => index,
            // Readers may have it, or need it as well.
            None => kept.find((database, &published), &at, by, current().tree.get(&at)).index,
        };
        for _ in 0..ROUNDS {
            index = index.updated(current().tree.get(&at));
        }
        let Some(publisher) = publisher.upgrade() else { return };
        if publisher.blocking_send(ToPublisher::Indexed(database, at, index)).is_err() {
            return;
        }
    }
}
