//! Indexes of places that are read through a query again and again, over REST or by `get`.
//!
//! Why beside those of listeners: these are the publisher's, and last as long as somebody listens. Who only reads would sort
//! all children each time. What is kept here is brought to the snapshot that somebody reads by what has changed between the
//! two. It costs memory and holds on to a snapshot: so it is kept while it is used, and follows what is published.

use crate::threads::Reclaim;
use arc_swap::ArcSwap;
use hearth_engine::{DatabaseId, Published};
use hearth_tree::{Index, IndexBy, Node, Path};
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Fewer children are sorted as fast as something is looked up.
const CHILDREN_MIN: usize = 64;
/// Nobody waits for others to sort less than this: it is sorted again.
const CHILDREN_QUICK: usize = 1_000;
/// Most children in all indexes together, some 70 bytes each; one index alone may have more.
const ENTRIES_MAX: usize = 4_000_000;
/// Most indexes.
const PLACES_MAX: usize = 1_000;
/// How long one is kept after it was used last.
const UNUSED: Duration = Duration::from_secs(60);
/// How often they are looked through.
pub(crate) const SWEEP: Duration = Duration::from_secs(5);

/// Those of all databases.
#[derive(Debug)]
pub(crate) struct KeptIndexes {
    places: Mutex<Places>,
    entries_max: usize,
    reclaim: Reclaim,
}

#[derive(Debug, Default)]
struct Places {
    by_name: HashMap<Name, Place>,
    /// Children in all of them.
    entries: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Name {
    database: DatabaseId,
    at: Path,
    by: IndexBy,
}

#[derive(Debug)]
struct Place {
    /// Locked while it is built: others who need it wait for it.
    index: Arc<Mutex<Option<Index>>>,
    published: Arc<ArcSwap<Published>>,
    entries: usize,
    used: Instant,
}

/// An index of the snapshot that it was asked for.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) index: Index,
    /// How many children were sorted for it.
    pub(crate) sorted: usize,
}

impl KeptIndexes {
    pub(crate) fn new(reclaim: Reclaim) -> Self {
        Self { places: Mutex::default(), entries_max: ENTRIES_MAX, reclaim }
    }

    /// How many children are in them.
    pub(crate) fn entries(&self) -> usize {
        self.places().entries
    }

    /// The index of what is at a place in some snapshot of a database. O(log n) for each child that has changed since it was
    /// asked for last, and O(n log n) if it was not, or much has.
    pub(crate) fn find(
        &self,
        (database, published): (DatabaseId, &Arc<ArcSwap<Published>>),
        at: &Path,
        by: IndexBy,
        node: Option<&Node>,
    ) -> Found {
        let children = node.map_or(0, |node| node.children().len());
        if children < CHILDREN_MIN {
            return Found { index: Index::build(by, node), sorted: children };
        }
        let name = Name { database, at: at.clone(), by };
        let kept = self.place(&name, published);
        let mut kept = match kept.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if children <= CHILDREN_QUICK => {
                return Found { index: Index::build(name.by, node), sorted: children };
            }
            Err(TryLockError::WouldBlock) => kept.lock().unwrap_or_else(PoisonError::into_inner),
        };
        if let Some(index) = kept.as_ref().filter(|index| index.belongs_to(node)) {
            return Found { index: index.clone(), sorted: 0 };
        }
        let (index, sorted) = match kept.as_ref().and_then(|index| index.try_updated(node)) {
            Some(index) => (index, 0),
            None => (Index::build(name.by.clone(), node), children),
        };
        let outdated = kept.replace(index.clone());
        drop(kept);
        self.reclaim.let_go(outdated);
        self.count(&name, children);
        Found { index, sorted }
    }

    /// Lets go of those that nobody has used for long, and brings the others to what is published: none holds on to a
    /// snapshot that is older than the last sweep. O(log n) for each child that has changed.
    pub(crate) fn sweep(&self, now: Instant) {
        let mut places = self.places();
        let is_unused = |_: &Name, place: &mut Place| UNUSED <= now.saturating_duration_since(place.used);
        let unused: Vec<_> = places.by_name.extract_if(is_unused).map(|(_, place)| place).collect();
        places.entries -= unused.iter().map(|place| place.entries).sum::<usize>();
        let own =
            |(name, place): (&Name, &Place)| (name.clone(), place.index.clone(), place.published.clone());
        let used: Vec<_> = places.by_name.iter().map(own).collect();
        drop(places);
        if !unused.is_empty() {
            self.reclaim.let_go(unused);
        }
        for (name, index, published) in used {
            let published = published.load();
            let node = published.tree.get(&name.at);
            // Somebody brings it to a newer one, or builds it.
            let Ok(mut index) = index.try_lock() else { continue };
            let Some(kept) = index.as_ref().filter(|index| !index.belongs_to(node)) else { continue };
            let updated = kept.try_updated(node);
            let entries = updated.as_ref().map_or(0, Index::len);
            let outdated = mem::replace(&mut *index, updated);
            drop(index);
            self.reclaim.let_go(outdated);
            self.count(&name, entries);
        }
    }

    /// Where an index is, or will be. What was not used for the longest time makes room for it.
    fn place(&self, name: &Name, published: &Arc<ArcSwap<Published>>) -> Arc<Mutex<Option<Index>>> {
        let mut places = self.places();
        let now = Instant::now();
        if let Some(place) = places.by_name.get_mut(name) {
            place.used = now;
            return place.index.clone();
        }
        if PLACES_MAX <= places.by_name.len() {
            self.forget_oldest(&mut places, name);
        }
        let index = Arc::<Mutex<_>>::default();
        let place = Place { index: index.clone(), published: published.clone(), entries: 0, used: now };
        places.by_name.insert(name.clone(), place);
        index
    }

    /// An index has so many children now.
    fn count(&self, name: &Name, entries: usize) {
        let mut places = self.places();
        let Places { by_name, entries: all } = &mut *places;
        // It may have made room for others meanwhile.
        let Some(place) = by_name.get_mut(name) else { return };
        *all = *all - place.entries + entries;
        place.entries = entries;
        while self.entries_max < places.entries && 1 < places.by_name.len() {
            self.forget_oldest(&mut places, name);
        }
    }

    /// O(indexes).
    fn forget_oldest(&self, places: &mut Places, but: &Name) {
        let others = places.by_name.iter().filter(|(name, _)| *name != but);
        let Some(name) = others.min_by_key(|(_, place)| place.used).map(|(name, _)| name.clone()) else {
            return;
        };
        if let Some(place) = places.by_name.remove(&name) {
            places.entries -= place.entries;
            self.reclaim.let_go(place);
        }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::Threads;
    use hearth_engine::Door;
    use hearth_tree::{ChildPath, Key, Order, Query, Range, Scalar, Snapshot, View, Window};
    use proptest::prelude::*;

    fn kept() -> KeptIndexes {
        let (threads, _running) = Threads::in_memory();
        KeptIndexes::new(threads.reclaim)
    }

    fn key(number: usize) -> Key {
        Key::parse(&format!("k{number}")).unwrap()
    }

    fn list(of: usize, value: impl Fn(usize) -> i64) -> Node {
        Node::inner((0..of).map(|number| (key(number), Scalar::Number(value(number).into()).into()))).unwrap()
    }

    /// A database in which this is at `/a`.
    fn published(node: Option<Node>) -> Arc<ArcSwap<Published>> {
        Arc::new(ArcSwap::from_pointee(showing(node)))
    }

    fn showing(node: Option<Node>) -> Published {
        let root = node.and_then(|node| Node::inner([(Key::parse("a").unwrap(), node)]));
        Published { tree: Snapshot::new(root), ..Published::empty(Door::Open) }
    }

    fn at() -> Path {
        Path::parse("/a").unwrap()
    }

    fn keys(node: Option<&Node>, index: &Index) -> Vec<Key> {
        let query = Query { order: Order::Value(Range::ALL), window: Window::All };
        let view = View::new(&query, node, Some(index)).expect("it is the index of that snapshot");
        view.iter().map(|(key, _)| key.clone()).collect()
    }

    #[derive(Clone, Debug)]
    enum Step {
        /// A child gets another value, or goes.
        Set(usize, Option<i64>),
        /// All children get other values.
        Replace(usize),
        /// Somebody reads what was there so many steps before.
        Read(usize),
        Sweep,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0_usize..200, proptest::option::of(-5_i64..5)).prop_map(|(of, to)| Step::Set(of, to)),
            1 => (60_usize..200).prop_map(Step::Replace),
            4 => (0_usize..4).prop_map(Step::Read),
            1 => Just(Step::Sweep),
        ]
    }

    proptest! {
        /// Whoever reads, at whatever snapshot, finds the order that sorting finds.
        #[test]
        fn an_index_is_that_of_the_snapshot_that_is_read(steps in proptest::collection::vec(step(), 1..60)) {
            let kept = kept();
            let mut snapshots = vec![Some(list(100, |number| number.try_into().unwrap()))];
            let shown = published(snapshots[0].clone());
            for step in steps {
                let newest = snapshots.last().unwrap().clone();
                match step {
                    Step::Set(of, to) => {
                        let child = to.map(|to| Scalar::Number(to.into()).into());
                        let newer = newest.and_then(|node| node.with_child(&key(of), child));
                        snapshots.push(newer);
                    }
                    Step::Replace(of) => snapshots.push(Some(list(of, |number| -i64::try_from(number).unwrap()))),
                    Step::Read(before) => {
                        let node = snapshots[snapshots.len().saturating_sub(1 + before)].as_ref();
                        let found = kept.find((DatabaseId(1), &shown), &at(), IndexBy::Value, node);
                        let sorted = Index::build(IndexBy::Value, node);
                        prop_assert_eq!(keys(node, &found.index), keys(node, &sorted));
                    }
                    Step::Sweep => kept.sweep(Instant::now()),
                }
                shown.store(Arc::new(showing(snapshots.last().unwrap().clone())));
            }
        }
    }

    #[test]
    fn only_what_has_changed_is_sorted_again() {
        let kept = kept();
        let first = list(100, |number| number.try_into().unwrap());
        let moved = first.with_child(&key(7), Some(Scalar::Number(1_000.into()).into())).unwrap();
        let other = list(100, |number| -i64::try_from(number).unwrap());
        let small = list(CHILDREN_MIN - 1, |_| 0);
        let shown = published(Some(first.clone()));
        let by_child = || IndexBy::Child(ChildPath::parse("x").unwrap());
        for (what, database, node, by, sorted) in [
            ("the first time", 1, &first, IndexBy::Value, 100),
            ("again", 1, &first, IndexBy::Value, 0),
            ("another order", 1, &first, by_child(), 100),
            ("another database", 2, &first, IndexBy::Value, 100),
            ("one child has changed", 1, &moved, IndexBy::Value, 0),
            ("all have", 1, &other, IndexBy::Value, 100),
            ("few children", 1, &small, IndexBy::Value, CHILDREN_MIN - 1),
            ("these again", 1, &small, IndexBy::Value, CHILDREN_MIN - 1),
            ("those before them", 1, &other, IndexBy::Value, 0),
        ] {
            let found = kept.find((DatabaseId(database), &shown), &at(), by, Some(node));
            assert_eq!((found.sorted, found.index.len()), (sorted, node.children().len()), "{what}");
        }
        assert_eq!(kept.entries(), 300);
    }

    #[test]
    fn what_is_not_used_is_let_go_of_and_what_is_follows_what_is_published() {
        let kept = kept();
        let first = list(100, |number| number.try_into().unwrap());
        let shown = published(Some(first.clone()));
        let find =
            |by: IndexBy, node: &Node| kept.find((DatabaseId(1), &shown), &at(), by, Some(node)).sorted;
        assert_eq!([find(IndexBy::Value, &first), find(IndexBy::Priority, &first)], [100, 100]);
        let later = first.with_child(&key(100), Some(Scalar::Number(5.into()).into())).unwrap();
        shown.store(Arc::new(showing(Some(later.clone()))));
        kept.sweep(Instant::now());
        assert_eq!(kept.entries(), 202);
        let name = Name { database: DatabaseId(1), at: at(), by: IndexBy::Value };
        let is_of = |node: &Node| {
            let place = kept.places().by_name.get(&name).map(|place| place.index.clone());
            place.is_some_and(|index| {
                index.lock().unwrap().as_ref().is_some_and(|index| index.belongs_to(Some(node)))
            })
        };
        assert!(is_of(&later), "it holds on to a snapshot that is gone");
        // So much has changed that it is not worth while before somebody asks.
        shown.store(Arc::new(showing(Some(list(100, |_| 1)))));
        kept.sweep(Instant::now());
        assert_eq!((kept.entries(), is_of(&later)), (0, false));
        assert_eq!(find(IndexBy::Value, &later), 101);
        kept.sweep(Instant::now() + UNUSED);
        assert_eq!((kept.entries(), kept.places().by_name.len()), (0, 0));
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_makes_room() {
        let mut kept = kept();
        kept.entries_max = 250;
        let node = list(100, |number| number.try_into().unwrap());
        let shown = published(Some(node.clone()));
        let find = |database: u64| {
            kept.find((DatabaseId(database), &shown), &at(), IndexBy::Value, Some(&node)).sorted
        };
        for (database, sorted, entries) in [
            (1, 100, 100),
            (2, 100, 200),
            (1, 0, 200),
            (3, 100, 200),
            (1, 0, 200),
            (2, 100, 200),
            (3, 100, 200),
        ] {
            assert_eq!((find(database), kept.entries()), (sorted, entries), "{database}");
        }
        kept.entries_max = 50;
        let find = |database: u64| {
            kept.find((DatabaseId(database), &shown), &at(), IndexBy::Value, Some(&node)).sorted
        };
        assert_eq!((find(4), find(4), kept.entries()), (100, 0, 100), "one alone may have more");
        kept.entries_max = usize::MAX;
        for database in 10..=10 + PLACES_MAX as u64 {
            kept.find((DatabaseId(database), &shown), &at(), IndexBy::Value, Some(&node));
        }
        assert_eq!(kept.places().by_name.len(), PLACES_MAX);
    }
}
