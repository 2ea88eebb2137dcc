//! Which request goes where.

use super::{rest, websocket};
use crate::database::Databases;
use crate::sessions::Sessions;
use axum::Router;
use axum::routing::get;
use std::sync::Arc;

/// What the transports share.
#[derive(Clone)]
pub struct Server {
    /// The databases.
    pub databases: Arc<Databases>,
    pub(crate) sessions: Arc<Sessions>,
}

/// The routes of a server.
pub fn router(server: Server) -> Router {
    Router::new()
        .route("/.ws", get(websocket::upgrade))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(async || "ok\n"))
        .fallback(rest::serve)
        .with_state(server)
}
