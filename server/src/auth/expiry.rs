//! When it ends that somebody is proved to be who they are.
//!
//! Why it is shared: a connection knows when a new token moves it, and may be busy with a slow client when it comes. So
//! another one, who waits for nobody, watches it, too.

use crate::clock::now_ms;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::sleep;

/// How long is slept at a time: the clock may be set meanwhile.
const LOOK: Duration = Duration::from_secs(60 * 60);
const NEVER: i64 = i64::MAX;

/// A time in milliseconds, which may be moved, or none.
#[derive(Debug)]
pub(crate) struct Expiry {
    at_ms: AtomicI64,
    moved: Notify,
}

impl Expiry {
    pub(crate) fn new(at_ms: Option<i64>) -> Self {
        Self { at_ms: AtomicI64::new(at_ms.unwrap_or(NEVER)), moved: Notify::new() }
    }

    pub(crate) fn set(&self, at_ms: Option<i64>) {
        self.at_ms.store(at_ms.unwrap_or(NEVER), Ordering::Release);
        self.moved.notify_one();
    }

    /// The time, in milliseconds; nothing, if it never ends.
    pub(crate) fn at_ms(&self) -> Option<i64> {
        Some(self.at_ms.load(Ordering::Acquire)).filter(|&at_ms| at_ms != NEVER)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.at_ms().is_some_and(|at_ms| at_ms <= now_ms())
    }

    /// Returns when the time has come, if it is another one than was `seen`; for one at a time who waits.
    pub(crate) async fn over(&self, seen: Option<i64>) -> i64 {
        loop {
            let wait = async {
                match self.at_ms() {
                    Some(at_ms) if Some(at_ms) != seen => {
                        let left = u64::try_from(at_ms.saturating_sub(now_ms())).unwrap_or_default();
                        // In a box, since most have no end, and every connection would have room for it.
                        Box::pin(sleep(LOOK.min(Duration::from_millis(left)))).await;
                        at_ms
                    }
                    Some(_) | None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.moved.notified() => {}
                at_ms = wait => if at_ms <= now_ms() { return at_ms },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    /// Whether it is over by now.
    async fn is_over(expiry: &Expiry, seen: Option<i64>) -> bool {
        let mut over = pin!(expiry.over(seen));
        tokio::time::timeout(Duration::from_millis(50), over.as_mut()).await.is_ok()
    }

    #[tokio::test]
    async fn the_newest_time_counts() {
        let past = now_ms() - 1;
        let future = now_ms() + 60_000;
        for (first, then, seen, expected) in [
            (None, None, None, false),
            (Some(past), Some(past), None, true),
            (Some(past), Some(past), Some(past), false),
            (Some(past), Some(past), Some(past - 1), true),
            (Some(past), None, None, false),
            (Some(past), Some(future), None, false),
            (Some(future), Some(future), None, false),
            (Some(future), Some(past), None, true),
            (None, Some(past), None, true),
            (Some(future), Some(now_ms() + 10), None, true),
            (Some(i64::MIN), Some(i64::MIN), None, true),
        ] {
            let expiry = Expiry::new(first);
            assert_eq!(is_over(&expiry, seen).await, first.is_some_and(|at| at < future) && first != seen);
            expiry.set(then);
            assert_eq!(is_over(&expiry, seen).await, expected, "{first:?} {then:?} {seen:?}");
        }
        // Moved while somebody waits.
        for (then, expected) in [(Some(past), true), (Some(future + 1), false), (None, false)] {
            let expiry = Expiry::new(Some(future));
            let (over, ()) = tokio::join!(is_over(&expiry, None), async { expiry.set(then) });
            assert_eq!(over, expected, "{then:?}");
        }
    }
}
