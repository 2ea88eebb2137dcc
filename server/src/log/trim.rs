//! Removes the beginning of the log, once checkpoints stand for it.

use super::files::Files;
use super::segment::sequence_of;
use std::io;

/// Removes the segments that hold nothing but groups before this sequence; the last one stays in any case. The first one
/// goes first, so that what is left has no gap whenever this ends. Returns how many went.
pub(crate) fn trim<F: Files>(files: &F, sequence: u64) -> io::Result<usize> {
    let mut names: Vec<(u64, String)> =
        files.names()?.into_iter().filter_map(|name| Some((sequence_of(&name)?, name))).collect();
    names.sort();
    let mut removed = 0;
    for segments in names.windows(2) {
        let [(_, name), (next, _)] = segments else { break };
        if sequence < *next {
            break;
        }
        files.remove(name)?;
        removed += 1;
    }
    if removed != 0 {
        files.sync()?;
    }
    Ok(removed)
}
