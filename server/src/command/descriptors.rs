//! How many files and connections the system lets the server have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::num::NonZeroUsize;

/// What is kept for everything that is no connection: the log, the files of checkpoints, and those of `--public`.
const RESERVED: usize = 256;
/// Most connections, if nothing is said, however much the system allows: some gigabyte of memory while they idle.
const CONNECTIONS_MAX: usize = 100_000;

/// More connections than the system gives descriptors for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`--max-connections {asked}` needs {} descriptors, and the system lets this server have {allowed}: raise that (`ulimit -n`, or `LimitNOFILE` of a unit), or say {} or less",
    .asked.saturating_add(RESERVED),
    default_of(*.allowed)
)]
pub struct TooFew {
    asked: usize,
    allowed: usize,
}

/// How many connections there may be: so many, or what the system has room for. Takes as many descriptors for this process
/// as it may have; systems begin with few for the sake of programs that a larger number would confuse.
///
/// # Errors
/// [`TooFew`], if those are not enough.
pub(super) fn connections_max(asked: Option<NonZeroUsize>) -> Result<NonZeroUsize, TooFew> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If that fails, it stays as it was.
    if setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_err() {
        tracing::info!("the number of open files could not be raised");
    }
    let allowed = getrlimit(Resource::Nofile).current.and_then(|allowed| usize::try_from(allowed).ok());
    let allowed = allowed.unwrap_or(usize::MAX);
    match asked {
        Some(asked)
            if default_of(allowed) < asked.get() && allowed.saturating_sub(RESERVED) < asked.get() =>
        {
            Err(TooFew { asked: asked.get(), allowed })
        }
        Some(asked) => Ok(asked),
        None => Ok(NonZeroUsize::new(default_of(allowed)).unwrap_or(NonZeroUsize::MIN)),
    }
}

/// Half of them, where there are hardly any.
fn default_of(allowed: usize) -> usize {
    allowed.saturating_sub(RESERVED).max(allowed / 2).min(CONNECTIONS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_descriptors_are_left_for_files() {
        for (allowed, expected) in
            [(0, 0), (100, 50), (1_024, 768), (524_288, 100_000), (usize::MAX, 100_000)]
        {
            assert_eq!(default_of(allowed), expected, "{allowed}");
        }
        let error = TooFew { asked: 1_000, allowed: 1_024 };
        let expected = "`--max-connections 1000` needs 1256 descriptors, and the system lets this server have 1024: \
            raise that (`ulimit -n`, or `LimitNOFILE` of a unit), or say 768 or less";
        assert_eq!(error.to_string(), expected);
    }
}
