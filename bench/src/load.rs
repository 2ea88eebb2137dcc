//! Clients that write small values all the time, while something else happens.

use crate::latency::Latencies;
use crate::session::{Session, is_done, next_text};
use crate::subject::Subject;
use crate::trouble::Trouble;
use crate::value::{marked, place, put};
use futures_util::SinkExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::protocol::Message;

/// Clients under way, each with one write at a time.
#[derive(Debug)]
pub(crate) struct Load {
    is_over: Arc<AtomicBool>,
    clients: JoinSet<Result<Vec<Acknowledged>, Trouble>>,
}

/// A write, and how long it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    sent: Instant,
    took: Duration,
}

impl Load {
    /// Connects them, and lets them begin. Each writes at so many places, one after the other.
    pub(crate) async fn begin(
        subject: &Subject,
        clients: u32,
        places: usize,
        value_bytes: usize,
    ) -> Result<Self, Trouble> {
        let mut load = Self { is_over: Arc::default(), clients: JoinSet::new() };
        for number in 0..clients {
            let session = Session::connect(subject.address).await?;
            load.clients.spawn(write(session, number, places, value_bytes, load.is_over.clone()));
        }
        Ok(load)
    }

    /// Ends them; gives what they have written.
    pub(crate) async fn end(mut self) -> Result<Vec<Acknowledged>, Trouble> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        while let Some(client) = self.clients.join_next().await {
            all.extend(client.map_err(|_| Trouble::Closed)??);
        }
        Ok(all)
    }
}

async fn write(
    mut session: Session,
    number: u32,
    places: usize,
    value_bytes: usize,
    is_over: Arc<AtomicBool>,
) -> Result<Vec<Acknowledged>, Trouble> {
    /// Far from each other, and all of them in the end: a prime.
    const STRIDE: usize = 7_919;
    let mut all = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let at = place(&format!("load/c{number}/{}", all.len() * STRIDE % places));
        let text = session.request(put(&at, &marked(all.len(), value_bytes)));
        let sent = Instant::now();
        session.socket.send(Message::text(text)).await?;
        while !is_done(&next_text(&mut session.socket).await?)? {}
        all.push(Acknowledged { sent, took: sent.elapsed() });
    }
    Ok(all)
}

impl Acknowledged {
    /// How long those took that were under way at any time between the two.
    pub(crate) fn within(all: &[Self], from: Instant, to: Instant) -> Latencies {
        let is_within = |own: &&Self| own.sent < to && from < own.sent + own.took;
        Latencies::of(all.iter().filter(is_within).map(|own| own.took).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_counts_where_it_was_under_way() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let all = [(10, 5), (20, 100), (130, 1)]
            .map(|(sent, took)| Acknowledged { sent: at(sent), took: Duration::from_millis(took) });
        for (from, to, longest) in [
            (0, 10, None),
            (0, 11, Some(5)),
            (14, 19, Some(5)),
            (50, 60, Some(100)),
            (119, 140, Some(100)),
            (125, 140, Some(1)),
        ] {
            let found = Acknowledged::within(&all, at(from), at(to)).percentile(100);
            assert_eq!(found, longest.map(Duration::from_millis), "{from}..{to}");
        }
    }
}
