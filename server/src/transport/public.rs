//! Files of a folder, served beside the data: a page and its scripts, for development.
//!
//! Why we look for the file and only hand it on to be sent: what sends it would follow a link out of the folder and serve
//! names that begin with a dot. Why data goes before: a file must never stand where a client expects an answer over REST,
//! so whatever ends with `.json` is data, however it is escaped.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Request, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::io;
use std::path::{Component, Path, PathBuf};
use tokio::fs;
use tower::ServiceExt;
use tower_http::services::ServeFile;

/// What a folder shows of itself.
const INDEX: &str = "index.html";
/// What ends like this is data.
const DATA: &str = ".json";

/// A folder whose files are served.
#[derive(Clone, Debug)]
pub(crate) struct Public {
    /// Without links.
    folder: PathBuf,
}

/// Why a folder cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PublicError {
    /// Not there, or not ours to read.
    #[error("cannot serve the folder `{}`: {error}", .folder.display())]
    Unreadable {
        /// Its name.
        folder: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file, or something stranger.
    #[error("cannot serve `{}`: it is not a folder", .folder.display())]
    NoFolder {
        /// Its name.
        folder: PathBuf,
    },
}

/// What stands at a path.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    File(PathBuf),
    /// A folder that was asked for like a file, and how to ask for it: what its page names is relative to that.
    Folder(String),
}

impl Public {
    /// Takes a folder.
    ///
    /// # Errors
    /// [`PublicError`] if it is none.
    pub(crate) fn open(folder: &Path) -> Result<Self, PublicError> {
        let unreadable = |error| PublicError::Unreadable { folder: folder.into(), error };
        let own = folder.canonicalize().map_err(unreadable)?;
        if own.metadata().map_err(unreadable)?.is_dir() {
            Ok(Self { folder: own })
        } else {
            Err(PublicError::NoFolder { folder: folder.into() })
        }
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file that a request asks for; nothing, if there is none that it may have.
    pub(crate) async fn answer(&self, asked: &Parts) -> Option<Response> {
        if ![Method::GET, Method::HEAD].contains(&asked.method) {
            return None;
        }
        match self.find(&asked.uri).await? {
            Found::File(file) => Some(send(&file, asked).await),
            Found::Folder(at) => {
                let query = asked.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
                let at = [(LOCATION, format!("{at}{query}"))];
                Some((StatusCode::TEMPORARY_REDIRECT, at).into_response())
            }
        }
    }

    async fn find(&self, uri: &Uri) -> Option<Found> {
        let names = names_of(uri.path())?;
        let at = self.inside(&self.folder.join(names.iter().collect::<PathBuf>())).await?;
        if fs::metadata(&at).await.ok()?.is_file() {
            return Some(Found::File(at)).filter(|_| !uri.path().ends_with('/'));
        }
        let index = self.inside(&at.join(INDEX)).await?;
        if !fs::metadata(&index).await.ok()?.is_file() {
            return None;
        }
        if uri.path().ends_with('/') {
            return Some(Found::File(index));
        }
        let escaped = names.iter().map(|name| format!("/{}", utf8_percent_encode(name, NON_ALPHANUMERIC)));
        Some(Found::Folder(escaped.collect::<String>() + "/"))
    }

    /// A place without links, if it lies in the folder and nothing on the way to it is hidden.
    async fn inside(&self, at: &Path) -> Option<PathBuf> {
        let at = fs::canonicalize(at).await.ok()?;
        let hidden = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
        let is_open = !at.strip_prefix(&self.folder).ok()?.components().any(hidden);
        is_open.then_some(at)
    }
}

/// The names of a path, each decoded once; nothing, if one of them can be no name of a file that is served.
fn names_of(path: &str) -> Option<Vec<String>> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    let names = parts.map(|part| percent_decode_str(part).decode_utf8().ok().map(Into::into));
    let names: Vec<String> = names.collect::<Option<_>>()?;
    let is_name = |name: &String| !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    let is_data = names.last().is_some_and(|name| name.ends_with(DATA));
    (names.iter().all(is_name) && !is_data).then_some(names)
}

async fn send(file: &Path, asked: &Parts) -> Response {
    let mut request = Request::new(Body::empty());
    request.method_mut().clone_from(&asked.method);
    request.headers_mut().clone_from(&asked.headers);
    let sent = match ServeFile::new(file).oneshot(request).await {
        Ok(sent) => sent,
        Err(never) => match never {},
    };
    let mut sent = sent.map(Body::new);
    let headers = sent.headers_mut();
    // A page that was built anew is to be seen at once.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if let Some(kind) = kind.filter(|kind| kind.starts_with("text/") && !kind.contains(';'))
        && let Ok(kind) = HeaderValue::from_str(&format!("{kind}; charset=utf-8"))
    {
        headers.insert(CONTENT_TYPE, kind);
    }
    sent.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_nothing_else_can_mean_are_looked_for() {
        for (path, expected) in [
            ("/", Some(vec![])),
            ("//", Some(vec![])),
            ("/a/b.js", Some(vec!["a", "b.js"])),
            ("/a//b/", Some(vec!["a", "b"])),
            ("/caf%C3%A9+x.html", Some(vec!["café+x.html"])),
            ("/a%252Fb", Some(vec!["a%2Fb"])),
            ("/data.json", None),
            ("/data%2ejson", None),
            ("/data%2Ejso%6E/", None),
            ("/.env", None),
            ("/%2Eenv", None),
            ("/a/.git/config", None),
            ("/..", None),
            ("/a/../b", None),
            ("/a/%2e%2e/b", None),
            ("/a%2Fb", None),
            ("/..%2f..%2fetc/passwd", None),
            ("/a%5C..%5Cb", None),
            ("/a%00", None),
            ("/a%FF", None),
        ] {
            let names = names_of(path);
            let found = names.as_ref().map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found, expected, "{path}");
        }
    }
}
