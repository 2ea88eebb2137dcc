//! What a client of HTTP/2 makes of its connection: whether it asks for anything, takes what it asked for, or gives up
//! whatever it has begun.
//!
//! Why here and not in the library: it bounds what is held at one moment, and not for how long. By HTTP/1.1 all of this
//! ends with the one request that a connection is at.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// How long a connection may be without a request; by HTTP/1.1 as long as for a head.
const IDLE: Duration = Duration::from_secs(15);
/// How long a client may take nothing of an answer.
const STALL: Duration = Duration::from_secs(60);

/// What the streams of one connection have done.
#[derive(Debug)]
pub(super) struct Conduct {
    /// How many more may be given up than were answered.
    given_up_max: u64,
    streams: Mutex<Streams>,
    /// Too many were given up.
    gave_up: Notify,
}

#[derive(Debug)]
struct Streams {
    under_way: usize,
    /// When there was none under way for the last time.
    quiet_since: Instant,
    begun: u64,
    answered: u64,
    /// By the client, before there was an answer.
    given_up: u64,
    /// Since when clients are offered what they have not taken.
    offered: BTreeMap<u64, Instant>,
}

/// Why a connection is not served any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("no request has come")]
    NeverAsked,
    #[error("nothing is asked any more")]
    Idle,
    #[error("nothing was taken of an answer for {} s", STALL.as_secs())]
    Stalled,
    #[error("too many requests were given up before they were answered")]
    GaveUp,
}

/// One request and its answer; over when this is dropped.
#[derive(Debug)]
pub(super) struct Stream {
    conduct: Arc<Conduct>,
    number: u64,
    is_answered: bool,
}

impl Conduct {
    /// Of a connection that begins.
    pub(super) fn new(given_up_max: u64) -> Self {
        let streams = Streams {
            under_way: 0,
            quiet_since: Instant::now(),
            begun: 0,
            answered: 0,
            given_up: 0,
            offered: BTreeMap::new(),
        };
        Self { given_up_max, streams: Mutex::new(streams), gave_up: Notify::new() }
    }

    /// A request has come.
    pub(super) fn begin(self: &Arc<Self>) -> Stream {
        let mut streams = self.streams();
        streams.under_way += 1;
        streams.begun += 1;
        Stream { conduct: self.clone(), number: streams.begun, is_answered: false }
    }

    /// Returns when there is one. What was offered and not taken may be noticed [`IDLE`] late.
    pub(super) async fn fault(&self) -> Fault {
        loop {
            let until = match self.judge(Instant::now()) {
                Ok(until) => until,
                Err(fault) => return fault,
            };
            tokio::select! {
                () = sleep_until(until) => {}
                () = self.gave_up.notified() => return Fault::GaveUp,
            }
        }
    }

    /// When to look again.
    fn judge(&self, now: Instant) -> Result<Instant, Fault> {
        let streams = self.streams();
        let quiet_since = if streams.under_way == 0 { streams.quiet_since } else { now };
        let offered_since = streams.offered.values().min().copied().unwrap_or(now);
        if quiet_since + IDLE <= now {
            Err(if streams.begun == 0 { Fault::NeverAsked } else { Fault::Idle })
        } else if offered_since + STALL <= now {
            Err(Fault::Stalled)
        } else {
            Ok((quiet_since + IDLE).min(offered_since + STALL))
        }
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    /// The client is still there for the answer.
    pub(super) fn answered(&mut self) {
        if !self.is_answered {
            self.is_answered = true;
            self.conduct.streams().answered += 1;
        }
    }

    /// The client is offered something.
    pub(super) fn offered(&self) {
        self.conduct.streams().offered.insert(self.number, Instant::now());
    }

    /// All that was offered is taken.
    pub(super) fn taken(&self) {
        self.conduct.streams().offered.remove(&self.number);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut streams = self.conduct.streams();
        streams.offered.remove(&self.number);
        streams.under_way -= 1;
        if streams.under_way == 0 {
            streams.quiet_since = Instant::now();
        }
        if !self.is_answered {
            streams.given_up += 1;
            if streams.answered + self.conduct.given_up_max < streams.given_up {
                self.conduct.gave_up.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, timeout};

    const MAX: u64 = 3;

    /// What a client does.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// Asks for something that is answered at once and offered.
        Asks,
        /// Takes all that it is offered, of requests that are not over.
        Takes,
        /// Lets so many seconds pass.
        Waits(u64),
        /// Takes all, and is done with it.
        Ends,
        /// Asks for something and gives up before the answer.
        GivesUp,
        /// Sends a body, so that there is no answer yet.
        Sends,
    }
    use Step::{Asks, Ends, GivesUp, Sends, Takes, Waits};

    #[tokio::test(start_paused = true)]
    async fn a_connection_ends_for_one_of_four_reasons() {
        for (steps, expected) in [
            (&[][..], None),
            (&[Waits(14)], None),
            (&[Waits(15)], Some(Fault::NeverAsked)),
            (&[Waits(14), Asks, Ends, Waits(14)], None),
            (&[Waits(14), Asks, Ends, Waits(15)], Some(Fault::Idle)),
            // Somebody listens to an event stream.
            (&[Asks, Takes, Waits(1_000)], None),
            (&[Sends, Waits(1_000)], None),
            (&[Asks, Waits(59)], None),
            (&[Asks, Waits(60)], Some(Fault::Stalled)),
            (&[Asks, Waits(59), Takes, Waits(59)], None),
            // One that is taken does not help another.
            (&[Asks, Waits(30), Asks, Waits(30)], Some(Fault::Stalled)),
            (&[GivesUp, GivesUp, GivesUp], None),
            (&[GivesUp, GivesUp, GivesUp, GivesUp], Some(Fault::GaveUp)),
            (&[GivesUp, GivesUp, Asks, Ends, GivesUp, GivesUp], None),
            (&[GivesUp, GivesUp, Asks, Ends, GivesUp, GivesUp, GivesUp], Some(Fault::GaveUp)),
        ] {
            let conduct = Arc::new(Conduct::new(MAX));
            let mut streams = Vec::new();
            for step in steps {
                match step {
                    Asks => {
                        let mut stream = conduct.begin();
                        stream.answered();
                        stream.offered();
                        streams.push(stream);
                    }
                    Takes => streams.iter().for_each(Stream::taken),
                    Waits(seconds) => advance(Duration::from_secs(*seconds)).await,
                    Ends => streams.clear(),
                    GivesUp => drop(conduct.begin()),
                    Sends => streams.push(conduct.begin()),
                }
            }
            let found = timeout(Duration::ZERO, conduct.fault()).await.ok();
            assert_eq!(found, expected, "{steps:?}");
        }
    }
}
