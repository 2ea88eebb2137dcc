//! The stream of what is done in a database (rest reference 8.4), and what requests tell of themselves there.

use super::events::{AUTH_REVOKED, KEEP_ALIVE};
use super::explain::length_of;
use super::query::wanted_of;
use super::refused::Refused;
use super::write::Method;
use super::{Asked, Server};
use crate::auth::Expiry;
use crate::database::Database;
use crate::profile::{Operation, Record, Watching};
use crate::sessions::Stay;
use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

/// Tells nginx, and what behaves like it, to pass events on at once.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A stream of records, until its admin goes, is not proved to be one any more, or the server ends. Nothing is made of it
/// ahead: what waits is in a queue that is bounded.
struct Profile {
    watching: Watching,
    stay: Stay,
    expiry: Expiry,
    silence: Interval,
    is_over: bool,
}

/// Begins a stream for an admin.
pub(super) async fn open(server: &Server, asked: &Asked<()>) -> Result<Response, Refused> {
    let database = asked.database(server).await?;
    let watching = database.watch().ok_or_else(|| {
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, "enough others look on at this database already")
    })?;
    let keep_alive = server.keep_alive.duration();
    let mut silence = interval_at(tokio::time::Instant::now() + keep_alive, keep_alive);
    silence.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let expiry = Expiry::new(asked.expires_ms);
    let profile = Profile { watching, stay: server.sessions.stay(), expiry, silence, is_over: false };
    let pieces = futures_util::stream::unfold(profile, async |mut profile| {
        let piece = profile.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(piece)), profile))
    });
    let headers = [
        (CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (CACHE_CONTROL, "no-cache"),
        (ACCEL_BUFFERING, "no"),
    ];
    Ok((headers, Body::from_stream(pieces)).into_response())
}

impl Profile {
    async fn next(&mut self) -> Option<Vec<u8>> {
        if self.is_over {
            return None;
        }
        tokio::select! {
            biased;
            () = self.stay.closing() => None,
            _ = self.expiry.over(None) => {
                self.is_over = true;
                Some(AUTH_REVOKED.into())
            }
            events = self.watching.next() => {
                self.silence.reset();
                Some(events)
            }
            _ = self.silence.tick() => Some(KEEP_ALIVE.into()),
        }
    }
}

/// A request while somebody looks on at some database.
pub(super) struct Request {
    began: Instant,
    operation: Operation,
    /// How much of its body has come.
    body_bytes: Arc<AtomicUsize>,
}

impl Request {
    /// One that begins now; nothing, if nobody looks on.
    pub(super) fn begin(server: &Server, method: Option<Method>, asked: &Asked) -> Option<Self> {
        let began = server.databases.meters().profiles.began()?;
        let operation = match method {
            None => Operation::RestRead,
            Some(_) if asked.conditions.if_match.is_some() => Operation::RestTransaction,
            Some(Method::Patch) => Operation::RestUpdate,
            Some(Method::Put | Method::Post | Method::Delete) => Operation::RestWrite,
        };
        Some(Self { began, operation, body_bytes: Arc::default() })
    }

    /// The body, counted as it comes.
    pub(super) fn counted(&self, body: Body) -> Body {
        let bytes = self.body_bytes.clone();
        Body::from_stream(body.into_data_stream().inspect(move |piece| {
            if let Ok(piece) = piece {
                bytes.fetch_add(piece.len(), Ordering::Relaxed);
            }
        }))
    }

    /// Tells what became of it: what was done, and what rules have denied. What makes no sense is nothing that was done.
    pub(super) fn tell(&self, database: &Database, asked: &Asked, outcome: &Result<Response, Refused>) {
        let (is_allowed, answered) = match outcome {
            Ok(response) => (true, length_of(response)),
            Err(refused) if refused.status == StatusCode::UNAUTHORIZED => (false, 0),
            Err(_) => return,
        };
        database.profile(|| {
            let record = Record::new(self.operation).at(&asked.target.path).since(self.began);
            let record = record.allowed(is_allowed);
            let published = database.published();
            // Of nothing, nothing is given.
            let is_there = published.tree.get(&asked.target.path).is_some();
            match self.operation {
                Operation::RestRead => {
                    let record = record.bytes(if is_there {
                        usize::try_from(answered).unwrap_or(usize::MAX)
                    } else {
                        0
                    });
                    match wanted_of(&asked.params) {
                        Ok(wanted) => record.query(&wanted.query, false),
                        Err(_) => record,
                    }
                }
                Operation::RestWrite
                | Operation::RestUpdate
                | Operation::RestTransaction
                | Operation::Connect
                | Operation::Disconnect
                | Operation::Read
                | Operation::Write
                | Operation::Update
                | Operation::Transaction
                | Operation::Listen
                | Operation::Broadcast
                | Operation::Unlisten
                | Operation::OnDisconnectPut
                | Operation::OnDisconnectUpdate
                | Operation::OnDisconnectCancel
                | Operation::RunOnDisconnect => record.bytes(self.body_bytes.load(Ordering::Relaxed)),
            }
        });
    }
}
