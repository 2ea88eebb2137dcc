//! The accept loop.
//!
//! Why our own: it bounds how long a client may take for its headers, and lets a connection become a WebSocket.

use crate::sessions::{Sessions, Stay};
use axum::Router;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpListener;
use tower::ServiceExt;

/// How long a client may take to send its headers.
const HEADERS: Duration = Duration::from_secs(15);
/// How long to wait when the system has no more descriptors to give.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until the future is dropped. Connections finish the request that they are at when the sessions close.
pub(crate) async fn serve(listener: TcpListener, router: Router, sessions: &Sessions) {
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
        tokio::spawn(serve_one(stream, address, router.clone(), sessions.stay()));
    }
}

async fn serve_one(stream: tokio::net::TcpStream, address: SocketAddr, router: Router, mut stay: Stay) {
    let router = router.map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
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
