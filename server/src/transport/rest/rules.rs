//! The rules of a database, as an admin reads and stores them (rest reference 8.1).
//!
//! Why the text is answered as it came: people keep comments in their rules, and what a tool has written it wants to read
//! again. Why versions, which the service does not have: two who deploy at once would not notice that one of them has
//! overwritten what the other had just closed. The tag of an answer is the version, and `if-match` has it back.

use super::answer::{NO_CACHE, Print, etag_header};
use super::exchange::{Done, Exchange};
use super::incoming::read_body;
use super::refused::Refused;
use super::settings::METHODS;
use super::{Asked, Server, apart};
use crate::database::Database;
use crate::say::say;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, IF_MATCH, WARNING};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_engine::{Act, Door, Identity, OwnRules, Refusal};
use hearth_rules::{Diagnostic, Rejected, Ruleset};
use hearth_tree::{OneLine, Printable};
use std::sync::Arc;

/// What the rules are where there are none.
const OPEN: &str = "{\n  \"rules\": {\n    \".read\": true,\n    \".write\": true\n  }\n}\n";
const CLOSED: &str = "{\n  \"rules\": {\n    \".read\": false,\n    \".write\": false\n  }\n}\n";
/// Clients do not take heads of any size.
const WARNINGS_MAX: usize = 10;
/// What tools expect of a change.
pub(super) const OK: &str = r#"{"status":"ok"}"#;
/// The rules that are stored mean nothing to this program.
const LOST: &str = "the stored rules cannot be used by this version of hearth, so only admins may use the database; PUT of other rules mends that";

/// Answers an admin.
pub(super) async fn answer(
    server: &Server,
    method: &Method,
    asked: &Asked<()>,
    body: Body,
) -> Result<Response, Refused> {
    let (reads, changes) =
        ([Method::GET, Method::HEAD].contains(method), [Method::PUT, Method::DELETE].contains(method));
    if !reads && !changes {
        let text = format!(
            "{method} is not supported for rules: PUT replaces them, DELETE takes back what was stored"
        );
        return Err(Refused::method(METHODS, text));
    }
    asked.conditions.refuse(false, changes, "settings")?;
    if reads {
        read_rules(server, asked).await
    } else if *method == Method::PUT {
        let rules = compiled(asked, body).await?;
        store(server, asked, Some(rules)).await
    } else {
        store(server, asked, None).await
    }
}

async fn read_rules(server: &Server, asked: &Asked<()>) -> Result<Response, Refused> {
    let is_strict = match asked.params.text("format")?.as_deref() {
        None => false,
        Some("strict") => true,
        Some(_) => return Err(Refused::bad("format must be strict")),
    };
    let database = asked.database(server).await?;
    let published = database.published();
    let OwnRules { version, text: own, .. } = published.governing.own();
    let is_lost = published.governing.is_lost();
    if is_lost {
        tracing::error!(database = database.name(), version, "{LOST}");
        if is_strict {
            return Err(Refused::new(StatusCode::INTERNAL_SERVER_ERROR, LOST));
        }
    }
    let text = match (published.door(), own) {
        (Door::Rules(rules), _) if is_strict => {
            let rules = rules.clone();
            apart(move || Ok(rules.to_json())).await?
        }
        (_, Some(own)) => own.as_ref().to_owned(),
        (Door::Rules(rules), None) => rules.source().to_owned(),
        (Door::Open, None) => OPEN.into(),
        (Door::Closed, None) => CLOSED.into(),
    };
    let response = said(asked, text, *version);
    if is_lost {
        return Ok(warned(response, &[LOST.into()]));
    }
    Ok(response)
}

/// The rules of the body.
async fn compiled(asked: &Asked<()>, body: Body) -> Result<Arc<Ruleset>, Refused> {
    let body = read_body(&asked.headers, body).await?;
    let source = String::from_utf8(body).map_err(|_| Refused::bad("the rules are not UTF-8"))?;
    let rules = apart(move || Ruleset::compile(&source).map_err(|rejected| refused(&rejected))).await?;
    Ok(Arc::new(rules))
}

/// Lets these rules decide, or what is the default; unless it is only asked whether they could.
async fn store(server: &Server, asked: &Asked<()>, rules: Option<Arc<Ruleset>>) -> Result<Response, Refused> {
    let is_dry_run = asked.params.flag("dryRun")?;
    if server.mode.refuses_open_rules() {
        refuse_risks(rules.as_deref())?;
    }
    let if_version = expected_version(asked)?;
    let database = asked.database(server).await?;
    if is_dry_run {
        let found = database.published().governing.own().version;
        return match if_version {
            Some(expected) if expected != found => {
                Ok(other_rules(&Refusal::OtherRules { found, expected }, found))
            }
            Some(_) | None => Ok(warned(said(asked, OK.into(), found), &risks(rules.as_deref()))),
        };
    }
    let exchange = Exchange {
        database: database.clone(),
        session: server.databases.new_session(),
        identity: Identity::Admin,
        act: Act::Store { rules: rules.clone(), if_version },
        staged: None,
        watched: None,
    };
    match exchange.run().await? {
        Ok(Done { accepted, .. }) => {
            let risks = risks(rules.as_deref());
            tell(database, rules.is_some(), &risks, accepted.rules_version);
            Ok(warned(said(asked, OK.into(), accepted.rules_version), &risks))
        }
        Err(refusal @ Refusal::OtherRules { found, .. }) => Ok(other_rules(&refusal, found)),
        Err(refusal) => Err(Refused::of_write(&refusal)),
    }
}

/// The version that there must be, if the request says one: only a version that a tag has said can be meant.
fn expected_version(asked: &Asked<()>) -> Result<Option<u64>, Refused> {
    let Some(text) = asked.headers.get(IF_MATCH) else { return Ok(None) };
    let version = text.to_str().ok().and_then(|text| text.trim().trim_matches('"').parse().ok());
    let bad = || Refused::bad("if-match must be a version of the rules, as the ETag of an answer says it");
    version.map(Some).ok_or_else(bad)
}

/// Where rules go further than is likely meant.
fn risks(rules: Option<&Ruleset>) -> Vec<String> {
    let all = rules.map(Ruleset::lint).unwrap_or_default();
    all.iter().filter(|warning| warning.lint.is_risk()).map(|risk| OneLine(risk).to_string()).collect()
}

/// Refuses rules that go further than is likely meant, where the operator wants that.
fn refuse_risks(rules: Option<&Ruleset>) -> Result<(), Refused> {
    let risks = risks(rules);
    if risks.is_empty() {
        return Ok(());
    }
    let lines: String = risks.iter().map(|risk| format!("{risk}\n")).collect();
    Err(Refused::bad(format!("this server refuses such rules (--refuse-open-rules):\n{lines}")))
}

/// Who runs the server reads who may do what from now on.
fn tell(database: &Database, has_rules: bool, risks: &[String], version: u64) {
    let name = database.name();
    if !has_rules {
        say(&format!("hearth: database `{name}` has no rules of its own any more\n"));
        return;
    }
    for risk in risks {
        say(&format!("hearth: warning: the rules of database `{name}`: {risk}\n"));
    }
    say(&format!("hearth: database `{name}` uses its stored rules from now on, version {version}\n"));
}

/// The same to whoever stores them. In headers: the body is what tools expect.
fn warned(mut response: Response, risks: &[String]) -> Response {
    let headers = risks.iter().take(WARNINGS_MAX).filter_map(|risk| {
        let quoted = risk.replace(['"', '\\'], "'");
        HeaderValue::from_str(&format!("299 - \"{quoted}\"")).ok()
    });
    for header in headers {
        response.headers_mut().append(WARNING, header);
    }
    response
}

fn other_rules(refusal: &Refusal, found: u64) -> Response {
    let mut response = Refused::of_write(refusal).into_response();
    response.headers_mut().extend(version_tag(found));
    response
}

fn version_tag(version: u64) -> Option<(axum::http::HeaderName, HeaderValue)> {
    etag_header(Some(&format!("\"{version}\"")))
}

fn said(asked: &Asked<()>, text: String, version: u64) -> Response {
    let headers = [(CONTENT_TYPE, "application/json; charset=utf-8"), (CACHE_CONTROL, NO_CACHE)];
    let mut response = match asked.style.print {
        Print::Silent => (StatusCode::NO_CONTENT, headers).into_response(),
        Print::Compact | Print::Pretty => (headers, text).into_response(),
    };
    response.headers_mut().extend(version_tag(version));
    response
}

/// Every problem, in lines that begin as the service's do; tools print them as they are.
fn refused(rejected: &Rejected) -> Refused {
    Refused::bad(rejected.diagnostics().iter().map(shown).collect::<String>())
}

fn shown(found: &Diagnostic) -> String {
    let rule = found.rule.as_ref().map(|rule| format!("  in {rule}\n")).unwrap_or_default();
    let advice = found.advice().map(|advice| format!("  help: {advice}\n")).unwrap_or_default();
    Printable(format!("{found}\n{rule}{advice}")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Beginning, Databases};
    use crate::keep_alive::KeepAlive;
    use crate::log::Kept;
    use crate::mode::{Dev, Mode, Reach};
    use crate::threads::Threads;
    use crate::transport::{EventSecret, router};
    use axum::body::to_bytes;
    use axum::http::Request;
    use axum::http::header::{AUTHORIZATION, HOST};
    use hearth_engine::{Committer, DatabaseId, MemoryLog, Revision};
    use hearth_tree::Snapshot;
    use std::collections::BTreeMap;
    use tower::ServiceExt;

    const KEPT: &str = "{\"rules\": {\".read\": \"later()\"}}";
    const OTHERS: &str = "{\"rules\": {\".read\": true}}";

    /// With a key that ends lines and turns what follows around.
    const MARKED: &str = "{\"rules\": {\"a\u{85}\u{202e}\": {\".write\": true}}}";

    /// A server whose database `old` was kept with rules that it does not understand.
    fn server() -> Server {
        let mode = Mode::Dev(Dev {
            reach: Reach::Loopback,
            allowed: Vec::new(),
            rules: None,
            public: None,
            explain: false,
        });
        let mut committer = Committer::new(mode.door(), Revision::default(), Snapshot::default());
        committer.replay_rules(OwnRules { version: 6, at_ms: 0, text: Some(KEPT.into()) });
        committer.understand_rules().unwrap_err();
        let kept = BTreeMap::from([(DatabaseId(0), Kept { name: "old".into(), committer })]);
        let beginning = Beginning::new(&kept, 1);
        let (threads, _) = Threads::start(Box::new(MemoryLog), None, kept, beginning.shown(), None).unwrap();
        let databases = Databases::new(threads, beginning, mode.door(), mode.naming());
        Server {
            databases: Arc::new(databases),
            sessions: Arc::default(),
            mode: Arc::new(mode),
            keep_alive: KeepAlive::DEFAULT,
            event_secret: EventSecret::random().unwrap(),
            is_encrypted: false,
        }
    }

    #[tokio::test]
    async fn rules_that_are_not_understood_let_admins_in_and_are_mended_by_others() {
        let router = router(server());
        for (method, path, is_admin, body, expected, warns) in [
            ("GET", "/a.json?ns=old", false, "", (401, None), false),
            ("PUT", "/a.json?ns=old", false, "1", (401, None), false),
            ("PUT", "/a.json?ns=old", true, "1", (200, None), false),
            ("GET", "/a.json?ns=new", false, "", (200, None), false),
            ("GET", "/.settings/rules.json?ns=old", false, "", (401, None), false),
            ("GET", "/.settings/rules.json?ns=old", true, "", (200, Some(KEPT)), true),
            ("GET", "/.settings/rules.json?ns=old&format=strict", true, "", (500, None), false),
            ("PUT", "/.settings/rules.json?ns=old", true, KEPT, (400, None), false),
            ("PUT", "/.settings/rules.json?ns=old", true, OTHERS, (200, None), true),
            ("GET", "/.settings/rules.json?ns=old", true, "", (200, Some(OTHERS)), false),
            ("GET", "/a.json?ns=old", false, "", (200, Some("1")), false),
            ("PUT", "/.settings/rules.json?ns=old", true, MARKED, (200, None), true),
        ] {
            let mut request = Request::builder().method(method).uri(path).header(HOST, "127.0.0.1");
            if is_admin {
                request = request.header(AUTHORIZATION, "Bearer owner");
            }
            let response = router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
            let (head, body) = response.into_parts();
            let body = to_bytes(body, 1_000).await.unwrap();
            assert_eq!(head.status, expected.0, "{method} {path}: {body:?}");
            assert!(expected.1.is_none_or(|expected| body == expected), "{method} {path}: {body:?}");
            assert_eq!(head.headers.contains_key(WARNING), warns, "{method} {path}");
            for warning in head.headers.get_all(WARNING) {
                let warning = std::str::from_utf8(warning.as_bytes()).unwrap();
                assert!(!warning.contains(hearth_tree::disturbs_lines), "{warning:?}");
            }
        }
    }
}
