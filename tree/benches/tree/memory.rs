//! How much memory the tree takes.
//!
//! Why the resident memory of the process and not the sum of what was asked for: what the allocator adds for each piece
//! is paid for as well.

use crate::chat::{FIELDS, Messages};
use hearth_tree::{ChildPath, Index, IndexBy, Node};
use std::hint::black_box;

const MESSAGES: usize = 1_000_000;

/// Prints the bytes per leaf of a room whose messages came one after the other, and those of an index on it.
///
/// In a process that has done nothing else yet: memory that was freed before would hide what is taken.
pub(crate) fn print() {
    let empty = resident_bytes();
    let room =
        Messages::default().take(MESSAGES).fold(None, |room: Option<Node>, (id, message)| match room {
            None => Node::inner([(id, message)]),
            Some(room) => room.with_child(&id, Some(message)),
        });
    let full = resident_bytes();
    print_share("messages, per leaf", full - empty, MESSAGES * FIELDS);

    let at = ChildPath::parse("at").expect("`at` is a path");
    let index = Index::build(IndexBy::Child(at), room.as_ref());
    print_share("an index by `at`, per message", resident_bytes() - full, MESSAGES);
    black_box((room, index));
}

#[expect(clippy::cast_precision_loss, clippy::print_stdout, reason = "figures of three digits for a person")]
fn print_share(what: &str, bytes: usize, parts: usize) {
    println!("{what}: {:.1} bytes ({} MB)", bytes as f64 / parts as f64, bytes / 1_000_000);
}

#[expect(clippy::disallowed_methods, reason = "it is the operating system that knows")]
fn resident_bytes() -> usize {
    /// Of every Linux that this is measured on.
    const PAGE_BYTES: usize = 4096;
    let pages = std::fs::read_to_string("/proc/self/statm").expect("resident memory is read on Linux");
    let resident = pages.split(' ').nth(1).expect("the second number is the resident pages");
    PAGE_BYTES * resident.parse::<usize>().expect("a number of pages")
}
