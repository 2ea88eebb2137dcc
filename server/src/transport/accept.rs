//! The accept loop.
//!
//! Why our own: it bounds how long a client may take for its headers, and lets a connection become a WebSocket.

use super::Tls;
use super::peer::{Connections, Peer};
use crate::meters::{Metered, Meters, Transport};
use crate::sessions::{Sessions, Stay};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// How long a client may take to send its headers, and to agree on keys before that.
const HEADERS: Duration = Duration::from_secs(15);
/// How long to wait when the system has no more descriptors to give.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until the future is dropped. Connections finish the request that they are at when the sessions close.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    (sessions, meters): (&Sessions, &Arc<Meters>),
    tls: Option<&Tls>,
) {
    let connections = Connections::default();
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "small messages of a connection may be delayed");
        }
        let acceptor = tls.map(Tls::acceptor);
        let stream = Metered::new(stream, meters.clone());
        tokio::spawn(begin(stream, acceptor, connections.next(address), router.clone(), sessions.stay()));
    }
}

/// A connection as it comes from the network.
type Bare = Metered<TcpStream>;

/// Serves one connection, encrypted if there is something to do that with.
async fn begin(stream: Bare, acceptor: Option<TlsAcceptor>, peer: Peer, router: Router, mut stay: Stay) {
    let _present = stream.enter(Transport::Http);
    let Some(acceptor) = acceptor else { return serve_one(stream, peer, router, stay).await };
    let greeted = tokio::select! {
        greeted = timeout(HEADERS, acceptor.accept(stream)) => greeted,
        () = stay.closing() => return,
    };
    match greeted {
        Ok(Ok(stream)) => serve_one(stream, peer, router, stay).await,
        Ok(Err(error)) => tracing::debug!(%error, "a client and this server did not agree on keys"),
        Err(_) => tracing::debug!("a client was too slow to agree on keys"),
    }
}

async fn serve_one(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    router: Router,
    mut stay: Stay,
) {
    let router = router.map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        request
    });
    let mut http = http1::Builder::new();
    let connection = http
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stay.closing() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}
