//! Backups over HTTP: `GET /.backup`, for admins.
//!
//! Why not by way of `.json`: it is of all databases, and no JSON.

use super::Server;
use crate::auth::Gate;
use crate::backup::BackupSource;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_engine::Identity;
use std::io;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// How long a client may take nothing. Meanwhile the trees of that moment are held.
const STALL: Duration = Duration::from_secs(60);

pub(super) async fn serve(
    State(server): State<Server>,
    Extension(gate): Extension<Gate>,
    headers: HeaderMap,
) -> Response {
    let shown = headers.get(AUTHORIZATION).and_then(|text| text.to_str().ok()?.trim().split_once(' '));
    let credential = shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let proof = match credential {
        None => None,
        Some((_, credential)) => gate.identify_admin(credential.trim()).await.ok(),
    };
    if proof.is_none_or(|proof| proof.identity != Identity::Admin) || gate.is_foreign() {
        let said = r#"{"error":"backups are for admins: Authorization: Bearer, and an admin's credential"}"#;
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], said).into_response();
    }
    let Ok(moment) = server.databases.moment().await else {
        let said = r#"{"error":"there is no backup now: the server ends, or its log has failed"}"#;
        return (StatusCode::SERVICE_UNAVAILABLE, said).into_response();
    };
    tracing::info!(databases = moment.databases.len(), "a backup begins");
    let (sender, mut sent) = mpsc::channel(1);
    drop(tokio::spawn(send(BackupSource::new(moment), sender)));
    let stream = futures_util::stream::poll_fn(move |context| sent.poll_recv(context));
    let headers = [(CONTENT_TYPE, "application/octet-stream"), (CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(stream)).into_response()
}

/// Makes a part while the one before is taken. A client that takes nothing gets no more, and sees that the end is missing.
async fn send(mut source: BackupSource, sender: mpsc::Sender<io::Result<Bytes>>) {
    loop {
        let next = spawn_blocking(move || {
            let part = source.next();
            (part, source)
        });
        // The server ends.
        let Ok((part, rest)) = next.await else { return };
        source = rest;
        let Some(part) = part.transpose() else { break };
        let is_last = part.is_err();
        let sent = timeout(STALL, sender.send(part.map(Bytes::from))).await;
        if is_last || !matches!(sent, Ok(Ok(()))) {
            break;
        }
    }
    // Its trees may be some that nobody else holds any more.
    drop(spawn_blocking(move || drop(source)));
}
