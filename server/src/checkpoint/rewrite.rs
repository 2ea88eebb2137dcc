//! From the chunks of one snapshot to those of a later one: which are written anew, and how they are cut.
//!
//! A chunk stands for a range of places, so an edit touches the chunks whose ranges it meets: one for a leaf, and for a
//! subtree all between its two borders. What the new tree has in the ranges of neighbours that are touched is cut into new
//! chunks; where a subtree is gone that is nothing, and nothing of it is looked at. The rest is kept as it is.

use super::chunk::{ChunkRef, Sizes, Unsealed, is_long};
use super::store::StoreError;
use super::walk::{Item, Walk};
use hearth_tree::{Change, Edit, Key, Node, Path, To};
use std::mem;
use std::ops::Range;

/// What became of the chunks of a database.
pub(super) struct Rewritten {
    pub(super) chunks: Vec<ChunkRef>,
    /// Those that are not among them any more.
    pub(super) replaced: Vec<ChunkRef>,
}

/// The chunks of `root`, where `chunks` were those of the tree before `change`. New ones are handed to `keep`, which
/// says where they are. O(change + touched chunks), and O(chunks) to copy their references.
pub(super) fn rewrite(
    root: Option<&Node>,
    chunks: &[ChunkRef],
    change: &Change,
    sizes: Sizes,
    keep: &mut dyn FnMut(Unsealed) -> Result<ChunkRef, StoreError>,
) -> Result<Rewritten, StoreError> {
    let mut ranges = touched(chunks, change.edits()).into_iter().peekable();
    let mut rewritten = Rewritten { chunks: Vec::new(), replaced: Vec::new() };
    let mut at = 0;
    while let Some(range) = ranges.next() {
        rewritten.chunks.extend_from_slice(&chunks[at..range.start]);
        let mut cutter = Cutter::new(sizes, &mut *keep);
        let mut end = range.end;
        let mut from: &[Key] = match range.start {
            0 => &[],
            start => chunks[start].first.keys(),
        };
        loop {
            let until = chunks.get(end).map(|next| &next.first);
            cutter.take_all(root, from, until)?;
            // What has become small takes in the next one, unless that is one long item.
            match chunks
                .get(end)
                .filter(|next| cutter.is_small() && next.bytes <= sizes.joined_bytes_max() as u64)
            {
                None => break,
                Some(next) => from = next.first.keys(),
            }
            end += 1;
            while let Some(next) = ranges.next_if(|next| next.start <= end) {
                end = next.end;
            }
        }
        rewritten.chunks.append(&mut cutter.finish()?);
        rewritten.replaced.extend_from_slice(&chunks[range.start..end]);
        at = end;
    }
    rewritten.chunks.extend_from_slice(&chunks[at..]);
    Ok(rewritten)
}

/// Which chunks these edits touch: ranges in ascending order, between each two of which there is one that is not. Where
/// there are no chunks yet, the empty range.
fn touched(chunks: &[ChunkRef], edits: &[Edit]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = edits.iter().map(|edit| touched_by(chunks, edit)).collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, range| {
        let meets = next.start <= range.end;
        if meets {
            range.end = range.end.max(next.end);
        }
        meets
    });
    ranges
}

fn touched_by(chunks: &[ChunkRef], Edit { at, to }: &Edit) -> Range<usize> {
    let begin = chunks.partition_point(|chunk| chunk.first <= *at).saturating_sub(1);
    let end = match to {
        // Everything below follows its place without a gap.
        To::Node(_) => chunks.partition_point(|chunk| chunk.first <= *at || at.covers(&chunk.first)),
        To::Priority(_) => begin + 1,
    };
    begin..end.max(begin + 1).min(chunks.len())
}

/// Cuts items into chunks.
struct Cutter<'k> {
    sizes: Sizes,
    keep: &'k mut dyn FnMut(Unsealed) -> Result<ChunkRef, StoreError>,
    /// As long as a chunk should be. Held back, as what follows may be too little for a chunk of its own.
    full: Option<Unsealed>,
    open: Unsealed,
    done: Vec<ChunkRef>,
}

impl<'k> Cutter<'k> {
    fn new(sizes: Sizes, keep: &'k mut dyn FnMut(Unsealed) -> Result<ChunkRef, StoreError>) -> Self {
        Self { sizes, keep, full: None, open: Unsealed::default(), done: Vec::new() }
    }

    fn take_all(
        &mut self,
        root: Option<&Node>,
        from: &[Key],
        until: Option<&Path>,
    ) -> Result<(), StoreError> {
        let mut walk = Walk::from(root, from);
        while let Some((keys, item)) = walk.next() {
            if until.is_some_and(|until| until.keys() <= keys) {
                break;
            }
            self.take(keys, item)?;
        }
        Ok(())
    }

    fn take(&mut self, keys: &[Key], item: Item<'_>) -> Result<(), StoreError> {
        if self.sizes.chunk_bytes <= self.open.bytes() || (is_long(item, self.sizes) && !self.open.is_empty())
        {
            self.rotate()?;
        }
        self.open.add(keys, item);
        Ok(())
    }

    fn rotate(&mut self) -> Result<(), StoreError> {
        if let Some(full) = self.full.replace(mem::take(&mut self.open)) {
            self.done.push((self.keep)(full)?);
        }
        Ok(())
    }

    /// Whether what is held would make a chunk that is too small.
    fn is_small(&self) -> bool {
        match &self.full {
            None => !self.open.is_empty() && self.open.bytes() < self.sizes.chunk_bytes_min(),
            Some(full) => {
                let together = full.bytes() + self.open.bytes();
                self.sizes.joined_bytes_max() < together && self.open.bytes() < self.sizes.chunk_bytes_min()
            }
        }
    }

    fn finish(mut self) -> Result<Vec<ChunkRef>, StoreError> {
        let open = mem::take(&mut self.open);
        let rest = match self.full.take() {
            Some(full) if full.bytes() + open.bytes() <= self.sizes.joined_bytes_max() => full.joined(open),
            Some(full) => {
                self.done.push((self.keep)(full)?);
                open
            }
            None => open,
        };
        if !rest.is_empty() {
            self.done.push((self.keep)(rest)?);
        }
        Ok(self.done)
    }
}
