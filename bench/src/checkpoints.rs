//! What checkpoints take, in each store: of everything, and of a hundredth that lies scattered, together, or is gone.
//!
//! Why something large is written and deleted before each: a checkpoint is due when the log has grown by 64 MiB.

use crate::chat;
use crate::checkpointed::Checkpointed;
use crate::http;
use crate::restart::read_all;
use crate::subject::{ServerArguments, Subject};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// An empty folder on the disk that is measured; what is made there is removed.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// How many leaves there are first, in thousands.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=2_000))]
    leaves_k: u64,
}

const COLUMNS: [Column; 6] = [
    Column("store", "store"),
    Column("of", "checkpoint of"),
    Column("took_ms", "took ms"),
    Column("cpu_ms", "CPU ms"),
    Column("folder_bytes", "bytes in the folder"),
    Column("peak_bytes", "peak memory"),
];

/// Long enough that a checkpoint is due.
const FILLER_BYTES: usize = 9_000_000;
const FILLERS: usize = 8;

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { data, leaves_k } = arguments;
    let messages = leaves_k * 1_000 / chat::FIELDS;
    let mut rows = Vec::new();
    for store in ["fjall", "sled"] {
        let folder = data.join(store);
        fs::create_dir_all(data)?;
        let subject = server.server_with(&folder, &["--store", store])?;
        let subject = Checkpointing { subject, folder: folder.join("checkpoints"), store };
        let all = chat::text(messages, chat::ROOMS);
        rows.push(subject.of("everything", "PUT", "chat", &all).await?);
        let changed = |at| format!("\"{}/text\":\"changed\"", chat::place_of(at));
        let scattered: Vec<_> = (0..messages).step_by(25).map(changed).collect();
        rows.push(
            subject.of("1 % scattered", "PATCH", "chat", &format!("{{{}}}", scattered.join(","))).await?,
        );
        let appended = chat::text(messages / 100, 1);
        rows.push(subject.of("1 % appended", "PUT", "more", &appended).await?);
        rows.push(subject.of("1 % deleted", "DELETE", "chat/room050", "").await?);
        rows.push(subject.of("as much again", "PUT", "again", &all).await?);
        drop(subject);
        fs::remove_dir_all(&folder)?;
    }
    Ok(Table {
        title: format!("checkpoints: {leaves_k} k leaves, and then what has changed"),
        columns: COLUMNS.into(),
        rows,
        notes: vec!["In the folder are the entries of the last two checkpoints, and what the store has not cleared away.".into()],
    })
}

struct Checkpointing {
    subject: Subject,
    folder: PathBuf,
    store: &'static str,
}

impl Checkpointing {
    /// Writes something, and waits for a checkpoint of it.
    async fn of(&self, name: &str, method: &str, below: &str, body: &str) -> Result<Vec<Cell>, Trouble> {
        let Self { subject, folder, store } = self;
        let filler = format!("\"{}\"", "x".repeat(FILLER_BYTES));
        let written = async {
            http::ask(subject, method, below, body).await?;
            // The same at one place again would be no change.
            for number in 0..FILLERS {
                http::ask(subject, "PUT", &format!("filler/{number}"), &filler).await?;
            }
            http::ask(subject, "DELETE", "filler", "").await
        };
        subject.forget_peak()?;
        let before = subject.cpu()?;
        // It may be due before all of it is written.
        let (written, found) = tokio::join!(written, Checkpointed::wait(subject));
        written?;
        let found = found?;
        let cpu = subject.cpu()?.since(&before).0.get("checkpoint").copied();
        Ok(vec![
            Cell::Text((*store).into()),
            Cell::Text(name.into()),
            Cell::Millis(found.map(|found| found.ended - found.began)),
            Cell::Millis(cpu),
            Cell::Count(bytes_of(folder)?),
            Cell::Count(subject.peak_bytes()?),
        ])
    }
}

fn bytes_of(folder: &Path) -> Result<u64, Trouble> {
    Ok(if folder.exists() { read_all(folder)?.1 } else { 0 })
}
