//! What an admin can say of a database beside its data (rest reference 8.1, 8.2).
//!
//! Why each is shown in a form of its own: the official command line reads one setting as a bare text and another one as an
//! object with a `value`.

use super::answer::{NO_CACHE, Print};
use super::exchange::Exchange;
use super::incoming::read_body;
use super::refused::Refused;
use super::rules::{self, OK};
use super::{Asked, Server, profile, stream};
use crate::say::say;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_engine::{Act, DefaultWriteSize, Identity, Setting, Settings, StrictTriggers};
use serde_json::{Value, json};

const RULES: &str = "rules";
const PROFILE: &str = "profile";
const STAGED: &str = "rules cannot be staged here: PUT .settings/rules.json puts them in force, and with dryRun=true only checks them";
/// What tools of the service set and this server does not have, and what to say to them.
const ABSENT: [(&str, &str); 3] = [
    ("rulesets", STAGED),
    ("ruleset_labels", STAGED),
    ("functionTriggers", "this server runs no functions, so there is nothing to register a trigger with"),
];
/// The methods of settings, and of rules.
pub(super) const METHODS: &str = "GET, HEAD, PUT, DELETE, OPTIONS";
/// A setting is a word.
const VALUE_BYTES_MAX: usize = 1_000;

/// A setting beside the rules, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    DefaultWriteSizeLimit,
    StrictTriggerValidation,
}

impl Named {
    const ALL: [Self; 2] = [Self::DefaultWriteSizeLimit, Self::StrictTriggerValidation];

    const fn name(self) -> &'static str {
        match self {
            Self::DefaultWriteSizeLimit => "defaultWriteSizeLimit",
            Self::StrictTriggerValidation => "strictTriggerValidation",
        }
    }

    /// As it is told.
    fn shown(self, settings: &Settings) -> Value {
        match self {
            Self::DefaultWriteSizeLimit => name_of(settings.default_write_size).into(),
            Self::StrictTriggerValidation => {
                json!({ "value": settings.strict_triggers == StrictTriggers::On })
            }
        }
    }

    /// What a body asks for.
    fn read(self, value: &Value) -> Result<Setting, Refused> {
        match self {
            Self::DefaultWriteSizeLimit => {
                let sizes = [
                    DefaultWriteSize::Small,
                    DefaultWriteSize::Medium,
                    DefaultWriteSize::Large,
                    DefaultWriteSize::Unlimited,
                ];
                let found = sizes.into_iter().find(|&size| value == name_of(size));
                found.map(Setting::DefaultWriteSize).ok_or_else(|| {
                    Refused::bad(
                        "defaultWriteSizeLimit must be \"small\", \"medium\", \"large\" or \"unlimited\"",
                    )
                })
            }
            Self::StrictTriggerValidation => match value {
                Value::Bool(true) => Ok(Setting::StrictTriggers(StrictTriggers::On)),
                Value::Bool(false) => Ok(Setting::StrictTriggers(StrictTriggers::Off)),
                Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                    Err(Refused::bad("strictTriggerValidation must be true or false"))
                }
            },
        }
    }

    /// What it is until somebody says something else.
    fn unset(self) -> Setting {
        match self {
            Self::DefaultWriteSizeLimit => Setting::DefaultWriteSize(DefaultWriteSize::default()),
            Self::StrictTriggerValidation => Setting::StrictTriggers(StrictTriggers::default()),
        }
    }
}

const fn name_of(size: DefaultWriteSize) -> &'static str {
    match size {
        DefaultWriteSize::Small => "small",
        DefaultWriteSize::Medium => "medium",
        DefaultWriteSize::Large => "large",
        DefaultWriteSize::Unlimited => "unlimited",
    }
}

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
    if name == RULES {
        return rules::answer(server, method, asked, body).await;
    }
    if name == PROFILE {
        const TEXT: &str = "profile is a stream: GET with Accept: text/event-stream";
        return match (method.as_str(), stream::is_asked_for(&asked.headers)) {
            ("GET", true) => profile::open(server, asked).await,
            ("GET" | "HEAD", _) => Err(Refused::bad(TEXT)),
            (_, true | false) => Err(Refused::method("GET, OPTIONS", TEXT)),
        };
    }
    let absent = ABSENT.iter().find(|(absent, _)| *absent == name);
    if let Some((_, text)) = absent
        && ![Method::GET, Method::HEAD].contains(method)
    {
        return Err(Refused::new(StatusCode::NOT_FOUND, *text));
    }
    if METHODS.split(", ").any(|name| name == method.as_str()) {
        asked.conditions.refuse(false, false, "settings")?;
    }
    let named = Named::ALL.into_iter().find(|named| named.name() == name);
    match (method.as_str(), named) {
        ("GET" | "HEAD", None) => Ok(said(asked, &Value::Null)),
        ("GET" | "HEAD", Some(named)) => {
            let database = asked.database(server).await?;
            Ok(said(asked, &named.shown(database.published().governing.settings())))
        }
        ("PUT", Some(named)) => {
            let body = read_body(&asked.headers, body).await?;
            let is_short = body.len() <= VALUE_BYTES_MAX;
            let value = is_short.then(|| serde_json::from_slice(&body).ok()).flatten();
            let setting = named.read(&value.unwrap_or_default())?;
            set(server, asked, named, setting).await
        }
        ("DELETE", Some(named)) => set(server, asked, named, named.unset()).await,
        ("PUT" | "DELETE", None) => {
            let names = Named::ALL.map(Named::name).join(", ");
            let text = format!("there is no such setting here: those of a database are {RULES}, {names}");
            Err(Refused::new(StatusCode::NOT_FOUND, text))
        }
        (other, _) => {
            let text = format!(
                "{other} is not supported for settings: PUT sets one, DELETE takes back what was set"
            );
            Err(Refused::method(METHODS, text))
        }
    }
}

async fn set(
    server: &Server,
    asked: &Asked<()>,
    named: Named,
    setting: Setting,
) -> Result<Response, Refused> {
    let database = asked.database(server).await?;
    let exchange = Exchange {
        database: database.clone(),
        session: server.databases.new_session(),
        identity: Identity::Admin,
        act: Act::Set(setting),
        staged: None,
        watched: None,
    };
    exchange.run().await?.map_err(|refusal| Refused::of_write(&refusal))?;
    let now = match setting {
        Setting::DefaultWriteSize(size) => name_of(size),
        Setting::StrictTriggers(StrictTriggers::On) => "true",
        Setting::StrictTriggers(StrictTriggers::Off) => "false",
    };
    say(&format!("hearth: {} of database `{}` is {now} from now on\n", named.name(), database.name()));
    Ok(match asked.style.print {
        Print::Silent => StatusCode::NO_CONTENT.into_response(),
        Print::Compact | Print::Pretty => spelled(OK.into()),
    })
}

fn said(asked: &Asked<()>, value: &Value) -> Response {
    match asked.style.print {
        Print::Silent => StatusCode::NO_CONTENT.into_response(),
        Print::Compact | Print::Pretty => spelled(value.to_string()),
    }
}

fn spelled(text: String) -> Response {
    let headers = [(CONTENT_TYPE, "application/json; charset=utf-8"), (CACHE_CONTROL, NO_CACHE)];
    (headers, text).into_response()
}
