//! Many who listen, one who writes, and the clock between them.

use crate::latency::Latencies;
use crate::process::CpuTime;
use crate::session::{Session, Socket, next_text};
use crate::subject::Subject;
use crate::trouble::Trouble;
use crate::value::{mark_in, marked, place, put};
use futures_util::{SinkExt, StreamExt};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::Message;

/// How long nothing may happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// A subject with all who are connected to it.
#[derive(Debug)]
pub(crate) struct Field {
    subject: Subject,
    /// The one who writes.
    writer: Session,
    /// Whether the subject is a server and is asked to write, or a peer and repeats what it is sent.
    is_server: bool,
    progress: Arc<Progress>,
    listening: JoinSet<Trouble>,
    value_bytes: usize,
    writes_made: usize,
}

/// Who has received what. A write is complete when all have it.
#[derive(Debug)]
struct Progress {
    listeners: u32,
    received: Vec<AtomicU32>,
    sent: Mutex<Vec<Option<Instant>>>,
    latencies: Mutex<Vec<Duration>>,
    deliveries: AtomicU32,
    completed: AtomicUsize,
    changed: Notify,
}

/// How many, and of what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) listeners: u32,
    pub(crate) value_bytes: usize,
    /// Over all phases.
    pub(crate) writes_max: usize,
}

/// What one phase came to.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    pub(crate) deliveries: u32,
    pub(crate) cpu: CpuTime,
    pub(crate) elapsed: Duration,
    pub(crate) latencies: Latencies,
}

impl Field {
    /// Clients of a server, all at one place.
    pub(crate) async fn of_server(subject: Subject, size: Size) -> Result<Self, Trouble> {
        let mut sessions = Vec::new();
        for _ in 0..size.listeners {
            let mut session = Session::connect(subject.address).await?;
            session.listen(&place("fanout")).await?;
            sessions.push(session);
        }
        let writer = Session::connect(subject.address).await?;
        Ok(Self::new(subject, sessions, writer, true, size))
    }

    /// Sockets of a peer, the last of them the one that writes.
    pub(crate) async fn of_peer(subject: Subject, size: Size) -> Result<Self, Trouble> {
        let mut sessions = Vec::new();
        for _ in 0..size.listeners {
            sessions.push(Session::connect_bare(subject.address).await?);
        }
        let writer = Session::connect_bare(subject.address).await?;
        Ok(Self::new(subject, sessions, writer, false, size))
    }

    fn new(subject: Subject, sessions: Vec<Session>, writer: Session, is_server: bool, size: Size) -> Self {
        let progress = Arc::new(Progress::new(size));
        let mut listening = JoinSet::new();
        for session in sessions {
            listening.spawn(listen(session.socket, progress.clone()));
        }
        let value_bytes = size.value_bytes;
        Self { subject, writer, is_server, progress, listening, value_bytes, writes_made: 0 }
    }

    /// So many writes, of which so many may be on their way at a time.
    pub(crate) async fn phase(&mut self, writes: usize, in_flight: usize) -> Result<Phase, Trouble> {
        let end = self.writes_made + writes;
        let (cpu_before, deliveries_before) = (self.subject.cpu()?, self.progress.deliveries());
        self.progress.take_latencies();
        let began = Instant::now();
        while self.progress.completed() < end {
            let in_flight_end = end.min(self.progress.completed() + in_flight);
            self.write_up_to(in_flight_end).await?;
            tokio::select! {
                () = self.progress.changed.notified() => {}
                answer = hear(&mut self.writer) => answer?,
                Some(trouble) = self.listening.join_next() => return Err(trouble.unwrap_or(Trouble::Closed)),
                () = tokio::time::sleep(PATIENCE) => return Err(self.progress.stuck()),
            }
        }
        let elapsed = began.elapsed();
        Ok(Phase {
            deliveries: self.progress.deliveries() - deliveries_before,
            cpu: self.subject.cpu()?.since(&cpu_before),
            elapsed,
            latencies: Latencies::of(self.progress.take_latencies()),
        })
    }

    async fn write_up_to(&mut self, end: usize) -> Result<(), Trouble> {
        if end <= self.writes_made {
            return Ok(());
        }
        for write in self.writes_made..end {
            let text = self.text(&marked(write, self.value_bytes));
            self.progress.set_out(write);
            self.writer.socket.feed(Message::text(text)).await?;
        }
        self.writes_made = end;
        let flushed = timeout(PATIENCE, self.writer.socket.flush()).await;
        flushed.map_err(|_| self.progress.stuck())?.map_err(Trouble::from)
    }

    fn text(&mut self, value: &str) -> String {
        if self.is_server {
            self.writer.request(put(&place("fanout"), value))
        } else {
            format!(r#"{{"t":"d","d":{{"a":"d","b":{{"p":"bench/fanout","d":"{value}"}}}}}}"#)
        }
    }
}

/// Takes one message to the one who writes: an acknowledgement, nothing that matters here.
async fn hear(writer: &mut Session) -> Result<(), Trouble> {
    match writer.socket.next().await {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(error.into()),
        None => Err(Trouble::Closed),
    }
}

/// Listens until something goes wrong.
async fn listen(mut socket: Socket, progress: Arc<Progress>) -> Trouble {
    loop {
        match next_text(&mut socket).await {
            Ok(text) => {
                if let Some(write) = mark_in(&text) {
                    progress.arrived(write);
                }
            }
            Err(trouble) => return trouble,
        }
    }
}

impl Progress {
    fn new(size: Size) -> Self {
        Self {
            listeners: size.listeners,
            received: (0..size.writes_max).map(|_| AtomicU32::new(0)).collect(),
            sent: Mutex::new(vec![None; size.writes_max]),
            latencies: Mutex::default(),
            deliveries: AtomicU32::new(0),
            completed: AtomicUsize::new(0),
            changed: Notify::new(),
        }
    }

    fn completed(&self) -> usize {
        self.completed.load(Ordering::Relaxed)
    }

    fn deliveries(&self) -> u32 {
        self.deliveries.load(Ordering::Relaxed)
    }

    fn set_out(&self, write: usize) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent[write] = Some(Instant::now());
    }

    fn arrived(&self, write: usize) {
        // A value of another run against the same server is no write of this one.
        let Some(received) = self.received.get(write) else { return };
        self.deliveries.fetch_add(1, Ordering::Relaxed);
        if received.fetch_add(1, Ordering::Relaxed) + 1 != self.listeners {
            return;
        }
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner)[write];
        let latency = sent.map(|sent| sent.elapsed());
        self.latencies.lock().unwrap_or_else(PoisonError::into_inner).extend(latency);
        self.completed.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_one();
    }

    fn take_latencies(&self) -> Vec<Duration> {
        std::mem::take(&mut self.latencies.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn stuck(&self) -> Trouble {
        let write = self.completed();
        let received = self.received.get(write).map_or(0, |received| received.load(Ordering::Relaxed));
        let what = format!("write {write} has reached {received} of {} listeners", self.listeners);
        Trouble::Stuck { what, seconds: PATIENCE.as_secs() }
    }
}
