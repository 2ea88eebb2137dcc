//! How long others wait while something large happens: a body of many megabytes, a delete of a million leaves, a
//! checkpoint.
//!
//! Why the longest and not a percentile: one client who waits for a second among a hundred thousand writes is what is
//! looked for. Beside it stands what the disk alone makes a small write wait while somebody else writes as much to it.

use crate::chat;
use crate::checkpointed::Checkpointed;
use crate::http;
use crate::latency::Latencies;
use crate::load::{Acknowledged, Load};
use crate::process::CpuTime;
use crate::session::Session;
use crate::subject::{ServerArguments, Subject, raise_descriptors};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use crate::value::place;
use hearth_tree::{ChildPath, Order, Query, Range, Window};
use hearth_wire::Tag;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
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
    /// How many clients write all the time.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    clients: u32,
    /// The length of the large body, in megabytes.
    #[arg(long, value_name = "MB", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=240))]
    body_mb: u64,
    /// How many leaves are deleted, in thousands; twice as many are there when a checkpoint is written.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    leaves_k: u64,
    /// How many children a place has that is queried for the first time, in thousands.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=5_000))]
    children_k: u64,
    /// How long the clients are watched while nothing else happens, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 3_000, value_parser = clap::value_parser!(u16).range(1..))]
    duration_ms: u16,
}

const COLUMNS: [Column; 9] = [
    Column("while", "while"),
    Column("who", "who waits"),
    Column("took_ms", "took ms"),
    Column("writes", "writes"),
    Column("p50_ms", "p50 ms"),
    Column("p99_ms", "p99 ms"),
    Column("longest_ms", "longest ms"),
    Column("peak_bytes", "peak memory"),
    Column("cpu_seconds_by_thread", "CPU by thread"),
];

const VALUE_BYTES: usize = 100;
/// How long everything runs before it counts.
const WARM_UP: Duration = Duration::from_secs(1);
/// Who has been disturbed is watched a little longer.
const AFTER: Duration = Duration::from_millis(500);

/// A time in which something happened.
struct Spell {
    name: &'static str,
    began: Instant,
    ended: Instant,
    peak_bytes: u64,
    cpu: CpuTime,
}

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { data, store, clients, body_mb, leaves_k, .. } = arguments;
    raise_descriptors(*clients)?;
    fs::create_dir_all(data)?;
    let quiet = Duration::from_millis(arguments.duration_ms.into());
    let mut rows = bare(data, body_mb * 1_000_000, *clients, quiet)?;
    let folder = data.join("server");
    let subject = server.server_with(&folder, &["--store", store])?;
    let load = Load::begin(&subject, *clients, 1, VALUE_BYTES).await?;
    let mut watch = Watch { subject: &subject, spells: Vec::new() };
    watch.everything(arguments, quiet).await?;
    let spells = watch.spells;
    let all = load.end().await?;
    rows.extend(spells.iter().map(|spell| {
        let latencies = Acknowledged::within(&all, spell.began, spell.ended + AFTER);
        row(spell.name, "hearth", spell.ended - spell.began, &latencies, Some(spell))
    }));
    drop(subject);
    fs::remove_dir_all(&folder)?;
    Ok(Table {
        title: format!(
            "pauses: {clients} clients write {VALUE_BYTES} bytes all the time; a body of {body_mb} MB, {leaves_k} k leaves, `{store}`"
        ),
        columns: COLUMNS.into(),
        rows,
        notes: vec![
            "`write + fdatasync` writes a group of the same bytes again and again into a file of zeros, while another thread writes as many bytes as the body has, in pieces of 1 MiB, and syncs each.".into(),
        ],
    })
}

fn row(name: &str, who: &str, took: Duration, latencies: &Latencies, spell: Option<&Spell>) -> Vec<Cell> {
    vec![
        Cell::Text(name.into()),
        Cell::Text(who.into()),
        Cell::Millis(Some(took)),
        Cell::Count(latencies.count() as u64),
        Cell::Millis(latencies.percentile(50)),
        Cell::Millis(latencies.percentile(99)),
        Cell::Millis(latencies.percentile(100)),
        spell.map_or(Cell::Unknown, |spell| Cell::Count(spell.peak_bytes)),
        spell.map_or(Cell::Unknown, |spell| Cell::Threads(spell.cpu.clone())),
    ]
}

struct Watch<'a> {
    subject: &'a Subject,
    spells: Vec<Spell>,
}

impl Watch<'_> {
    async fn everything(&mut self, arguments: &Arguments, quiet: Duration) -> Result<(), Trouble> {
        let subject = self.subject;
        let messages = arguments.leaves_k * 1_000 / chat::FIELDS;
        sleep(WARM_UP).await;
        self.during("nothing else", async { sleep(quiet).await }).await?;
        self.queries(arguments.children_k * 1_000).await?;
        let large = chat::text(chat::messages_in(arguments.body_mb * 1_000_000), chat::ROOMS);
        self.during("PUT of the body", http::ask(subject, "PUT", "large", &large)).await??;
        self.checkpoint("checkpoint of it").await?;
        self.during("the same PUT again", http::ask(subject, "PUT", "large", &large)).await??;
        drop(large);
        self.checkpoint("checkpoint of that").await?;
        self.during("the body becomes a leaf", http::ask(subject, "PUT", "large", "1")).await??;
        for (below, rooms) in [("one", chat::ROOMS), ("two", 1)] {
            http::ask(subject, "PUT", below, &chat::text(messages, rooms)).await?;
        }
        self.checkpoint("checkpoint of all leaves").await?;
        // 1 % of the messages, scattered over all chunks; the rest of the log's growth comes from who writes.
        let patch: Vec<_> = (0..messages)
            .step_by(100)
            .map(|at| format!("\"{}\":{}", chat::place_of(at), chat::message_text(at + 1)))
            .collect();
        let filler = format!("\"{}\"", "x".repeat(9_000_000));
        for below in 0..8 {
            http::ask(subject, "PUT", &format!("filler/{below}"), &filler).await?;
        }
        http::ask(subject, "PATCH", "one", &format!("{{{}}}", patch.join(","))).await?;
        self.checkpoint("checkpoint of a part").await?;
        self.during("DELETE of the leaves", http::ask(subject, "DELETE", "one", "")).await??;
        // These no checkpoint has, so that nobody else holds them.
        http::ask(subject, "PUT", "three", &chat::text(messages, chat::ROOMS)).await?;
        self.during("DELETE of new leaves", http::ask(subject, "DELETE", "three", "")).await??;
        let mut listener = Session::connect(subject.address).await?;
        let order = Order::Child(ChildPath::parse("text").expect("it is a name"), Range::ALL);
        let window = Window::last(100).expect("it is not nothing");
        listener.listen_to_query(&place("two/room000"), Query { order, window }, Tag(1)).await?;
        self.during("DELETE with a listener", http::ask(subject, "DELETE", "two", "")).await??;
        Ok(())
    }

    /// Queries in an order in which nobody has asked for these children yet.
    async fn queries(&mut self, children: u64) -> Result<(), Trouble> {
        let subject = self.subject;
        let filler = "x".repeat(60);
        let child = |at: u64| {
            format!("\"c{at:07}\":{{\"a\":{},\"b\":{at},\"text\":\"{filler}\"}}", at * 7_919 % children)
        };
        let text: Vec<_> = (0..children).map(child).collect();
        http::ask(subject, "PUT", "children", &format!("{{{}}}", text.join(","))).await?;
        drop(text);
        let by = |name| Order::Child(ChildPath::parse(name).expect("it is a name"), Range::ALL);
        let last = Window::last(100).expect("it is not nothing");
        let at = place("children");
        let mut listener = Session::connect(subject.address).await?;
        for (name, query) in [
            ("first query by a child", Query { order: by("a"), window: last }),
            ("the same by another child", Query { order: by("b"), window: last }),
            ("the same again", Query { order: by("b"), window: last }),
        ] {
            self.during(name, listener.listen_to_query(&at, query, Tag(1))).await??;
        }
        http::ask(subject, "DELETE", "children", "").await?;
        Ok(())
    }

    async fn during<T>(&mut self, name: &'static str, what: impl Future<Output = T>) -> Result<T, Trouble> {
        // What was made for it here has kept the clients from reading.
        sleep(AFTER).await;
        self.subject.forget_peak()?;
        let (before, began) = (self.subject.cpu()?, Instant::now());
        let done = what.await;
        let ended = Instant::now();
        // Twice, because whoever asked at the end of that time must be answered before more is made here.
        sleep(AFTER * 2).await;
        self.spell(name, (began, ended), &before)?;
        Ok(done)
    }

    /// Waits for a checkpoint to begin, and to end.
    async fn checkpoint(&mut self, name: &'static str) -> Result<(), Trouble> {
        self.subject.forget_peak()?;
        let before = self.subject.cpu()?;
        match Checkpointed::wait(self.subject).await? {
            Some(Checkpointed { began, ended }) => self.spell(name, (began, ended), &before),
            None => Ok(()),
        }
    }

    fn spell(
        &mut self,
        name: &'static str,
        (began, ended): (Instant, Instant),
        before: &CpuTime,
    ) -> Result<(), Trouble> {
        let (peak_bytes, cpu) = (self.subject.peak_bytes()?, self.subject.cpu()?.since(before));
        self.spells.push(Spell { name, began, ended, peak_bytes, cpu });
        Ok(())
    }
}

/// What the disk alone makes a small write wait: while nothing else happens, and while so many bytes are written beside.
fn bare(data: &Path, bytes: u64, clients: u32, quiet: Duration) -> Result<Vec<Vec<Cell>>, Trouble> {
    let (small, large) = (data.join("bare.small"), data.join("bare.large"));
    let group = VALUE_BYTES * clients as usize;
    let mut rows = Vec::new();
    for (name, bytes) in [("nothing else", None), ("as many bytes", Some(bytes))] {
        let is_over = AtomicBool::new(false);
        let began = Instant::now();
        let (times, took) = thread::scope(|scope| {
            let writer = scope.spawn(|| write_small(&small, group, &is_over));
            let beside = match bytes {
                None => {
                    thread::sleep(quiet);
                    Ok(())
                }
                Some(bytes) => write_large(&large, bytes),
            };
            is_over.store(true, Ordering::Relaxed);
            let took = began.elapsed();
            let times = writer.join().unwrap_or_else(|_| Err(io::Error::other("a thread has ended")));
            beside.and(times).map(|times| (times, took))
        })?;
        rows.push(row(name, "write + fdatasync", took, &Latencies::of(times), None));
    }
    fs::remove_file(small)?;
    fs::remove_file(large)?;
    Ok(rows)
}

fn write_small(path: &Path, bytes: usize, is_over: &AtomicBool) -> io::Result<Vec<Duration>> {
    const FILE_BYTES: usize = 16 << 20;
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    file.write_all_at(&vec![0; FILE_BYTES], 0)?;
    file.sync_all()?;
    let group = vec![b'x'; bytes.min(FILE_BYTES)];
    let (mut at, mut times) = (0, Vec::new());
    while !is_over.load(Ordering::Relaxed) {
        let began = Instant::now();
        file.write_all_at(&group, at as u64)?;
        file.sync_data()?;
        times.push(began.elapsed());
        at = if at + 2 * group.len() <= FILE_BYTES { at + group.len() } else { 0 };
    }
    Ok(times)
}

fn write_large(path: &Path, bytes: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    let piece = vec![b'y'; 1 << 20];
    let (mut at, mut left) = (0, bytes);
    while 0 < left {
        let now = usize::try_from(left).unwrap_or(piece.len()).min(piece.len());
        file.write_all_at(&piece[..now], at)?;
        file.sync_data()?;
        at += now as u64;
        left -= now as u64;
    }
    Ok(())
}
