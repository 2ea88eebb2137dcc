//! The accept loop.
//!
//! Why our own: it bounds how long a client may take for its headers, and lets a connection become a WebSocket.

use super::Tls;
use super::http2;
use super::peer::{Connections, Peer};
use super::proxies::Proxies;
use super::raw_target::RawTargets;
use super::seats::{Full, Seats};
use super::tls::speaks_http2;
use crate::keep_alive::KeepAlive;
use crate::meters::{Metered, Meters, Transport};
use crate::sessions::{Sessions, Stay};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io::{Read, Write};
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
    entrance: &Entrance,
    (sessions, meters, keep_alive): (&Sessions, &Arc<Meters>, KeepAlive),
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
        let is_proxy = entrance.proxies.has(address.ip().to_canonical());
        let seat = match entrance.seats.take(address.ip(), is_proxy) {
            Ok(seat) => seat,
            Err(full) => {
                let count = match full {
                    Full::Server => &meters.full_server,
                    Full::Address => &meters.full_address,
                };
                count.add(1);
                turn_away(stream, full, tls.is_some());
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "small messages of a connection may be delayed");
        }
        let acceptor = tls.map(Tls::acceptor);
        let stream = Metered::new(stream, meters.clone(), seat);
        let proxies = entrance.proxies.clone();
        tokio::spawn(begin(
            stream,
            acceptor,
            (connections.next(address), proxies),
            router.clone(),
            (sessions.stay(), keep_alive),
        ));
    }
}

/// Who is let in, and as whom.
#[derive(Debug)]
pub(crate) struct Entrance {
    pub(crate) seats: Arc<Seats>,
    pub(crate) proxies: Arc<Proxies>,
}

/// Says why there is no room, without waiting for anything; under TLS it is only closed.
fn turn_away(stream: TcpStream, full: Full, is_encrypted: bool) {
    let Ok(mut stream) = stream.into_std() else { return };
    if is_encrypted {
        return;
    }
    let status = match full {
        Full::Server => "503 Service Unavailable",
        Full::Address => "429 Too Many Requests",
    };
    let text = format!("{full}\n");
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n{text}"
    );
    // What was said already must be read, or the system takes the answer back with the connection.
    let read = stream.read(&mut [0; 4096]);
    let written = stream.write(answer.as_bytes());
    tracing::debug!(said = read.is_ok(), told = written.is_ok(), "{full}");
}

/// A connection as it comes from the network.
type Bare = Metered<TcpStream>;

/// Serves one connection, encrypted if there is something to do that with.
async fn begin(
    stream: Bare,
    acceptor: Option<TlsAcceptor>,
    peer: (Peer, Arc<Proxies>),
    router: Router,
    (mut stay, keep_alive): (Stay, KeepAlive),
) {
    let meters = stream.meters().clone();
    let _present = stream.enter(Transport::Http);
    let Some(acceptor) = acceptor else { return serve_one(stream, peer, (router, meters), stay).await };
    let greeted = tokio::select! {
        greeted = timeout(HEADERS, acceptor.accept(stream)) => greeted,
        () = stay.closing() => return,
    };
    match greeted {
        Ok(Ok(stream)) if speaks_http2(&stream) => {
            http2::serve(stream, peer, (router, meters), (stay, keep_alive)).await;
        }
        Ok(Ok(stream)) => serve_one(stream, peer, (router, meters), stay).await,
        Ok(Err(error)) => tracing::debug!(%error, "a client and this server did not agree on keys"),
        Err(_) => {
            meters.slow_heads.add(1);
            tracing::debug!("a client was too slow to agree on keys");
        }
    }
}

async fn serve_one(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    (peer, proxies): (Peer, Arc<Proxies>),
    (router, meters): (Router, Arc<Meters>),
    mut stay: Stay,
) {
    let router = router.map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
        let peer = peer.behind(&proxies, request.headers());
        request.extensions_mut().insert(peer);
        request
    });
    let mut http = http1::Builder::new();
    let connection = http
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .serve_connection(TokioIo::new(RawTargets::new(stream)), TowerToHyperService::new(router))
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
        if error.is_timeout() {
            meters.slow_heads.add(1);
        }
        tracing::debug!(%error, "a connection ended");
    }
}
