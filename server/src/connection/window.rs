//! How much one connection may have wait for the threads that everybody waits for.
//!
//! Why apart from how many requests may be unanswered: those wait for the disk, and a client that writes much has many of
//! them. What waits to be decided or shown stands before whatever others ask meanwhile, so it is bounded far lower. Why
//! several credits at a time: a connection that waits for each of them would be woken up for each.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most requests of one connection in the queues of the threads. Small ones take microseconds each.
const WIDTH: u8 = 64;
/// Taken together: a connection that had to wait goes on when so many have come back.
const TOGETHER: u8 = 16;

/// Held by a request until a thread has done with it; nothing for requests that are one at a time anyway.
#[derive(Debug, Default)]
pub(crate) struct Credit(
    #[expect(dead_code, reason = "it is held to be dropped")] Option<OwnedSemaphorePermit>,
);

/// The credits of one connection.
#[derive(Debug)]
pub(super) struct Window {
    all: Arc<Semaphore>,
    /// Taken and not spent.
    own: Option<OwnedSemaphorePermit>,
}

impl Window {
    pub(super) fn new() -> Self {
        Self { all: Arc::new(Semaphore::new(WIDTH.into())), own: None }
    }

    /// A credit for one request. Waits while too many have not come back.
    pub(super) async fn credit(&mut self) -> Credit {
        loop {
            if let Some(one) = self.own.as_mut().and_then(|own| own.split(1)) {
                return Credit(Some(one));
            }
            let more = self.all.clone().acquire_many_owned(TOGETHER.into()).await;
            self.own = Some(more.expect("it is never closed"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn so_many_are_out_and_several_come_back_before_there_are_more() {
        let mut window = Window::new();
        let mut out: Vec<Credit> = (0..WIDTH).map(|_| window.credit().now_or_never().unwrap()).collect();
        for back in 1..TOGETHER {
            drop(out.pop());
            assert!(window.credit().now_or_never().is_none(), "{back}");
        }
        drop(out.pop());
        let more: Vec<Credit> = (0..TOGETHER).map_while(|_| window.credit().now_or_never()).collect();
        assert_eq!(more.len(), usize::from(TOGETHER));
        assert!(window.credit().now_or_never().is_none());
        // What comes back when the window is gone comes back to nobody.
        drop(window);
        drop((out, more));
    }
}
