//! What a client says before its session begins, whatever will carry it.

use super::Server;
use super::peer::Peer;
use crate::auth::Gate;
use crate::database::{Database, FindError};
use axum::http::header::HOST;
use axum::http::{Extensions, HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_wire::{Addressed, ConnectParams};

/// Whose session begins, and where.
pub(super) struct Opening {
    pub(super) database: Database,
    pub(super) gate: Gate,
    pub(super) params: ConnectParams,
    pub(super) peer: Peer,
    /// How the client calls this server: the handshake tells it to come back there.
    pub(super) host: String,
}

impl Opening {
    /// Finds the database; the answer to the client if there is none.
    pub(super) async fn find(
        server: &Server,
        gate: Gate,
        params: ConnectParams,
        (headers, extensions): (&HeaderMap, &Extensions),
    ) -> Result<Self, Response> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default().to_owned();
        let name = Addressed::find(params.namespace.as_deref(), &host)
            .map_err(|error| refuse(&error.to_string()))?;
        let database = server.databases.find(&name).await.map_err(|error| {
            let status = match error {
                FindError::Unknown { .. } => StatusCode::NOT_FOUND,
                FindError::TooMany { .. } | FindError::Stopped(_) => StatusCode::SERVICE_UNAVAILABLE,
            };
            (status, format!("{error}\n")).into_response()
        })?;
        Ok(Self { database, gate, params, peer: Peer::of(extensions), host })
    }
}

/// The answer to a request that nobody can understand.
pub(super) fn refuse(text: &str) -> Response {
    (StatusCode::BAD_REQUEST, format!("{text}\n")).into_response()
}
