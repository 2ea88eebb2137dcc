//! When a server has written a checkpoint.
//!
//! Why by the processor time of its thread: whoever looks from outside sees nothing else, in whichever store it is written.

use crate::subject::Subject;
use crate::trouble::Trouble;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// It is over when its thread has done nothing for so long.
const IDLE: Duration = Duration::from_secs(2);
/// One that does not begin within this does not begin: what makes it due may still be written.
const BEGINS: Duration = Duration::from_secs(10);
/// Looking whether there is anything to do takes less.
const BUSY: Duration = Duration::from_millis(2);
const LOOK: Duration = Duration::from_millis(20);

/// A checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpointed {
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

impl Checkpointed {
    /// Waits for one to begin, and to end; nothing, if none begins.
    pub(crate) async fn wait(subject: &Subject) -> Result<Option<Self>, Trouble> {
        let spent = || Ok::<_, Trouble>(subject.cpu()?.0.get("checkpoint").copied().unwrap_or_default());
        let asked = Instant::now();
        let mut last = spent()?;
        let mut found: Option<Self> = None;
        loop {
            sleep(LOOK).await;
            let now = spent()?;
            if BUSY < now.saturating_sub(last) {
                let ended = Instant::now();
                found = Some(Self { began: found.map_or(ended, |found| found.began), ended });
                last = now;
            }
            match found {
                None if BEGINS < asked.elapsed() => return Ok(None),
                Some(found) if IDLE < found.ended.elapsed() => return Ok(Some(found)),
                None | Some(_) => {}
            }
        }
    }
}
