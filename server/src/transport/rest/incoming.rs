//! Bodies, as they come.
//!
//! Why in pieces: a body of 200 MB would stand in memory as text beside the tree that it becomes. Up to 1 MiB it is read when
//! all of it is there, and then what is wrong with a key or a string is pointed at where that begins; of a longer one what
//! waits for its end is a little, and mistakes are pointed at where reading stopped, or near it.

use super::apart;
use super::refused::Refused;
use super::write::{Plan, Told, nodes_max, place_of};
use super::write_size::WriteSize;
use crate::meters::DatabaseMeters;
use crate::transport::{BodyShare, NoRoom};
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use futures_util::StreamExt;
use hearth_tree::{
    Assignment, DEPTH_MAX, Key, NODE_BYTES, Path, Problem, ReadError, ReadOptions, Target, UpdatePieces,
    ValuePieces, Write, weight_of_nodes,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};

/// Largest body (rest reference 7.5).
pub(super) const BODY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Largest body of an admin who says `writeSizeLimit=unlimited`, as imports do: whoever may replace everything is not kept
/// from it by its length.
pub(super) const IMPORT_BYTES_MAX: usize = 64 * BODY_BYTES_MAX;
/// What is read at once, of a body that is read as it comes.
const BATCH_BYTES: usize = 256 * 1024;
/// What is given to the reader at once: as much as it reads at once itself.
const FED_BYTES: usize = 64 * 1024;
/// How long so much of a body may take: nobody holds a body in memory by adding a byte now and then.
const PART: Duration = Duration::from_secs(60);
const PART_BYTES: usize = 64 * 1024;

/// A body of which something may still come.
pub(super) struct Arriving {
    pieces: BodyDataStream,
    /// Longest that it may be.
    bytes_max: usize,
    /// How much of it has come.
    bytes: usize,
    /// When there must be so much.
    until: Instant,
    enough: usize,
    /// What came with the end of what was asked for.
    next: Option<Bytes>,
    /// Of the room for bodies; an admin's need none.
    share: Option<BodyShare>,
    /// Where it is counted.
    meters: Option<Arc<DatabaseMeters>>,
}

impl Arriving {
    /// Nothing is read of it yet. Its type is passed over: clients send any.
    pub(super) fn new(headers: &HeaderMap, body: Body, bytes_max: usize) -> Result<Self, Refused> {
        let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if said.is_some_and(|length| bytes_max < length) {
            return Err(too_large(bytes_max));
        }
        Ok(Self {
            bytes_max,
            pieces: body.into_data_stream(),
            bytes: 0,
            until: Instant::now() + PART,
            enough: PART_BYTES,
            next: None,
            share: None,
            meters: None,
        })
    }

    /// Counts what comes for a database.
    pub(super) fn counted_by(self, meters: Arc<DatabaseMeters>) -> Self {
        Self { meters: Some(meters), ..self }
    }

    /// Takes room for what comes.
    pub(super) fn within(self, share: BodyShare) -> Self {
        Self { share: Some(share), ..self }
    }

    /// The room that it takes, for whoever holds what was made of it.
    pub(super) fn into_share(self) -> Option<BodyShare> {
        self.share
    }

    /// Makes room for the nodes of a text of it that is about to be read.
    pub(super) fn make_room(&mut self, text: &[u8]) -> Result<(), NoRoom> {
        match &mut self.share {
            Some(share) => share.grow(weight_of_nodes(text, nodes_max(self.bytes))),
            None => Ok(()),
        }
    }

    /// How long it is by now.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Who may send more than others may have more nodes, too.
    fn nodes_max(&self) -> usize {
        // What is only announced buys nothing.
        let bytes = self.bytes;
        if self.bytes_max == BODY_BYTES_MAX { nodes_max(bytes) } else { nodes_max(bytes).max(bytes / 16) }
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, Refused> {
        let piece = timeout_at(self.until, self.pieces.next()).await;
        let piece = piece
            .map_err(|_| Refused::new(StatusCode::REQUEST_TIMEOUT, "the rest of the request did not come"))?;
        let Some(piece) = piece else { return Ok(None) };
        let piece = piece.map_err(|error| Refused::bad(error.to_string()))?;
        if self.bytes_max - self.bytes < piece.len() {
            return Err(too_large(self.bytes_max));
        }
        let grown = self.share.as_mut().map_or(Ok(()), |share| share.grow(piece.len()));
        self.count(piece.len());
        if let Err(full) = grown {
            drop(piece);
            // What has come before is held, and counted, until then.
            self.pass_over().await;
            return Err(full.into());
        }
        Ok(Some(piece))
    }

    fn count(&mut self, bytes: usize) {
        self.bytes += bytes;
        if let Some(meters) = &self.meters {
            meters.bytes_in.add(bytes as u64);
        }
        if self.enough <= self.bytes {
            (self.until, self.enough) = (Instant::now() + PART, self.bytes + PART_BYTES);
        }
    }

    /// Keeps nothing of the rest: clients that still send do not look for an answer.
    async fn pass_over(&mut self) {
        while let Ok(Some(Ok(piece))) = timeout_at(self.until, self.pieces.next()).await
            && self.bytes + piece.len() <= self.bytes_max
        {
            self.count(piece.len());
        }
    }

    /// So much of it, or a little more; less only at its end.
    async fn batch(&mut self, bytes: usize) -> Result<Vec<u8>, Refused> {
        let mut batch = self.next.take().map_or_else(Vec::new, Vec::from);
        while batch.len() < bytes
            && let Some(piece) = self.piece().await?
        {
            batch.extend_from_slice(&piece);
        }
        Ok(batch)
    }

    /// The body, if it is no longer than that; or how it begins.
    pub(super) async fn begin(&mut self, bytes: usize) -> Result<Begun, Refused> {
        let text = self.batch(bytes).await?;
        if text.is_empty() {
            return Err(Refused::bad("Error: No data supplied."));
        }
        self.next = if text.len() < bytes { None } else { self.piece().await? };
        Ok(if self.next.is_some() { Begun::Longer(text) } else { Begun::Whole(text) })
    }

    /// All of it.
    pub(super) async fn whole(&mut self, mut begun: Vec<u8>) -> Result<Vec<u8>, Refused> {
        begun.extend(self.batch(usize::MAX).await?);
        Ok(begun)
    }

    /// Reads it as it comes, into what is to be written. Where that cannot be, the rest is passed over: clients that still
    /// send do not look for an answer.
    pub(super) async fn plan(
        &mut self,
        mut reading: Reading,
        begun: Vec<u8>,
        size: WriteSize,
    ) -> Result<Plan, Refused> {
        let mut batch = Bytes::from(begun);
        let mut weight = 0_usize;
        loop {
            if batch.is_empty() {
                batch = self.batch(BATCH_BYTES).await?.into();
            }
            if batch.is_empty() {
                break;
            }
            // A little at a time: room is made for what it may become, and given back where it is nothing but text.
            let text = batch.split_to(batch.len().min(FED_BYTES));
            weight = weight.saturating_add(weight_of_nodes(&text, nodes_max(self.bytes)));
            if let Err(full) = self.make_room(&text) {
                drop(reading);
                self.pass_over().await;
                return Err(full.into());
            }
            let nodes_max = self.nodes_max();
            let bytes = self.bytes;
            let fed = apart(move || {
                let fed = reading.feed(nodes_max, &text)?;
                size.check(bytes, fed.nodes_read())?;
                Ok(fed)
            });
            match fed.await {
                Ok(fed) => {
                    reading = fed;
                    let made = reading.nodes_read().saturating_mul(2 * NODE_BYTES);
                    weight = weight.min(made);
                    if let Some(share) = &mut self.share {
                        share.shrink_to(self.bytes.saturating_add(weight));
                    }
                }
                Err(refused) => {
                    while self.piece().await?.is_some() {}
                    return Err(refused);
                }
            }
        }
        apart(move || reading.end()).await
    }
}

/// A body from its beginning.
pub(super) enum Begun {
    Whole(Vec<u8>),
    Longer(Vec<u8>),
}

/// A body that is being read. Where a client gives up in the middle, what was read of it is dropped where nobody waits.
pub(super) struct Reading(Option<Box<Pieces>>);

enum Pieces {
    Value(ValuePieces, Path, Told),
    Update(UpdatePieces),
}

impl Reading {
    /// Of a value that is to be written, there or as that child.
    pub(super) fn value(target: Target, child: Option<Key>) -> Result<Self, Refused> {
        let (at, told) = place_of(target, child)?;
        let options = ReadOptions {
            depth_max: DEPTH_MAX - at.keys().len(),
            nodes_max: nodes_max(0),
            ..ReadOptions::default()
        };
        Ok(Self(Some(Box::new(Pieces::Value(ValuePieces::new(options), at, told)))))
    }

    /// Of an update of places at or below this one.
    pub(super) fn update(at: Path) -> Self {
        let options = ReadOptions { nodes_max: nodes_max(0), ..ReadOptions::default() };
        Self(Some(Box::new(Pieces::Update(UpdatePieces::new(at, options)))))
    }

    fn feed(mut self, nodes_max: usize, batch: &[u8]) -> Result<Self, Refused> {
        match self.0.as_deref_mut() {
            Some(Pieces::Value(pieces, ..)) => {
                pieces.allow_nodes(nodes_max);
                pieces.feed(batch).map_err(|error| located(Refused::of_value(&error), &error))?;
            }
            Some(Pieces::Update(pieces)) => {
                pieces.allow_nodes(nodes_max);
                pieces.feed(batch).map_err(|error| located(Refused::of_update(&error), &error))?;
            }
            None => {}
        }
        Ok(self)
    }

    fn nodes_read(&self) -> usize {
        match self.0.as_deref() {
            Some(Pieces::Value(pieces, ..)) => pieces.nodes_read(),
            Some(Pieces::Update(pieces)) => pieces.nodes_read(),
            None => 0,
        }
    }

    fn end(mut self) -> Result<Plan, Refused> {
        match *self.0.take().expect("it is there until it is dropped") {
            Pieces::Value(pieces, at, told) => {
                let value = pieces.end().map_err(|error| located(Refused::of_value(&error), &error))?;
                let assignment = Assignment::value(at, value)
                    .map_err(|error| Refused::bad(format!("Invalid path: {error}")))?;
                Ok(Plan { write: Write::Set(assignment), told })
            }
            Pieces::Update(pieces) => {
                let update = pieces.end().map_err(|error| located(Refused::of_update(&error), &error))?;
                Ok(Plan { write: Write::Update(update), told: Told::Parts })
            }
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let (Some(pieces), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            // Nobody waits for it.
            drop(runtime.spawn_blocking(move || drop(pieces)));
        }
    }
}

/// Nobody looks through megabytes for what is no JSON.
fn located(mut refused: Refused, error: &ReadError) -> Refused {
    if let (Problem::Syntax { message }, Some(place)) = (&error.problem, error.place) {
        refused.text += &format!(" Reading stopped at {place}: {message}");
    }
    refused
}

/// The whole body, of whatever needs all of it.
pub(super) async fn read_body(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Refused> {
    let mut arriving = Arriving::new(headers, body, BODY_BYTES_MAX)?;
    match arriving.begin(BATCH_BYTES).await? {
        Begun::Whole(body) => Ok(body),
        Begun::Longer(begun) => arriving.whole(begun).await,
    }
}

fn too_large(bytes_max: usize) -> Refused {
    let text = format!("Payload is too large: a request may have {bytes_max} bytes");
    Refused::new(StatusCode::PAYLOAD_TOO_LARGE, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::convert::Infallible;
    use tokio::time::sleep;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_is_given_up() {
        for (piece_bytes, pause_s, expected) in [
            (1, 5, None),
            (1, 7, Some(StatusCode::REQUEST_TIMEOUT)),
            (1, 61, Some(StatusCode::REQUEST_TIMEOUT)),
            (PART_BYTES, 59, None),
            (PART_BYTES / 2, 29, None),
            (PART_BYTES / 2, 31, Some(StatusCode::REQUEST_TIMEOUT)),
        ] {
            let pieces = stream::iter(0..10).then(move |_| async move {
                sleep(Duration::from_secs(pause_s)).await;
                Ok::<_, Infallible>(Bytes::from(vec![b'1'; piece_bytes]))
            });
            let read = read_body(&HeaderMap::new(), Body::from_stream(pieces)).await;
            let found = read.err().map(|refused| refused.status);
            assert_eq!(found, expected, "{piece_bytes} bytes every {pause_s} s");
        }
    }
}
