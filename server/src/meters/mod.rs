//! What happens, in numbers, for whoever watches the server (`GET /metrics`).
//!
//! Why our own and not the crate `prometheus-client`: what is counted lives where it happens, in atomics beside it, and is
//! only put together when somebody asks, databases by name and not more names than a bound. With a registry each count
//! would first look its series up under a lock, and the crate writes another format alone, where the text format that every
//! collector reads is the few lines of `text.rs`.

mod histogram;
mod metered;
mod report;
mod text;

pub(crate) use metered::Metered;
pub(crate) use report::report;
pub(crate) use text::CONTENT_TYPE as METRICS_TYPE;

use crate::profile::Profiles;
use axum::http::{Method, StatusCode};
use dashmap::DashMap;
use hearth_engine::DatabaseId;
use histogram::Histogram;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is counted for the whole server.
#[derive(Debug)]
pub(crate) struct Meters {
    by_transport: [Crowd; Transport::ALL.len()],
    /// From clients, as it was on the network.
    bytes_in: Count,
    bytes_out: Count,
    /// Connections for which there was no room: at all, and from their address.
    pub(crate) full_server: Count,
    pub(crate) full_address: Count,
    /// Requests of which the head or the body did not come in time.
    pub(crate) slow_heads: Count,
    pub(crate) slow_bodies: Count,
    /// By method, and by the first digit of what was answered, from 1 on.
    answers: [[Count; 5]; METHODS.len()],
    /// How long requests took.
    answer_times: Histogram,
    /// Requests that took long.
    pub(crate) slow_answers: Count,
    /// How long groups of commits took to keep.
    syncs: Histogram,
    by_database: DashMap<DatabaseId, Arc<DatabaseMeters>>,
    /// Who is told what is done while it is done.
    pub(crate) profiles: Arc<Profiles>,
    started: Instant,
}

/// What is counted for one database.
#[derive(Debug, Default)]
pub(crate) struct DatabaseMeters {
    /// At this revision counting began.
    commits_before: AtomicU64,
    /// Set by the publisher.
    listeners_now: AtomicU64,
    pub(crate) denied_reads: Count,
    pub(crate) denied_writes: Count,
    /// Verdicts of its rules.
    pub(crate) verdicts: Count,
    /// What they have cost.
    pub(crate) rule_steps: Count,
    /// Queries without the index that they need.
    pub(crate) index_misses: Count,
    /// By people who have not signed in.
    pub(crate) bulk_reads: Count,
    /// Sessions that have fallen behind.
    pub(crate) resyncs: Count,
    /// Sessions that were closed because they stayed behind.
    pub(crate) cut: Count,
    /// Sessions that were closed because they took something long too slowly.
    pub(crate) slow: Count,
    /// Sessions and event streams, by transport.
    by_transport: [Crowd; Transport::ALL.len()],
    /// What clients have said: messages, and bodies of requests that write, as they are read.
    pub(crate) bytes_in: Count,
    /// What they were told: messages, events, and the bodies of answers before they are compressed.
    pub(crate) bytes_out: Count,
}

/// How somebody is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// A connection that speaks HTTP, REST for one, and is nothing else yet.
    Http,
    /// A session over a WebSocket.
    WebSocket,
    /// A session of long polling.
    LongPoll,
    /// An event stream.
    Stream,
}

/// The methods that are told apart.
const METHODS: [&str; 8] = ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "other"];

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

/// How many are there.
#[derive(Debug, Default)]
struct Crowd {
    now: AtomicU64,
    total: Count,
}

/// Somebody who is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Present {
    meters: Arc<Meters>,
    /// Of the database that it is for, if it is for one.
    database: Option<Arc<DatabaseMeters>>,
    transport: Transport,
}

impl Default for Meters {
    fn default() -> Self {
        Self {
            by_transport: Default::default(),
            bytes_in: Count::default(),
            bytes_out: Count::default(),
            full_server: Count::default(),
            full_address: Count::default(),
            slow_heads: Count::default(),
            slow_bodies: Count::default(),
            answers: Default::default(),
            answer_times: Histogram::default(),
            slow_answers: Count::default(),
            syncs: Histogram::default(),
            by_database: DashMap::new(),
            profiles: Arc::default(),
            started: Instant::now(),
        }
    }
}

impl Transport {
    const ALL: [Self; 4] = [Self::Http, Self::WebSocket, Self::LongPoll, Self::Stream];
    /// Those that are for one database.
    const OF_DATABASE: [Self; 3] = [Self::WebSocket, Self::LongPoll, Self::Stream];

    const fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::WebSocket => "websocket",
            Self::LongPoll => "long_polling",
            Self::Stream => "event_stream",
        }
    }
}

impl Count {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Meters {
    /// Somebody comes, for a database if that is known.
    pub(crate) fn enter(
        self: &Arc<Self>,
        transport: Transport,
        database: Option<&Arc<DatabaseMeters>>,
    ) -> Present {
        let present = Present { meters: self.clone(), database: database.cloned(), transport };
        for crowd in present.crowds() {
            crowd.now.fetch_add(1, Ordering::Relaxed);
            crowd.total.add(1);
        }
        present
    }

    /// Those of a database, made when they are first asked for.
    pub(crate) fn of(&self, database: DatabaseId) -> Arc<DatabaseMeters> {
        self.by_database.entry(database).or_default().clone()
    }

    /// A group of commits was kept.
    pub(crate) fn synced(&self, took: Duration) {
        self.syncs.observe(took);
    }

    /// A request was answered.
    pub(crate) fn answered(&self, method: &Method, status: StatusCode) {
        let method = METHODS.iter().position(|name| method.as_str() == *name).unwrap_or(METHODS.len() - 1);
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        self.answers[method][class].add(1);
    }

    /// A request took so long.
    pub(crate) fn took(&self, took: Duration) {
        self.answer_times.observe(took);
    }

    const fn crowd(&self, transport: Transport) -> &Crowd {
        &self.by_transport[transport as usize]
    }
}

impl DatabaseMeters {
    /// Counting begins here.
    pub(crate) fn begin(&self, revision: hearth_engine::Revision) {
        self.commits_before.store(revision.get(), Ordering::Relaxed);
    }

    pub(crate) fn set_listeners(&self, now: usize) {
        self.listeners_now.store(now as u64, Ordering::Relaxed);
    }

    const fn crowd(&self, transport: Transport) -> &Crowd {
        &self.by_transport[transport as usize]
    }
}

impl Present {
    /// Where it is counted.
    fn crowds(&self) -> impl Iterator<Item = &Crowd> {
        let of_database = self.database.iter().map(|database| database.crowd(self.transport));
        [self.meters.crowd(self.transport)].into_iter().chain(of_database)
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        for crowd in self.crowds() {
            crowd.now.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
