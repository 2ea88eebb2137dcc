//! All that is counted, put together when somebody asks.

use super::histogram::Histogram;
use super::text::{Exposition, Family, Kind};
use super::{Count, Crowd, DatabaseMeters, METHODS, Meters, Transport};
use crate::database::{Database, Databases};
use crate::transport::Coming;
use std::sync::atomic::Ordering;

/// Most databases that are told apart: those that are oldest, so that nothing that was shown goes back. All others are one.
const NAMES_MAX: usize = 100;
/// No database can be called that.
const OTHERS: &str = "(others)";

/// What is told of a database.
type Measured = fn(&Row) -> u64;

/// What one name has, or all others together.
#[derive(Default)]
struct Row {
    name: String,
    commits: u64,
    listeners: u64,
    denied_reads: u64,
    denied_writes: u64,
    verdicts: u64,
    rule_steps: u64,
    index_misses: u64,
    bulk_reads: u64,
    resyncs: u64,
    cut: u64,
    slow: u64,
    bytes_in: u64,
    bytes_out: u64,
    /// How many are there now and there were, in the order of [`Transport::OF_DATABASE`].
    sessions: [(u64, u64); Transport::OF_DATABASE.len()],
}

/// The text for a collector. O(databases).
pub(crate) fn report(databases: &Databases) -> String {
    let mut text = Exposition::default();
    of_server(&mut text, databases);
    of_requests(&mut text, databases.meters());
    of_limits(&mut text, databases);
    of_databases(&mut text, &rows(databases.all()));
    text.into_text()
}

fn of_server(text: &mut Exposition, databases: &Databases) {
    let meters = databases.meters();
    text.family("hearth_info", Kind::Gauge, "The version that runs; always 1.")
        .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    text.family("hearth_uptime_seconds", Kind::Gauge, "Time since the start.")
        .sample(&[], meters.started.elapsed().as_secs());
    let mut now =
        text.family("hearth_connections", Kind::Gauge, "Connections and sessions now, by transport.");
    for transport in Transport::ALL {
        now.sample(&[("transport", transport.word())], meters.crowd(transport).now.load(Ordering::Relaxed));
    }
    let help = "Connections and sessions since the start, by transport.";
    let mut total = text.family("hearth_connections_total", Kind::Counter, help);
    for transport in Transport::ALL {
        total.sample(&[("transport", transport.word())], meters.crowd(transport).total.get());
    }
    text.family(
        "hearth_received_bytes_total",
        Kind::Counter,
        "Bytes from clients, as they were on the network.",
    )
    .sample(&[], meters.bytes_in.get());
    text.family("hearth_sent_bytes_total", Kind::Counter, "Bytes to clients, as they were on the network.")
        .sample(&[], meters.bytes_out.get());
    let help = "Connections that found no room, at all (`server`) or from their address (`address`).";
    let mut full = text.family("hearth_refused_connections_total", Kind::Counter, help);
    full.sample(&[("of", "server")], meters.full_server.get());
    full.sample(&[("of", "address")], meters.full_address.get());
    let help = "Requests that were given up because their head or body did not come in time.";
    let mut slow = text.family("hearth_slow_requests_total", Kind::Counter, help);
    slow.sample(&[("part", "head")], meters.slow_heads.get());
    slow.sample(&[("part", "body")], meters.slow_bodies.get());
    let help = "Bytes that large bodies and messages take, from their arrival to their answer.";
    text.family("hearth_body_bytes", Kind::Gauge, help).sample(&[], databases.bodies().bytes_now());
    let help = "Requests whose body found no room beside others.";
    text.family("hearth_refused_bodies_total", Kind::Counter, help)
        .sample(&[], databases.bodies().refused(Coming::Body));
    let help = "Messages of sessions that found no room beside others.";
    let refused = databases.bodies().refused(Coming::Message);
    text.family("hearth_refused_messages_total", Kind::Counter, help).sample(&[], refused);
    let help = "Time to write a group of commits to the log and to have the disk keep it.";
    of_times(text, "hearth_sync_seconds", help, &meters.syncs);
    let mut queues =
        text.family("hearth_queue_length", Kind::Gauge, "What waits for a thread; at most 1024.");
    for (thread, length) in databases.queues() {
        queues.sample(&[("thread", thread)], length);
    }
    let help = "Children in the indexes that are kept for readers.";
    text.family("hearth_kept_index_entries", Kind::Gauge, help).sample(&[], databases.index_entries());
    let health = u8::from(databases.health().failure().is_none());
    text.family(
        "hearth_log_is_well",
        Kind::Gauge,
        "0 if writes are refused because the log cannot be written.",
    )
    .sample(&[], health);
    let health = u8::from(databases.checkpoint_health().trouble().is_none());
    text.family("hearth_checkpoints_are_well", Kind::Gauge, "0 if checkpoints cannot be written.")
        .sample(&[], health);
}

/// Requests, and how long they took.
fn of_requests(text: &mut Exposition, meters: &Meters) {
    let help = "Requests over HTTP that were answered, by method and first digit of the status.";
    let mut answers = text.family("hearth_requests_total", Kind::Counter, help);
    for (method, by_class) in METHODS.into_iter().zip(&meters.answers) {
        // Most methods have only ever one or two.
        for (class, count) in ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().zip(by_class) {
            if class == "2xx" || count.get() != 0 {
                answers.sample(&[("method", method), ("status", class)], count.get());
            }
        }
    }
    let help =
        "Time from a request, with its body, to the start of its answer; but for sockets and long polls.";
    of_times(text, "hearth_request_seconds", help, &meters.answer_times);
    let help = "Requests that took as long as `--log-slower-than` says or longer.";
    text.family("hearth_slow_answers_total", Kind::Counter, help).sample(&[], meters.slow_answers.get());
}

fn of_times(text: &mut Exposition, name: &'static str, help: &'static str, times: &Histogram) {
    let mut family = text.family(name, Kind::Histogram, help);
    for (bound_us, count) in times.up_to() {
        family.suffixed("_bucket", &[("le", &seconds(bound_us))], count);
    }
    // What was counted meanwhile is in none of the buckets; the last one has all that the others have.
    let count = times.count();
    family.suffixed("_bucket", &[("le", "+Inf")], count);
    family.suffixed("_sum", &[], times.sum().as_secs_f64());
    family.suffixed("_count", &[], count);
}

fn of_limits(text: &mut Exposition, databases: &Databases) {
    let limiter = databases.limiter();
    let help =
        "Requests that a limit refused, by its places, what there was too much of, and what was counted by.";
    let mut refused = text.family("hearth_limit_refused_total", Kind::Counter, help);
    for one in limiter.refused() {
        let labels = [("places", &*one.places), ("measure", one.measure), ("per", one.per)];
        refused.sample(&labels, one.count);
    }
    let help = "Whom limits keep in mind because they have done something lately; at most 131072.";
    text.family("hearth_limit_buckets", Kind::Gauge, help).sample(&[], limiter.buckets_now());
}

fn of_databases(text: &mut Exposition, rows: &[Row]) {
    use Kind::{Counter, Gauge};
    let families: [(_, _, _, Measured); 13] = [
        ("hearth_commits_total", Counter, "Commits since the start.", |row| row.commits),
        ("hearth_listeners", Gauge, "Standing queries now, event streams among them.", |row| row.listeners),
        ("hearth_denied_reads_total", Counter, "Reads and listens that the rules denied.", |row| {
            row.denied_reads
        }),
        ("hearth_denied_writes_total", Counter, "Writes that the rules denied.", |row| row.denied_writes),
        ("hearth_verdicts_total", Counter, "Reads, writes and listens that rules have judged.", |row| {
            row.verdicts
        }),
        ("hearth_rule_steps_total", Counter, "Steps that rules have taken for these verdicts.", |row| {
            row.rule_steps
        }),
        ("hearth_index_misses_total", Counter, "Queries without the `.indexOn` that they need.", |row| {
            row.index_misses
        }),
        ("hearth_bulk_reads_total", Counter, "Large reads by somebody who has not signed in.", |row| {
            row.bulk_reads
        }),
        (
            "hearth_resyncs_total",
            Counter,
            "Times that a client fell behind and was told one difference.",
            |row| row.resyncs,
        ),
        ("hearth_cut_connections_total", Counter, "Connections closed because they stayed behind.", |row| {
            row.cut
        }),
        (
            "hearth_slow_connections_total",
            Counter,
            "Connections closed because they took something long too slowly.",
            |row| row.slow,
        ),
        (
            "hearth_payload_received_bytes_total",
            Counter,
            "Bytes of messages of sessions and of bodies of requests that write.",
            |row| row.bytes_in,
        ),
        (
            "hearth_payload_sent_bytes_total",
            Counter,
            "Bytes of messages to sessions, of events, and of bodies of answers before they are compressed.",
            |row| row.bytes_out,
        ),
    ];
    for (name, kind, help, measured) in families {
        let mut family = text.family(name, kind, help);
        for row in rows {
            family.sample(&[("namespace", &row.name)], measured(row));
        }
    }
    let help = "Sessions and event streams now, by transport.";
    of_sessions(text.family("hearth_sessions", Gauge, help), rows, |(now, _)| now);
    let help = "Sessions and event streams since the start, by transport.";
    of_sessions(text.family("hearth_sessions_total", Counter, help), rows, |(_, total)| total);
}

fn of_sessions(mut family: Family<'_>, rows: &[Row], measured: fn((u64, u64)) -> u64) {
    for row in rows {
        for (transport, sessions) in Transport::OF_DATABASE.into_iter().zip(row.sessions) {
            let labels = [("namespace", &*row.name), ("transport", transport.word())];
            family.sample(&labels, measured(sessions));
        }
    }
}

/// A row for each of the first, and one for all others.
fn rows(databases: Vec<Database>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for database in databases {
        let row = row(&database);
        if rows.len() < NAMES_MAX {
            rows.push(row);
        } else if rows.len() == NAMES_MAX {
            rows.push(Row { name: OTHERS.into(), ..row });
        } else if let Some(others) = rows.last_mut() {
            others.add(&row);
        }
    }
    rows
}

fn row(database: &Database) -> Row {
    let meters = database.meters();
    let DatabaseMeters {
        commits_before,
        listeners_now,
        denied_reads,
        denied_writes,
        verdicts,
        rule_steps,
        index_misses,
        bulk_reads,
        resyncs,
        cut,
        slow,
        by_transport: _,
        bytes_in,
        bytes_out,
    } = &**meters;
    let get = Count::get;
    let sessions = |transport| {
        let Crowd { now, total } = meters.crowd(transport);
        (now.load(Ordering::Relaxed), total.get())
    };
    Row {
        name: database.name().into(),
        commits: database.published().revision.get().saturating_sub(commits_before.load(Ordering::Relaxed)),
        listeners: listeners_now.load(Ordering::Relaxed),
        denied_reads: get(denied_reads),
        denied_writes: get(denied_writes),
        verdicts: get(verdicts),
        rule_steps: get(rule_steps),
        index_misses: get(index_misses),
        bulk_reads: get(bulk_reads),
        resyncs: get(resyncs),
        cut: get(cut),
        slow: get(slow),
        bytes_in: get(bytes_in),
        bytes_out: get(bytes_out),
        sessions: Transport::OF_DATABASE.map(sessions),
    }
}

impl Row {
    fn add(&mut self, other: &Self) {
        self.commits += other.commits;
        self.listeners += other.listeners;
        self.denied_reads += other.denied_reads;
        self.denied_writes += other.denied_writes;
        self.verdicts += other.verdicts;
        self.rule_steps += other.rule_steps;
        self.index_misses += other.index_misses;
        self.bulk_reads += other.bulk_reads;
        self.resyncs += other.resyncs;
        self.cut += other.cut;
        self.slow += other.slow;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        for (own, (now, total)) in self.sessions.iter_mut().zip(other.sessions) {
            *own = (own.0 + now, own.1 + total);
        }
    }
}

/// As a decimal, which collectors compare as text.
fn seconds(us: u64) -> String {
    let text = format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
