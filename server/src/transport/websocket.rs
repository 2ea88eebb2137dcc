//! The WebSocket transport (wire reference 1.1, 2).

use super::ahead::Ahead;
use super::bell::Bell;
use super::frames::{Frames, PIECE_BYTES};
use super::long_poll::Lines;
use super::opening::{Opening, refuse};
use super::pace::{Pace, TooSlow};
use super::pulse::{Pulse, Watched};
use super::session::{Leash, MESSAGE_BYTES_MAX, News, OpenError, Pull, SKIPPED_BYTES_MAX, Session};
use super::{Coming, NoRoom, Server};
use crate::auth::Gate;
use crate::connection::{Long, Next, Told};
use crate::database::Stopped;
use crate::meters::Transport;
use crate::sessions::Stay;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{SinkExt, StreamExt};
use hearth_wire::{Assembler, ConnectParams, FRAME_UNITS_MAX, FrameLimits, ServerControl, split};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Utf8Bytes};

/// The buffer that the library reads frames into, which it keeps: what most messages of clients fit into. A connection mostly
/// idles, and there are many; and it is filled with zeros before each read.
const READ_BUFFER_BYTES: usize = 256;
/// What may wait to be written before it is: more than the messages of one group of commits mostly are.
const WRITE_BUFFER_BYTES: usize = 4 * 1024;
/// How often in a row news go before what the client says. News come first because they mostly are why a connection wakes
/// up, and then nothing else needs to be looked at twice.
const NEWS_IN_A_ROW_MAX: u32 = 16;
/// Times of asking whether a client lives until one that does not answer is taken for gone.
const PINGS_UNANSWERED: u32 = 2;

pub(super) type Socket = WebSocketStream<Frames<Ahead<Watched<TokioIo<hyper::upgrade::Upgraded>>>>>;

/// A socket whose client is watched.
pub(super) struct Carrier {
    pub(super) socket: Socket,
    pulse: Pulse,
    /// How often the client is asked whether it lives.
    ping: Duration,
}

/// Answers the upgrade, and serves the connection in a task of its own.
pub(super) async fn upgrade(
    State(server): State<Server>,
    Extension(gate): Extension<Gate>,
    Extension(lines): Extension<Arc<Lines>>,
    mut request: Request,
) -> Response {
    let stay = server.sessions.stay();
    match prepare(&server, gate, &mut request).await {
        Err(refusal) => refusal,
        Ok(prepared) => {
            let accept = prepared.accept.clone();
            // In a box of its own, which is gone when the session begins.
            let beginning = Box::pin(prepared.begin(server, lines, stay));
            tokio::spawn(async move {
                let ended = match beginning.await {
                    Ok(Some((carrier, session, leash))) => carry(carrier, session, leash).await,
                    Ok(None) => Ok(()),
                    Err(error) => Err(error),
                };
                if let Err(error) = ended {
                    tracing::debug!(%error, "a WebSocket ended");
                }
            });
            let headers = [
                (UPGRADE, "websocket".to_owned()),
                (CONNECTION, "Upgrade".to_owned()),
                (SEC_WEBSOCKET_ACCEPT, accept),
            ];
            (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
        }
    }
}

/// An upgrade that was found right.
struct Prepared {
    upgrade: OnUpgrade,
    accept: String,
    opening: Opening,
}

async fn prepare(server: &Server, gate: Gate, request: &mut Request) -> Result<Prepared, Response> {
    let headers = request.headers();
    let is_upgrade = has_token(headers, &UPGRADE, "websocket") && has_token(headers, &CONNECTION, "upgrade");
    if !is_upgrade || !has_token(headers, &SEC_WEBSOCKET_VERSION, "13") {
        return Err(refuse("this address is for WebSockets (version 13)"));
    }
    let Some(key) = headers.get(SEC_WEBSOCKET_KEY) else {
        return Err(refuse("the header `Sec-WebSocket-Key` is missing"));
    };
    let accept = derive_accept_key(key.as_bytes());
    let params = ConnectParams::parse(request.uri().query().unwrap_or_default());
    let params = params.map_err(|error| refuse(&error.to_string()))?;
    let opening = Opening::find(server, gate, params, (headers, request.extensions())).await?;
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let upgrade = upgrade.ok_or_else(|| refuse("this connection cannot be upgraded"))?;
    Ok(Prepared { upgrade, accept, opening })
}

/// Whether a header that lists tokens has this one.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|own| own.trim().eq_ignore_ascii_case(token))
}

/// Why a connection ended before its time.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServeError {
    #[error("the connection was not upgraded: {0}")]
    Upgrade(#[from] hyper::Error),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Socket(#[from] tungstenite::Error),
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error("the client does not answer")]
    Lost,
    #[error(transparent)]
    TooSlow(#[from] TooSlow),
    #[error("the rest of a large message did not come in time")]
    Slow,
}

impl Prepared {
    /// Begins a session, or takes one over: then there is nothing more to do.
    async fn begin(
        self,
        server: Server,
        lines: Arc<Lines>,
        stay: Stay,
    ) -> Result<Option<(Box<Carrier>, Box<Session>, Leash)>, ServeError> {
        let Self { upgrade, opening, .. } = self;
        let (upgraded, pulse) = Watched::new(TokioIo::new(upgrade.await?));
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .write_buffer_size(WRITE_BUFFER_BYTES)
            .max_write_buffer_size(SKIPPED_BYTES_MAX)
            .max_message_size(Some(SKIPPED_BYTES_MAX))
            .max_frame_size(Some(PIECE_BYTES));
        let share = server.databases.bodies().share(Coming::Message);
        let frames = Frames::new(Ahead::new(upgraded), share, SKIPPED_BYTES_MAX);
        let socket = WebSocketStream::from_raw_socket(frames, Role::Server, Some(config)).await;
        let carrier = Carrier { socket, pulse, ping: server.keep_alive.duration() };
        let Some(name) = &opening.params.transport_session else {
            let (session, leash) = Session::open(&server, opening, stay).await?;
            return Ok(Some((Box::new(carrier), Box::new(session), leash)));
        };
        match lines.take_over(name, carrier).await {
            Ok(()) => Ok(None),
            // The client stays with long polling then (wire reference 14.5).
            Err(Carrier { mut socket, .. }) => {
                say(&mut socket, &ServerControl::Reset { host: opening.host }).await?;
                close(&mut socket, None).await;
                Ok(None)
            }
        }
    }
}

/// Carries a session to its end. This future is what a connection is made of while it idles.
#[expect(clippy::manual_async_fn, reason = "an async fn has room for what it is given twice")]
pub(super) fn carry(
    mut carrier: Box<Carrier>,
    mut session: Box<Session>,
    mut leash: Leash,
) -> impl Future<Output = Result<(), ServeError>> + Send {
    async move {
        let _present = session.enter(Transport::WebSocket);
        let Carrier { socket, pulse, ping } = &mut *carrier;
        let mut goodbye = None;
        let served = {
            let mut ended = pin!(async {
                tokio::select! {
                    () = pulse.lost(*ping * PINGS_UNANSWERED) => Err(ServeError::Lost),
                    pull = leash.pulled() => Ok(pull),
                }
            });
            let mut bell = Bell::new();
            tokio::select! {
                // First, since it is nearly always why this wakes up.
                biased;
                served = run(socket, &mut session, *ping) => served,
                ended = poll_fn(|context| bell.poll(context, true, |context| ended.as_mut().poll(context))) => {
                    ended.map(|pull| goodbye = match pull {
                        Pull::Followed => None,
                        // Clients come back after that by themselves (wire reference 2.6).
                        Pull::Closing => Some(CloseFrame { code: CloseCode::Away, reason: "".into() }),
                    })
                }
            }
        };
        let refused = served.as_ref().err().and_then(ServeError::goodbye);
        let stay = Box::pin(session.end(leash)).await?;
        match refused {
            None => Box::pin(close(socket, goodbye)).await,
            Some(refused) => Box::pin(close_sending(socket, refused)).await,
        }
        drop(stay);
        served
    }
}

/// How long a word may take that is not part of the conversation.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

async fn close(socket: &mut Socket, goodbye: Option<CloseFrame>) {
    let close = async {
        // The client may be gone already. If it has said goodbye first, the answer to that is still to be sent.
        drop(socket.close(goodbye).await);
        drop(socket.flush().await);
        // Under TLS a line that just ends looks like one that was cut.
        drop(socket.get_mut().shutdown().await);
    };
    drop(tokio::time::timeout(PAUSE, close).await);
}

/// Closes the socket of a client that is still sending: as long as something that it has sent is not read, the system takes
/// back what it was told.
async fn close_sending(socket: &mut Socket, goodbye: CloseFrame) {
    let say = async {
        drop(socket.close(Some(goodbye)).await);
        drop(socket.flush().await);
        socket.get_mut().pass_over().await;
    };
    drop(tokio::time::timeout(PAUSE, say).await);
    close(socket, None).await;
}

impl ServeError {
    /// What a client is told that is sent away for what it sends. It may come back with that.
    fn goodbye(&self) -> Option<CloseFrame> {
        let reason = match self {
            Self::Socket(tungstenite::Error::Io(error))
                if error.get_ref().is_some_and(|error| error.is::<NoRoom>()) =>
            {
                NoRoom.to_string()
            }
            Self::Slow => self.to_string(),
            Self::Upgrade(_)
            | Self::Open(_)
            | Self::Socket(_)
            | Self::Stopped(_)
            | Self::Lost
            | Self::TooSlow(_) => return None,
        };
        Some(CloseFrame { code: CloseCode::Again, reason: reason.into() })
    }
}

/// Says something about the connection, before a session is carried.
pub(super) async fn say(socket: &mut Socket, control: &ServerControl) -> Result<(), ServeError> {
    feed(socket, control.to_text().into()).await?;
    socket.flush().await?;
    Ok(())
}

/// What happens next on a connection.
enum Event {
    News(Option<News>),
    Said(Option<Result<Message, tungstenite::Error>>),
    Ping,
}

/// What else may happen on a connection than news.
struct Others {
    bell: Bell,
    pings: Interval,
}

impl Others {
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        (socket, has_room): (&mut Socket, bool),
        pings_come_first: bool,
    ) -> Poll<Event> {
        let Self { bell, pings } = self;
        bell.poll(context, has_room, |context| {
            if pings_come_first && pings.poll_tick(context).is_ready() {
                return Poll::Ready(Event::Ping);
            }
            if has_room && let Poll::Ready(said) = socket.poll_next_unpin(context) {
                return Poll::Ready(Event::Said(said));
            }
            pings.poll_tick(context).map(|_| Event::Ping)
        })
    }
}

async fn next_event(
    socket: &mut Socket,
    session: &mut Session,
    others: &mut Others,
    news_come_first: bool,
) -> Event {
    let has_room = session.has_room();
    let others = poll_fn(|context| others.poll(context, (&mut *socket, has_room), !news_come_first));
    if news_come_first {
        tokio::select! {
            biased;
            news = session.news() => Event::News(news),
            other = others => other,
        }
    } else {
        tokio::select! {
            biased;
            other = others => other,
            news = session.news() => Event::News(news),
        }
    }
}

async fn run(socket: &mut Socket, session: &mut Session, ping: Duration) -> Result<(), ServeError> {
    let limits = FrameLimits { message_bytes_max: MESSAGE_BYTES_MAX, skipped_bytes_max: SKIPPED_BYTES_MAX };
    let mut assembler = Assembler::new(limits);
    let mut pings = interval(ping);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut others = Others { bell: Bell::new(), pings };
    let mut news_in_a_row = 0;
    send_all(socket, session).await?;
    loop {
        match next_event(socket, session, &mut others, news_in_a_row < NEWS_IN_A_ROW_MAX).await {
            Event::News(news) => {
                let Some(news) = news else { return Ok(()) };
                news_in_a_row += 1;
                if session.take(news).await? == Next::Close {
                    return Ok(());
                }
                send_all(socket, session).await?;
                session.drained().await?;
            }
            Event::Said(message) => {
                news_in_a_row = 0;
                let Some(message) = message else { return Ok(()) };
                let text = match message? {
                    Message::Text(text) => axum::body::Bytes::from(text),
                    Message::Binary(bytes) => bytes,
                    Message::Close(_) => return Ok(()),
                    Message::Ping(bytes) | Message::Pong(bytes) => {
                        socket.get_mut().passed(bytes.len());
                        continue;
                    }
                    Message::Frame(_) => continue,
                };
                let assembled = assembler.push(&text);
                socket.get_mut().kept(assembler.kept_bytes());
                match assembled {
                    Ok(None) => {}
                    Ok(Some(message)) => {
                        if session.receive(message).await? == Next::Close {
                            return Ok(());
                        }
                        send_all(socket, session).await?;
                    }
                    Err(error) => {
                        tracing::debug!(%error, "a client is sent away");
                        return Ok(());
                    }
                }
            }
            Event::Ping => {
                news_in_a_row = 0;
                if socket.get_mut().is_slow(Instant::now(), session.has_room()) {
                    session.meters().slow_bodies.add(1);
                    return Err(ServeError::Slow);
                }
                socket.send(Message::Ping(axum::body::Bytes::new())).await?;
            }
        }
    }
}

/// Sends what there is, in one flush.
async fn send_all(socket: &mut Socket, session: &mut Session) -> Result<(), ServeError> {
    let mut bytes = 0;
    while let Some(told) = session.next_outgoing() {
        match told {
            Told::Text(text) => {
                bytes += text.len();
                feed(socket, text).await?;
            }
            // In a box, since every connection would have room for it.
            Told::Long(long) => Box::pin(feed_long(socket, session, long)).await?,
        }
    }
    session.told(bytes);
    socket.flush().await?;
    Ok(())
}

/// Sends a long message as its client takes it. What comes meanwhile waits behind it.
async fn feed_long(socket: &mut Socket, session: &Session, mut long: Box<Long>) -> Result<(), ServeError> {
    let _taking = session.taking();
    let mut pace = Pace::begin();
    while let Some(frame) = long.next_frame() {
        let bytes = frame.len();
        match pace.keep(socket.feed(Message::Text(frame))).await {
            Ok(fed) => fed?,
            Err(too_slow) => {
                session.is_too_slow();
                return Err(too_slow.into());
            }
        }
        pace.took(bytes);
    }
    Ok(())
}

async fn feed(socket: &mut Socket, text: Utf8Bytes) -> Result<(), ServeError> {
    // A text has at most as many UTF-16 units as bytes, so nearly every one is seen to be short enough; then it goes out as
    // the bytes that it may share with others.
    if text.len() <= FRAME_UNITS_MAX {
        socket.feed(Message::Text(text)).await?;
        return Ok(());
    }
    // In a box, since every connection would have room for it.
    Box::pin(feed_parts(socket, text)).await
}

async fn feed_parts(socket: &mut Socket, text: Utf8Bytes) -> Result<(), ServeError> {
    let Ok(frames) = split(&text) else {
        tracing::warn!(bytes = text.len(), "a message is too long for the protocol");
        return Err(tungstenite::Error::ConnectionClosed.into());
    };
    for frame in frames {
        socket.feed(Message::text(frame.into_owned())).await?;
    }
    Ok(())
}
