//! What an admin can say of a database: its rules (rest reference 8.1).
//!
//! Why the text is answered as it came: people keep comments in their rules, and what a tool has written it wants to read
//! again.

use super::answer::{NO_CACHE, Print};
use super::refused::Refused;
use super::write::read_body;
use super::{Asked, Server, apart};
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_engine::{Door, Identity};
use hearth_rules::{Diagnostic, Rejected, Ruleset};
use std::sync::Arc;

const RULES: &str = "rules";
/// What the rules are where there are none.
const OPEN: &str = "{\n  \"rules\": {\n    \".read\": true,\n    \".write\": true\n  }\n}\n";
const CLOSED: &str = "{\n  \"rules\": {\n    \".read\": false,\n    \".write\": false\n  }\n}\n";

/// Answers what concerns a setting, by its name.
pub(super) async fn answer(
    server: &Server,
    name: &str,
    method: &Method,
    asked: &Asked<()>,
    body: Body,
) -> Result<Response, Refused> {
    match asked.identity {
        Identity::Admin => {}
        Identity::User(_) => return Err(Refused::new(StatusCode::UNAUTHORIZED, "Permission denied")),
    }
    if name != RULES {
        return Err(Refused::new(StatusCode::NOT_FOUND, "404 Not Found"));
    }
    asked.conditions.refuse(false, false, "settings")?;
    if [Method::GET, Method::HEAD].contains(method) {
        read_rules(server, asked).await
    } else if *method == Method::PUT {
        write_rules(server, asked, body).await
    } else {
        let text = format!("{method} is not supported for rules: PUT replaces them");
        Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, text))
    }
}

async fn read_rules(server: &Server, asked: &Asked<()>) -> Result<Response, Refused> {
    let is_strict = match asked.params.text("format")?.as_deref() {
        None => false,
        Some("strict") => true,
        Some(_) => return Err(Refused::bad("format must be strict")),
    };
    let published = server.databases.find(&asked.namespace).await?.published();
    let text = match &published.door {
        Door::Open => OPEN.into(),
        Door::Closed => CLOSED.into(),
        Door::Rules(rules) if is_strict => {
            let rules = rules.clone();
            apart(move || Ok(rules.to_json())).await?
        }
        Door::Rules(rules) => rules.source().to_owned(),
    };
    Ok(said(asked, text))
}

async fn write_rules(server: &Server, asked: &Asked<()>, body: Body) -> Result<Response, Refused> {
    let is_dry_run = asked.params.flag("dryRun")?;
    let body = read_body(&asked.headers, body).await?;
    let source = String::from_utf8(body).map_err(|_| Refused::bad("the rules are not UTF-8"))?;
    let rules = apart(move || Ruleset::compile(&source).map_err(|rejected| refused(&rejected))).await?;
    let database = server.databases.find(&asked.namespace).await?;
    if !is_dry_run {
        for risk in rules.lint().iter().filter(|warning| warning.lint.is_risk()) {
            tracing::warn!(%risk, "rules that were stored are open");
        }
        // Said each time: who believes that they stay would find the database open after a restart.
        tracing::warn!("rules that were stored end with the server; `--rules FILE` holds after a restart");
        database.store_rules(server.databases.new_session(), Arc::new(rules)).await?;
    }
    Ok(said(asked, r#"{"status":"ok"}"#.into()))
}

fn said(asked: &Asked<()>, text: String) -> Response {
    let headers = [(CONTENT_TYPE, "application/json; charset=utf-8"), (CACHE_CONTROL, NO_CACHE)];
    match asked.style.print {
        Print::Silent => (StatusCode::NO_CONTENT, headers).into_response(),
        Print::Compact | Print::Pretty => (headers, text).into_response(),
    }
}

/// Every problem, in lines that begin as the service's do; tools print them as they are.
fn refused(rejected: &Rejected) -> Refused {
    Refused::bad(rejected.diagnostics().iter().map(shown).collect::<String>())
}

fn shown(found: &Diagnostic) -> String {
    let rule = found.rule.as_ref().map(|rule| format!("  in {rule}\n")).unwrap_or_default();
    let advice = found.advice().map(|advice| format!("  help: {advice}\n")).unwrap_or_default();
    format!("{found}\n{rule}{advice}")
}
