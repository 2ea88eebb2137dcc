//! A persistent map in key order that knows ranks: a B+tree of shared, immutable slices.
//!
//! Why our own: windows of queries need "the n-th from here" in O(log n), which no persistent map to be had offers, and
//! the one that came closest took more memory per entry (figures in ARCHITECTURE.md). Why immutable slices: every version
//! is somebody's snapshot, so an edit copies the path to the root anyway; exact slices then cost no spare capacity.

use std::cmp::Ordering;
use std::slice;
use triomphe::ThinArc;

/// Most entries of a leaf, and the most that a whole map keeps in one slice.
pub(crate) const LEAF_MAX: usize = 32;
/// Up to so many entries are looked through for what is likely there: that two keys differ is seen sooner than how they
/// are ordered.
pub(crate) const LOOKED_THROUGH_MAX: usize = 8;
/// Most subtrees of a branch.
const BRANCH_MAX: usize = 16;

/// One version of a map; cloning shares everything. All leaves are at the same height. May be empty.
pub(crate) enum Tree<K, V> {
    Leaf(ThinArc<(), (K, V)>),
    /// The header counts the entries below.
    Branch(ThinArc<usize, Twig<K, V>>),
}

/// A subtree with what a search needs to know before it goes there. Never empty.
pub(crate) struct Twig<K, V> {
    first: K,
    len: usize,
    tree: Tree<K, V>,
}

/// A borrowed map: a tree, or the slice of a small node, which is a leaf with another header.
pub(crate) enum View<'a, K, V> {
    Leaf(&'a [(K, V)]),
    Branch(usize, &'a [Twig<K, V>]),
}

/// Where a key is, or where it would stand: found once, to look at what is there and to edit it.
pub(crate) struct Place<'a, K, V> {
    /// From the root down: the twigs of each branch, and which of them leads on.
    above: Vec<(&'a [Twig<K, V>], usize)>,
    /// The other entries of its leaf.
    pub(crate) before: &'a [(K, V)],
    pub(crate) after: &'a [(K, V)],
    /// What is there.
    pub(crate) value: Option<&'a V>,
}

/// What became of a subtree.
enum Edited<K, V> {
    Gone,
    One(Tree<K, V>),
    Two(Tree<K, V>, Tree<K, V>),
}

/// Whether a subtree is the last of the whole map: only there does an overflow mean "appending", which packs leaves
/// full instead of halving them. Anywhere else that would leave a trail of single entries.
#[derive(Clone, Copy)]
enum Edge {
    Last,
    Inner,
}

impl<K, V> Clone for Tree<K, V> {
    fn clone(&self) -> Self {
        match self {
            Self::Leaf(entries) => Self::Leaf(entries.clone()),
            Self::Branch(twigs) => Self::Branch(twigs.clone()),
        }
    }
}

impl<K: Clone, V> Clone for Twig<K, V> {
    fn clone(&self) -> Self {
        Self { first: self.first.clone(), len: self.len, tree: self.tree.clone() }
    }
}

impl<K, V> Clone for View<'_, K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for View<'_, K, V> {}

impl<K: Ord + Clone, V: Clone> Tree<K, V> {
    pub(crate) fn view(&self) -> View<'_, K, V> {
        match self {
            Self::Leaf(entries) => View::Leaf(&entries.slice),
            Self::Branch(twigs) => View::Branch(twigs.header.header, &twigs.slice),
        }
    }

    /// Packs entries that are in strictly ascending order. O(n).
    pub(crate) fn from_sorted(entries: Vec<(K, V)>) -> Self {
        debug_assert!(entries.is_sorted_by(|a, b| a.0 < b.0), "entries come strictly ascending");
        if entries.len() <= LEAF_MAX {
            return Self::leaf(entries.into_iter());
        }
        let count = entries.len();
        let mut entries = entries.into_iter();
        let mut level: Vec<Twig<K, V>> = even_sizes(count, LEAF_MAX)
            .map(|size| Twig::of(Self::leaf(Take { from: &mut entries, left: size })))
            .collect();
        while 1 < level.len() {
            let count = level.len();
            let mut twigs = level.into_iter();
            level = even_sizes(count, BRANCH_MAX)
                .map(|size| Twig::of(Self::branch(twigs.by_ref().take(size).collect())))
                .collect();
        }
        level.pop().expect("more than a leaf of entries make at least one twig").tree
    }

    /// This map with `value` at `key`, or without the key. O(log n).
    pub(crate) fn with(&self, key: &K, value: Option<V>) -> Self {
        self.view().find(key).with(key, value)
    }

    fn leaf(entries: impl ExactSizeIterator<Item = (K, V)>) -> Self {
        Self::Leaf(ThinArc::from_header_and_iter((), entries))
    }

    fn branch(twigs: Vec<Twig<K, V>>) -> Self {
        let len = twigs.iter().map(|twig| twig.len).sum();
        Self::Branch(ThinArc::from_header_and_iter(len, twigs.into_iter()))
    }
}

impl<K: Ord + Clone, V: Clone> Twig<K, V> {
    fn of(tree: Tree<K, V>) -> Self {
        let first = match &tree {
            Tree::Leaf(entries) => entries.slice.first().map(|(key, _)| key),
            Tree::Branch(twigs) => twigs.slice.first().map(|twig| &twig.first),
        };
        Self { first: first.expect("no subtree is empty").clone(), len: tree.view().len(), tree }
    }
}

impl<'a, K: Ord + Clone, V: Clone> View<'a, K, V> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Leaf(entries) => entries.len(),
            Self::Branch(len, _) => len,
        }
    }

    /// The value whose key compares as equal; `compare` says where a key stands beside the wanted one. O(log n).
    pub(crate) fn get_by(mut self, compare: impl Fn(&K) -> Ordering) -> Option<&'a V> {
        loop {
            match self {
                Self::Leaf(entries) => {
                    let at = entries.binary_search_by(|(own, _)| compare(own)).ok()?;
                    return Some(&entries[at].1);
                }
                Self::Branch(_, twigs) => {
                    let behind = twigs.partition_point(|twig| compare(&twig.first).is_le());
                    self = twigs[behind.saturating_sub(1)].tree.view();
                }
            }
        }
    }

    /// Where the key is, or would stand. O(log n).
    pub(crate) fn find(mut self, key: &K) -> Place<'a, K, V> {
        let mut above = Vec::new();
        loop {
            match self {
                Self::Leaf(entries) => {
                    let is_short = entries.len() <= LOOKED_THROUGH_MAX;
                    let seen = if is_short { entries.iter().position(|(own, _)| own == key) } else { None };
                    let found = seen.map_or_else(|| entries.binary_search_by(|(own, _)| own.cmp(key)), Ok);
                    let (before, rest) = entries.split_at(found.unwrap_or_else(|at| at));
                    let (value, after) = match (found, rest) {
                        (Ok(_), [(_, value), after @ ..]) => (Some(value), after),
                        (_, after) => (None, after),
                    };
                    return Place { above, before, after, value };
                }
                Self::Branch(_, twigs) => {
                    let at = twig_of(twigs, key);
                    above.push((twigs, at));
                    self = twigs[at].tree.view();
                }
            }
        }
    }

    /// The entry with that many before it. O(log n).
    pub(crate) fn nth(self, rank: usize) -> Option<&'a (K, V)> {
        self.leaf_at(rank).map(|(entries, at)| &entries[at])
    }

    /// How many leading entries satisfy `before`, which holds for a prefix of the map. O(log n).
    pub(crate) fn rank(mut self, before: impl Fn(&K) -> bool) -> usize {
        let mut rank = 0;
        loop {
            match self {
                Self::Leaf(entries) => return rank + entries.partition_point(|(key, _)| before(key)),
                Self::Branch(_, twigs) => {
                    let at = twigs.partition_point(|twig| before(&twig.first)).saturating_sub(1);
                    rank += twigs[..at].iter().map(|twig| twig.len).sum::<usize>();
                    self = twigs[at].tree.view();
                }
            }
        }
    }

    /// The entries of ranks `from..to`, from both ends. O(log n + entries taken).
    pub(crate) fn range(self, from: usize, to: usize) -> Range<'a, K, V> {
        let to = to.min(self.len());
        Range { view: self, from: from.min(to), to, front: [].iter(), back: [].iter() }
    }

    /// The leaf that holds a rank, and where in it.
    fn leaf_at(mut self, mut rank: usize) -> Option<(&'a [(K, V)], usize)> {
        if self.len() <= rank {
            return None;
        }
        loop {
            match self {
                Self::Leaf(entries) => return Some((entries, rank)),
                Self::Branch(_, twigs) => {
                    let holder = twigs.iter().find(|twig| {
                        let here = rank < twig.len;
                        if !here {
                            rank -= twig.len;
                        }
                        here
                    });
                    self = holder.expect("twig lengths add up to the branch's").tree.view();
                }
            }
        }
    }
}

impl<K: Ord + Clone, V: Clone> Place<'_, K, V> {
    /// The map with `value` here, at the key that was found, or without the key. O(log n).
    pub(crate) fn with(&self, key: &K, value: Option<V>) -> Tree<K, V> {
        // So many branches are the last of their level, from the root on; the leaf is, if all of them are.
        let last = self.above.iter().take_while(|(twigs, at)| at + 1 == twigs.len()).count();
        let edge = |depth| if depth < last { Edge::Last } else { Edge::Inner };
        let leaf_edge = if last == self.above.len() { Edge::Last } else { Edge::Inner };
        let leaf = edit_leaf(self.before, self.after, key, value, leaf_edge);
        let levels = self.above.iter().enumerate().rev();
        match levels.fold(leaf, |below, (depth, (twigs, at))| edit_branch(twigs, *at, below, edge(depth))) {
            Edited::Gone => Tree::leaf([].into_iter()),
            Edited::Two(left, right) => Tree::branch(vec![Twig::of(left), Twig::of(right)]),
            Edited::One(mut tree) => {
                while let Tree::Branch(twigs) = &tree
                    && let [only] = &twigs.slice
                {
                    tree = only.tree.clone();
                }
                tree
            }
        }
    }
}

fn twig_of<K: Ord, V>(twigs: &[Twig<K, V>], key: &K) -> usize {
    twigs.partition_point(|twig| twig.first <= *key).saturating_sub(1)
}

fn edit_leaf<K: Ord + Clone, V: Clone>(
    before: &[(K, V)],
    after: &[(K, V)],
    key: &K,
    value: Option<V>,
    edge: Edge,
) -> Edited<K, V> {
    let Some(value) = value else {
        return match before.len() + after.len() {
            0 => Edited::Gone,
            _ => Edited::One(Tree::leaf(Spliced::new(before, None, after))),
        };
    };
    let new = (key.clone(), value);
    if before.len() + after.len() < LEAF_MAX {
        return Edited::One(Tree::leaf(Spliced::new(before, Some(new), after)));
    }
    match edge {
        Edge::Last if after.is_empty() => {
            Edited::Two(Tree::leaf(before.iter().cloned()), Tree::leaf([new].into_iter()))
        }
        Edge::Last | Edge::Inner => {
            let mut left: Vec<_> = Spliced::new(before, Some(new), after).collect();
            let right = left.split_off(left.len() / 2);
            Edited::Two(Tree::leaf(left.into_iter()), Tree::leaf(right.into_iter()))
        }
    }
}

/// The branch of these twigs after what became of the one at `at`.
fn edit_branch<K: Ord + Clone, V: Clone>(
    twigs: &[Twig<K, V>],
    at: usize,
    below: Edited<K, V>,
    edge: Edge,
) -> Edited<K, V> {
    let (before, after) = (&twigs[..at], &twigs[at + 1..]);
    let spliced = |new: Option<Tree<K, V>>| Spliced::new(before, new.map(Twig::of), after);
    let twigs: Vec<_> = match below {
        Edited::Gone => spliced(None).collect(),
        Edited::One(tree) if is_thin(&tree) => joined(spliced(Some(tree)).collect(), at),
        // Nearly every edit: straight into its place.
        Edited::One(tree) => {
            let len = before.iter().chain(after).map(|twig| twig.len).sum::<usize>() + tree.view().len();
            return Edited::One(Tree::Branch(ThinArc::from_header_and_iter(len, spliced(Some(tree)))));
        }
        Edited::Two(left, right) => {
            let mut twigs: Vec<_> = spliced(Some(left)).collect();
            twigs.insert(at + 1, Twig::of(right));
            twigs
        }
    };
    match twigs.len() {
        0 => Edited::Gone,
        1..=BRANCH_MAX => Edited::One(Tree::branch(twigs)),
        _ => {
            let mut left = twigs;
            let appending = matches!(edge, Edge::Last) && at + 2 == left.len();
            let right = left.split_off(if appending { left.len() - 1 } else { left.len() / 2 });
            Edited::Two(Tree::branch(left), Tree::branch(right))
        }
    }
}

/// Whether a subtree has shrunk to a quarter, so that it should be joined to a neighbour.
fn is_thin<K, V>(tree: &Tree<K, V>) -> bool {
    match tree {
        Tree::Leaf(entries) => entries.slice.len() <= LEAF_MAX / 4,
        Tree::Branch(twigs) => twigs.slice.len() <= BRANCH_MAX / 4,
    }
}

/// Joins the thin twig at `at` to a neighbour where both fit in one, so that deleting does not leave a forest of nearly
/// empty leaves. To either of the two: who deletes from one end to the other finds the next one full every time.
fn joined<K: Ord + Clone, V: Clone>(mut twigs: Vec<Twig<K, V>>, at: usize) -> Vec<Twig<K, V>> {
    let joined = [Some(at), at.checked_sub(1)].into_iter().flatten().find_map(|left| {
        let tree = join(&twigs[left].tree, &twigs.get(left + 1)?.tree)?;
        Some((left, tree))
    });
    if let Some((left, tree)) = joined {
        twigs.remove(left + 1);
        twigs[left] = Twig::of(tree);
    }
    twigs
}

/// Two neighbours in one, if they fit.
fn join<K: Ord + Clone, V: Clone>(left: &Tree<K, V>, right: &Tree<K, V>) -> Option<Tree<K, V>> {
    match (left, right) {
        (Tree::Leaf(a), Tree::Leaf(b)) if a.slice.len() + b.slice.len() <= LEAF_MAX => {
            Some(Tree::leaf(Spliced::new(&a.slice, None, &b.slice)))
        }
        (Tree::Branch(a), Tree::Branch(b)) if a.slice.len() + b.slice.len() <= BRANCH_MAX => {
            Some(Tree::branch(a.slice.iter().chain(&b.slice).cloned().collect()))
        }
        (Tree::Leaf(_) | Tree::Branch(_), _) => None,
    }
}

/// `count` in as few parts of at most `most` as possible, all but the last full: what appending leaves, too.
fn even_sizes(count: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(most).map(move |done| most.min(count - done))
}

/// A slice with one part exchanged, by reference until it is copied into its new place. Exact, so that it can be
/// written straight into a shared slice.
pub(crate) struct Spliced<'a, T> {
    before: slice::Iter<'a, T>,
    new: Option<T>,
    after: slice::Iter<'a, T>,
}

impl<'a, T> Spliced<'a, T> {
    pub(crate) fn new(before: &'a [T], new: Option<T>, after: &'a [T]) -> Self {
        Self { before: before.iter(), new, after: after.iter() }
    }
}

impl<T: Clone> Iterator for Spliced<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if let Some(item) = self.before.next() {
            return Some(item.clone());
        }
        self.new.take().or_else(|| self.after.next().cloned())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.before.len() + usize::from(self.new.is_some()) + self.after.len();
        (len, Some(len))
    }
}

impl<T: Clone> ExactSizeIterator for Spliced<'_, T> {}

/// The next `left` items of an iterator that has at least as many.
struct Take<'a, I> {
    from: &'a mut I,
    left: usize,
}

impl<I: Iterator> Iterator for Take<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        self.from.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for Take<'_, I> {}

/// Entries of a range of ranks, from both ends, a leaf at a time.
pub(crate) struct Range<'a, K, V> {
    view: View<'a, K, V>,
    /// Ranks not yet in `front` or `back`.
    from: usize,
    to: usize,
    front: slice::Iter<'a, (K, V)>,
    back: slice::Iter<'a, (K, V)>,
}

impl<'a, K: Ord + Clone, V: Clone> Iterator for Range<'a, K, V> {
    type Item = &'a (K, V);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(entry) = self.front.next() {
            return Some(entry);
        }
        if self.from == self.to {
            return self.back.next();
        }
        let (entries, at) = self.view.leaf_at(self.from)?;
        let end = entries.len().min(at + self.to - self.from);
        self.from += end - at;
        self.front = entries[at..end].iter();
        self.front.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.front.len() + (self.to - self.from) + self.back.len();
        (len, Some(len))
    }
}

impl<K: Ord + Clone, V: Clone> DoubleEndedIterator for Range<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if let Some(entry) = self.back.next_back() {
            return Some(entry);
        }
        if self.from == self.to {
            return self.front.next_back();
        }
        let (entries, at) = self.view.leaf_at(self.to - 1)?;
        let start = (at + 1).saturating_sub(self.to - self.from);
        self.to -= at + 1 - start;
        self.back = entries[start..=at].iter();
        self.back.next_back()
    }
}

impl<K: Ord + Clone, V: Clone> ExactSizeIterator for Range<'_, K, V> {}

/// One key whose value is not the same allocation or inline value in two versions of a map.
pub(crate) struct Differing<'a, K, V> {
    pub(crate) key: &'a K,
    pub(crate) before: Option<&'a V>,
    pub(crate) after: Option<&'a V>,
}

/// Walks two versions in key order and skips what they share, by pointer. O(differences x log n) when one version was
/// edited into the other. Keys present in both are always reported unless shared: values are the caller's to compare.
pub(crate) struct Difference<'a, K, V> {
    before: Vec<View<'a, K, V>>,
    after: Vec<View<'a, K, V>>,
}

impl<'a, K: Ord + Clone, V: Clone> Difference<'a, K, V> {
    pub(crate) fn new(before: View<'a, K, V>, after: View<'a, K, V>) -> Self {
        Self { before: vec![before], after: vec![after] }
    }
}

impl<'a, K: Ord + Clone, V: Clone> Iterator for Difference<'a, K, V> {
    type Item = Differing<'a, K, V>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match (self.before.last().copied(), self.after.last().copied()) {
                (None, None) => return None,
                (Some(View::Leaf([])), _) => drop(self.before.pop()),
                (_, Some(View::Leaf([]))) => drop(self.after.pop()),
                (Some(a), Some(b)) if a.is_shared_with(b) => {
                    self.before.pop();
                    self.after.pop();
                }
                // The larger first: then equal subtrees meet at the same height.
                (Some(View::Branch(len, twigs)), b) if b.is_none_or(|b| b.len() <= len || b.is_leaf()) => {
                    expand(&mut self.before, twigs);
                }
                (_, Some(View::Branch(_, twigs))) => expand(&mut self.after, twigs),
                (Some(View::Branch(_, twigs)), _) => expand(&mut self.before, twigs),
                (a, b) => return self.next_of_leaves(a, b),
            }
        }
    }
}

impl<'a, K: Ord + Clone, V: Clone> Difference<'a, K, V> {
    fn next_of_leaves(
        &mut self,
        before: Option<View<'a, K, V>>,
        after: Option<View<'a, K, V>>,
    ) -> Option<Differing<'a, K, V>> {
        let first = |view: Option<View<'a, K, V>>| match view {
            Some(View::Leaf(entries)) => entries.first(),
            Some(View::Branch(..)) | None => None,
        };
        let (a, b) = (first(before), first(after));
        let order = match (a, b) {
            (Some((x, _)), Some((y, _))) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let a = a.filter(|_| order.is_le());
        let b = b.filter(|_| order.is_ge());
        if a.is_some() {
            advance(&mut self.before);
        }
        if b.is_some() {
            advance(&mut self.after);
        }
        let key = a.or(b).map(|(key, _)| key)?;
        Some(Differing { key, before: a.map(|(_, value)| value), after: b.map(|(_, value)| value) })
    }
}

impl<K, V> View<'_, K, V> {
    const fn is_leaf(&self) -> bool {
        matches!(self, Self::Leaf(_))
    }

    fn is_shared_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Leaf(a), Self::Leaf(b)) => std::ptr::eq(a, b),
            (Self::Branch(_, a), Self::Branch(_, b)) => std::ptr::eq(a, b),
            (Self::Leaf(_), Self::Branch(..)) | (Self::Branch(..), Self::Leaf(_)) => false,
        }
    }
}

fn expand<'a, K: Ord + Clone, V: Clone>(stack: &mut Vec<View<'a, K, V>>, twigs: &'a [Twig<K, V>]) {
    stack.pop();
    stack.extend(twigs.iter().rev().map(|twig| twig.tree.view()));
}

fn advance<K, V>(stack: &mut [View<'_, K, V>]) {
    if let Some(View::Leaf(entries)) = stack.last_mut() {
        *entries = &entries[1..];
    }
}

#[cfg(test)]
mod tests;
