//! The last 100 of many children: the first answer, and writes that move the window.
//!
//! Why also a write that nobody is told of: what a listener costs is the difference.

use crate::latency::Latencies;
use crate::session::{Session, is_done, next_text};
use crate::subject::{ServerArguments, Subject};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use crate::value::place;
use futures_util::SinkExt;
use hearth_tree::{
    Assignment, ChildPath, Key, Order, Path, Query, Range, ReadOptions, Update, Window, read_value,
};
use hearth_wire::{Get, Merge, Put, RequestBody, Tag, Unlisten};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::protocol::Message;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many children the place has; several may be said.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
    children: Vec<u32>,
    /// Writes that move the window.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..))]
    writes: u16,
}

/// Children that are written together when a place is filled.
const FILLED_AT_ONCE: u32 = 1_000;
const WINDOW: u32 = 100;

const COLUMNS: [Column; 8] = [
    Column("children", "children"),
    Column("order", "last 100 by"),
    Column("first_answer_ms", "first answer ms"),
    Column("first_answer_cpu_ms", "CPU ms"),
    Column("moves", "moves"),
    Column("move_cpu_us", "CPU us each"),
    Column("move_p50_us", "p50 us"),
    Column("move_p99_us", "p99 us"),
];

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let mut rows = Vec::new();
    for &children in &arguments.children {
        let subject = server.server()?;
        let mut list = List::filled(&subject, children).await?;
        rows.push(list.measure("(nobody listens)", None, arguments.writes).await?);
        let last = |order| Query { order, window: Window::last(WINDOW).expect("it is not 0") };
        let (by_key, by_child) = (last(Order::Key(Range::ALL)), last(by_child("at")));
        rows.push(list.measure("key", Some(by_key), arguments.writes).await?);
        rows.push(
            list.measure("child `at`, the first who asks", Some(by_child.clone()), arguments.writes).await?,
        );
        // The index is there as long as somebody needs it.
        let mut other = Session::connect(subject.address).await?;
        let first = Query { window: Window::first(1).expect("it is not 0"), ..by_child.clone() };
        other.listen_to_query(&list.at, first, Tag(1)).await?;
        rows.push(
            list.measure("child `at`, the index is there", Some(by_child.clone()), arguments.writes).await?,
        );
        rows.push(
            list.measure_gets("child `at`, a `get` after each write", by_child, arguments.writes).await?,
        );
    }
    Ok(Table {
        title: format!("query: the last {WINDOW} of many children, each of two fields"),
        columns: COLUMNS.into(),
        rows,
        notes: vec![
            "The index of a child is built for the first who asks, and kept while anybody listens in that order."
                .into(),
            "A move: a child is added at the end, and the listener is told. Its time is from the write to the arrival."
                .into(),
            "A `get` after each write: its time is that of the `get` alone, processor time is of both.".into(),
        ],
    })
}

fn by_child(name: &str) -> Order {
    Order::Child(ChildPath::parse(name).expect("it is a name"), Range::ALL)
}

/// A place with many children, the last of them the one with the largest key and the largest `at`.
struct List<'s> {
    subject: &'s Subject,
    at: Path,
    writer: Session,
    children: u32,
    size: u32,
}

impl<'s> List<'s> {
    async fn filled(subject: &'s Subject, size: u32) -> Result<Self, Trouble> {
        let writer = Session::connect(subject.address).await?;
        let at = place(&format!("query/{size}"));
        let mut list = Self { subject, at, writer, children: 0, size };
        while list.children < size {
            let more = FILLED_AT_ONCE.min(size - list.children);
            let assignments = (0..more).map(|_| list.next_child()).collect();
            let update = Update::new(list.at.clone(), assignments).expect("children of a place lie apart");
            list.writer.ask(RequestBody::Merge(Merge { update })).await?;
        }
        Ok(list)
    }

    fn next_child(&mut self) -> Assignment {
        let number = self.children;
        self.children += 1;
        let key = Key::parse(&format!("-N{number:018}")).expect("a letter and digits are a key");
        let json = format!(r#"{{"at":{number},"text":"message number {number}"}}"#);
        let value = read_value(json.as_bytes(), &ReadOptions::default()).expect("this is JSON");
        let at = self.at.child(&key).expect("it is not deep");
        Assignment::value(at, value).expect("an object may stand anywhere")
    }

    /// Of somebody who does not listen, and asks again each time.
    async fn measure_gets(&mut self, name: &str, query: Query, writes: u16) -> Result<Vec<Cell>, Trouble> {
        let mut reader = Session::connect(self.subject.address).await?;
        let ask = Get { at: self.at.clone(), query };
        let (cpu_before, began) = (self.subject.cpu()?, Instant::now());
        reader.ask(RequestBody::Get(ask.clone())).await?;
        let first = (began.elapsed(), self.subject.cpu()?.since(&cpu_before).total());
        let cpu_before = self.subject.cpu()?;
        let mut latencies = Vec::new();
        for _ in 0..writes {
            self.add_child(None).await?;
            let began = Instant::now();
            reader.ask(RequestBody::Get(ask.clone())).await?;
            latencies.push(began.elapsed());
        }
        let cpu = self.subject.cpu()?.since(&cpu_before).total();
        Ok(self.row(name, Some(first), (writes, cpu, latencies)))
    }

    fn row(
        &self,
        name: &str,
        first: Option<(Duration, Duration)>,
        (writes, cpu, latencies): (u16, Duration, Vec<Duration>),
    ) -> Vec<Cell> {
        let is_known = self.subject.process.is_some();
        let latencies = Latencies::of(latencies);
        vec![
            Cell::Count(self.size.into()),
            Cell::Text(name.into()),
            Cell::Millis(first.map(|(elapsed, _)| elapsed)),
            Cell::Millis(first.map(|(_, cpu)| cpu).filter(|_| is_known)),
            Cell::Count(writes.into()),
            Cell::Micros(is_known.then(|| cpu / u32::from(writes))),
            Cell::Micros(latencies.percentile(50)),
            Cell::Micros(latencies.percentile(99)),
        ]
    }

    async fn measure(&mut self, name: &str, query: Option<Query>, writes: u16) -> Result<Vec<Cell>, Trouble> {
        const TAG: Tag = Tag(1);
        let mut listener = Session::connect(self.subject.address).await?;
        let (cpu_before, began) = (self.subject.cpu()?, Instant::now());
        let mut first = None;
        if let Some(query) = query.clone() {
            listener.listen_to_query(&self.at, query, TAG).await?;
            let elapsed = began.elapsed();
            first = Some((elapsed, self.subject.cpu()?.since(&cpu_before).total()));
        }
        let cpu_before = self.subject.cpu()?;
        let mut latencies = Vec::new();
        for _ in 0..writes {
            let is_told = query.is_some().then_some(&mut listener);
            latencies.push(self.add_child(is_told).await?);
        }
        let cpu = self.subject.cpu()?.since(&cpu_before).total();
        if let Some(query) = query {
            let kind = hearth_wire::ListenKind::tagged(query, TAG);
            listener.ask(RequestBody::Unlisten(Unlisten { at: self.at.clone(), kind })).await?;
        }
        Ok(self.row(name, first, (writes, cpu, latencies)))
    }

    /// Adds a child at the end; gives how long it took until the listener knew, or else until it was acknowledged.
    async fn add_child(&mut self, listener: Option<&mut Session>) -> Result<Duration, Trouble> {
        let set = self.next_child();
        let text = self.writer.request(RequestBody::Put(Put { set, expected: None }));
        let began = Instant::now();
        self.writer.socket.send(Message::text(text)).await?;
        let mut told = None;
        if let Some(listener) = listener {
            next_text(&mut listener.socket).await?;
            told = Some(began.elapsed());
        }
        while !is_done(&next_text(&mut self.writer.socket).await?)? {}
        Ok(told.unwrap_or_else(|| began.elapsed()))
    }
}
