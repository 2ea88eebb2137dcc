//! Large bodies go to the disk before the commit that they belong to is decided.
//!
//! Why: a group is written and synced as one, and everybody whose writes come after it waits for that, so that a body of
//! 200 MB would keep all others waiting for seconds (ARCHITECTURE.md has the figures). In a file of its own it is written
//! and synced piece by piece, beside what others write; the commit then only says where its nodes stand.
//!
//! ```text
//! stage    nodes -> log/<number>.staged, in pieces, synced         whoever has the body, where nobody waits
//! decide   the commit holds the very same nodes                    the committer, which knows nothing of it
//! append   the file gets the name log/<sequence>.<number>.part,
//!          then the group is written that refers to it             the log thread
//! ```
//!
//! How the log knows what stands in which file: a node never changes, so one that is the same allocation is what was written.
//! What a commit holds instead (server values that were filled in, a write that came to nothing) is not the same, and stands
//! in its record as ever.
//!
//! How nothing is left over or lost: a part is named after its group. With the sequence of a group that the log has not come
//! to, or with that of one that was trimmed, it belongs to nothing and is removed, as one that was never named is. A part
//! that its group refers to and that is not there, or is not what was written, is damage and refused.

use super::codec::{Part, put_node_in_pieces};
use super::files::{Files, Folder, SegmentFile};
use hearth_engine::Commit;
use hearth_tree::{Assigned, Assignment, Change, Draft, Key, Node, Path, Scalar, Shape, To, Write};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is staged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// A write with less of it is kept with its group: up to here a group takes no longer than the sync.
    pub(super) write_bytes_min: usize,
    /// Nodes smaller than this stand in the record. A file has room for many, but each is looked for.
    pub(super) part_bytes_min: usize,
    /// What is written and synced at once: so much others may have to wait for.
    pub(super) piece_bytes: usize,
}

impl Bounds {
    pub(crate) const DEFAULT: Self =
        Self { write_bytes_min: WRITE_BYTES_MIN, part_bytes_min: 64 << 10, piece_bytes: 2 << 20 };
}

/// Shorter texts of requests are not worth a look.
pub(crate) const WRITE_BYTES_MIN: usize = 1 << 20;

const STAGED: &str = ".staged";
const PART: &str = ".part";

/// Of a file that nothing refers to yet.
pub(super) fn name_of_staged(number: u64) -> String {
    format!("{number:020}{STAGED}")
}

pub(super) fn is_staged(name: &str) -> bool {
    name.strip_suffix(STAGED).and_then(|number| number.parse().ok()).map(name_of_staged).as_deref()
        == Some(name)
}

/// Of a file that a group refers to, by its number there.
pub(super) fn name_of_part(sequence: u64, number: u64) -> String {
    format!("{sequence:020}.{number:03}{PART}")
}

/// The group that a part belongs to by its name; nothing, if it is no part's.
pub(super) fn group_of_part(name: &str) -> Option<u64> {
    let (sequence, number) = name.strip_suffix(PART)?.split_once('.')?;
    let (sequence, number) = (sequence.parse().ok()?, number.parse().ok()?);
    (name_of_part(sequence, number) == name).then_some(sequence)
}

/// What a record says of the file that it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartFile {
    /// Among the parts of its group, from 1 on.
    pub(super) number: u64,
    pub(super) bytes: u64,
    pub(super) crc: u32,
}

/// Why a part cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartError {
    #[error("`log/{file}`, which is missing")]
    Missing { file: String },
    #[error("`log/{file}`, which has {found} bytes and was written with {bytes}")]
    Length { file: String, found: u64, bytes: u64 },
    #[error("`log/{file}`, which is not what was written")]
    Damaged { file: String },
    #[error("`log/{file}`, which cannot be read: {error}")]
    Io { file: String, error: io::Error },
}

impl PartFile {
    /// All of it, if it is what was written.
    pub(super) fn read(self, files: &impl Files, sequence: u64) -> Result<Vec<u8>, PartError> {
        let file = name_of_part(sequence, self.number);
        let read = files.open(&file).and_then(|part| part.read());
        let part = match read {
            Ok(part) => part,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(PartError::Missing { file }),
            Err(error) => return Err(PartError::Io { file, error }),
        };
        if part.len() as u64 != self.bytes {
            return Err(PartError::Length { file, found: part.len() as u64, bytes: self.bytes });
        }
        if crc32fast::hash(&part) == self.crc { Ok(part) } else { Err(PartError::Damaged { file }) }
    }
}

/// A write of which something stands in a file.
#[derive(Debug)]
pub(super) struct StagedWrite {
    /// Of the file.
    pub(super) number: u64,
    pub(super) bytes: u64,
    pub(super) crc: u32,
    /// By path.
    places: Vec<Place>,
}

/// What is written at one place.
#[derive(Debug)]
struct Place {
    at: Path,
    /// From there to the first of its parts.
    first: Vec<Key>,
    /// In the order of the tree.
    parts: Vec<Part>,
}

impl StagedWrite {
    /// What of a place stands in the file.
    pub(super) fn parts(&self, at: &Path) -> &[Part] {
        let found = self.places.binary_search_by(|place| place.at.cmp(at));
        found.map_or(&[], |found| &self.places[found].parts)
    }

    /// Whether a change holds the nodes that stand in the file.
    fn is_of(&self, change: &Change) -> bool {
        let is_same = |place: &Place, node: &Node| {
            let own = node.get(&place.first);
            own.zip(place.parts.first()).is_some_and(|(own, part)| own.is_same(&part.node))
        };
        change.edits().iter().any(|edit| match &edit.to {
            To::Node(Some(node)) => {
                let found = self.places.binary_search_by(|place| place.at.cmp(&edit.at));
                found.is_ok_and(|found| is_same(&self.places[found], node))
            }
            To::Node(None) | To::Priority(_) => false,
        })
    }
}

/// Writes that are staged and that the log has not seen. No more than those that are under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Registry(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    files_made: u64,
    writes: Vec<StagedWrite>,
}

impl Registry {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_number(&self) -> u64 {
        let mut known = self.known();
        known.files_made += 1;
        known.files_made
    }

    /// Takes out the write that has led to a commit, if it was staged. O(1) while nothing is.
    pub(super) fn take(&self, commit: &Commit) -> Option<StagedWrite> {
        let mut known = self.known();
        let at = known.writes.iter().position(|write| write.is_of(&commit.change))?;
        Some(known.writes.swap_remove(at))
    }

    fn remove(&self, number: u64) -> bool {
        let mut known = self.known();
        let before = known.writes.len();
        known.writes.retain(|write| write.number != number);
        known.writes.len() < before
    }
}

/// Who stages. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Staging<F = Folder> {
    files: F,
    registry: Registry,
    bounds: Bounds,
}

/// Something is staged, until this is dropped. What the log has not made its own by then is removed.
#[derive(Debug)]
pub(crate) struct Staged<F: Files = Folder> {
    files: F,
    registry: Registry,
    number: u64,
}

/// The large nodes that are written at a place.
struct Found {
    at: Path,
    nodes: Vec<Reached>,
}

/// A node, and the way to it.
struct Reached {
    keys: Vec<Key>,
    node: Node,
}

impl<F: Files + Clone> Staging<F> {
    pub(super) const fn new(files: F, registry: Registry, bounds: Bounds) -> Self {
        Self { files, registry, bounds }
    }

    /// Writes what is large of a write, and returns when it is on stable storage; nothing, if it is not large. Takes as long
    /// as the disk does.
    ///
    /// # Errors
    /// Those of the system; then nothing of it is left.
    pub(crate) fn stage(&self, write: &Write) -> io::Result<Option<Staged<F>>> {
        let found = self.find(write);
        let weight = |found: &[Found]| {
            let nodes = found.iter().flat_map(|found| &found.nodes);
            nodes.fold(0, |sum: usize, Reached { node, .. }| match sum < self.bounds.write_bytes_min {
                true => sum + weight_of(node, self.bounds.write_bytes_min),
                false => sum,
            })
        };
        if weight(&found) < self.bounds.write_bytes_min {
            return Ok(None);
        }
        let number = self.registry.next_number();
        let written = self.write(number, found).inspect_err(|_| self.remove(number))?;
        self.registry.known().writes.push(written);
        Ok(Some(Staged { files: self.files.clone(), registry: self.registry.clone(), number }))
    }

    /// The large nodes of a write, with the way from each place to them.
    fn find(&self, write: &Write) -> Vec<Found> {
        let nodes = |to: &Assigned| match to {
            Assigned::Value(Some(draft)) => {
                let mut nodes = Vec::new();
                collect(draft, self.bounds.part_bytes_min, &mut Vec::new(), &mut nodes);
                nodes
            }
            Assigned::Value(None) | Assigned::Priority(_) => Vec::new(),
        };
        let found = |each: &Assignment| Found { at: each.at().clone(), nodes: nodes(each.to()) };
        write.assignments().iter().map(found).filter(|found| !found.nodes.is_empty()).collect()
    }

    fn write(&self, number: u64, found: Vec<Found>) -> io::Result<StagedWrite> {
        let file = self.files.make(&name_of_staged(number), 0)?;
        let mut pieces = Pieces { file, at: 0, crc: crc32fast::Hasher::new() };
        let mut buffer = Vec::with_capacity(2 * self.bounds.piece_bytes);
        let mut places = Vec::with_capacity(found.len());
        for Found { at, nodes } in found {
            let first = nodes.first().map(|reached| reached.keys.clone()).unwrap_or_default();
            let mut parts = Vec::with_capacity(nodes.len());
            for Reached { node, .. } in nodes {
                let start = pieces.at + buffer.len() as u64;
                put_node_in_pieces(&mut buffer, &node, &mut |buffer| match self.bounds.piece_bytes
                    <= buffer.len()
                {
                    true => pieces.put(buffer),
                    false => Ok(()),
                })?;
                parts.push(Part { node, at: start, bytes: pieces.at + buffer.len() as u64 - start });
            }
            places.push(Place { at, first, parts });
        }
        pieces.put(&mut buffer)?;
        places.sort_by(|a, b| a.at.cmp(&b.at));
        Ok(StagedWrite { number, bytes: pieces.at, crc: pieces.crc.finalize(), places })
    }

    fn remove(&self, number: u64) {
        remove(&self.files, number);
    }
}

impl<F: Files> Drop for Staged<F> {
    fn drop(&mut self) {
        if self.registry.remove(self.number) {
            remove(&self.files, self.number);
        }
    }
}

fn remove(files: &impl Files, number: u64) {
    if let Err(error) = files.remove(&name_of_staged(number))
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "what was staged for a write cannot be removed before the next start");
    }
}

/// A file as it is written.
struct Pieces<F> {
    file: F,
    at: u64,
    crc: crc32fast::Hasher,
}

impl<F: SegmentFile> Pieces<F> {
    /// Each with a sync of its own: written all at once, others would wait for all of it at theirs.
    fn put(&mut self, piece: &mut Vec<u8>) -> io::Result<()> {
        self.file.write(piece, self.at)?;
        self.file.sync()?;
        self.crc.update(piece);
        self.at += piece.len() as u64;
        piece.clear();
        Ok(())
    }
}

/// The large nodes of a draft in the order of the tree. What holds server values is not a node yet.
fn collect(draft: &Draft, bytes_min: usize, keys: &mut Vec<Key>, into: &mut Vec<Reached>) {
    match draft.shape() {
        Shape::Resolved(node) => {
            if node.value().is_none() && bytes_min <= weight_of(node, bytes_min) {
                into.push(Reached { keys: keys.clone(), node: node.clone() });
            }
        }
        Shape::Leaf { .. } => {}
        Shape::Inner { children, .. } => {
            for (key, child) in children {
                keys.push(key.clone());
                collect(child, bytes_min, keys, into);
                keys.pop();
            }
        }
    }
}

/// About how long a node is in a record, or a little more than the bound. O(the bound).
fn weight_of(node: &Node, most: usize) -> usize {
    let mut bytes = match node.value() {
        Some(Scalar::Text(text)) => 2 + text.as_str().len(),
        Some(Scalar::Bool(_) | Scalar::Number(_)) | None => 4,
    };
    for (key, child) in node.children() {
        if most <= bytes {
            break;
        }
        bytes += key.as_str().len() + weight_of(child, most - bytes);
    }
    bytes
}
