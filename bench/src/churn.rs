//! What small writes come to on the disk, while checkpoints are written and the log is trimmed.

use crate::load::Load;
use crate::process::Process;
use crate::subject::{ServerArguments, raise_descriptors};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::time::sleep;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// An empty folder on the disk that is measured; what is made there is removed.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// The store of the checkpoints.
    #[arg(long, value_name = "STORE", default_value = "fjall", value_parser = ["fjall", "sled"])]
    store: String,
    /// How long, in minutes.
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = minutes)]
    minutes: f64,
    /// How many clients write all the time.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    clients: u32,
    /// At how many places each of them writes.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    places: u32,
    /// Length of a value in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = clap::value_parser!(u16).range(20..=16_000))]
    value_bytes: u16,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.001..=10_000.0).contains(minutes));
    minutes.ok_or_else(|| format!("`{text}` is no number of minutes from 0.001 to 10000"))
}

const COLUMNS: [Column; 7] = [
    Column("who", "who"),
    Column("writes", "writes"),
    Column("per_second", "per second"),
    Column("value_bytes", "bytes of values"),
    Column("written_bytes", "bytes written by it"),
    Column("device_bytes", "bytes written to the device"),
    Column("amplification", "written for each"),
];

const BARE: Duration = Duration::from_secs(3);

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { data, store, minutes, clients, places, value_bytes } = arguments;
    raise_descriptors(*clients)?;
    let value_bytes = usize::from(*value_bytes);
    let folder = data.join("churn");
    fs::create_dir_all(data)?;
    let subject = server.server_with(&folder, &["--store", store])?;
    let process = subject.process.ok_or(Trouble::NoProcess)?;
    let duration = Duration::from_secs_f64(minutes * 60.0);
    let (before, began) = (Written::until_now(process, data)?, Instant::now());
    let load = Load::begin(&subject, *clients, *places as usize, value_bytes).await?;
    sleep(duration).await;
    let all = load.end().await?;
    let (took, written) = (began.elapsed(), Written::until_now(process, data)?.since(before));
    let hearth = row("hearth", all.len(), took, value_bytes, written);
    drop(subject);
    fs::remove_dir_all(&folder)?;
    let bare = bare(data, *clients as usize, value_bytes)?;
    Ok(Table {
        title: format!(
            "churn: {clients} clients write {value_bytes} bytes at {places} places each, for {minutes} minutes, `{store}`"
        ),
        columns: COLUMNS.into(),
        rows: vec![hearth, bare],
        notes: vec![
            "`write + fdatasync` writes as many values as there are clients at a time, one behind the other into a file of zeros; the kernel writes whole pages. What goes to the device is that of everybody who uses it.".into(),
        ],
    })
}

#[expect(clippy::cast_precision_loss, reason = "a ratio has no use for the last of 53 bits")]
fn row(who: &str, writes: usize, took: Duration, value_bytes: usize, written: Written) -> Vec<Cell> {
    let values = writes as u64 * value_bytes as u64;
    vec![
        Cell::Text(who.into()),
        Cell::Count(writes as u64),
        Cell::rate(u32::try_from(writes).unwrap_or(u32::MAX), took),
        Cell::Count(values),
        Cell::Count(written.by_process),
        written.to_device.map_or(Cell::Unknown, Cell::Count),
        match values {
            0 => Cell::Unknown,
            values => Cell::Ratio(written.to_device.unwrap_or(written.by_process) as f64 / values as f64),
        },
    ]
}

/// Bytes that were written.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// As the kernel counts what a process makes dirty: the whole of a folio for a part of it, which may be 1 MiB.
    by_process: u64,
    /// By everybody who uses the device, where there is one.
    to_device: Option<u64>,
}

impl Written {
    fn until_now(process: Process, data: &Path) -> Result<Self, Trouble> {
        Ok(Self { by_process: process.written_bytes()?, to_device: written_to_device(data)? })
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            by_process: self.by_process - earlier.by_process,
            to_device: self.to_device.zip(earlier.to_device).map(|(now, before)| now - before),
        }
    }
}

/// What was ever written to the device that a folder is on; nothing, if that is none.
fn written_to_device(folder: &Path) -> std::io::Result<Option<u64>> {
    const SECTOR_BYTES: u64 = 512;
    let device = fs::metadata(folder)?.dev();
    let major = (device >> 8 & 0xFFF) | (device >> 32 & !0xFFF);
    let minor = (device & 0xFF) | (device >> 12 & !0xFF);
    let Ok(stat) = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")) else {
        return Ok(None);
    };
    let sectors = stat.split_whitespace().nth(6).and_then(|sectors| sectors.parse::<u64>().ok());
    Ok(sectors.map(|sectors| sectors * SECTOR_BYTES))
}

/// The same values in groups, and nothing else.
fn bare(data: &Path, clients: usize, value_bytes: usize) -> Result<Vec<Cell>, Trouble> {
    const FILE_BYTES: usize = 64 << 20;
    let path = data.join("bare");
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
    file.write_all_at(&vec![0; FILE_BYTES], 0)?;
    file.sync_all()?;
    let own = Process { id: std::process::id() };
    let group = vec![b'x'; clients * value_bytes];
    let (before, began) = (Written::until_now(own, data)?, Instant::now());
    let (mut at, mut writes) = (0, 0);
    while began.elapsed() < BARE && at + group.len() <= FILE_BYTES {
        file.write_all_at(&group, at as u64)?;
        file.sync_data()?;
        at += group.len();
        writes += clients;
    }
    let (took, written) = (began.elapsed(), Written::until_now(own, data)?.since(before));
    fs::remove_file(path)?;
    Ok(row("write + fdatasync", writes, took, value_bytes, written))
}
