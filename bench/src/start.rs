//! How long until the server listens.

use crate::latency::Latencies;
use crate::subject::ServerArguments;
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use std::time::Instant;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How often it is started.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    times: u16,
}

const COLUMNS: [Column; 4] = [
    Column("starts", "starts"),
    Column("p50_ms", "median ms"),
    Column("max_ms", "longest ms"),
    Column("resident_bytes", "bytes of memory"),
];

pub(crate) fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let mut times = Vec::new();
    let mut resident = Vec::new();
    for _ in 0..arguments.times {
        let began = Instant::now();
        let subject = server.fresh_server()?;
        times.push(began.elapsed());
        resident.push(subject.resident_bytes()?);
    }
    resident.sort_unstable();
    let times = Latencies::of(times);
    Ok(Table {
        title: "start: from starting the program to `listening on`".into(),
        columns: COLUMNS.into(),
        rows: vec![vec![
            Cell::Count(arguments.times.into()),
            Cell::Millis(times.percentile(50)),
            Cell::Millis(times.percentile(100)),
            resident.get(resident.len() / 2).map_or(Cell::Unknown, |&bytes| Cell::Count(bytes)),
        ]],
        notes: Vec::new(),
    })
}
