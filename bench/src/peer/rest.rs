//! A handler of axum that answers with the bytes of the server: what REST costs without a database.

use super::{ANYWHERE, say_where};
use crate::trouble::Trouble;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, Method};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::thread;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::broadcast::{self, Sender};

/// What a stream that falls behind may miss; in this bench none does.
const EVENTS_MAX: usize = 1_024;
/// What the server says of an answer beside its length and the date.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_TYPE, "application/json; charset=utf-8"),
    (CACHE_CONTROL, "no-cache"),
    (HeaderName::from_static("access-control-allow-origin"), "*"),
    (
        HeaderName::from_static("access-control-expose-headers"),
        "ETag, Location, Retry-After, X-Firebase-Auth-Debug, X-Request-Id",
    ),
    (HeaderName::from_static("x-content-type-options"), "nosniff"),
];
const REQUEST_ID: (HeaderName, &str) = (HeaderName::from_static("x-request-id"), "3cd236f1-12345");
const FIRST: &[u8] = b"event: put\ndata: {\"path\":\"/\",\"data\":null}\n\n";

/// On threads of its own, since the server has as many.
pub(super) fn run() -> Result<(), Trouble> {
    let serving = thread::spawn(|| Builder::new_multi_thread().enable_all().build()?.block_on(serve()));
    serving.join().unwrap_or(Err(Trouble::Closed))
}

async fn serve() -> Result<(), Trouble> {
    let listener = TcpListener::bind(ANYWHERE).await?;
    say_where(listener.local_addr()?)?;
    let router = Router::new().fallback(answer).with_state(broadcast::channel(EVENTS_MAX).0);
    loop {
        let stream = listener.accept().await?.0;
        stream.set_nodelay(true)?;
        tokio::spawn(serve_one(stream, router.clone()));
    }
}

async fn serve_one(stream: TcpStream, router: Router) {
    let served =
        http1::Builder::new().serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // Whoever is gone has all that it wanted.
    drop(served.await);
}

async fn answer(State(events): State<Sender<Bytes>>, headers: HeaderMap, request: Request) -> Response {
    if headers.get(ACCEPT).is_some_and(|kind| kind == "text/event-stream") {
        let first = futures_util::stream::iter([Ok::<_, Infallible>(Bytes::from_static(FIRST))]);
        let news = unfold(events.subscribe(), async |mut news| {
            news.recv().await.ok().map(|event| (Ok::<_, Infallible>(event), news))
        });
        let stream = futures_util::StreamExt::chain(first, news);
        return ([(CONTENT_TYPE, "text/event-stream; charset=utf-8")], Body::from_stream(stream))
            .into_response();
    }
    let body = if request.method() == Method::PUT {
        let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap_or_default();
        if 0 < events.receiver_count() {
            let event = [b"event: put\ndata: {\"path\":\"/\",\"data\":", &body[..], b"}\n\n"].concat();
            // Who listened may have left.
            drop(events.send(event.into()));
        }
        body
    } else {
        Bytes::from_static(br#"{"write":12345}"#)
    };
    (HEADERS, [REQUEST_ID], body).into_response()
}
