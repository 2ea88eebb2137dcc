//! Places and changes as bytes.

use super::DecodeError;
use super::bytes::{Source, put_count};
use super::node::{put_key, put_node, put_priority, take_key, take_node, take_priority};
use hearth_tree::{Change, DEPTH_MAX, Edit, Path, To};

const DELETED: u8 = 1;
const REPLACED: u8 = 2;
const NO_PRIORITY: u8 = 3;
const PRIORITY: u8 = 4;

pub(crate) fn put_path(into: &mut Vec<u8>, path: &Path) {
    put_count(into, path.keys().len());
    for key in path.keys() {
        put_key(into, key);
    }
}

pub(crate) fn take_path(source: &mut Source<'_>) -> Result<Path, DecodeError> {
    let count = source.count("the length of a path")?;
    if DEPTH_MAX < count {
        return Err(DecodeError::TooDeep);
    }
    (0..count).map(|_| take_key(source)).collect()
}

/// O(size).
pub(crate) fn put_change(into: &mut Vec<u8>, change: &Change) {
    put_count(into, change.edits().len());
    for edit in change.edits() {
        put_path(into, &edit.at);
        match &edit.to {
            To::Node(None) => into.push(DELETED),
            To::Node(Some(node)) => {
                into.push(REPLACED);
                put_node(into, node);
            }
            To::Priority(None) => into.push(NO_PRIORITY),
            To::Priority(Some(priority)) => {
                into.push(PRIORITY);
                put_priority(into, priority);
            }
        }
    }
}

pub(crate) fn take_change(source: &mut Source<'_>) -> Result<Change, DecodeError> {
    let count = source.count("the number of edits")?;
    let mut edits = Vec::new();
    for _ in 0..count {
        let at = take_path(source)?;
        let to = match source.byte("an edit")? {
            DELETED => To::Node(None),
            REPLACED => To::Node(Some(take_node(source, DEPTH_MAX - at.keys().len())?)),
            NO_PRIORITY => To::Priority(None),
            PRIORITY => To::Priority(Some(take_priority(source)?)),
            byte => return Err(DecodeError::Kind { what: "an edit", byte }),
        };
        edits.push(Edit { at, to });
    }
    Ok(Change::new(edits)?)
}
