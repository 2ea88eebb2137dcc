//! Acknowledged writes, by one client and by many.

use crate::latency::Latencies;
use crate::process::CpuTime;
use crate::session::{Session, is_done, next_text};
use crate::subject::{ServerArguments, Subject, raise_descriptors};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use crate::value::{MARK_BYTES, marked, place, put};
use futures_util::SinkExt;
use hearth_tree::Path;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::protocol::Message;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many clients in the rows with many.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    clients: u32,
    /// How long each row is measured, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 2_000, value_parser = clap::value_parser!(u16).range(1..))]
    duration_ms: u16,
    /// Length of a value in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = clap::value_parser!(u16).range(i64::try_from(MARK_BYTES).unwrap_or(0)..=16_000))]
    value_bytes: u16,
    /// Times that everything is measured; the best counts.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
    /// Leaves the peer out.
    #[arg(long)]
    alone: bool,
}

/// How long everything runs before it counts.
const WARM_UP: Duration = Duration::from_millis(200);

const COLUMNS: [Column; 8] = [
    Column("who", "who"),
    Column("clients", "clients"),
    Column("acknowledged", "acknowledged"),
    Column("per_cpu_second", "per CPU second"),
    Column("per_second", "per second"),
    Column("p50_us", "p50 us"),
    Column("p99_us", "p99 us"),
    Column("cpu_seconds_by_thread", "CPU by thread"),
];

/// Clients, and requests of each that are under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) clients: u32,
    pub(crate) in_flight: usize,
}

/// What one load came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) acknowledged: u32,
    pub(crate) cpu: CpuTime,
    pub(crate) elapsed: Duration,
    pub(crate) latencies: Latencies,
}

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { clients, duration_ms, value_bytes, rounds, alone } = *arguments;
    raise_descriptors(clients)?;
    let mut rivals = vec![("hearth", server.server()?, true)];
    if !alone {
        rivals.push(("tungstenite echo", Subject::peer(&["echo"])?, false));
    }
    let loads = [(1, 1), (clients, 1), (clients, 8)].map(|(clients, in_flight)| Load { clients, in_flight });
    let mut rows = Vec::new();
    for load in loads {
        let mut best: Vec<Option<Outcome>> = rivals.iter().map(|_| None).collect();
        for _ in 0..rounds {
            for ((_, subject, is_server), best) in rivals.iter().zip(&mut best) {
                let duration = Duration::from_millis(duration_ms.into());
                let outcome = measure(subject, *is_server, load, duration, value_bytes.into()).await?;
                if best.as_ref().is_none_or(|best| outcome.is_better_than(best)) {
                    *best = Some(outcome);
                }
            }
        }
        let named = rivals.iter().zip(&best);
        rows.extend(named.filter_map(|((name, ..), best)| Some(row(name, load, best.as_ref()?))));
    }
    Ok(Table {
        title: format!(
            "set: writes of {value_bytes} bytes, acknowledged; best of {rounds} rounds of {duration_ms} ms"
        ),
        columns: COLUMNS.into(),
        rows,
        notes: vec![
            "`64 x 8`: 64 clients with 8 requests under way each. Every client writes at a place of its own."
                .into(),
        ],
    })
}

fn row(name: &str, Load { clients, in_flight }: Load, outcome: &Outcome) -> Vec<Cell> {
    let load = if in_flight == 1 { clients.to_string() } else { format!("{clients} x {in_flight}") };
    vec![
        Cell::Text(name.into()),
        Cell::Text(load),
        Cell::Count(outcome.acknowledged.into()),
        Cell::rate(outcome.acknowledged, outcome.cpu.total()),
        Cell::rate(outcome.acknowledged, outcome.elapsed),
        Cell::Micros(outcome.latencies.percentile(50)),
        Cell::Micros(outcome.latencies.percentile(99)),
        Cell::Threads(outcome.cpu.clone()),
    ]
}

impl Outcome {
    /// By processor time for each, which is what is compared; by time, if that is unknown.
    fn is_better_than(&self, other: &Self) -> bool {
        let cost = |outcome: &Self| {
            let [cpu, elapsed] = [outcome.cpu.total(), outcome.elapsed].map(|time| time.as_secs_f64());
            [cpu, elapsed].map(|time| time / f64::from(outcome.acknowledged.max(1)))
        };
        cost(self) < cost(other)
    }
}

pub(crate) async fn measure(
    subject: &Subject,
    is_server: bool,
    load: Load,
    duration: Duration,
    value_bytes: usize,
) -> Result<Outcome, Trouble> {
    let acknowledged = Arc::new(AtomicU32::new(0));
    let mut clients = JoinSet::new();
    for number in 0..load.clients {
        let session = if is_server {
            Session::connect(subject.address).await?
        } else {
            Session::connect_bare(subject.address).await?
        };
        let client = Client { session, at: place(&format!("set/c{number}")), value_bytes, writes_made: 0 };
        clients.spawn(client.write(load.in_flight, WARM_UP, duration, acknowledged.clone()));
    }
    sleep(WARM_UP).await;
    let (cpu_before, before) = (subject.cpu()?, acknowledged.load(Ordering::Relaxed));
    let began = Instant::now();
    sleep(duration).await;
    let (cpu, after) = (subject.cpu()?.since(&cpu_before), acknowledged.load(Ordering::Relaxed));
    let elapsed = began.elapsed();
    let mut latencies = Vec::new();
    while let Some(client) = clients.join_next().await {
        latencies.extend(client.map_err(|_| Trouble::Closed)??);
    }
    Ok(Outcome { acknowledged: after - before, cpu, elapsed, latencies: Latencies::of(latencies) })
}

/// One who writes.
struct Client {
    session: Session,
    at: Path,
    value_bytes: usize,
    writes_made: usize,
}

impl Client {
    /// Writes for a time, with so many under way; gives how long each took once it was warm.
    async fn write(
        mut self,
        in_flight: usize,
        warm_up: Duration,
        duration: Duration,
        acknowledged: Arc<AtomicU32>,
    ) -> Result<Vec<Duration>, Trouble> {
        let warm = Instant::now() + warm_up;
        let end = warm + duration;
        let mut latencies = Vec::new();
        let mut under_way = VecDeque::new();
        loop {
            let now = Instant::now();
            if now < end && under_way.len() < in_flight {
                while under_way.len() < in_flight {
                    let text = self.text();
                    self.session.socket.feed(Message::text(text)).await?;
                    under_way.push_back(Instant::now());
                }
                self.session.socket.flush().await?;
            }
            let Some(sent) = under_way.front().copied() else { return Ok(latencies) };
            let text = next_text(&mut self.session.socket).await?;
            if is_done(&text)? {
                under_way.pop_front();
                acknowledged.fetch_add(1, Ordering::Relaxed);
                if warm <= sent && sent < end {
                    latencies.push(sent.elapsed());
                }
            }
        }
    }

    fn text(&mut self) -> String {
        let value = marked(self.writes_made, self.value_bytes);
        self.writes_made += 1;
        self.session.request(put(&self.at, &value))
    }
}

#[cfg(test)]
mod tests {
    use crate::peer::ANSWER;
    use crate::session::is_done;

    #[test]
    fn the_answer_of_the_echo_is_one_of_the_protocol() {
        assert!(is_done(ANSWER).unwrap());
    }
}
