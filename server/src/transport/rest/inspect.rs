//! What a developer can see of a database beside its data: which parts of the rules were exercised, and how they came out;
//! and which databases there are (rest reference 8.3).
//!
//! Why a page may be seen without a credential: people open it in a browser. Pages of others get nothing of it.

use super::answer::{NO_CACHE, Print};
use super::refused::Refused;
use super::{Asked, Server, apart, gate_of};
use crate::study::Study;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_engine::Door;
use hearth_rules::{Coverage, Ruleset};
use hearth_rules_cli::{coverage_json, coverage_page};
use hearth_wire::Addressed;
use serde_json::{Value, json};
use std::sync::Arc;

const COVERAGE: &str = "coverage";
/// Those that there are.
const DATABASES: &str = "databases";
/// What a form, which can only be posted, says to begin anew.
const ANEW: &str = "x-http-method-override=DELETE";
/// The page has a style and a form, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// How coverage is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Page,
}

/// What is wanted of the coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Report,
    /// To be forgotten, so that it begins anew.
    Anew,
}

/// Answers what concerns something to be inspected, by its name.
pub(super) async fn answer(
    server: &Server,
    name: &str,
    parts: &Parts,
    asked: &Asked<()>,
) -> Result<Response, Refused> {
    if !gate_of(&parts.extensions).may_inspect(&asked.identity) {
        return Err(Refused::new(StatusCode::UNAUTHORIZED, "Permission denied"));
    }
    if name == DATABASES {
        return databases(server, &parts.method, asked);
    }
    if name != COVERAGE {
        return Err(Refused::new(StatusCode::NOT_FOUND, "404 Not Found"));
    }
    asked.conditions.refuse(false, false, "coverage")?;
    let form = if parts.uri.path().ends_with(".json") { Form::Json } else { Form::Page };
    let wanted = wanted_of(&parts.method, asked)?;
    let database = asked.database(server).await?;
    let study = database.study().ok_or_else(|| {
        Refused::new(
            StatusCode::NOT_FOUND,
            "coverage of rules is recorded by `hearth dev`, not by this server",
        )
    })?;
    if wanted == Wanted::Anew {
        study.forget();
        return Ok(forgotten(parts, asked, form));
    }
    let published = database.published();
    let Door::Rules(rules) = published.door() else {
        let text = "this database has no rules: store some with PUT /.settings/rules.json, or start with --rules FILE";
        return Err(Refused::new(StatusCode::NOT_FOUND, text));
    };
    let (rules, name) = (rules.clone(), name_of(&asked.namespace));
    match form {
        Form::Json => {
            let is_pretty = asked.style.print == Print::Pretty;
            let text = apart(move || {
                let report = coverage_json(("namespace", &name), &rules, &seen(&study, &rules)?);
                Ok(if is_pretty { format!("{report:#}\n") } else { report.to_string() })
            });
            Ok(said("application/json; charset=utf-8", text.await?))
        }
        Form::Page => {
            let foot = foot(parts.uri.query().unwrap_or_default());
            let page = apart(move || Ok(coverage_page(&name, &rules, &seen(&study, &rules)?, &foot))).await?;
            Ok(said("text/html; charset=utf-8", page))
        }
    }
}

/// Which databases there are, in the order in which they were made; those of a list that nobody has used, too.
fn databases(server: &Server, method: &Method, asked: &Asked<()>) -> Result<Response, Refused> {
    asked.conditions.refuse(false, false, "a list of databases")?;
    if ![Method::GET, Method::HEAD].contains(method) {
        let text = format!("{method} is not supported for the list of databases: GET reads it");
        return Err(Refused::method("GET, HEAD, OPTIONS", text));
    }
    let names = server.databases.names().into_iter().map(|name| json!({ "name": name }));
    Ok(said("application/json; charset=utf-8", names.collect::<Value>().to_string()))
}

fn wanted_of(method: &Method, asked: &Asked<()>) -> Result<Wanted, Refused> {
    let meant = asked.params.text("x-http-method-override")?;
    match method.as_str() {
        "GET" | "HEAD" => Ok(Wanted::Report),
        "DELETE" => Ok(Wanted::Anew),
        "POST" if meant.as_deref() == Some("DELETE") => Ok(Wanted::Anew),
        other => {
            let text = format!("{other} is not supported for coverage: GET reads it, DELETE begins anew");
            Err(Refused::method("GET, HEAD, DELETE, OPTIONS", text))
        }
    }
}

fn seen(study: &Study, rules: &Arc<Ruleset>) -> Result<Coverage, Refused> {
    study.coverage(rules).ok_or_else(|| {
        let text = "there is no room to record the coverage of further rules: restart the server";
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, text)
    })
}

pub(super) fn name_of(namespace: &Addressed) -> String {
    match namespace {
        Addressed::Named(name) => name.as_str().to_owned(),
        Addressed::Default => "the default database".into(),
    }
}

fn said(content_type: &str, text: String) -> Response {
    let headers = [
        (CONTENT_TYPE, content_type),
        (CACHE_CONTROL, NO_CACHE),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (headers, text).into_response()
}

fn forgotten(parts: &Parts, asked: &Asked<()>, form: Form) -> Response {
    match (form, asked.style.print) {
        // Back to the page, without what has brought here.
        (Form::Page, _) if parts.method == Method::POST => {
            let query = parts.uri.query().unwrap_or_default();
            let kept: Vec<&str> = query.split('&').filter(|pair| *pair != ANEW).collect();
            let page = format!("{}?{}", parts.uri.path(), kept.join("&"));
            (StatusCode::SEE_OTHER, [(LOCATION, page)]).into_response()
        }
        (_, Print::Silent) => StatusCode::NO_CONTENT.into_response(),
        (_, Print::Compact | Print::Pretty) => {
            said("application/json; charset=utf-8", r#"{"status":"ok"}"#.into())
        }
    }
}

/// The form that begins anew. The query is the page's own, in the alphabet of URLs but for what HTML would read.
fn foot(query: &str) -> String {
    let query = query.replace('&', "&amp;").replace('"', "%22").replace('<', "%3C");
    format!(
        "<form method=\"post\" action=\"?{query}&amp;{ANEW}\"><button>Count anew</button> \
         Other rules begin anew, too; the same rules, stored again, go on.</form>"
    )
}
