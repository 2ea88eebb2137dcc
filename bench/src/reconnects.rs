//! Everybody at once: the clients of a server that was killed come back in the moment in which it serves again.

use crate::chat;
use crate::http;
use crate::latency::Latencies;
use crate::load::{Acknowledged, Load};
use crate::session::Session;
use crate::subject::{ServerArguments, Subject, raise_descriptors};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use crate::value::place;
use hearth_tree::{Hash, ReadOptions, Snapshot, read_node};
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// An empty folder on the disk that is measured; what is made there is removed.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// How many clients come back, each with a listener of one room of 100.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// How many messages of some 140 bytes a room has.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    messages: u16,
}

/// Others that write all the time, one write under way each: they were back before.
const OTHERS: u32 = 8;
const VALUE_BYTES: usize = 100;
/// How long they write alone.
const ALONE: Duration = Duration::from_secs(1);
/// How long a client may take, above all real clients' own patience.
const PATIENCE: Duration = Duration::from_secs(60);

const COLUMNS: [Column; 11] = [
    Column("what", "who come back"),
    Column("connections", "connections"),
    Column("not_served", "not served"),
    Column("p50_ms", "served within: p50 ms"),
    Column("p99_ms", "p99 ms"),
    Column("last_ms", "last ms"),
    Column("cpu_us", "CPU us each"),
    Column("others_alone_p99_ms", "others alone p99 ms"),
    Column("others_p50_ms", "beside p50 ms"),
    Column("others_p99_ms", "p99 ms"),
    Column("peak_bytes", "peak memory"),
];

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { data, connections, messages } = arguments;
    raise_descriptors(connections + OTHERS)?;
    fs::create_dir_all(data)?;
    let folder = data.join("reconnects");
    let body = chat::text(u64::from(*messages) * chat::ROOMS, chat::ROOMS);
    let tree = Snapshot::new(read_node(body.as_bytes(), &ReadOptions::default()).expect("it is data"));
    let rooms: Vec<(String, Hash)> = tree
        .root()
        .expect("there are messages")
        .children()
        .iter()
        .map(|(key, node)| (key.to_string(), node.hash()))
        .collect();
    let killed = server.server_on(&folder)?;
    http::ask(&killed, "PUT", "reconnects", &body).await?;
    drop(killed);
    let mut rows = Vec::new();
    for (what, is_held) in [("with what they have", true), ("with nothing", false)] {
        // Killed at the end of each, so that nothing is known of anybody.
        let subject = server.server_on(&folder)?;
        let held = |room: &(String, Hash)| (room.0.clone(), is_held.then_some(room.1));
        let rooms = rooms.iter().map(held).collect::<Vec<_>>();
        rows.push(measure(what, subject, *connections, &rooms).await?);
    }
    fs::remove_dir_all(&folder)?;
    Ok(Table {
        title: format!(
            "reconnects: {connections} clients at once after a restart, a listener each, and {OTHERS} others that write"
        ),
        columns: COLUMNS.into(),
        rows,
        notes: vec![
            "From the first attempt to the answer to the listen; the clients share the processors with the server."
                .into(),
        ],
    })
}

async fn measure(
    what: &str,
    subject: Subject,
    connections: u32,
    rooms: &[(String, Option<Hash>)],
) -> Result<Vec<Cell>, Trouble> {
    let others = Load::begin(&subject, OTHERS, 1, VALUE_BYTES).await?;
    let alone = Instant::now();
    sleep(ALONE).await;
    subject.forget_peak()?;
    let (cpu, began) = (subject.cpu()?, Instant::now());
    let (address, rooms) = (subject.address, rooms.to_vec());
    // Not where the others are timed: they would wait for this crowd on their own side.
    let crowd = thread::spawn(move || all_come_back(address, connections, &rooms));
    let joined = tokio::task::spawn_blocking(move || crowd.join()).await.map_err(|_| Trouble::Closed)?;
    let (served, sessions) = joined.map_err(|_| Trouble::Closed)??;
    let (ended, cpu) = (Instant::now(), subject.cpu()?.since(&cpu));
    let peak_bytes = subject.peak_bytes()?;
    let all = others.end().await?;
    drop(sessions);
    let [alone, beside] =
        [(alone, began), (began, ended)].map(|(from, to)| Acknowledged::within(&all, from, to));
    let served = Latencies::of(served);
    let count = u32::try_from(served.count()).unwrap_or(connections);
    Ok(vec![
        Cell::Text(what.into()),
        Cell::Count(connections.into()),
        Cell::Count((connections - count).into()),
        Cell::Millis(served.percentile(50)),
        Cell::Millis(served.percentile(99)),
        Cell::Millis(served.percentile(100)),
        Cell::Micros(Some(cpu.total() / count.max(1))),
        Cell::Millis(alone.percentile(99)),
        Cell::Millis(beside.percentile(50)),
        Cell::Millis(beside.percentile(99)),
        Cell::Count(peak_bytes),
    ])
}

/// Gives how long each took until it was served, and who was.
fn all_come_back(
    address: SocketAddr,
    connections: u32,
    rooms: &[(String, Option<Hash>)],
) -> Result<(Vec<Duration>, Vec<Session>), Trouble> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let began = Instant::now();
        let mut coming = JoinSet::new();
        for (_, (room, held)) in (0..connections).zip(rooms.iter().cycle()) {
            coming.spawn(come_back(address, room.clone(), *held));
        }
        let (mut served, mut sessions) = (Vec::new(), Vec::new());
        while let Some(one) = coming.join_next().await {
            if let Ok(Ok(session)) = one {
                served.push(began.elapsed());
                sessions.push(session);
            }
        }
        Ok((served, sessions))
    })
}

async fn come_back(address: SocketAddr, room: String, held: Option<Hash>) -> Result<Session, Trouble> {
    let patient = async {
        let mut session = Session::connect(address).await?;
        session.listen_again(&place(&format!("reconnects/{room}")), held).await?;
        Ok(session)
    };
    timeout(PATIENCE, patient).await.unwrap_or(Err(Trouble::Closed))
}
