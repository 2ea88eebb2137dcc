//! How long a server that was cut off takes to serve again, and how much memory it has then.

use crate::chat;
use crate::checkpointed::Checkpointed;
use crate::http;
use crate::subject::{ServerArguments, Subject};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// An empty folder on the disk that is measured; what is made there is removed.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// How many leaves there are, in thousands.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=4_000))]
    leaves_k: u64,
}

const COLUMNS: [Column; 6] = [
    Column("from", "from"),
    Column("start_ms", "start ms"),
    Column("cpu_ms", "CPU ms"),
    Column("folder_bytes", "bytes in the folder"),
    Column("resident_bytes", "memory"),
    Column("peak_bytes", "peak memory"),
];

/// In bodies that a server takes.
const BODIES: u64 = 4;

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { data, leaves_k } = arguments;
    let mut rows = Vec::new();
    for (name, store, has_checkpoint) in [
        ("the log", "fjall", false),
        ("a checkpoint in fjall", "fjall", true),
        ("a checkpoint in sled", "sled", true),
    ] {
        let folder = data.join(if has_checkpoint { store } else { "log" });
        fs::create_dir_all(data)?;
        let start = || server.server_with(&folder, &["--store", store]);
        let subject = start()?;
        let body = chat::text(leaves_k * 1_000 / chat::FIELDS / BODIES, chat::ROOMS);
        for part in 0..BODIES {
            http::ask(&subject, "PUT", &format!("restart/{part}"), &body).await?;
        }
        if has_checkpoint && Checkpointed::wait(&subject).await?.is_none() {
            // What is too little for one while the server runs is enough at its end.
            subject.end().await?;
        } else {
            drop(subject);
        }
        if !has_checkpoint {
            // It may have begun one, and the log is still whole.
            remove(&folder.join("checkpoints"))?;
        }
        let (read, bytes) = read_all(&folder)?;
        let began = Instant::now();
        let subject = start()?;
        let took = began.elapsed();
        rows.push(row(name, took, &subject, bytes)?);
        rows.push(vec![
            Cell::Text("reading the same files".into()),
            Cell::Millis(Some(read)),
            Cell::Unknown,
            Cell::Count(bytes),
            Cell::Unknown,
            Cell::Unknown,
        ]);
        drop(subject);
        fs::remove_dir_all(&folder)?;
    }
    Ok(Table {
        title: format!("restart: until a server that was killed serves {leaves_k} k leaves again"),
        columns: COLUMNS.into(),
        rows,
        notes: vec!["The files are in the memory of the system: they have just been written.".into()],
    })
}

fn row(name: &str, took: Duration, subject: &Subject, bytes: u64) -> Result<Vec<Cell>, Trouble> {
    Ok(vec![
        Cell::Text(name.into()),
        Cell::Millis(Some(took)),
        Cell::Millis(Some(subject.cpu()?.total())),
        Cell::Count(bytes),
        Cell::Count(subject.resident_bytes()?),
        Cell::Count(subject.peak_bytes()?),
    ])
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) | Ok(()) => Ok(()),
    }
}

/// How long it takes to read all files below a folder, and how long they are.
pub(crate) fn read_all(folder: &Path) -> io::Result<(Duration, u64)> {
    let began = Instant::now();
    let mut bytes = 0;
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                bytes += fs::read(entry.path())?.len() as u64;
            }
        }
    }
    Ok((began.elapsed(), bytes))
}
