//! What Firebase's tools ask an emulator hub, answered by the server for development itself: where the database is.
//!
//! Why at all: a test that is told `FIREBASE_EMULATOR_HUB` and nothing else finds its way, and one that switches function
//! triggers off while it prepares its data goes on (rules reference 9.2). No functions run here, so there is nothing to
//! switch.

use crate::mode::Mode;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// The answer to what only a hub is asked; none for everything else.
pub(super) fn answer(mode: &Mode, parts: &Parts) -> Option<Response> {
    match mode {
        Mode::Serve(_) => return None,
        Mode::Dev(_) => {}
    }
    match (&parts.method, parts.uri.path()) {
        (&Method::GET, "/emulators") => Some(emulators(parts)),
        (&Method::PUT, "/functions/disableBackgroundTriggers") => Some(triggers(false)),
        (&Method::PUT, "/functions/enableBackgroundTriggers") => Some(triggers(true)),
        _ => None,
    }
}

/// Hub and database are one, and where whoever asks has found the one.
fn emulators(parts: &Parts) -> Response {
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let Some(host) = host.or_else(|| parts.uri.authority().cloned()) else {
        return (StatusCode::BAD_REQUEST, "the header `Host` says nothing\n").into_response();
    };
    let port = host.port_u16().unwrap_or(80);
    let host = host.host().trim_start_matches('[').trim_end_matches(']');
    let at = |name: &str| json!({"name": name, "host": host, "port": port});
    said(&json!({"hub": at("hub"), "database": at("database")}))
}

fn triggers(enabled: bool) -> Response {
    said(&json!({"enabled": enabled}))
}

fn said(value: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json; charset=utf-8")], value.to_string()).into_response()
}
