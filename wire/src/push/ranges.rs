//! What of a node must be sent to a client that has said what it has, range by range.

use super::RangeData;
use hearth_tree::{Hash, LeafRange, Node, RelativePath};

/// The ranges of a node in which its leaves are not those that a client has (wire reference 6.6); ranges side by side as
/// one. What the client has is said in leaf order: the place that a range ends with, where the next one begins, and the
/// hash; behind the last one it has nothing.
///
/// Nothing, where the node is better sent whole: if every range differs; if none does, since its client would not have
/// asked; and if a node with children has a priority, which clients can lose with a range. O(nodes).
pub fn ranges_that_differ<'a>(
    node: &Node,
    held: impl IntoIterator<Item = (&'a RelativePath, Hash)>,
) -> Option<Vec<RangeData>> {
    if node.has_inner_priority() {
        return None;
    }
    let mut differing: Vec<LeafRange<'a>> = Vec::new();
    let mut all_differ = true;
    let mut after = None;
    let held = held.into_iter().map(|(up_to, hash)| (Some(up_to), Some(hash)));
    for (up_to, hash) in held.chain([(None, None)]) {
        if node.range_hash(LeafRange { after, up_to }) == hash {
            // That nothing comes after what the client has makes nothing smaller.
            all_differ &= hash.is_none();
        } else {
            match differing.last_mut().filter(|last| last.up_to == after) {
                Some(last) => last.up_to = up_to,
                None => differing.push(LeafRange { after, up_to }),
            }
        }
        after = up_to;
    }
    let data = |range: LeafRange<'a>| RangeData {
        after: range.after.cloned(),
        up_to: range.up_to.cloned(),
        data: node.in_range(range),
    };
    (!differing.is_empty() && !all_differ).then(|| differing.into_iter().map(data).collect())
}
