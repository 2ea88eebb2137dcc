//! Tells of bulk reads by people who have not signed in.
//!
//! Why: databases are emptied by strangers whose owners learn of it from others. A read that is allowed is no error, so only
//! its size gives it away. Why not each time: a stranger could fill the disk with what is told of them.

use crate::limits::{Who, bytes_of_node, network_of};
use crate::seldom::Seldom;
use hearth_engine::Identity;
use hearth_rules::Claim;
use hearth_tree::{Node, Path};
use std::time::Instant;

/// What is told of: an answer of so many bytes, or of so many nodes.
const BYTES: usize = 1024 * 1024;
const NODES: usize = 10_000;
/// So many nodes do not fit in less: a node on the socket has a key in quotes, a colon, a value and a comma.
const NODES_BYTES_MIN: usize = NODES * 6;
/// Most characters of a path that are told.
const PATH_CHARS_MAX: usize = 200;

/// Which places and addresses were told of lately.
#[derive(Debug, Default)]
pub(crate) struct Audit(Seldom);

impl Audit {
    /// Somebody is given what is at a place, in a text of so many bytes; `node` is what that is, where it is at hand.
    /// Whether it was a bulk read by somebody who has not signed in. O(1) below some ten kilobytes, and O([`NODES`]) above.
    pub(crate) fn given(&self, who: &Who<'_>, at: &Path, bytes: usize, node: Option<&Node>) -> bool {
        if bytes < NODES_BYTES_MIN || !is_nobody(who.identity) {
            return false;
        }
        let has_many = || node.is_some_and(|node| !is_below(node, &mut { NODES }));
        let is_bulk = BYTES <= bytes || has_many();
        if is_bulk {
            self.tell(who, at, bytes);
        }
        is_bulk
    }

    /// As [`Audit::given`], where the text has not been made: what the node itself has is about as much. O(nodes), unless
    /// the reader has signed in.
    pub(crate) fn given_node(&self, who: &Who<'_>, at: &Path, node: &Node) -> bool {
        if !is_nobody(who.identity) {
            return false;
        }
        let bytes = usize::try_from(bytes_of_node(node)).unwrap_or(usize::MAX);
        let is_bulk = BYTES <= bytes || !is_below(node, &mut { NODES });
        if is_bulk {
            self.tell(who, at, bytes);
        }
        is_bulk
    }

    fn tell(&self, who: &Who<'_>, at: &Path, bytes: usize) {
        let name = (who.database, at, network_of(who.address));
        if let Some(untold) = self.0.is_due(name, Instant::now()) {
            let others = if untold == 0 { String::new() } else { format!(" ({untold} more before)") };
            tracing::warn!(
                "bulk read: somebody at {} who has not signed in was given {} kB of `{}` in database `{}`{others}",
                who.address,
                bytes.div_ceil(1_000),
                shown(at),
                who.database,
            );
        }
    }
}

fn is_nobody(identity: &Identity) -> bool {
    match identity {
        Identity::Admin => false,
        Identity::User(claim) => **claim == Claim::Null,
    }
}

/// Whether there are less nodes than these. O(`left`).
fn is_below(node: &Node, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    *left != 0 && node.children().iter().all(|(_, child)| is_below(child, left))
}

/// On one line, whatever keys are in it. Quotes stay as they are: what is told is to be copied.
pub(crate) fn shown(at: &impl std::fmt::Display) -> String {
    let text = at.to_string();
    let mut shown = String::new();
    for ch in text.chars().take(PATH_CHARS_MAX) {
        match ch {
            '"' | '\'' => shown.push(ch),
            _ => shown.extend(ch.escape_debug()),
        }
    }
    if text.chars().nth(PATH_CHARS_MAX).is_some() { shown + "…" } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearth_tree::Key;

    #[test]
    fn nodes_are_counted_up_to_the_bound() {
        let leaf = || Node::from(hearth_tree::Scalar::Bool(true));
        let children = |count: usize| {
            Node::inner((0..count).map(|number| (Key::parse(&format!("k{number}")).unwrap(), leaf())))
                .unwrap()
        };
        for (count, bound, expected) in
            [(1, 2, false), (1, 3, true), (9, 10, false), (9, 11, true), (100, 10, false)]
        {
            assert_eq!(is_below(&children(count), &mut { bound }), expected, "{count} children, {bound}");
        }
    }

    #[test]
    fn paths_are_told_on_one_line() {
        let long = format!("/{}", "a".repeat(300));
        for (path, expected) in [
            ("/a b/é", "/a b/é".to_owned()),
            ("/\"it's\"", "/\"it's\"".into()),
            ("/a\u{85}b\u{202e}c", "/a\\u{85}b\\u{202e}c".into()),
            (&long, format!("/{}…", "a".repeat(199))),
        ] {
            assert_eq!(shown(&Path::parse(path).unwrap()), expected);
        }
    }
}
