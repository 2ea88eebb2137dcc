//! Which request goes where.

use super::account::account;
use super::long_poll::{self, Lines};
use super::rest::EventSecret;
use super::{backup, hub, rest, websocket};
use crate::auth::{self, Gate};
use crate::database::Databases;
use crate::keep_alive::KeepAlive;
use crate::meters::{METRICS_TYPE, report};
use crate::mode::Mode;
use crate::sessions::Sessions;
use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hearth_engine::Identity;
use std::sync::Arc;
use tower::ServiceExt;

const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// What the transports share.
#[derive(Clone)]
pub struct Server {
    /// The databases.
    pub databases: Arc<Databases>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) mode: Arc<Mode>,
    /// How long an event stream says nothing.
    pub(crate) keep_alive: KeepAlive,
    /// What ids of events are signed with.
    pub(crate) event_secret: EventSecret,
    /// Whether clients speak TLS to it, and not to something in front of it.
    pub(crate) is_encrypted: bool,
}

/// The routes of a server.
///
/// Why no layers: each copies all that is below it, box by box, for every request.
pub fn router(server: Server) -> Router {
    let own = Router::new()
        .route("/.ws", get(websocket::upgrade))
        // A goodbye may come as a beacon, and those are posted.
        .route("/.lp", get(long_poll::serve).post(long_poll::serve))
        .layer(Extension(Arc::<Lines>::default()))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/.backup", get(backup::serve))
        .fallback(async |State(server): State<Server>, request: Request| serve(&server, request).await)
        .with_state(server.clone());
    Router::new().fallback(enter).with_state((server, own))
}

/// Every request: counted and named, then admitted, then answered.
async fn enter(State((server, own)): State<(Server, Router)>, request: Request) -> Response {
    account(&server, request, async |mut request| {
        let mut response = match auth::keep(server.mode.clone(), &mut request) {
            // As nearly all are.
            Ok(()) if request.uri().path().ends_with(".json") => serve(&server, request).await,
            Ok(()) => own.oneshot(request).await.unwrap_or_else(|never| match never {}),
            Err(turned_away) => *turned_away,
        };
        // Browsers shall not guess that data is a script or a page.
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
        response
    })
    .await
}

/// Answers what has no route of its own: a file, where one is served, what a hub of emulators is asked, otherwise data.
async fn serve(server: &Server, request: Request) -> Response {
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

/// What is counted, for admins and for whoever sits at a developer's own machine: names of databases and places stand in it.
async fn metrics(
    State(server): State<Server>,
    Extension(gate): Extension<Gate>,
    headers: HeaderMap,
) -> Response {
    let shown = headers.get(AUTHORIZATION).and_then(|text| text.to_str().ok()?.trim().split_once(' '));
    let credential =
        shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, text)| text.trim());
    let identity = match credential {
        None => Identity::nobody(),
        Some(credential) => match gate.identify_admin(credential).await {
            Ok(proof) => proof.identity,
            Err(_) => return unauthorized(),
        },
    };
    if !gate.may_inspect(&identity) {
        return unauthorized();
    }
    ([(CONTENT_TYPE, METRICS_TYPE), (CACHE_CONTROL, "no-store")], report(&server.databases)).into_response()
}

fn unauthorized() -> Response {
    let text = "metrics are for admins: Authorization: Bearer, and an admin's credential\n";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], text).into_response()
}
