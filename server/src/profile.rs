//! What is done in a database, told to the admins who look on while it is done (rest reference 8.4).
//!
//! Why the one who does something tells it, and only if somebody looks on: what nobody watches costs one load of a number.
//! What comes faster than it is taken is counted instead of kept.

use crate::clock::now_ms;
use axum::body::Bytes;
use hearth_engine::DatabaseId;
use hearth_tree::{ChildPath, KeyBound, Order, Path, Position, Priority, Query, Range, Scalar, Window};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc;

/// Most who look on at one database.
const WATCHERS_MAX: usize = 16;
/// Most records that wait for one of them; a record is at most as long as a path, 25 KB, and usually 200 bytes.
const RECORDS_MAX: usize = 512;

/// Something that is done, by the name that the official profiler knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Connect,
    Disconnect,
    Read,
    Write,
    Update,
    Transaction,
    Listen,
    Broadcast,
    Unlisten,
    RestRead,
    RestWrite,
    RestUpdate,
    RestTransaction,
    OnDisconnectPut,
    OnDisconnectUpdate,
    OnDisconnectCancel,
    RunOnDisconnect,
}

impl Operation {
    const fn name(self) -> &'static str {
        match self {
            Self::Connect => "concurrent-connect",
            Self::Disconnect => "concurrent-disconnect",
            Self::Read => "realtime-read",
            Self::Write => "realtime-write",
            Self::Update => "realtime-update",
            Self::Transaction => "realtime-transaction",
            Self::Listen => "listener-listen",
            Self::Broadcast => "listener-broadcast",
            Self::Unlisten => "listener-unlisten",
            Self::RestRead => "rest-read",
            Self::RestWrite => "rest-write",
            Self::RestUpdate => "rest-update",
            Self::RestTransaction => "rest-transaction",
            Self::OnDisconnectPut => "on-disconnect-put",
            Self::OnDisconnectUpdate => "on-disconnect-update",
            Self::OnDisconnectCancel => "on-disconnect-cancel",
            Self::RunOnDisconnect => "run-on-disconnect",
        }
    }
}

/// What is told of something that was done.
#[derive(Clone, Debug)]
pub(crate) struct Record(Map<String, Value>);

impl Record {
    /// Of something that was done just now.
    pub(crate) fn new(operation: Operation) -> Self {
        let mut fields = Map::new();
        fields.insert("name".into(), operation.name().into());
        fields.insert("timestamp".into(), now_ms().into());
        Self(fields)
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// Where.
    pub(crate) fn at(self, path: &Path) -> Self {
        let keys: Vec<Value> = path.keys().iter().map(|key| key.as_str().into()).collect();
        self.with("path", keys)
    }

    /// How much of it went over the network.
    pub(crate) fn bytes(self, bytes: usize) -> Self {
        self.with("bytes", bytes)
    }

    /// How long it took, in milliseconds.
    pub(crate) fn since(self, began: Instant) -> Self {
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.with("millis", millis)
    }

    /// Whether rules allowed it.
    pub(crate) fn allowed(self, is_allowed: bool) -> Self {
        self.with("allowed", is_allowed)
    }

    /// How many were told.
    pub(crate) fn clients(self, clients: usize) -> Self {
        self.with("clientsUpdated", clients)
    }

    /// What was asked for, and whether the index for it is missing.
    pub(crate) fn query(self, query: &Query, is_unindexed: bool) -> Self {
        self.with("querySet", vec![spelled(query)]).with("unIndexed", is_unindexed)
    }

    fn into_event(self) -> Bytes {
        format!("event: log\ndata: {}\n\n", Value::Object(self.0)).into()
    }
}

/// A query as the official profiler reads it.
fn spelled(query: &Query) -> Value {
    let (index, [start, end]) = match &query.order {
        Order::Key(range) => (json!({"path": [".key"]}), ends(range, shown_key)),
        Order::Value(range) => (json!({"path": [".value"]}), ends(range, shown_value)),
        Order::Child(path, range) => (json!({"path": keys_of(path)}), ends(range, shown_value)),
        // What is asked for without an order has this one.
        Order::Priority(range) => (json!({}), ends(range, shown_priority)),
    };
    let (limit, view_from) = match query.window {
        Window::All => (None, "left"),
        Window::First(limit) => (Some(limit.get()), "left"),
        Window::Last(limit) => (Some(limit.get()), "right"),
    };
    let is_range = start.is_some() || end.is_some();
    json!({
        "default": query.is_everything(),
        "index": index,
        "range": is_range,
        "equality": is_range && start == end,
        "startIndexValue": start,
        "endIndexValue": end,
        "limit": limit,
        "simpleLimit": limit.is_some() && !is_range,
        "viewFrom": view_from,
    })
}

fn keys_of(path: &ChildPath) -> Vec<Value> {
    path.keys().iter().map(|key| key.as_str().into()).collect()
}

fn ends<B>(range: &Range<B>, shown: impl Fn(&B) -> Value) -> [Option<Value>; 2] {
    [&range.start, &range.end].map(|bound| match bound {
        Bound::Included(bound) | Bound::Excluded(bound) => Some(shown(bound)),
        Bound::Unbounded => None,
    })
}

fn shown_key(bound: &KeyBound) -> Value {
    match bound {
        KeyBound::Min => "[MIN_NAME]".into(),
        KeyBound::At(text) => text.as_str().into(),
        KeyBound::Max => "[MAX_NAME]".into(),
    }
}

fn shown_value(position: &Position<Option<Scalar>>) -> Value {
    match &position.value {
        None => Value::Null,
        Some(Scalar::Bool(bool)) => (*bool).into(),
        Some(Scalar::Number(number)) => number.as_f64().into(),
        Some(Scalar::Text(text)) => text.as_str().into(),
    }
}

fn shown_priority(position: &Position<Option<Priority>>) -> Value {
    let value = position.value.clone().map(Scalar::from);
    shown_value(&Position { value, key: None })
}

/// Who looks on at which database.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    /// At any. Looked at before anything else.
    watchers: AtomicUsize,
    by_database: Mutex<BTreeMap<DatabaseId, Vec<Watcher>>>,
}

#[derive(Debug)]
struct Watcher {
    records: mpsc::Sender<Bytes>,
    lost: Arc<AtomicU64>,
}

impl Profiles {
    /// When something begins, if anybody looks on at any database.
    pub(crate) fn began(&self) -> Option<Instant> {
        self.is_watched().then(Instant::now)
    }

    /// Whether anybody looks on at any database. One load.
    pub(crate) fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::Relaxed) != 0
    }

    /// Tells those who look on at a database. Never waits for them.
    pub(crate) fn tell(&self, database: DatabaseId, record: impl FnOnce() -> Record) {
        if !self.is_watched() {
            return;
        }
        let by_database = self.by_database.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(watchers) = by_database.get(&database) else { return };
        let event = record().into_event();
        for watcher in watchers {
            if watcher.records.try_send(event.clone()).is_err() {
                watcher.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Looks on at a database from now on; nothing, if enough others do.
    pub(crate) fn watch(self: &Arc<Self>, database: DatabaseId) -> Option<Watching> {
        let mut by_database = self.by_database.lock().unwrap_or_else(PoisonError::into_inner);
        let watchers = by_database.entry(database).or_default();
        if WATCHERS_MAX <= watchers.len() {
            return None;
        }
        let (records, taken) = mpsc::channel(RECORDS_MAX);
        let lost = Arc::<AtomicU64>::default();
        watchers.push(Watcher { records, lost: lost.clone() });
        self.watchers.fetch_add(1, Ordering::Relaxed);
        Some(Watching { profiles: self.clone(), database, records: taken, lost })
    }
}

/// Somebody who looks on at a database until this is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    profiles: Arc<Profiles>,
    database: DatabaseId,
    records: mpsc::Receiver<Bytes>,
    lost: Arc<AtomicU64>,
}

impl Watching {
    /// The next events of a stream: what has been told since the last ones, and how much of it was lost.
    pub(crate) async fn next(&mut self) -> Vec<u8> {
        // The sender is in the table as long as this is there.
        let mut events = self.records.recv().await.map_or_else(Vec::new, Vec::from);
        while let Ok(event) = self.records.try_recv() {
            events.extend_from_slice(&event);
        }
        match self.lost.swap(0, Ordering::Relaxed) {
            0 => {}
            lost => events
                .extend_from_slice(format!(": {lost} more came faster than they were taken\n\n").as_bytes()),
        }
        events
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut by_database = self.profiles.by_database.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watchers) = by_database.get_mut(&self.database) {
            watchers.retain(|watcher| !Arc::ptr_eq(&watcher.lost, &self.lost));
            if watchers.is_empty() {
                by_database.remove(&self.database);
            }
        }
        self.profiles.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_looks_on_is_told_until_it_is_full_and_nobody_else_is() {
        let profiles = Arc::<Profiles>::default();
        assert_eq!(profiles.began(), None);
        let (watched, other) = (DatabaseId(1), DatabaseId(2));
        profiles.tell(watched, || panic!("nobody looks on"));
        let mut watching = profiles.watch(watched).unwrap();
        profiles.tell(other, || panic!("nobody looks on there"));
        let at = Path::parse("/a/b").unwrap();
        for _ in 0..RECORDS_MAX + 3 {
            profiles.tell(watched, || Record::new(Operation::RestRead).at(&at).bytes(7).allowed(true));
        }
        let events = String::from_utf8(watching.next().await).unwrap();
        assert_eq!(events.matches("event: log\ndata: {\"allowed\":true,\"bytes\":7,").count(), RECORDS_MAX);
        assert!(events.contains("\"path\":[\"a\",\"b\"]"), "{events}");
        assert!(events.ends_with(": 3 more came faster than they were taken\n\n"), "{events}");
        let more: Vec<Watching> = (1..WATCHERS_MAX).map(|_| profiles.watch(watched).unwrap()).collect();
        assert!(profiles.watch(watched).is_none());
        drop(more);
        assert!(profiles.watch(watched).is_some() && profiles.is_watched());
        drop(watching);
        assert_eq!(profiles.began(), None);
        assert!(profiles.by_database.lock().unwrap().is_empty());
    }
}
