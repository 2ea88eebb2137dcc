//! The parts of a backup, made one at a time.

use super::first_line;
use super::part::{Kind, chain_of, put_part};
use crate::checkpoint::{Captured, Item, Unsealed, Walk, put_armed, still_armed};
use crate::log::codec::{put_count, put_integer, put_own_rules, put_settings, put_text, put_varint};
use hearth_engine::DatabaseId;
use hearth_tree::{Key, Scalar};
use std::collections::BTreeMap;
use std::collections::btree_map::IntoIter;
use std::io;

/// A part of items takes nothing more beyond this.
const ITEMS_BYTES: usize = 1 << 20;

/// All databases at one place of the log.
#[derive(Debug)]
pub(crate) struct Moment {
    pub(crate) at_ms: i64,
    /// How often a server had begun on these data.
    pub(crate) starts: u64,
    pub(crate) databases: BTreeMap<DatabaseId, Captured>,
}

/// Holds on to the trees of a moment until their parts are made.
pub(crate) struct BackupSource {
    chain: u32,
    parts: u64,
    step: Step,
    databases: IntoIter<DatabaseId, Captured>,
}

enum Step {
    Head {
        at_ms: i64,
        starts: u64,
        databases: usize,
    },
    Next,
    /// The items of a database behind a place.
    Items {
        captured: Captured,
        behind: Option<Vec<Key>>,
        items: u64,
    },
    Done,
}

impl BackupSource {
    pub(crate) fn new(Moment { at_ms, starts, databases }: Moment) -> Self {
        let step = Step::Head { at_ms, starts, databases: databases.len() };
        Self { chain: chain_of(&first_line()), parts: 0, step, databases: databases.into_iter() }
    }

    /// The next bytes of the file, a part or a few small ones; nothing behind its end. O(what is in them).
    ///
    /// # Errors
    /// Where there is no memory to compress them.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        self.step = match std::mem::replace(&mut self.step, Step::Done) {
            Step::Head { at_ms, starts, databases } => {
                bytes.extend_from_slice(first_line().as_bytes());
                let mut head = Vec::new();
                put_integer(&mut head, at_ms);
                put_varint(&mut head, starts);
                put_count(&mut head, databases);
                put_text(&mut head, env!("CARGO_PKG_VERSION"));
                self.put(&mut bytes, Kind::Head, &head)?;
                Step::Next
            }
            Step::Next => match self.databases.next() {
                Some((id, captured)) => {
                    self.database(&mut bytes, id, &captured)?;
                    Step::Items { captured, behind: None, items: 0 }
                }
                None => {
                    let mut end = Vec::new();
                    put_varint(&mut end, self.parts);
                    self.put(&mut bytes, Kind::End, &end)?;
                    Step::Done
                }
            },
            Step::Items { captured, behind, mut items } => {
                let (unsealed, last) = items_behind(&captured, behind.as_deref());
                let (count, body) = unsealed.into_items();
                items += count as u64;
                if count != 0 {
                    let mut plain = Vec::with_capacity(body.len() + 9);
                    put_count(&mut plain, count);
                    plain.extend_from_slice(&body);
                    self.put(&mut bytes, Kind::Items, &plain)?;
                }
                if last.is_some() {
                    Step::Items { captured, behind: last, items }
                } else {
                    let mut end = Vec::new();
                    put_varint(&mut end, items);
                    self.put(&mut bytes, Kind::DatabaseEnd, &end)?;
                    Step::Next
                }
            }
            Step::Done => return Ok(None),
        };
        Ok(Some(bytes))
    }

    fn database(&mut self, bytes: &mut Vec<u8>, id: DatabaseId, captured: &Captured) -> io::Result<()> {
        let mut plain = Vec::new();
        put_varint(&mut plain, id.0);
        put_text(&mut plain, &captured.name);
        put_varint(&mut plain, captured.revision.get());
        put_own_rules(&mut plain, &captured.own_rules);
        put_settings(&mut plain, &captured.settings);
        self.put(bytes, Kind::Database, &plain)?;
        for (session, armed) in still_armed(&captured.armed) {
            plain.clear();
            put_armed(&mut plain, session, &armed);
            self.put(bytes, Kind::Armed, &plain)?;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &mut Vec<u8>, kind: Kind, plain: &[u8]) -> io::Result<()> {
        put_part(bytes, &mut self.chain, kind, plain)?;
        self.parts += 1;
        Ok(())
    }
}

/// So many items as go into a part, and the last of them if others follow.
fn items_behind(captured: &Captured, behind: Option<&[Key]>) -> (Unsealed, Option<Vec<Key>>) {
    let mut unsealed = Unsealed::default();
    let mut walk = Walk::from(captured.tree.root(), behind.unwrap_or_default());
    let mut is_first = true;
    let mut last = Vec::new();
    while let Some((keys, item)) = walk.next() {
        if std::mem::take(&mut is_first) && behind == Some(keys) {
            continue;
        }
        // A long text does not come on top of a part that is nearly full.
        if !unsealed.is_empty() && ITEMS_BYTES < unsealed.bytes().saturating_add(text_bytes(item)) {
            return (unsealed, Some(last));
        }
        unsealed.add(keys, item);
        last.clear();
        last.extend_from_slice(keys);
    }
    (unsealed, None)
}

fn text_bytes(item: Item<'_>) -> usize {
    match item {
        Item::Leaf(node) => match node.value() {
            Some(Scalar::Text(text)) => text.as_str().len(),
            Some(Scalar::Bool(_) | Scalar::Number(_)) | None => 0,
        },
        Item::Priority(_) => 0,
    }
}
