//! REST: one request, one answer, and event streams (rest reference 1 to 5, 7).
//!
//! Why one handler and no routes: `.json` ends a path of any depth, and each of its parts is decoded here, once.

mod answer;
mod changes;
mod conditions;
mod cors;
mod counted;
mod encoding;
mod event_id;
mod event_text;
mod events;
mod exchange;
mod explain;
mod glued;
mod identity;
mod incoming;
mod inspect;
mod instances;
mod keys;
mod on_close;
mod outgoing;
mod params;
mod place;
mod profile;
mod query;
mod read;
mod refused;
mod rules;
mod settings;
mod stream;
mod timeout;
mod write;
mod write_size;

pub(crate) use event_id::EventSecret;
pub(super) use stream::is_event_stream;

use super::Server;
use super::peer::Peer;
use crate::auth::Gate;
use crate::database::{Database, FindError, Stopped};
use crate::limits::Who;
use answer::Style;
use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use conditions::Conditions;
use counted::counted;
use encoding::Coding;
use hearth_engine::Identity;
use hearth_tree::{Excerpt, Target};
use hearth_wire::Addressed;
use identity::Asking;
use params::Params;
use place::Place;
use refused::Refused;
use std::sync::OnceLock;

/// Answers every request that has no route of its own.
pub(super) async fn serve(server: &Server, mut request: Request) -> Response {
    if let Some(meant) = glued::meant(request.method(), request.uri()) {
        *request.uri_mut() = meant;
    }
    let is_foreign = gate_of(request.extensions()).is_foreign();
    let mut response = if request.method() == Method::OPTIONS {
        cors::preflight(gate_of(request.extensions()), request.headers())
    } else {
        let (method, wishes) = (request.method().clone(), Coding::wished(request.headers()));
        let answered = answer(server, request).await.unwrap_or_else(IntoResponse::into_response);
        encoding::encode(&method, wishes, answered)
    };
    if response.status() == StatusCode::REQUEST_TIMEOUT {
        server.databases.meters().slow_bodies.add(1);
    }
    cors::open(response.headers_mut());
    if is_foreign {
        // It says what rules and data are.
        response.headers_mut().remove(refused::REASONS);
    }
    response
}

fn gate_of(extensions: &Extensions) -> &Gate {
    extensions.get().expect("every request comes through the gate")
}

/// What a request asks, as far as all methods have it; of a place in the data unless it says otherwise.
struct Asked<T = Target> {
    namespace: Addressed,
    /// Its database, once that was looked for.
    found: OnceLock<Database>,
    target: T,
    identity: Identity,
    /// Until when it is proved, in milliseconds.
    expires_ms: Option<i64>,
    /// Whether how it ran is to be told instead of what it gives.
    explains: bool,
    params: Params,
    conditions: Conditions,
    style: Style,
    headers: HeaderMap,
    peer: Peer,
}

async fn answer(server: &Server, request: Request) -> Result<Response, Refused> {
    let (mut parts, body) = request.into_parts();
    if let Some(answer) = instances::answer(server, &parts).await {
        return Ok(answer);
    }
    let headers = std::mem::take(&mut parts.headers);
    let asked = Asked::parse(&parts, headers).await?;
    let body = encoding::decode(&asked.headers, body)?;
    let place = place::place_of(asked.target)?;
    explain::check_place(&place, asked.explains)?;
    let asked = match place {
        Place::Data(target) => asked.at(target),
        Place::Setting(name) => {
            let asked = asked.at(());
            let answer = settings::answer(server, name, &parts.method, &asked, body).await?;
            tell_of_change(&parts.method, &asked, || format!(".settings/{name}"));
            return Ok(answer);
        }
        Place::Inspection(name) => return inspect::answer(server, name, &parts, &asked.at(())).await,
    };
    let method = method_of(&parts.method, &asked)?;
    explain::check(&parts.method, method.is_some(), &asked)?;
    if method.is_none() && stream::is_asked_for(&asked.headers) && parts.method == Method::GET {
        return stream::open(server, asked).await;
    }
    on_close::needs_stream(&asked)?;
    let watched = profile::Request::begin(server, method, &asked);
    let body = match &watched {
        None => body,
        Some(request) => request.counted(body),
    };
    let outcome = match method {
        None => read::answer(server, &asked).await,
        Some(method) => write::answer(server, method, &asked, body).await,
    };
    let Some(database) = asked.found.get() else { return outcome };
    if let Some(request) = watched {
        request.tell(database, &asked, &outcome);
    }
    let response = outcome?;
    if method.is_some() {
        tell_of_change(&parts.method, &asked, || asked.target.path.to_string());
    }
    Ok(if parts.method == Method::HEAD { response } else { counted(response, database.meters()) })
}

/// Tells who runs the server what an admin has changed, and from where. Nothing of the query, where credentials are.
fn tell_of_change<T>(method: &Method, asked: &Asked<T>, place: impl FnOnce() -> String) {
    let reads = [Method::GET, Method::HEAD].contains(method);
    if asked.identity == Identity::Admin && !reads && tracing::enabled!(tracing::Level::INFO) {
        let (address, database) = (asked.peer.address, inspect::name_of(&asked.namespace));
        tracing::info!(%address, database, "an admin: {method} of `{}`", Excerpt(&place()));
    }
}

impl<'p> Asked<&'p str> {
    /// Of a path without its suffix. In the order in which the service checks (rest reference 2.5).
    async fn parse(parts: &'p Parts, headers: HeaderMap) -> Result<Self, Refused> {
        let params = Params::parse(parts.uri.query().unwrap_or_default());
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| parts.uri.host()).unwrap_or_default();
        let namespace = Addressed::find(params.text("ns")?.as_deref(), host)
            .map_err(|_| Refused::new(StatusCode::FORBIDDEN, "Invalid Firebase database name"))?;
        let target = place::without_suffix(parts.uri.path())?;
        let gate = gate_of(&parts.extensions);
        let Asking { identity, expires_ms, by_admin } = identity::identify(gate, &headers, &params).await?;
        let explains = params.flag(explain::EXPLAIN)?;
        if explains && !gate.may_explain(by_admin) {
            return Err(Refused::new(StatusCode::UNAUTHORIZED, "Permission denied"));
        }
        let style = Style::parse(&params, place::is_setting(target))?;
        let style = if identity == Identity::Admin { style.for_admin() } else { style };
        timeout::check(&params)?;
        let conditions = Conditions::parse(&headers);
        let peer = Peer::of(&parts.extensions);
        Ok(Self {
            namespace,
            found: OnceLock::new(),
            target,
            identity,
            expires_ms,
            explains,
            params,
            conditions,
            style,
            headers,
            peer,
        })
    }

    /// The same of what the path means.
    fn at<T>(self, target: T) -> Asked<T> {
        let Self { namespace, found, target: _, identity, expires_ms, explains, params, .. } = self;
        let Self { conditions, style, headers, peer, .. } = self;
        Asked {
            namespace,
            found,
            target,
            identity,
            expires_ms,
            explains,
            params,
            conditions,
            style,
            headers,
            peer,
        }
    }
}

impl<T> Asked<T> {
    /// The database that is asked, found once.
    async fn database(&self, server: &Server) -> Result<&Database, FindError> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let found = server.databases.find(&self.namespace).await?;
        Ok(self.found.get_or_init(|| found))
    }

    /// Who asks, for limits.
    fn who<'a>(&'a self, database: &'a Database) -> Who<'a> {
        self.peer.who(database, &self.identity)
    }
}

/// The write that a method is, or none for a read. A POST can say that it means another method: some networks let
/// nothing else through.
fn method_of(method: &Method, asked: &Asked) -> Result<Option<write::Method>, Refused> {
    let header = asked.headers.get("x-http-method-override").and_then(|name| name.to_str().ok());
    let param = asked.params.text("x-http-method-override")?;
    let meant = match header.or(param.as_deref()).filter(|_| method == Method::POST) {
        Some(name) => name.to_ascii_uppercase(),
        None => method.as_str().into(),
    };
    match meant.as_str() {
        "GET" | "HEAD" => Ok(None),
        "PUT" => Ok(Some(write::Method::Put)),
        "PATCH" => Ok(Some(write::Method::Patch)),
        "POST" => Ok(Some(write::Method::Post)),
        "DELETE" => Ok(Some(write::Method::Delete)),
        _ => Err(Refused::method(cors::DATA_METHODS, format!("{meant} is not supported"))),
    }
}

/// Works where nobody else waits.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Stopped.into()))
}
