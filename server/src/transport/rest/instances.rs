//! Which databases there are, in the words of the service's management interface, which tools ask before they ask a database
//! (rest reference 8.8).
//!
//! Why here, where the service has another host: a tool that is told this server's address for both needs no account of Google.

use super::identity::{Asking, identify};
use super::params::Params;
use super::refused::Refused;
use super::{Server, gate_of};
use axum::http::header::{ALLOW, CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_engine::Identity;
use hearth_wire::{Addressed, Namespace};
use serde_json::{Value, json};

const BEGINNING: &str = "/v1beta/projects/";
/// Says that a proxy was asked over TLS.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
/// How many there are on a page, as the service has it; and at most.
const PAGE: usize = 100;
const PAGE_MAX: usize = 1_000;

/// What such a path means: databases of a project, or one of them.
struct Wanted<'p> {
    project: &'p str,
    location: &'p str,
    name: Option<&'p str>,
}

impl<'p> Wanted<'p> {
    fn parse(path: &'p str) -> Option<Self> {
        let mut parts = path.strip_prefix(BEGINNING)?.split('/');
        let project = parts.next()?;
        let ("locations", location, "instances") = (parts.next()?, parts.next()?, parts.next()?) else {
            return None;
        };
        let name = parts.next();
        parts.next().is_none().then_some(Self { project, location, name })
    }

    /// A database as a tool reads it.
    fn shown(&self, server: &Server, name: &str, headers: &HeaderMap) -> Value {
        let Self { project, location, .. } = self;
        let location = if *location == "-" { "us-central1" } else { location };
        let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let is_encrypted = server.is_encrypted || text(&FORWARDED_PROTO) == Some("https");
        let scheme = if is_encrypted { "https" } else { "http" };
        let host = text(&HOST).unwrap_or_default();
        let is_default = name == *project || name.strip_suffix("-default-rtdb") == Some(project);
        json!({
            "name": format!("projects/{project}/locations/{location}/instances/{name}"),
            "project": format!("projects/{project}"),
            "databaseUrl": format!("{scheme}://{host}"),
            "type": if is_default { "DEFAULT_DATABASE" } else { "USER_DATABASE" },
            "state": "ACTIVE",
        })
    }
}

/// Why not, in the form in which the management interface says it.
fn failed(status: StatusCode, code: &str, message: impl Into<String>) -> Response {
    let message: String = message.into();
    let error = json!({"error": {"code": status.as_u16(), "message": message, "status": code}});
    said(status, &error)
}

fn said(status: StatusCode, answer: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json; charset=utf-8")], answer.to_string()).into_response()
}

/// Answers what is asked of the management interface; nothing, if that is not what is asked.
pub(super) async fn answer(server: &Server, parts: &Parts) -> Option<Response> {
    let wanted = Wanted::parse(parts.uri.path())?;
    let params = Params::parse(parts.uri.query().unwrap_or_default());
    let answer = match is_admin(parts, &params).await {
        Err(refused) => Err(refused),
        Ok(false) => {
            return Some(failed(
                StatusCode::UNAUTHORIZED,
                "UNAUTHENTICATED",
                "databases are listed for admins",
            ));
        }
        Ok(true) => match (&parts.method, wanted.name) {
            (&Method::GET, None) => list(server, &wanted, &params, &parts.headers),
            (&Method::GET, Some(name)) => Ok(details(server, &wanted, name, &parts.headers)),
            (&Method::POST, None) => create(server, &wanted, &params, &parts.headers).await,
            (method, _) => {
                let text = format!(
                    "{method} is not supported here: databases are listed and made, and nothing else"
                );
                let mut response = failed(StatusCode::METHOD_NOT_ALLOWED, "UNIMPLEMENTED", text);
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
                Ok(response)
            }
        },
    };
    Some(answer.unwrap_or_else(IntoResponse::into_response))
}

async fn is_admin(parts: &Parts, params: &Params) -> Result<bool, Refused> {
    let Asking { identity, .. } = identify(gate_of(&parts.extensions), &parts.headers, params).await?;
    Ok(identity == Identity::Admin)
}

fn list(
    server: &Server,
    wanted: &Wanted<'_>,
    params: &Params,
    headers: &HeaderMap,
) -> Result<Response, Refused> {
    let number = |name: &'static str| -> Result<Option<usize>, Refused> {
        match params.text(name)? {
            None => Ok(None),
            Some(text) => {
                text.parse().map(Some).map_err(|_| Refused::bad(format!("{name} must be a whole number")))
            }
        }
    };
    let size = number("pageSize")?.filter(|&size| size != 0).unwrap_or(PAGE).min(PAGE_MAX);
    let first = number("pageToken")?.unwrap_or_default();
    let names = server.databases.names();
    let page: Vec<Value> =
        names.iter().skip(first).take(size).map(|name| wanted.shown(server, name, headers)).collect();
    let next = first.saturating_add(size);
    let mut answer = json!({ "instances": page });
    if next < names.len() {
        answer["nextPageToken"] = next.to_string().into();
    }
    Ok(said(StatusCode::OK, &answer))
}

fn details(server: &Server, wanted: &Wanted<'_>, name: &str, headers: &HeaderMap) -> Response {
    match Namespace::parse(name) {
        Ok(name) if server.databases.may_be_used(&name) => {
            said(StatusCode::OK, &wanted.shown(server, name.as_str(), headers))
        }
        Ok(_) | Err(_) => {
            failed(StatusCode::NOT_FOUND, "NOT_FOUND", format!("there is no database `{name}` here"))
        }
    }
}

async fn create(
    server: &Server,
    wanted: &Wanted<'_>,
    params: &Params,
    headers: &HeaderMap,
) -> Result<Response, Refused> {
    let text = params.text("databaseId")?.unwrap_or_default();
    let name = match Namespace::parse(&text) {
        Ok(name) => name,
        Err(error) => return Ok(failed(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", error.to_string())),
    };
    if server.databases.names().iter().any(|known| known == name.as_str()) {
        let text = format!("there is a database `{name}` already");
        return Ok(failed(StatusCode::CONFLICT, "ALREADY_EXISTS", text));
    }
    if !server.databases.may_be_used(&name) {
        let text = format!(
            "`{name}` is none of the databases of this server, which are named where it is started: --namespace {name}"
        );
        return Ok(failed(StatusCode::BAD_REQUEST, "FAILED_PRECONDITION", text));
    }
    let shown = said(StatusCode::OK, &wanted.shown(server, name.as_str(), headers));
    if !params.flag("validateOnly")? {
        server.databases.find(&Addressed::Named(name)).await?;
    }
    Ok(shown)
}
