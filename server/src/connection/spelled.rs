//! How a client spells its queries: a revocation must repeat that (wire reference 3.4).

use hearth_engine::Tag;
use hearth_tree::Path;
use hearth_wire::{Failure, QueryText, Status};
use std::collections::BTreeMap;

/// Most text of the queries of one connection, in bytes, as its client spells them: they are kept as long as it listens.
/// SDKs need a hundred bytes or so for one.
const SPELLED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The queries that one connection listens to, or has asked to.
#[derive(Debug, Default)]
pub(super) struct Spelled {
    texts: BTreeMap<(Path, Tag), QueryText>,
    bytes: usize,
}

impl Spelled {
    /// Remembers one.
    ///
    /// # Errors
    /// The answer, if there are too many to remember.
    pub(super) fn insert(&mut self, at: &Path, tag: Tag, text: QueryText) -> Result<(), Failure> {
        self.remove(at, tag);
        let bytes = text.as_str().len();
        if SPELLED_BYTES_MAX < self.bytes + bytes {
            let text = format!(
                "the queries that a connection listens to can have {} MiB of text, and this would be more",
                SPELLED_BYTES_MAX / 1024 / 1024
            );
            return Err(Failure { status: Status::TooBig, text });
        }
        self.bytes += bytes;
        self.texts.insert((at.clone(), tag), text);
        Ok(())
    }

    /// Forgets one, and gives it.
    pub(super) fn remove(&mut self, at: &Path, tag: Tag) -> Option<QueryText> {
        let text = self.texts.remove(&(at.clone(), tag))?;
        self.bytes -= text.as_str().len();
        Some(text)
    }
}
