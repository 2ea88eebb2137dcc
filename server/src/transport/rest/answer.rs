//! What is answered, and how it is spelled.

use super::outgoing::{ANSWER_BYTES_MAX, EXPORT_BYTES_MAX, Spelled as Text, spell};
use super::params::Params;
use super::refused::Refused;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_tree::{BoundedText, Compact, Form, Json, JsonPieces, Key, Node, OverBound, Pretty, Top};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::ops::Range;

pub(super) const NO_CACHE: &str = "no-cache";

/// As many as an answer mostly has in the end, so that room for them is made once.
const HEADERS: usize = 10;

/// Longest name of a JSONP function.
const CALLBACK_CHARS_MAX: usize = 128;

/// Something that can be shown.
pub(super) enum Shown {
    /// A node, or nothing.
    Node(Option<Node>),
    /// Children of a node that a query has found.
    Window(Node),
    /// A query has found none among the children of a node.
    Empty,
    /// Only the keys of the children of these ranks.
    Keys(Node, Range<usize>),
    /// That something is there.
    True,
    /// The name of a new child.
    Name(Key),
    /// What an update has written, by path.
    Parts(Vec<(String, Option<Node>)>),
}

/// How to spell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Print {
    Compact,
    Pretty,
    /// Not at all.
    Silent,
}

/// How an answer is to look.
#[derive(Clone)]
pub(super) struct Style {
    pub(super) print: Print,
    pub(super) form: Form,
    callback: Option<String>,
    download: Option<String>,
    bytes_max: usize,
}

impl Style {
    /// Reads `print`, `format`, `callback` and `download` (rest reference 3). Settings have a `format` of their own.
    pub(super) fn parse(params: &Params, is_setting: bool) -> Result<Self, Refused> {
        let print = match params.text("print")?.as_deref() {
            None => Print::Compact,
            Some("pretty") => Print::Pretty,
            Some("silent") => Print::Silent,
            Some(_) => return Err(Refused::bad("print must be pretty or silent")),
        };
        let form = match params.text("format")?.as_deref() {
            None => Form::REST,
            Some(_) if is_setting => Form::REST,
            Some("export") => Form::EXPORT,
            Some(_) => return Err(Refused::bad("format must be export")),
        };
        let callback = params.text("callback")?.map(|name| name.into_owned());
        if callback.as_deref().is_some_and(|name| !is_function_name(name)) {
            return Err(Refused::bad("callback must be the name of a function"));
        }
        let download = params.text("download")?.map(|name| name.into_owned());
        Ok(Self { print, form, callback, download, bytes_max: ANSWER_BYTES_MAX })
    }

    /// The same for an admin, who may export everything.
    pub(super) fn for_admin(self) -> Self {
        let bytes_max = if self.form == Form::EXPORT { EXPORT_BYTES_MAX } else { self.bytes_max };
        Self { bytes_max, ..self }
    }

    /// The answer; with an `ETag` if there is one to say.
    pub(super) fn respond(&self, status: StatusCode, shown: &Shown, etag: Option<&str>) -> Response {
        let mut response = match self.print {
            Print::Silent if status.is_success() => {
                (StatusCode::NO_CONTENT, [(CACHE_CONTROL, NO_CACHE)]).into_response()
            }
            Print::Silent | Print::Compact | Print::Pretty => self.spelled(status, shown),
        };
        response.headers_mut().extend(etag_header(etag));
        response
    }

    fn spelled(&self, status: StatusCode, shown: &Shown) -> Response {
        let content_type = match self.callback {
            None => "application/json; charset=utf-8",
            Some(_) => "application/javascript; charset=utf-8",
        };
        let Ok(text) = self.text(shown) else {
            return Refused::bad(
                "Data requested exceeds the maximum size that can be accessed with a single request.",
            )
            .into_response();
        };
        let (length, body) = match text {
            Text::Whole(text) => (None, Body::from(text)),
            Text::Pieces(bytes, body) => (Some(bytes), body),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.reserve(HEADERS);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(NO_CACHE));
        if let Some(bytes) = length {
            headers.insert(CONTENT_LENGTH, bytes.into());
        }
        if let Some(name) = self.download.as_deref().and_then(attachment) {
            response.headers_mut().insert(CONTENT_DISPOSITION, name);
        }
        response
    }

    fn text(&self, shown: &Shown) -> Result<Text, OverBound> {
        // The comment keeps the start of the script out of the hands of whoever chose the name.
        let begin = self.callback.as_ref().map_or_else(Vec::new, |name| format!("/**/{name}(").into_bytes());
        let end: &[u8] = if self.callback.is_some() { b");" } else { b"" };
        let is_pretty = self.print == Print::Pretty;
        if let Some(top) = shown.top() {
            return spell(begin, JsonPieces::new(top, self.form, is_pretty), end, self.bytes_max);
        }
        let mut text = BoundedText::up_to(ANSWER_BYTES_MAX);
        text.append(&begin)?;
        shown.append_to(&mut text, self.form, is_pretty)?;
        text.append(end)?;
        Ok(Text::Whole(text.into_bytes()))
    }
}

/// The header `ETag`, if there is a tag to say.
pub(super) fn etag_header(etag: Option<&str>) -> Option<(HeaderName, HeaderValue)> {
    etag.and_then(|etag| HeaderValue::from_str(etag).ok()).map(|etag| (ETAG, etag))
}

fn is_function_name(name: &str) -> bool {
    let starts = name.starts_with(|ch: char| ch.is_ascii_alphabetic() || "_$".contains(ch));
    let goes_on = |ch: char| ch.is_ascii_alphanumeric() || "_$.[]".contains(ch);
    starts && name.len() <= CALLBACK_CHARS_MAX && name.chars().all(goes_on)
}

/// A header that makes a browser save the answer. Nothing of the name can end the header or leave the folder.
fn attachment(name: &str) -> Option<HeaderValue> {
    let is_safe = |ch: &char| !ch.is_control() && !"\"\\/".contains(*ch);
    let name: String = name.chars().filter(is_safe).collect();
    HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")).ok()
}

impl Shown {
    /// What of it may be long.
    fn top(&self) -> Option<Top> {
        match self {
            Self::Node(node) => Some(Top::Node(node.clone())),
            Self::Window(node) if is_list(node) => Some(Top::Node(Some(node.clone()))),
            Self::Window(node) => Some(Top::Children(node.clone())),
            Self::Parts(parts) => Some(Top::Members(parts.clone())),
            Self::Keys(node, ranks) => Some(Top::Keys(node.clone(), ranks.clone())),
            Self::Empty | Self::True | Self::Name(_) => None,
        }
    }

    /// Appends the JSON text. O(nodes), at most what finds room.
    pub(super) fn append_to(
        &self,
        text: &mut BoundedText,
        form: Form,
        pretty: bool,
    ) -> Result<(), OverBound> {
        let shown = Spelled { shown: self, form };
        if pretty { text.append_json(&shown, Pretty::default()) } else { text.append_json(&shown, Compact) }
    }
}

/// A list's first children are a list; others would only be hidden behind as many nulls.
fn is_list(window: &Node) -> bool {
    window.child(&Key::from_position(0)).is_some()
}

struct Spelled<'a> {
    shown: &'a Shown,
    form: Form,
}

impl Serialize for Spelled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = |node| Json::new(node, self.form);
        let mut members = match self.shown {
            Shown::Node(node) => return json(node.as_ref()).serialize(serializer),
            Shown::True => return serializer.serialize_bool(true),
            Shown::Window(node) if is_list(node) => {
                return json(Some(node)).serialize(serializer);
            }
            Shown::Window(_) | Shown::Empty | Shown::Keys(..) | Shown::Name(_) | Shown::Parts(_) => {
                serializer.serialize_map(None)?
            }
        };
        match self.shown {
            Shown::Node(_) | Shown::True | Shown::Empty => {}
            Shown::Window(node) => {
                for (key, child) in node.children() {
                    members.serialize_entry(key.as_str(), &json(Some(child)))?;
                }
            }
            Shown::Keys(node, ranks) => {
                for (key, _) in node.children().range(ranks.start, ranks.end) {
                    members.serialize_entry(key.as_str(), &true)?;
                }
            }
            Shown::Name(key) => members.serialize_entry("name", key.as_str())?,
            Shown::Parts(parts) => {
                for (path, node) in parts {
                    members.serialize_entry(path, &json(node.as_ref()))?;
                }
            }
        }
        members.end()
    }
}
