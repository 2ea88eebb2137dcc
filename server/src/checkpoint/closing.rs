//! A store that this process has closed, and that is not quite closed yet.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long it may take.
const CLOSING_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// Waits until nobody holds the file any more that a store locks. Its own threads do so for a moment longer than the store
/// lives, and both kinds refuse what is locked. Nobody else has it: the data directory is locked by this process. What is
/// still locked in the end is left to the store, which says so and names the file.
pub(super) fn wait(file: &Path) -> io::Result<()> {
    let file = match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return file.unlock(),
            Err(TryLockError::WouldBlock) if CLOSING_MAX < begun.elapsed() => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}
