//! The power fails at any step of a checkpoint, and of what was not synced any part is lost.

use super::super::memory::MemoryStore;
use super::{Databases, arb_history, is, newest, position, writer};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_newest_that_was_written_is_there_or_the_next(
        history in arb_history(),
        fails in vec((0..12_usize, any::<u64>()), 1..4),
    ) {
        let store = MemoryStore::default();
        let mut databases = Databases::default();
        let mut fails = fails.into_iter();
        // What was written, and what was being written when the power failed.
        let mut written: Option<(u64, Databases)> = None;
        let mut own = writer(Box::new(store.clone()), None);
        for (sequence, acts) in (1..).zip(&history) {
            for (database, act) in acts {
                databases.act(*database, act);
            }
            let fail = fails.next();
            store.state().left = fail.map(|(steps, _)| steps);
            let is_written = own.write(position(sequence), databases.capture()).is_ok();
            if is_written {
                written = Some((sequence, databases.clone()));
            }
            let Some((_, mut keeps)) = fail else { continue };
            store.crash(|| {
                keeps = keeps.rotate_left(1);
                keeps & 1 == 1
            });
            let loaded = newest(&store);
            let found = loaded.as_ref().map(|loaded| loaded.manifest.position.sequence);
            let is_expected = |(at, databases): &(u64, Databases)| {
                found == Some(*at) && loaded.as_ref().is_some_and(|loaded| is(loaded, databases))
            };
            let next = (sequence, databases.clone());
            let is_right = match &written {
                _ if is_expected(&next) => true,
                Some(written) => is_expected(written),
                None => loaded.is_none(),
            };
            prop_assert!(is_right, "after {sequence}, found {found:?}");
            if let Some(found) = found.filter(|&found| found == sequence) {
                written = Some((found, databases.clone()));
            }
            own = writer(Box::new(store.clone()), loaded);
        }
        // And everything goes on.
        own.write(position(99), databases.capture()).unwrap();
        prop_assert!(is(&newest(&store).unwrap(), &databases));
    }
}
