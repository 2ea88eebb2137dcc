//! Long polling: sessions of browsers that get no WebSocket through (wire reference 14).
//!
//! Each session is a task ([`line`]) that outlives the requests that serve it; a request brings what the client says, and
//! waits for what there is to tell. Nothing that a request does can hurt the session but to end it.

mod line;
mod lines;
mod take_over;
mod taken;
mod telling;

pub(super) use lines::Lines;

use super::opening::{Opening, refuse};
use super::{Coming, Server};
use crate::auth::Gate;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Extensions, HeaderMap, HeaderName, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use hearth_wire::{Callback, ConnectParams, Script, Segment, Ticket, Visit, farewell_page};
use line::{Beginning, Call, Patience, SentAway};
use lines::At;
use std::sync::Arc;
use taken::body_of;
use telling::Telling;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

/// Answers whatever long polling asks.
pub(super) async fn serve(
    State(server): State<Server>,
    Extension(gate): Extension<Gate>,
    Extension(lines): Extension<Arc<Lines>>,
    request: Request,
) -> Response {
    let visit = match Visit::parse(request.uri().query().unwrap_or_default()) {
        Ok(visit) => visit,
        Err(error) => return refuse(&error.to_string()),
    };
    match visit {
        Visit::Start { callback, connect } => {
            let asked = (request.headers(), request.extensions());
            start(server, gate, lines, callback, *connect, asked).await
        }
        Visit::Poll { ticket, segments } => poll(&server, &lines, &ticket, segments).await,
        // The ticket stands in the page, so nobody keeps it.
        Visit::FarewellPage { ticket } => {
            ([(CACHE_CONTROL, "no-store")], Html(farewell_page(&ticket))).into_response()
        }
        Visit::Farewell { ticket } => {
            if let Some(At::Line(calls)) = lines.find(&ticket)
                && calls.send(Call::Farewell).await.is_err()
            {
                tracing::debug!("a goodbye came after the end of its session");
            }
            StatusCode::NO_CONTENT.into_response()
        }
    }
}

async fn start(
    server: Server,
    gate: Gate,
    lines: Arc<Lines>,
    callback: Callback,
    params: ConnectParams,
    asked: (&HeaderMap, &Extensions),
) -> Response {
    let opening = match Opening::find(&server, gate, params, asked).await {
        Ok(opening) => opening,
        Err(refusal) => return refusal,
    };
    let (answer, is_answered) = oneshot::channel();
    let stay = server.sessions.stay();
    let beginning = Beginning { opening, callback, answer, patience: Patience::default() };
    let own = server.clone();
    // In a task of its own, so that a client that is gone before its session has begun leaves nothing behind.
    tokio::spawn(async move {
        if let Err(error) = line::live(&own, &lines, beginning, stay).await {
            tracing::debug!(%error, "a session of long polling ended");
        }
    });
    match is_answered.await {
        Ok(telling) => told(&server, telling),
        Err(_) => unavailable("no session can begin now"),
    }
}

fn told(server: &Server, telling: Telling) -> Response {
    // Without it a client cannot go on, and begins anew.
    match body_of(telling, server.databases.bodies().share(Coming::Message)) {
        Ok((body, Some(length))) => (script_headers(), [(CONTENT_LENGTH, length)], body).into_response(),
        Ok((body, None)) => (script_headers(), body).into_response(),
        Err(full) => unavailable(&full.to_string()),
    }
}

async fn poll(server: &Server, lines: &Lines, ticket: &Ticket, segments: Vec<Segment>) -> Response {
    let calls = match lines.find(ticket) {
        Some(At::Line(calls)) => calls,
        at @ (Some(At::WebSocket { .. }) | None) => return script_of(over(at.as_ref())),
    };
    let (answer, is_answered) = oneshot::channel();
    match calls.try_send(Call::Poll { segments, answer }) {
        Ok(()) => {}
        Err(TrySendError::Full(_)) => return unavailable("this session has too many requests under way"),
        Err(TrySendError::Closed(_)) => return script_of(over(lines.find(ticket).as_ref())),
    }
    match is_answered.await {
        Ok(Ok(telling)) => told(server, telling),
        Ok(Err(SentAway::Segment(error))) => refuse(&error.to_string()),
        Ok(Err(SentAway::NoRoom(full))) => unavailable(&full.to_string()),
        Err(_) => script_of(over(lines.find(ticket).as_ref())),
    }
}

/// What a client is told that polls where its session is not.
fn over(at: Option<&At>) -> Script {
    match at {
        Some(At::WebSocket { last }) => {
            let mut script = Script::default();
            script.close_after(*last);
            script
        }
        Some(At::Line(_)) | None => Script::close(),
    }
}

fn script_of(script: Script) -> Response {
    (script_headers(), script.into_text()).into_response()
}

const fn script_headers() -> [(HeaderName, &'static str); 2] {
    [(CONTENT_TYPE, "application/javascript; charset=utf-8"), (CACHE_CONTROL, "no-cache, no-store")]
}

fn unavailable(text: &str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{text}\n")).into_response()
}
