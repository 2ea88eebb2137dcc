//! Small reads and writes over HTTP, on connections that stay open, and event streams of one place.
//!
//! Why by hand: a client library would cost more than the server, on the same cores.

use crate::latency::Latencies;
use crate::process::CpuTime;
use crate::subject::{ServerArguments, Subject, raise_descriptors};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many connections.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// How long each row is measured, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 2_000, value_parser = clap::value_parser!(u16).range(1..))]
    duration_ms: u16,
    /// How many event streams.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    streams: u32,
    /// Times that everything is measured; the best counts.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
    /// Leaves the peer out.
    #[arg(long)]
    alone: bool,
}

const COLUMNS: [Column; 8] = [
    Column("who", "who"),
    Column("request", "request"),
    Column("answered", "answered"),
    Column("per_cpu_second", "per CPU second"),
    Column("per_second", "per second"),
    Column("p50_us", "p50 us"),
    Column("p99_us", "p99 us"),
    Column("cpu_seconds_by_thread", "CPU by thread"),
];

/// Longest answer that is expected.
const ANSWER_BYTES_MAX: usize = 4 * 1_024;
/// How long an event may take.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug)]
enum Method {
    Get,
    Put,
}

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { connections, duration_ms, streams, rounds, alone } = *arguments;
    raise_descriptors(connections.max(streams + 1))?;
    let mut rivals = vec![("hearth", server.server()?)];
    if !alone {
        rivals.push(("axum", Subject::peer(&["rest"])?));
    }
    let duration = Duration::from_millis(duration_ms.into());
    let mut rows = Vec::new();
    // What is read must have been written.
    for what in [What::Asking(Method::Put), What::Asking(Method::Get), What::Streams] {
        let mut best: Vec<Option<Phase>> = rivals.iter().map(|_| None).collect();
        for _ in 0..rounds {
            for ((_, subject), best) in rivals.iter().zip(&mut best) {
                let phase = match what {
                    What::Asking(method) => measure(subject, method, connections, duration).await?,
                    What::Streams => told(subject, streams, duration).await?,
                };
                if best.as_ref().is_none_or(|best| phase.is_better_than(best)) {
                    *best = Some(phase);
                }
            }
        }
        let named = rivals.iter().zip(best);
        rows.extend(named.filter_map(|((who, _), best)| Some(best?.row(who, what.name()))));
    }
    Ok(Table {
        title: format!(
            "rest: small requests on {connections} connections, and {streams} event streams of one place; best of {rounds} rounds of {duration_ms} ms"
        ),
        columns: COLUMNS.into(),
        rows,
        notes: vec!["Of streams, what is counted are events that have come, one PUT under way; p50 and p99 are those of the last to be told.".into()],
    })
}

/// What is measured.
#[derive(Clone, Copy, Debug)]
enum What {
    Asking(Method),
    Streams,
}

impl What {
    const fn name(self) -> &'static str {
        match self {
            Self::Asking(Method::Put) => "PUT",
            Self::Asking(Method::Get) => "GET",
            Self::Streams => "stream",
        }
    }
}

/// What was seen of one rival.
struct Phase {
    count: u32,
    cpu: CpuTime,
    elapsed: Duration,
    latencies: Latencies,
}

impl Phase {
    /// By processor time for what was done; by what was done, if that is unknown.
    fn is_better_than(&self, other: &Self) -> bool {
        let own = self.cpu.total().as_secs_f64() * f64::from(other.count);
        let others = other.cpu.total().as_secs_f64() * f64::from(self.count);
        (own, other.count) < (others, self.count)
    }

    fn row(self, who: &str, what: &str) -> Vec<Cell> {
        let Self { count, cpu, elapsed, latencies } = self;
        vec![
            Cell::Text(who.into()),
            Cell::Text(what.into()),
            Cell::Count(count.into()),
            Cell::rate(count, cpu.total()),
            Cell::rate(count, elapsed),
            Cell::Micros(latencies.percentile(50)),
            Cell::Micros(latencies.percentile(99)),
            Cell::Threads(cpu),
        ]
    }
}

async fn measure(
    subject: &Subject,
    method: Method,
    connections: u32,
    duration: Duration,
) -> Result<Phase, Trouble> {
    let answered = Arc::new(AtomicU32::new(0));
    let mut clients = JoinSet::new();
    for number in 0..connections {
        let client = Client::connect(subject, method, number).await?;
        clients.spawn(client.ask_for(duration, answered.clone()));
    }
    let (cpu_before, before, began) = (subject.cpu()?, answered.load(Ordering::Relaxed), Instant::now());
    sleep(duration).await;
    let (cpu, after) = (subject.cpu()?.since(&cpu_before), answered.load(Ordering::Relaxed));
    let elapsed = began.elapsed();
    let mut latencies = Vec::new();
    while let Some(client) = clients.join_next().await {
        latencies.extend(client.map_err(|_| Trouble::Closed)??);
    }
    Ok(Phase { count: after - before, cpu, elapsed, latencies: Latencies::of(latencies) })
}

/// One PUT after the other, each when all streams have told the one before.
async fn told(subject: &Subject, streams: u32, duration: Duration) -> Result<Phase, Trouble> {
    let told = Arc::new(Told::default());
    let mut listening = JoinSet::new();
    for _ in 0..streams {
        let mut stream = TcpStream::connect(subject.address).await?;
        let head = format!(
            "GET /bench/rest/c0.json?ns=bench HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n\r\n",
            subject.address
        );
        stream.write_all(head.as_bytes()).await?;
        listening.spawn(told.clone().follow(stream));
    }
    // The first event of each says what is there.
    told.until(streams).await?;
    let mut writer = Client::connect(subject, Method::Put, 0).await?;
    let (cpu_before, began) = (subject.cpu()?, Instant::now());
    let (mut latencies, mut expected) = (Vec::new(), streams);
    while began.elapsed() < duration {
        let sent = Instant::now();
        writer.ask().await?;
        expected += streams;
        told.until(expected).await?;
        latencies.push(sent.elapsed());
    }
    let (cpu, elapsed) = (subject.cpu()?.since(&cpu_before), began.elapsed());
    listening.shutdown().await;
    Ok(Phase { count: expected - streams, cpu, elapsed, latencies: Latencies::of(latencies) })
}

/// How many events have come to all.
#[derive(Default)]
struct Told {
    events: AtomicU32,
    wanted: AtomicU32,
    all: Notify,
}

impl Told {
    async fn follow(self: Arc<Self>, mut stream: TcpStream) -> Result<(), Trouble> {
        let mut piece = vec![0; ANSWER_BYTES_MAX];
        let mut last = 0;
        loop {
            let read = stream.read(&mut piece).await?;
            if read == 0 {
                return Err(Trouble::Closed);
            }
            // An event is the one place with two ends of a line; heads and chunks end theirs otherwise.
            let mut events = 0;
            for &byte in &piece[..read] {
                events += u32::from(byte == b'\n' && last == b'\n');
                last = byte;
            }
            if self.wanted.load(Ordering::Acquire) <= self.events.fetch_add(events, Ordering::AcqRel) + events
            {
                self.all.notify_one();
            }
        }
    }

    /// Returns when so many have come, however often it was asked too early.
    async fn until(&self, count: u32) -> Result<(), Trouble> {
        self.wanted.store(count, Ordering::Release);
        while self.events.load(Ordering::Acquire) < count {
            let waited = timeout(PATIENCE, self.all.notified()).await;
            waited.map_err(|_| Trouble::Stuck {
                what: "an event has not come to all streams".into(),
                seconds: PATIENCE.as_secs(),
            })?;
        }
        Ok(())
    }
}

/// One connection.
struct Client {
    stream: TcpStream,
    host: String,
    method: Method,
    number: u32,
    requests_made: u32,
    answer: Vec<u8>,
}

impl Client {
    async fn connect(subject: &Subject, method: Method, number: u32) -> Result<Self, Trouble> {
        let stream = TcpStream::connect(subject.address).await?;
        stream.set_nodelay(true)?;
        let answer = Vec::with_capacity(ANSWER_BYTES_MAX);
        Ok(Self { stream, host: subject.address.to_string(), method, number, requests_made: 0, answer })
    }

    async fn ask(&mut self) -> Result<(), Trouble> {
        let request = self.request();
        self.stream.write_all(request.as_bytes()).await?;
        self.answer.clear();
        while !is_complete(&self.answer)? {
            if self.stream.read_buf(&mut self.answer).await? == 0 {
                return Err(Trouble::Closed);
            }
        }
        Ok(())
    }

    async fn ask_for(
        mut self,
        duration: Duration,
        answered: Arc<AtomicU32>,
    ) -> Result<Vec<Duration>, Trouble> {
        let end = Instant::now() + duration;
        let mut latencies = Vec::new();
        while Instant::now() < end {
            let sent = Instant::now();
            self.ask().await?;
            answered.fetch_add(1, Ordering::Relaxed);
            latencies.push(sent.elapsed());
        }
        Ok(latencies)
    }

    fn request(&mut self) -> String {
        let Self { host, method, number, requests_made, .. } = self;
        *requests_made += 1;
        let place = format!("/bench/rest/c{number}.json?ns=bench HTTP/1.1\r\nHost: {host}\r\n");
        match method {
            Method::Get => format!("GET {place}\r\n"),
            Method::Put => {
                let body = format!("{{\"write\":{requests_made}}}");
                format!("PUT {place}Content-Length: {}\r\n\r\n{body}", body.len())
            }
        }
    }
}

/// Whether an answer is there to its last byte, by the length that it says.
fn is_complete(answer: &[u8]) -> Result<bool, Trouble> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(at) = answer.windows(END.len()).position(|window| window == END) else { return Ok(false) };
    let head = String::from_utf8_lossy(&answer[..at]);
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(Trouble::Status { status: status.into() });
    }
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.ok_or_else(|| Trouble::Status { status: "no Content-Length".into() })?;
    Ok(at + END.len() + length <= answer.len())
}

#[cfg(test)]
mod tests {
    use super::is_complete;

    #[test]
    fn an_answer_ends_where_its_length_says() {
        for (answer, expected) in [
            ("", Some(false)),
            ("HTTP/1.1 200 OK\r\n", Some(false)),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n1", Some(false)),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n12", Some(true)),
            ("HTTP/1.1 200 OK\r\n\r\n12", None),
            ("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", None),
        ] {
            assert_eq!(is_complete(answer.as_bytes()).ok(), expected, "{answer}");
        }
    }
}
