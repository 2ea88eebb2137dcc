//! One who writes, many who listen at the same place.
//!
//! Why rounds, with the rivals taking turns: what else the machine does then hits all of them, and the best round of each
//! is the one that was disturbed least.

use crate::field::{Field, Phase, Size};
use crate::subject::{ServerArguments, Subject, raise_descriptors};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use crate::value::MARK_BYTES;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many listen.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    listeners: u32,
    /// Writes in each phase.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    writes: u16,
    /// Length of a value in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 200, value_parser = clap::value_parser!(u16).range(i64::try_from(MARK_BYTES).unwrap_or(0)..=16_000))]
    value_bytes: u16,
    /// Times that everything is measured; the best counts.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
    /// Leaves the peers out.
    #[arg(long)]
    alone: bool,
}

/// Writes that may be on their way at a time.
const IN_FLIGHT: [usize; 2] = [1, 8];

const COLUMNS: [Column; 8] = [
    Column("who", "who"),
    Column("in_flight", "in flight"),
    Column("deliveries", "deliveries"),
    Column("deliveries_per_cpu_second", "per CPU second"),
    Column("deliveries_per_second", "per second"),
    Column("last_listener_p50_us", "last p50 us"),
    Column("last_listener_p99_us", "p99 us"),
    Column("cpu_seconds_by_thread", "CPU by thread"),
];

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { listeners, writes, value_bytes, rounds, alone } = *arguments;
    let descriptors = raise_descriptors(listeners + 1)?;
    let writes = usize::from(writes);
    // Each phase, and one before it all that warms up.
    let writes_max = (1 + usize::from(rounds) * IN_FLIGHT.len()) * writes;
    let size = Size { listeners, value_bytes: value_bytes.into(), writes_max };
    let mut rivals = vec![("hearth", Field::of_server(server.server()?, size).await?)];
    if !alone {
        let count = listeners.to_string();
        for (name, peer) in [("tungstenite", "tungstenite"), ("write(2)", "write-loop")] {
            rivals.push((name, Field::of_peer(Subject::peer(&[peer, &count])?, size).await?));
        }
    }
    for (_, field) in &mut rivals {
        field.phase(writes, IN_FLIGHT[0]).await?;
    }
    let mut best: Vec<[Option<Phase>; IN_FLIGHT.len()]> = rivals.iter().map(|_| Default::default()).collect();
    for _ in 0..rounds {
        for (at, in_flight) in IN_FLIGHT.into_iter().enumerate() {
            for ((_, field), best) in rivals.iter_mut().zip(&mut best) {
                let phase = field.phase(writes, in_flight).await?;
                if best[at].as_ref().is_none_or(|best| phase.is_better_than(best)) {
                    best[at] = Some(phase);
                }
            }
        }
    }
    let row = |name: &str, in_flight: usize, phase: &Phase| {
        vec![
            Cell::Text(name.into()),
            Cell::Text(in_flight.to_string()),
            Cell::Count(phase.deliveries.into()),
            Cell::rate(phase.deliveries, phase.cpu.total()),
            Cell::rate(phase.deliveries, phase.elapsed),
            Cell::Micros(phase.latencies.percentile(50)),
            Cell::Micros(phase.latencies.percentile(99)),
            Cell::Threads(phase.cpu.clone()),
        ]
    };
    let mut rows = Vec::new();
    for (at, in_flight) in IN_FLIGHT.into_iter().enumerate() {
        let named = rivals.iter().zip(&best);
        rows.extend(named.filter_map(|((name, _), best)| Some(row(name, in_flight, best[at].as_ref()?))));
    }
    Ok(Table {
        title: format!(
            "fanout: 1 writes {value_bytes} bytes, {listeners} listen there; best of {rounds} rounds of {writes} writes"
        ),
        columns: COLUMNS.into(),
        rows,
        notes: vec![format!(
            "`last`: from the write to its arrival at the last listener. File descriptors: {descriptors} possible."
        )],
    })
}

impl Phase {
    /// By processor time, which is what is compared; by time, if that is unknown.
    fn is_better_than(&self, other: &Self) -> bool {
        (self.cpu.total(), self.elapsed) < (other.cpu.total(), other.elapsed)
    }
}
