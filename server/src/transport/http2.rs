//! A connection that speaks HTTP/2: many requests at once, each a stream of its own.
//!
//! Why over TLS alone: there clients and server agree on it before anything is sent, and proxies in front speak 1.1 to what is
//! behind them. Why a request looks as if it had come by 1.1 from here on: everything behind this file is told host and place
//! in one way only. A `WebSocket` stays with 1.1, so that nothing in here becomes another thing.

use super::account::waits;
use super::conduct::{Conduct, Fault, Stream};
use super::malformed::Malformed;
use super::peer::Peer;
use super::proxies::Proxies;
use super::pulse::Watched;
use super::rest::is_event_stream;
use crate::keep_alive::KeepAlive;
use crate::meters::Meters;
use crate::sessions::Stay;
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{CONTENT_LENGTH, HOST};
use axum::http::{HeaderValue, Method, Request, Response, Uri};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tower::ServiceExt;

/// Requests that one client may have under way: what browsers and proxies count on (RFC 9113, 6.5.2).
pub(super) const STREAMS_MAX: u32 = 100;
/// What a client may send of bodies before any of it is taken: of one request, and of all together.
const WINDOW_BYTES: u32 = 1024 * 1024;
/// What of one answer waits for its client to have room, and the longest piece of one.
const SENT_BYTES: usize = 64 * 1024;
/// Longest head, with 32 bytes for each header as RFC 9113 counts them: room for the longest address.
const HEAD_BYTES: u32 = 128 * 1024;
/// Requests of one client that are worked on, or whose answers are not taken yet; more wait. An answer can be 10 MB in one
/// piece, and by 1.1 each connection has one.
const ANSWERS_MAX: usize = 16;
/// Signs of life that may be missing, as of a `WebSocket`.
const PINGS_UNANSWERED: u32 = 2;
/// The library's own end for who answers no ping. It would also be that of who slowly takes a long answer, in front of
/// which the ping waits; so who is lost is found at the socket.
const NEVER: Duration = Duration::from_secs(24 * 60 * 60);
/// How long what has begun may take when a connection is let go.
const LAST_REQUESTS: Duration = Duration::from_secs(15);

/// Serves one connection to its end.
pub(super) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    (peer, proxies): (Peer, Arc<Proxies>),
    (router, meters): (Router, Arc<Meters>),
    (mut stay, keep_alive): (Stay, KeepAlive),
) {
    let (stream, pulse) = Watched::new(stream);
    let conduct = Arc::new(Conduct::new(STREAMS_MAX.into()));
    let own = conduct.clone();
    let turns = Arc::new(Semaphore::new(ANSWERS_MAX));
    let service = service_fn(move |request: Request<Incoming>| {
        let request = as_of_older(request, peer, &proxies);
        let answer = answer(router.clone(), request, conduct.begin(), turns.clone());
        async { Ok::<_, Infallible>(answer.await) }
    });
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_send_buf_size(SENT_BYTES)
        .max_header_list_size(HEAD_BYTES)
        .keep_alive_interval(keep_alive.duration())
        .keep_alive_timeout(NEVER);
    let mut connection = pin!(http.serve_connection(TokioIo::new(Malformed::new(stream)), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stay.closing() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        () = pulse.lost(keep_alive.duration() * PINGS_UNANSWERED) => {
            return tracing::debug!("a client over HTTP/2 does not answer any more");
        }
        fault = own.fault() => {
            tracing::debug!("a connection ends: {fault}");
            match fault {
                Fault::NeverAsked => meters.slow_heads.add(1),
                Fault::Stalled | Fault::GaveUp => {}
                Fault::Idle => {
                    connection.as_mut().graceful_shutdown();
                    if timeout(LAST_REQUESTS, connection).await.is_err() {
                        tracing::debug!("a client was let go and did not leave");
                    }
                }
            }
            return;
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

/// The same request as HTTP/1.1 has it: the host in a header, and of the address what follows it.
fn as_of_older(mut request: Request<Incoming>, peer: Peer, proxies: &Proxies) -> Request<Incoming> {
    // What stands in both is the same, or one of them is there to deceive somebody.
    let authority = request.uri().authority().map(|authority| HeaderValue::from_str(authority.as_str()));
    if let Some(Ok(host)) = authority {
        request.headers_mut().insert(HOST, host);
    }
    if let Some(place) = request.uri().path_and_query() {
        *request.uri_mut() = Uri::from(place.clone());
    }
    let peer = peer.behind(proxies, request.headers());
    request.extensions_mut().insert(peer);
    request
}

async fn answer(
    router: Router,
    request: Request<Incoming>,
    mut stream: Stream,
    turns: Arc<Semaphore>,
) -> Response<Sent> {
    let is_head = request.method() == Method::HEAD;
    // What waits by its nature has no turn, or others would wait with it.
    let turn = if waits(&request) { None } else { turns.acquire_owned().await.ok() };
    let mut response = router.oneshot(request).await.unwrap_or_else(|never| match never {});
    if is_head {
        // By 1.1 the library does this.
        if let Some(bytes) = response.body().size_hint().exact() {
            response.headers_mut().entry(CONTENT_LENGTH).or_insert(bytes.into());
        }
        *response.body_mut() = Body::empty();
    }
    let turn = turn.filter(|_| !is_event_stream(response.headers()));
    if response.body().is_end_stream() {
        stream.answered();
    }
    response.map(|body| Sent { body, rest: Bytes::new(), stream, _turn: turn })
}

/// The body of an answer, in pieces that do not fill the connection, and known by when they were taken.
struct Sent {
    body: Body,
    /// Of a piece that was longer.
    rest: Bytes,
    stream: Stream,
    _turn: Option<OwnedSemaphorePermit>,
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // Nobody asks for the answer to a request that was given up, and who asks for more has passed on what was there.
        self.stream.answered();
        self.stream.taken();
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                ended => return Poll::Ready(ended),
            }
        }
        let bytes = self.rest.len().min(SENT_BYTES);
        let piece = self.rest.split_to(bytes);
        self.stream.offered();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, hint) = (self.rest.len() as u64, self.body.size_hint());
        let mut all = SizeHint::new();
        all.set_lower(hint.lower() + rest);
        if let Some(upper) = hint.upper() {
            all.set_upper(upper + rest);
        }
        all
    }
}
