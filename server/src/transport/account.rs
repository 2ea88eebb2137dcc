//! Each request is counted, has a name, and is told of if it was slow or failed.
//!
//! Why the time does not include what is waited for the body: how long a client takes to send it says nothing of the server.
//! Why sockets and long polls have no time: they wait because nothing happens.

use super::peer::Peer;
use super::request_id::{REQUEST_ID, RequestId};
use super::router::Server;
use crate::audit::shown;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::{Method, Uri};
use axum::response::Response;
use hearth_wire::Addressed;
use hyper::body::{Frame, SizeHint};
use percent_encoding::percent_decode_str;
use std::fmt::{self, Display};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tracing::Instrument;

/// What wait by their nature.
const WAITING: [&str; 2] = ["/.ws", "/.lp"];

/// Parameters of which the log may say what they are: none of them is a credential.
const TOLD: [&str; 8] =
    ["orderBy", "limitToFirst", "limitToLast", "startAt", "startAfter", "endAt", "endBefore", "equalTo"];

/// Whether a request waits by its nature.
pub(super) fn waits<B>(request: &axum::http::Request<B>) -> bool {
    WAITING.contains(&request.uri().path())
}

pub(super) async fn account<F: Future<Output = Response>>(
    server: &Server,
    mut request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let id = RequestId::of(request.headers());
    // So that whoever has the headers has it.
    request.headers_mut().insert(REQUEST_ID, id.to_header());
    let is_timed = !waits(&request);
    let begun = Instant::now();
    let (request, sent) = if is_timed { timed(request, begun) } else { (request, None) };
    let told = Told::of(&request, id);
    let span = tracing::debug_span!("request", id = %told.id);
    let mut response = answer(request).instrument(span).await;
    response.headers_mut().insert(REQUEST_ID, told.id.to_header());
    let status = response.status();
    let meters = server.databases.meters();
    meters.answered(&told.method, status);
    let slow = server.databases.slow();
    if status.is_server_error() {
        let name = (&told.method, status, told.place());
        slow.tell_failed(name, status.as_u16(), &told);
    } else {
        tracing::debug!(id = %told.id, %status, "answered");
    }
    if is_timed {
        let waited = sent.map_or(0, |sent| sent.load(Ordering::Relaxed));
        let took = begun.elapsed().saturating_sub(Duration::from_micros(waited));
        meters.took(took);
        if slow.is_slow(took) {
            meters.slow_answers.add(1);
            slow.tell_slow((&told.method, told.place(), told.order()), took, &told);
        }
    }
    response
}

/// The request, and if it has a body when the last of it came, in microseconds from the beginning.
fn timed(request: Request, begun: Instant) -> (Request, Option<Arc<AtomicU64>>) {
    if request.body().is_end_stream() {
        return (request, None);
    }
    let sent = Arc::<AtomicU64>::default();
    let request = request.map(|body| Body::new(Timed { body, begun, sent: sent.clone() }));
    (request, Some(sent))
}

/// A body that says when it came.
struct Timed {
    body: Body,
    begun: Instant,
    sent: Arc<AtomicU64>,
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let us = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.sent.store(us, Ordering::Relaxed);
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What is told of a request.
struct Told {
    id: RequestId,
    method: Method,
    uri: Uri,
    host: Option<axum::http::HeaderValue>,
    peer: Peer,
}

impl Told {
    fn of(request: &Request, id: RequestId) -> Self {
        let host = request.headers().get(HOST).cloned();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        Self { id, method, uri, host, peer: Peer::of(request.extensions()) }
    }

    /// Requests for places of the same first key and depth are mostly one place in the app.
    fn place(&self) -> (Option<String>, Option<&str>, usize) {
        let mut parts = self.uri.path().split('/').filter(|part| !part.is_empty());
        (self.database(), parts.next(), parts.count())
    }

    fn database(&self) -> Option<String> {
        let host = self.host.as_ref().and_then(|host| host.to_str().ok()).or(self.uri.host());
        match Addressed::find(self.param("ns").as_deref(), host.unwrap_or_default()) {
            Ok(Addressed::Named(name)) => Some(name.to_string()),
            Ok(Addressed::Default) | Err(_) => None,
        }
    }

    fn param(&self, name: &str) -> Option<String> {
        let pairs = self.uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs.filter(|(own, _)| *own == name).map(|(_, value)| value).next()?;
        Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
    }

    fn order(&self) -> Option<String> {
        self.param("orderBy")
    }
}

impl Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.method, shown(&self.uri.path()))?;
        if let Some(database) = self.database() {
            write!(f, " in database `{database}`")?;
        }
        for name in TOLD {
            if let Some(value) = self.param(name) {
                write!(f, ", {name}={}", shown(&value))?;
            }
        }
        write!(f, ", from {}, id `{}`,", self.peer.address, self.id)
    }
}
