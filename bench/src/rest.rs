//! Small reads and writes over HTTP, on connections that stay open.
//!
//! Why by hand: a client library would cost more than the server, on the same cores.

use crate::latency::Latencies;
use crate::subject::{ServerArguments, Subject, raise_descriptors};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many connections.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// How long each row is measured, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 2_000, value_parser = clap::value_parser!(u16).range(1..))]
    duration_ms: u16,
}

const COLUMNS: [Column; 7] = [
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

#[derive(Clone, Copy, Debug)]
enum Method {
    Get,
    Put,
}

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { connections, duration_ms } = *arguments;
    raise_descriptors(connections)?;
    let subject = server.server()?;
    let mut rows = Vec::new();
    // What is read must have been written.
    for (name, method) in [("PUT", Method::Put), ("GET", Method::Get)] {
        let duration = Duration::from_millis(duration_ms.into());
        rows.push(measure(&subject, name, method, connections, duration).await?);
    }
    Ok(Table {
        title: format!("rest: small requests on {connections} connections, for {duration_ms} ms"),
        columns: COLUMNS.into(),
        rows,
        notes: Vec::new(),
    })
}

async fn measure(
    subject: &Subject,
    name: &str,
    method: Method,
    connections: u32,
    duration: Duration,
) -> Result<Vec<Cell>, Trouble> {
    let answered = Arc::new(AtomicU32::new(0));
    let mut clients = JoinSet::new();
    for number in 0..connections {
        let stream = TcpStream::connect(subject.address).await?;
        stream.set_nodelay(true)?;
        let client = Client { stream, host: subject.address.to_string(), method, number, requests_made: 0 };
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
    let latencies = Latencies::of(latencies);
    let count = after - before;
    Ok(vec![
        Cell::Text(name.into()),
        Cell::Count(count.into()),
        Cell::rate(count, cpu.total()),
        Cell::rate(count, elapsed),
        Cell::Micros(latencies.percentile(50)),
        Cell::Micros(latencies.percentile(99)),
        Cell::Threads(cpu),
    ])
}

/// One connection.
struct Client {
    stream: TcpStream,
    host: String,
    method: Method,
    number: u32,
    requests_made: u32,
}

impl Client {
    async fn ask_for(
        mut self,
        duration: Duration,
        answered: Arc<AtomicU32>,
    ) -> Result<Vec<Duration>, Trouble> {
        let end = Instant::now() + duration;
        let mut latencies = Vec::new();
        let mut answer = Vec::with_capacity(ANSWER_BYTES_MAX);
        while Instant::now() < end {
            let request = self.request();
            let sent = Instant::now();
            self.stream.write_all(request.as_bytes()).await?;
            answer.clear();
            while !is_complete(&answer)? {
                if self.stream.read_buf(&mut answer).await? == 0 {
                    return Err(Trouble::Closed);
                }
            }
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
