//! Work that takes long, out of the way of those who share the thread.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does it at once, and hands everybody else on this thread over to another one. Costs more than a short piece of work.
pub(crate) fn unhurried<T>(work: impl FnOnce() -> T) -> T {
    // A runtime of one thread has nobody to hand them over to, and no runtime nobody who would wait.
    let has_others =
        Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if has_others { tokio::task::block_in_place(work) } else { work() }
}
