//! How long others wait while somebody does its worst to the server.
//!
//! Why also the same done to another server: who floods takes processor time of the machine, whoever it is that is flooded.
//! What it costs others to share the server is what they wait beyond that.

mod kind;
mod raw;

use crate::latency::Latencies;
use crate::load::{Acknowledged, Load};
use crate::subject::{ServerArguments, Subject, raise_descriptors};
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use clap::ValueEnum;
use kind::Kind;
use raw::Doing;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::time::sleep;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What is done; if nothing is said, all of it, one after the other.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    kinds: Vec<Kind>,
    /// How many others write all the time, one write under way each.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    clients: u32,
    /// How long they are watched at a time, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 3_000, value_parser = clap::value_parser!(u16).range(1..))]
    duration_ms: u16,
}

const VALUE_BYTES: usize = 100;
/// How long everything runs before it counts.
const WARM_UP: Duration = Duration::from_millis(300);
/// What the server has to do when a connection ends counts as well.
const AFTER: Duration = Duration::from_millis(300);

const COLUMNS: [Column; 11] = [
    Column("kind", "what is done"),
    Column("sent", "sent"),
    Column("closed", "closed"),
    Column("alone_p50_ms", "alone p50 ms"),
    Column("alone_p99_ms", "p99 ms"),
    Column("elsewhere_p50_ms", "to another p50 ms"),
    Column("elsewhere_p99_ms", "p99 ms"),
    Column("beside_p50_ms", "beside p50 ms"),
    Column("beside_p99_ms", "p99 ms"),
    Column("beside_longest_ms", "longest ms"),
    Column("peak_bytes", "peak memory"),
];

pub(crate) async fn run(server: &ServerArguments, arguments: &Arguments) -> Result<Table, Trouble> {
    let Arguments { kinds, clients, duration_ms } = arguments;
    raise_descriptors(*clients)?;
    let kinds = if kinds.is_empty() { Kind::value_variants() } else { kinds };
    let duration = Duration::from_millis((*duration_ms).into());
    let mut rows = Vec::new();
    for &kind in kinds {
        rows.push(measure(server, kind, *clients, duration).await?);
    }
    Ok(Table {
        title: format!(
            "hostile: {clients} others write {VALUE_BYTES} bytes all the time, {duration_ms} ms alone, while it is done to another server, and beside it"
        ),
        columns: COLUMNS.into(),
        rows,
        notes: vec![
            "`sent`: messages, or parts of one, that the server took. `closed`: connections that it closed; each is opened anew.".into(),
        ],
    })
}

async fn measure(
    server: &ServerArguments,
    kind: Kind,
    clients: u32,
    duration: Duration,
) -> Result<Vec<Cell>, Trouble> {
    let (own, other) = (server.fresh_server()?, server.fresh_server()?);
    let load = Load::begin(&own, clients, 1, VALUE_BYTES).await?;
    sleep(WARM_UP).await;
    let alone = (Instant::now(), {
        sleep(duration).await;
        Instant::now()
    });
    let (elsewhere, _) = during(kind, &other, duration).await?;
    own.forget_peak()?;
    let (beside, doing) = during(kind, &own, duration).await?;
    let peak_bytes = own.peak_bytes()?;
    let all = load.end().await?;
    let [alone, elsewhere, beside] =
        [alone, elsewhere, beside].map(|(from, to)| Acknowledged::within(&all, from, to));
    let percent = |latencies: &Latencies, percent| Cell::Millis(latencies.percentile(percent));
    Ok(vec![
        Cell::Text(kind.name().into()),
        Cell::Count(doing.sent()),
        Cell::Count(doing.closed()),
        percent(&alone, 50),
        percent(&alone, 99),
        percent(&elsewhere, 50),
        percent(&elsewhere, 99),
        percent(&beside, 50),
        percent(&beside, 99),
        percent(&beside, 100),
        Cell::Count(peak_bytes),
    ])
}

/// Has it done for so long; gives when that was, and what was done.
async fn during(
    kind: Kind,
    subject: &Subject,
    duration: Duration,
) -> Result<((Instant, Instant), Arc<Doing>), Trouble> {
    let doing = Arc::<Doing>::default();
    let (began, address, own) = (Instant::now(), subject.address, doing.clone());
    let thread = thread::spawn(move || kind.run(address, &own));
    sleep(duration).await;
    doing.end();
    // It looks often.
    tokio::task::spawn_blocking(move || thread.join())
        .await
        .map_err(|_| Trouble::Closed)?
        .map_err(|_| Trouble::Closed)?;
    sleep(AFTER).await;
    Ok(((began, Instant::now()), doing))
}
