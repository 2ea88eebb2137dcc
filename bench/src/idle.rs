//! What a connection that does nothing takes of memory.

use crate::session::Session;
use crate::subject::{ServerArguments, Subject, raise_descriptors};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use crate::value::place;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::time::Duration;
use tokio::time::sleep;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many connections.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
}

/// Connections that are opened at a time.
const AT_ONCE: usize = 64;

const COLUMNS: [Column; 4] = [
    Column("what", "what"),
    Column("connections", "connections"),
    Column("resident_bytes", "bytes of memory"),
    Column("bytes_per_connection", "per connection"),
];

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let connections = arguments.connections;
    let descriptors = raise_descriptors(connections)?;
    let subject = server.server()?;
    // The first connection makes the database, and what a connection needs but all share.
    let _first = Session::connect(subject.address).await?;
    let empty = settled(&subject).await?;
    let address = subject.address;
    let sessions: Vec<Session> = stream::iter(0..connections)
        .map(|_| Session::connect(address))
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    let connected = settled(&subject).await?;
    let listen = async |(number, mut session): (usize, Session)| {
        session.listen(&place(&format!("idle/{number}"))).await.map(|()| session)
    };
    let sessions: Vec<Session> = stream::iter(sessions.into_iter().enumerate())
        .map(listen)
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    let listening = settled(&subject).await?;
    drop(sessions);
    let row = |what: &str, count: u32, bytes: u64| {
        vec![
            Cell::Text(what.into()),
            Cell::Count(count.into()),
            Cell::Count(bytes),
            if count == 0 {
                Cell::Unknown
            } else {
                Cell::Count(bytes.saturating_sub(empty) / u64::from(count))
            },
        ]
    };
    Ok(Table {
        title: "idle: memory of connections that do nothing".into(),
        columns: COLUMNS.into(),
        rows: vec![
            row("none", 0, empty),
            row("connected", connections, connected),
            row("one listener each", connections, listening),
        ],
        notes: vec![format!("File descriptors: {descriptors} possible for each of the two programs.")],
    })
}

/// Its memory, once that no longer changes.
async fn settled(subject: &Subject) -> Result<u64, Trouble> {
    const PAUSE: Duration = Duration::from_millis(100);
    const READINGS_MAX: usize = 20;
    let mut before = subject.resident_bytes()?;
    for _ in 0..READINGS_MAX {
        sleep(PAUSE).await;
        let now = subject.resident_bytes()?;
        if now == before {
            break;
        }
        before = now;
    }
    Ok(before)
}
