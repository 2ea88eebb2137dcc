//! Which request goes where.

use super::{rest, websocket};
use crate::auth;
use crate::database::Databases;
use crate::mode::Mode;
use crate::sessions::Sessions;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use std::sync::Arc;

/// What the transports share.
#[derive(Clone)]
pub struct Server {
    /// The databases.
    pub databases: Arc<Databases>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) mode: Arc<Mode>,
}

/// The routes of a server.
pub fn router(server: Server) -> Router {
    Router::new()
        .route("/.ws", get(websocket::upgrade))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(async || "ok\n"))
        .fallback(rest::serve)
        .layer(from_fn_with_state(server.mode.clone(), auth::keep))
        .with_state(server)
}
