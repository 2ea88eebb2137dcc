//! Which request goes where.

use super::long_poll::{self, Lines};
use super::{hub, rest, websocket};
use crate::auth;
use crate::database::Databases;
use crate::keep_alive::KeepAlive;
use crate::mode::Mode;
use crate::sessions::Sessions;
use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::http::header::X_CONTENT_TYPE_OPTIONS;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::get;
use std::sync::Arc;

/// What the transports share.
#[derive(Clone)]
pub struct Server {
    /// The databases.
    pub databases: Arc<Databases>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) mode: Arc<Mode>,
    /// How long an event stream says nothing.
    pub(crate) keep_alive: KeepAlive,
}

/// The routes of a server.
pub fn router(server: Server) -> Router {
    Router::new()
        .route("/.ws", get(websocket::upgrade))
        // A goodbye may come as a beacon, and those are posted.
        .route("/.lp", get(long_poll::serve).post(long_poll::serve))
        .layer(Extension(Arc::<Lines>::default()))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .fallback(serve)
        .layer(from_fn_with_state(server.mode.clone(), auth::keep))
        // Last, so that it is in what the gate answers, too.
        .layer(map_response(no_sniff))
        .with_state(server)
}

/// Answers what has no route of its own: a file, where one is served, what a hub of emulators is asked, otherwise data.
async fn serve(State(server): State<Server>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let file = match server.mode.public() {
        Some(public) => public.answer(&parts).await,
        None => None,
    };
    match file.or_else(|| hub::answer(&server.mode, &parts)) {
        Some(answer) => answer,
        None => rest::serve(server, Request::from_parts(parts, body)).await,
    }
}

/// Keeps browsers from guessing that data is a script or a page.
async fn no_sniff(mut response: Response) -> Response {
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether the server does all that it is there for. One whose log has stopped still answers reads, and lives. One that
/// writes no checkpoints serves everybody as before, so it is ready, and says what its operator has to see to.
async fn ready(State(server): State<Server>) -> (StatusCode, String) {
    if let Some(error) = server.databases.health().failure() {
        return (StatusCode::SERVICE_UNAVAILABLE, format!("writes are refused: {error}\n"));
    }
    match server.databases.checkpoint_health().trouble() {
        None => (StatusCode::OK, "ok\n".into()),
        Some(trouble) => (StatusCode::OK, format!("ok, but {trouble}\n")),
    }
}
