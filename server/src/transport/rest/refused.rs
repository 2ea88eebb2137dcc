//! Why a request is refused, in the words that clients know: the one place where statuses and texts are chosen.

use super::answer::NO_CACHE;
use crate::auth::CredentialError;
use crate::database::{FindError, StageError, Stopped};
use crate::limits::OverLimit;
use crate::transport::NoRoom;
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_engine::{Denied, ListenRefusal, Refusal};
use hearth_tree::{Problem, ReadError};
use std::sync::Arc;

/// A request that is not answered with data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    /// What `error` says.
    pub(super) text: String,
    /// Why it is denied, for who may know that.
    pub(super) reasons: Option<Arc<str>>,
    /// When to come again, in seconds.
    pub(super) retry_after_s: Option<u64>,
    /// The methods that there are, where another one was asked for.
    pub(super) allow: Option<&'static str>,
}

/// The header that says why something is denied (rules reference 8).
pub(super) const REASONS: HeaderName = HeaderName::from_static("x-firebase-auth-debug");

/// Longest header that says so, in bytes: programs take some kilobytes of headers, and then the answer is lost.
const REASONS_BYTES_MAX: usize = 4 * 1024;

/// A body that should be an object with paths for keys.
const NO_OBJECT: &str =
    "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?";
/// A database that is not there.
const NO_DATABASE: &str = "Firebase error. Please ensure that you have the URL of your Firebase Realtime Database instance configured correctly.";
/// A body that should be any value.
const NO_VALUE: &str = "Invalid data; couldn't parse JSON object, array, or value.";

impl Refused {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), reasons: None, retry_after_s: None, allow: None }
    }

    /// The request makes no sense.
    pub(super) fn bad(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// There is no such method; these there are.
    pub(super) fn method(allow: &'static str, text: impl Into<String>) -> Self {
        Self { allow: Some(allow), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, text) }
    }

    /// A credential proves nothing.
    pub(super) fn unproven(error: &CredentialError) -> Self {
        let status =
            if error.may_pass() { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::UNAUTHORIZED };
        Self::new(status, error.to_string())
    }

    /// Says nothing of rules or data, except to a developer who asks for it; the operator's log does.
    pub(super) fn denied(denied: &Denied) -> Self {
        tracing::debug!(%denied, "denied");
        let reasons = denied.reasons().cloned();
        Self { reasons, ..Self::new(StatusCode::UNAUTHORIZED, "Permission denied") }
    }

    pub(super) fn of_listen(refusal: &ListenRefusal) -> Self {
        match refusal {
            ListenRefusal::Denied(denied) => Self::denied(denied),
            ListenRefusal::TooMany | ListenRefusal::TooLong | ListenRefusal::Closed => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, refusal.to_string())
            }
        }
    }

    /// Of a write; one whose condition does not hold is not refused but answered with what is there.
    pub(super) fn of_write(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::Denied(denied) => Self::denied(denied),
            Refusal::Stale { .. } | Refusal::OtherRules { .. } => {
                Self::new(StatusCode::PRECONDITION_FAILED, refusal.to_string())
            }
            Refusal::Resolve(_) | Refusal::Arm(_) => Self::bad(refusal.to_string()),
            Refusal::LogStopped => Self::new(StatusCode::SERVICE_UNAVAILABLE, refusal.to_string()),
            // Not 503, which says that nothing was attempted (rest reference 2.3).
            Refusal::InDoubt => Self::new(StatusCode::INTERNAL_SERVER_ERROR, refusal.to_string()),
        }
    }

    /// Of a body that should be a value.
    pub(super) fn of_value(error: &ReadError) -> Self {
        Self::bad(text_of_read(error, NO_VALUE))
    }

    /// Of a body that should be an update.
    pub(super) fn of_update(error: &ReadError) -> Self {
        Self::bad(text_of_read(error, NO_OBJECT))
    }
}

fn text_of_read(error: &ReadError, unreadable: &str) -> String {
    match &error.problem {
        Problem::Syntax { .. } | Problem::Shape { .. } => unreadable.into(),
        Problem::NotObject { .. } => NO_OBJECT.into(),
        Problem::Key(_) | Problem::DottedKey { .. } | Problem::Path(_) => {
            let place = error.place.map(|place| format!(" beginning at {}:{}", place.line, place.column));
            format!(
                "Invalid data; couldn't parse key{}. Key value can't be empty or contain $ # [ ] / or .",
                place.unwrap_or_default()
            )
        }
        Problem::Duplicate { .. }
        | Problem::TooDeep { .. }
        | Problem::TooMany { .. }
        | Problem::TextTooLong(_)
        | Problem::Control { .. }
        | Problem::Value { .. }
        | Problem::ValueAndChildren { .. }
        | Problem::Priority { .. }
        | Problem::ServerValue { .. }
        | Problem::ServerValueBeside { .. }
        | Problem::ServerValueRefused
        | Problem::Write(_) => format!("Invalid data; {error}"),
    }
}

impl From<OverLimit> for Refused {
    fn from(over: OverLimit) -> Self {
        let status = match over {
            OverLimit::Rate { .. } => StatusCode::TOO_MANY_REQUESTS,
            // As of a write that is larger than any may be (rest reference 2.5).
            OverLimit::Burst { .. } | OverLimit::Value { .. } => StatusCode::BAD_REQUEST,
        };
        Self { retry_after_s: over.retry_after_s(), ..Self::new(status, over.to_string()) }
    }
}

impl From<NoRoom> for Refused {
    fn from(full: NoRoom) -> Self {
        Self { retry_after_s: Some(1), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, full.to_string()) }
    }
}

impl From<FindError> for Refused {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Unknown { .. } => Self::new(StatusCode::NOT_FOUND, NO_DATABASE),
            FindError::TooMany { .. } => Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
            FindError::Stopped(stopped) => stopped.into(),
        }
    }
}

impl From<StageError> for Refused {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Disk { .. } | StageError::NoRoom { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
            }
            StageError::Stopped(stopped) => stopped.into(),
        }
    }
}

impl From<Stopped> for Refused {
    fn from(stopped: Stopped) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, stopped.to_string())
    }
}

/// As the service prints it, byte for byte (rest reference 2.3).
impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let body = format!("{{\n  \"error\" : {}\n}}\n", serde_json::Value::from(self.text));
        let headers = [(CONTENT_TYPE, "application/json; charset=utf-8"), (CACHE_CONTROL, NO_CACHE)];
        let mut response = (self.status, headers, body).into_response();
        if let Some(reasons) = self.reasons.as_deref().and_then(on_one_line) {
            response.headers_mut().insert(REASONS, reasons);
        }
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        if let Some(allow) = self.allow {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        }
        response
    }
}

/// The lines of a text behind each other, as a header holds them: what is not ASCII is escaped as in JSON.
fn on_one_line(text: &str) -> Option<HeaderValue> {
    let mut line = String::new();
    for (number, part) in text.lines().map(str::trim).filter(|part| !part.is_empty()).enumerate() {
        line += if number == 0 { "" } else { " | " };
        for ch in part.chars() {
            match ch {
                ' '..='~' => line.push(ch),
                _ => line.extend(ch.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
            }
        }
        if REASONS_BYTES_MAX < line.len() {
            line.truncate(REASONS_BYTES_MAX);
            line += "...";
            break;
        }
    }
    HeaderValue::from_str(&line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_stand_on_one_line_of_ascii() {
        let long = "x".repeat(REASONS_BYTES_MAX + 1);
        let cut = format!("{}...", "x".repeat(REASONS_BYTES_MAX));
        for (text, expected) in [
            ("Attempt to read /a\n    /\n\nRead was denied.\n", "Attempt to read /a | / | Read was denied."),
            ("\"é\u{1f600}\u{7}\"", "\"\\u00e9\\ud83d\\ude00\\u0007\""),
            (&long, &cut),
        ] {
            assert_eq!(on_one_line(text).unwrap(), expected, "{text}");
        }
    }
}
