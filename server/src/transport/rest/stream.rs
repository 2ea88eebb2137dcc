//! Event streams: a session with one listener (rest reference 5).

use super::event_id::EventIds;
use super::event_text::{EventText, Part};
use super::events::{AUTH_REVOKED, CANCEL, CANCEL_TOO_LONG, KEEP_ALIVE, add_id, append_news};
use super::explain::Notes;
use super::keys::KeysTold;
use super::on_close::{Leaving, on_close_of};
use super::outgoing::PIECE_BYTES;
use super::query::wanted_of;
use super::refused::Refused;
use super::{Asked, Server, read};
use crate::auth::{CredentialError, Expiry};
use crate::database::{Database, Databases, Stopped};
use crate::meters::{DatabaseMeters, Transport};
use crate::profile::{Operation, Record};
use crate::sessions::Stay;
use crate::threads::{Inbox, Outbox, SessionMessage, outbox};
use crate::transport::peer::Peer;
use crate::unhurried::unhurried;
use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use hearth_engine::{
    Answer, Content, Delivery, Identity, Item, Listen, ListenRefusal, Moment, Push, SessionId, Tag, Ticket,
};
use hearth_tree::{JsonPieces, OverBound, Path, Query, Write};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};

/// Deliveries that wait for a stream. One that falls further behind gets one difference instead.
const OUTBOX: usize = 64;
/// Pieces that wait for the network. One more is at the network and another in the making.
const PIECES: usize = 1;
/// Most bytes of events that are told together (rest reference 5.3).
const EVENTS_BYTES_MAX: usize = 512 * 1024 * 1024;
/// How long a client may take nothing.
const STALL: Duration = Duration::from_secs(60);
const LISTEN: Ticket = Ticket(0);
/// Asks how far everything was told.
const LOOK: Ticket = Ticket(1);
const QUERY: Tag = Tag(1);
const EVENT_STREAM: &str = "text/event-stream";
/// Tells nginx, and what behaves like it, to pass events on at once.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Whether a client wants a stream: the type is one of those it accepts.
pub(super) fn is_asked_for(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    let types = accepted.flat_map(|value| value.split(','));
    types.filter_map(|kind| kind.split(';').next()).any(|kind| kind.trim().eq_ignore_ascii_case(EVENT_STREAM))
}

/// Whether an answer is a stream.
pub(in crate::transport) fn is_event_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENT_STREAM.as_bytes()))
}

/// Begins a stream, or says as an ordinary answer why not.
pub(super) async fn open(server: &Server, asked: Asked) -> Result<Response, Refused> {
    if asked.target.part == hearth_tree::Part::Priority {
        return Err(Refused::bad("Invalid path: a priority cannot be streamed"));
    }
    asked.conditions.refuse(false, false, "event streams")?;
    let wanted = wanted_of(&asked.params)?;
    let began = std::time::Instant::now();
    let database = asked.database(server).await?.clone();
    server.databases.limiter().read(&asked.who(&database), &asked.target.path)?;
    let on_close = on_close_of(&asked)?;
    if let Some(write) = &on_close {
        server.databases.limiter().write(&asked.who(&database), write)?;
    }
    // When the stream begins to listen, rules are asked once more.
    let judged = (&*server.databases, &database);
    let notes = &mut Notes::default();
    read::judge(judged, &database.published(), &asked, &wanted, (read::Verdict::First, notes))?;
    let is_query = !wanted.query.is_everything();
    let keys = wanted.shallow.then(KeysTold::default);
    let ids = EventIds::asked(server, &database, &asked, wanted.shallow)?;
    let (outbox, deliveries) = outbox(OUTBOX);
    let session = server.databases.new_session();
    let at = asked.target.path.clone();
    let query = wanted.query.clone();
    let listen = Listen {
        at: at.clone(),
        query: wanted.query,
        tag: is_query.then_some(QUERY),
        known: None,
        held: None,
        left: ids.as_ref().map(|(_, left)| *left),
    };
    let (pieces, mut sent) = mpsc::channel::<Bytes>(PIECES);
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let keep_alive = server.keep_alive.duration();
    let mut silence = interval_at(Instant::now() + keep_alive, keep_alive);
    silence.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stay = server.sessions.stay();
    let told = Told {
        at,
        is_query,
        keys,
        ids: ids.map(|(ids, _)| ids),
        moment: Moment::default(),
        is_whole: false,
        meters: database.meters().clone(),
    };
    let (databases, peer) = (server.databases.clone(), asked.peer);
    let stream =
        Stream { databases, database, peer, session, told, deliveries, pieces, silence, stay, query, began };
    let expiry = Expiry::new(asked.expires_ms);
    tokio::spawn(async move {
        if stream.serve(asked.identity, &expiry, outbox, (on_close, listen), begun).await.is_err() {
            tracing::debug!("an event stream ended with the server");
        }
    });
    has_begun.await.map_err(|_| Stopped)??;
    let body = futures_util::stream::poll_fn(move |context| {
        sent.poll_recv(context).map(|piece| piece.map(Ok::<_, Infallible>))
    });
    let headers = [
        (CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (CACHE_CONTROL, "no-cache"),
        (ACCEL_BUFFERING, "no"),
    ];
    Ok((headers, Body::from_stream(body)).into_response())
}

/// A stream while it is served, in a task of its own: a client that goes away must not leave its session behind.
struct Stream {
    databases: Arc<Databases>,
    database: Database,
    peer: Peer,
    session: SessionId,
    told: Told,
    deliveries: Inbox,
    pieces: mpsc::Sender<Bytes>,
    /// Ticks when nothing was said for as long as a stream may say nothing.
    silence: Interval,
    stay: Stay,
    query: Query,
    began: std::time::Instant,
}

/// How news become events.
struct Told {
    at: Path,
    is_query: bool,
    /// If it is a stream of keys alone.
    keys: Option<KeysTold>,
    /// If its client wants to go on later from where it is.
    ids: Option<EventIds>,
    /// Up to where everything was told.
    moment: Moment,
    /// Whether everything was told at once.
    is_whole: bool,
    meters: Arc<DatabaseMeters>,
}

/// Whether a stream goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    GoOn,
    End,
}

type Begun = tokio::sync::oneshot::Sender<Result<(), Refused>>;

impl Stream {
    async fn serve(
        mut self,
        identity: Identity,
        expiry: &Expiry,
        outbox: Outbox,
        (on_close, listen): (Option<Write>, Listen),
        begun: Begun,
    ) -> Result<(), Stopped> {
        self.database.open(self.session, identity.clone(), outbox).await?;
        let is_armed = on_close.is_some();
        if let Some(write) = on_close
            && let Err(refusal) = self.leaving().arm(identity.clone(), write).await?
        {
            if begun.send(Err(Refused::of_write(&refusal))).is_err() {
                tracing::debug!("who asked for a stream has gone before it was refused");
            }
            return self.database.tell(self.session, SessionMessage::Close).await;
        }
        self.database.tell(self.session, SessionMessage::Listen(LISTEN, Box::new(listen))).await?;
        let present = self.database.meters_of_server().enter(Transport::Stream, Some(self.database.meters()));
        let served = self.run(&identity, begun, expiry).await;
        drop(present);
        self.database.profile(|| Record::new(Operation::Unlisten).at(&self.told.at));
        if is_armed {
            self.leaving().make(identity).await?;
        }
        self.database.tell(self.session, SessionMessage::Close).await?;
        served
    }

    fn leaving(&mut self) -> Leaving<'_> {
        let Self { database, session, deliveries, .. } = self;
        Leaving { database, session: *session, deliveries }
    }

    /// Serves until the client goes, may no longer read, or takes nothing; until it is not proved any more who it is; or the
    /// server ends.
    async fn run(&mut self, identity: &Identity, begun: Begun, expiry: &Expiry) -> Result<(), Stopped> {
        let mut begun = Some(begun);
        let mut expired = pin!(expiry.over(None));
        loop {
            let mut events = EventText::up_to(EVENTS_BYTES_MAX);
            let mut next = Next::GoOn;
            let was_new = begun.is_some();
            tokio::select! {
                // What has come meanwhile is not for a client whose time is over.
                biased;
                () = self.pieces.closed() => return Ok(()),
                () = self.stay.closing() => return Ok(()),
                _ = &mut expired => {
                    match begun {
                        Some(begun) => drop(begun.send(Err(Refused::unproven(&CredentialError::Expired)))),
                        None => drop(self.send(AUTH_REVOKED.into()).await),
                    }
                    return Ok(());
                }
                delivery = self.deliveries.next() => match delivery {
                    None => return Ok(()),
                    Some(delivery) => match self.told.append(&mut events, delivery, &mut begun) {
                        Ok(told) => next = told,
                        Err(OverBound) => {
                            self.send(CANCEL_TOO_LONG.into()).await;
                            return Ok(());
                        }
                    },
                },
                _ = self.silence.tick() => {
                    events.text().append(KEEP_ALIVE.as_bytes()).expect("nothing was appended before");
                    if self.told.ids.is_some() {
                        // Nothing has happened here, but elsewhere: the next id shall not be older than need be.
                        self.database.tell(self.session, SessionMessage::Read(LOOK)).await?;
                    }
                }
            }
            let begins = was_new && begun.is_none() && next == Next::GoOn;
            let (parts, mut text, bytes) = events.into_parts();
            if begins {
                self.given(identity, bytes);
                if text.is_empty() && self.told.ids.is_some() {
                    // Its client has everything, and learns that it does.
                    text = KEEP_ALIVE.into();
                }
            }
            if let Some(ids) = self.told.ids.as_ref().filter(|_| next == Next::GoOn && !text.is_empty()) {
                add_id(&mut text, &ids.id(self.told.moment));
            }
            for part in parts {
                let is_taken = match part {
                    Part::Text(text) => self.send(text).await,
                    Part::Long(pieces) => {
                        tokio::select! {
                            biased;
                            _ = &mut expired => false,
                            // In a box, since every stream would have room for it.
                            is_taken = Box::pin(self.send_long(pieces)) => is_taken,
                        }
                    }
                };
                if !is_taken {
                    return Ok(());
                }
            }
            if !text.is_empty() && !self.send(text).await {
                return Ok(());
            }
            if next == Next::End {
                return Ok(());
            }
            if self.deliveries.has_caught_up() {
                self.database.tell(self.session, SessionMessage::Drained).await?;
            }
        }
    }

    /// The client is given what is there when it begins to listen.
    fn given(&self, identity: &Identity, bytes: usize) {
        let Told { at, is_query, keys, is_whole, .. } = &self.told;
        self.database.profile(|| {
            let record = Record::new(Operation::Listen).at(at).bytes(bytes).since(self.began);
            record.allowed(true).query(&self.query, false)
        });
        let published = self.database.published();
        let node = published.tree.get(at).filter(|_| *is_whole && !is_query && keys.is_none());
        if self.databases.audit().given(&self.peer.who(&self.database, identity), at, bytes, node) {
            self.database.meters().bulk_reads.add(1);
        }
    }

    /// Whether the client has taken it in time.
    async fn send(&mut self, text: Vec<u8>) -> bool {
        self.database.meters().bytes_out.add(text.len() as u64);
        let sent = tokio::select! {
            sent = timeout(STALL, self.pieces.send(text.into())) => sent,
            () = self.stay.closing() => return false,
        };
        self.silence.reset();
        matches!(sent, Ok(Ok(())))
    }

    /// The same of what is long: a piece is written when the one before is taken. What comes meanwhile waits behind it.
    async fn send_long(&mut self, pieces: JsonPieces) -> bool {
        let _taking = self.deliveries.taking();
        // Where the client gives up in the middle, nobody waits for what it holds on to.
        let mut long = LetGo { pieces: Some(pieces), database: self.database.clone() };
        while let Some((piece, is_longer)) = long.next_piece() {
            if !self.send(piece).await {
                return false;
            }
            if !is_longer {
                break;
            }
        }
        true
    }
}

/// What is being written, until it is let go of where nobody waits: it may be of a tree that nobody else holds any more.
struct LetGo {
    pieces: Option<JsonPieces>,
    database: Database,
}

impl LetGo {
    /// The next piece, and whether there are more.
    fn next_piece(&mut self) -> Option<(Vec<u8>, bool)> {
        let pieces = self.pieces.as_mut()?;
        let mut piece = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 8);
        let is_longer = unhurried(|| pieces.append_to(&mut piece, PIECE_BYTES));
        Some((piece, is_longer))
    }
}

impl Drop for LetGo {
    fn drop(&mut self) {
        if let Some(pieces) = self.pieces.take() {
            self.database.let_go(pieces);
        }
    }
}

impl Told {
    fn append(
        &mut self,
        events: &mut EventText,
        delivery: Delivery,
        begun: &mut Option<Begun>,
    ) -> Result<Next, OverBound> {
        self.moment = delivery.moment;
        for item in delivery.items {
            match item {
                Item::Push(Push { body, .. }) => {
                    self.is_whole |= body.at == self.at && matches!(body.content, Content::Put(_));
                    match &mut self.keys {
                        Some(keys) => keys.append_news(events, &self.at, &body)?,
                        None => append_news(events, &self.at, &body, self.is_query)?,
                    }
                }
                Item::Revoked(_) => {
                    events.text().append(CANCEL.as_bytes())?;
                    return Ok(Next::End);
                }
                Item::Answer(Answer::Listen(_, outcome)) => {
                    if matches!(outcome, Err(ListenRefusal::Denied(_))) {
                        self.meters.denied_reads.add(1);
                    }
                    let outcome = outcome.map_err(|refusal| Refused::of_listen(&refusal));
                    let next = if outcome.is_ok() { Next::GoOn } else { Next::End };
                    let is_gone = begun.take().is_some_and(|begun| begun.send(outcome.map(|_| ())).is_err());
                    if is_gone || next == Next::End {
                        return Ok(Next::End);
                    }
                }
                // A stream writes nothing, and reads to learn how far it is told.
                Item::Answer(Answer::Write(..) | Answer::Read(..)) => {}
            }
        }
        Ok(Next::GoOn)
    }
}
