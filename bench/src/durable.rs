//! Acknowledged writes that are on the disk, beside the same bytes in the same groups without a server.
//!
//! Why the groups of the server: how many writes share a sync decides almost everything, and depends on how fast the rest
//! of the server is. So its log is read afterwards, and a bare loop writes and syncs those bytes in those portions.

use crate::latency::Latencies;
use crate::set::{Load, Outcome, measure};
use crate::subject::ServerArguments;
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// An empty folder on the disk that is measured; what is made there is removed.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// How long each row is measured, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 3_000, value_parser = clap::value_parser!(u16).range(1..))]
    duration_ms: u16,
    /// Length of a value in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = clap::value_parser!(u16).range(20..=16_000))]
    value_bytes: u16,
}

const COLUMNS: [Column; 8] = [
    Column("who", "who"),
    Column("in_flight", "in flight"),
    Column("writes", "writes"),
    Column("per_second", "per second"),
    Column("syncs_per_second", "syncs per second"),
    Column("p50_us", "p50 us"),
    Column("p99_us", "p99 us"),
    Column("cpu_us_by_thread", "CPU us per write by thread"),
];

/// What a log holds: the bytes of all groups, and where each ends.
struct Groups {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    writes: u32,
}

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { data, duration_ms, value_bytes } = arguments;
    let duration = Duration::from_millis((*duration_ms).into());
    let mut rows = Vec::new();
    for (clients, in_flight) in [(1, 1), (64, 1), (125, 8)] {
        let folder = data.join(format!("{clients}x{in_flight}"));
        fs::create_dir_all(&folder)?;
        let subject = server.server_on(&folder)?;
        let began = Instant::now();
        let outcome =
            measure(&subject, true, Load { clients, in_flight }, duration, (*value_bytes).into()).await?;
        let whole = began.elapsed();
        drop(subject);
        let groups = Groups::read(&folder.join("log"))?;
        let in_flight = clients as usize * in_flight;
        rows.push(row_of_server(in_flight, &outcome, &groups, whole));
        rows.push(row_of_disk(in_flight, &groups, groups.write_bare(&folder.join("bare"))?));
        fs::remove_dir_all(&folder)?;
    }
    Ok(Table {
        title: format!("durable: writes of {value_bytes} bytes, acknowledged when they are on the disk"),
        columns: COLUMNS.into(),
        rows,
        notes: vec![
            "`write + fdatasync` writes what the server has written, in the same groups, into a file of zeros.".into(),
        ],
    })
}

fn row_of_server(in_flight: usize, outcome: &Outcome, groups: &Groups, whole: Duration) -> Vec<Cell> {
    vec![
        Cell::Text("hearth".into()),
        Cell::Count(in_flight as u64),
        Cell::Count(outcome.acknowledged.into()),
        Cell::rate(outcome.acknowledged, outcome.elapsed),
        groups.rate(whole),
        Cell::Micros(outcome.latencies.percentile(50)),
        Cell::Micros(outcome.latencies.percentile(99)),
        Cell::ThreadMicros(outcome.cpu.each_of(outcome.acknowledged)),
    ]
}

fn row_of_disk(in_flight: usize, groups: &Groups, times: Vec<Duration>) -> Vec<Cell> {
    let elapsed = times.iter().sum();
    let latencies = Latencies::of(times);
    vec![
        Cell::Text("write + fdatasync".into()),
        Cell::Count(in_flight as u64),
        Cell::Count(groups.writes.into()),
        Cell::rate(groups.writes, elapsed),
        groups.rate(elapsed),
        Cell::Micros(latencies.percentile(50)),
        Cell::Micros(latencies.percentile(99)),
        Cell::Unknown,
    ]
}

impl Groups {
    /// Of all files of a log. Reads as much of the format as it takes: lengths, and kinds of records.
    fn read(log: &Path) -> io::Result<Self> {
        let mut files: Vec<_> = fs::read_dir(log)?.collect::<io::Result<_>>()?;
        files.retain(|file| file.path().extension().is_some_and(|end| end == "log"));
        files.sort_by_key(fs::DirEntry::file_name);
        let mut groups = Self { bytes: Vec::new(), ends: Vec::new(), writes: 0 };
        for file in files {
            groups.add(&fs::read(file.path())?);
        }
        Ok(groups)
    }

    fn add(&mut self, segment: &[u8]) {
        const HEAD: usize = 512;
        const HEADER: usize = 32;
        const COMMIT: u8 = 5;
        let length = |at: usize| {
            let bytes: [u8; 4] = segment.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let mut at = HEAD;
        while segment.get(at..at + 4) == Some(b"HGrp")
            && let Some(records) = length(at + 4)
        {
            let end = at + HEADER + records;
            let mut record = at + HEADER;
            while record < end
                && let Some(body) = length(record)
            {
                self.writes += u32::from(segment.get(record + 4) == Some(&COMMIT));
                record += 5 + body;
            }
            self.bytes.extend_from_slice(&segment[at..=end]);
            self.ends.push(self.bytes.len());
            at = end + 1;
        }
    }

    /// Syncs in a time.
    fn rate(&self, time: Duration) -> Cell {
        Cell::rate(u32::try_from(self.ends.len()).unwrap_or(u32::MAX), time)
    }

    /// Writes them again, each with a sync; gives how long each took.
    fn write_bare(&self, file: &Path) -> io::Result<Vec<Duration>> {
        let file: File = OpenOptions::new().write(true).create_new(true).open(file)?;
        file.write_all_at(&vec![0; self.bytes.len()], 0)?;
        file.sync_all()?;
        let (mut start, mut times) = (0, Vec::with_capacity(self.ends.len()));
        for &end in &self.ends {
            let began = Instant::now();
            file.write_all_at(&self.bytes[start..end], start as u64)?;
            file.sync_data()?;
            start = end;
            times.push(began.elapsed());
        }
        Ok(times)
    }
}
