//! Removes the beginning of the log, once checkpoints stand for it.
//!
//! Why not all of it: who comes back after a short while, and wants to go on where it was, needs what has happened since. So
//! a tail of bounded length stays.

use super::files::Files;
use super::segment::sequence_of;
use super::staging::group_of_part;
use std::io;

/// How much of the log stays that nobody needs to recover, at most, in bytes: a hundred thousand small writes. Before it
/// comes what is needed to recover from the older of two checkpoints, which is history for who follows the newer one.
pub(crate) const TAIL_BYTES: u64 = 16 << 20;

/// Removes segments that hold nothing but groups before this sequence, with their parts; the newest of them stay as far as
/// they come to no more than `tail_bytes`, and the last segment stays in any case. The first one goes first, so that what is
/// left has no gap whenever this ends. Returns how many segments went.
pub(crate) fn trim<F: Files>(files: &F, sequence: u64, tail_bytes: u64) -> io::Result<usize> {
    let names = files.names()?;
    let mut segments: Vec<(u64, &String)> =
        names.iter().filter_map(|name| Some((sequence_of(name)?, name))).collect();
    segments.sort();
    let parts: Vec<(u64, &String)> =
        names.iter().filter_map(|name| Some((group_of_part(name)?, name))).collect();
    // Those before the one with the group, each with the first group behind it.
    let needless = segments.windows(2).map(|pair| (pair[0], pair[1].0)).filter(|&(_, next)| next <= sequence);
    let needless: Vec<_> = needless.collect();
    let (mut kept, mut kept_bytes) = (0, 0);
    for &((first, name), next) in needless.iter().rev() {
        kept_bytes += files.bytes(name)?;
        for (_, part) in parts.iter().filter(|(group, _)| (first..next).contains(group)) {
            kept_bytes += files.bytes(part)?;
        }
        if tail_bytes < kept_bytes {
            break;
        }
        kept += 1;
    }
    let removed = &needless[..needless.len() - kept];
    for &((_, name), _) in removed {
        files.remove(name)?;
    }
    // Behind the segments that refer to them: whenever this ends, none refers to what is not there.
    let first = removed.last().map_or_else(|| segments.first().map_or(0, |first| first.0), |&(_, next)| next);
    let orphans: Vec<_> = parts.iter().filter(|(group, _)| *group < first).collect();
    for (_, name) in &orphans {
        files.remove(name)?;
    }
    if !removed.is_empty() || !orphans.is_empty() {
        files.sync()?;
    }
    Ok(removed.len())
}
