//! Which place of a database a URL means (rest reference 1.3 to 1.5).

use super::refused::Refused;
use axum::http::StatusCode;
use hearth_tree::{Key, Part, Path, RelativePath, Target};
use percent_encoding::percent_decode_str;

const SUFFIX: &str = ".json";
const PRIORITY: &str = ".priority";
const SETTINGS: &str = ".settings";
/// What begins like this is no data.
const RESERVED: &str = ".info";
const INSPECT: &str = ".inspect";
/// The one thing without a suffix: a page for people.
const COVERAGE_PAGE: &str = "/.inspect/coverage";

/// What a path means.
pub(super) enum Place<'p> {
    /// A place in the data.
    Data(Target),
    /// Something that an admin can say of the database, by its name.
    Setting(&'p str),
    /// Something beside the data that a developer can look at, by its name.
    Inspection(&'p str),
}

/// What stands before the suffix.
///
/// # Errors
/// Without the suffix it is no place.
pub(super) fn without_suffix(path: &str) -> Result<&str, Refused> {
    if path == COVERAGE_PAGE {
        return Ok(path);
    }
    let text = "404 Not Found: append .json to your request URI to use the REST API.";
    path.strip_suffix(SUFFIX).ok_or_else(|| Refused::new(StatusCode::NOT_FOUND, text))
}

/// Whether a path means something else than data that only an admin has.
pub(super) fn is_setting(path: &str) -> bool {
    path.split('/').find(|part| !part.is_empty()) == Some(SETTINGS)
}

/// The place that a path means, as it came but without its suffix: split first, each part decoded once.
///
/// # Errors
/// A part may be no key, or one too many.
pub(super) fn place_of(path: &str) -> Result<Place<'_>, Refused> {
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.first() {
        Some(&RESERVED) => return Err(Refused::new(StatusCode::NOT_FOUND, "404 Not Found")),
        Some(&SETTINGS) => return Ok(Place::Setting(name_behind(SETTINGS, path))),
        Some(&INSPECT) => return Ok(Place::Inspection(name_behind(INSPECT, path))),
        Some(_) | None => {}
    }
    let part = if parts.last() == Some(&PRIORITY) { Part::Priority } else { Part::Value };
    if part == Part::Priority {
        parts.pop();
    }
    let keys: RelativePath = parts.into_iter().map(key_of).collect::<Result<_, _>>()?;
    let path = Path::root().join(&keys);
    let path = path.map_err(|error| Refused::bad(format!("Invalid path: {error}")))?;
    Ok(Place::Data(Target { path, part }))
}

fn name_behind<'p>(first: &str, path: &'p str) -> &'p str {
    path.trim_start_matches('/')[first.len()..].trim_start_matches('/')
}

fn key_of(part: &str) -> Result<Key, Refused> {
    let text = percent_decode_str(part).decode_utf8().ok();
    let key = text.and_then(|text| Key::parse(&text).ok());
    key.ok_or_else(|| Refused::bad("Invalid path: Invalid token in path"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_what_stands_before_the_suffix() {
        let deep = |levels: usize| format!("{}.json", "/k".repeat(levels));
        let invalid = "400 Bad Request: Invalid path: Invalid token in path";
        for (path, expected) in [
            ("/.json", "/"),
            ("//.json", "/"),
            ("/a/b.json", "/a/b"),
            ("/a//b/.json", "/a/b"),
            ("/caf%C3%A9/a+b/my%20key.json", "/café/a+b/my key"),
            ("/a/.priority.json", "/a's priority"),
            ("/.priority.json", "/'s priority"),
            (&deep(32), deep(32).trim_end_matches(".json")),
            ("/a.b.json", invalid),
            ("/a%2Fb.json", invalid),
            ("/a%00.json", invalid),
            ("/a%FF.json", invalid),
            ("/a%5B.json", invalid),
            ("/.priority/a.json", invalid),
            ("/a/.info.json", invalid),
            ("/.info/connected.json", "404 Not Found: 404 Not Found"),
            ("/.settings/rules.json", "setting rules"),
            ("//.settings//a/b.json", "setting a/b"),
            ("/.settings.json", "setting "),
            ("/.inspect/coverage.json", "inspection coverage"),
            ("/.inspect/coverage", "inspection coverage"),
            ("//.inspect/x.json", "inspection x"),
            (
                "/.inspect/x",
                "404 Not Found: 404 Not Found: append .json to your request URI to use the REST API.",
            ),
            ("/a/.settings/rules.json", invalid),
            ("/a", "404 Not Found: 404 Not Found: append .json to your request URI to use the REST API."),
        ] {
            let shown = match without_suffix(path).and_then(place_of) {
                Ok(Place::Data(Target { path, part: Part::Value })) => path.to_string(),
                Ok(Place::Data(Target { path, part: Part::Priority })) => format!("{path}'s priority"),
                Ok(Place::Setting(name)) => format!("setting {name}"),
                Ok(Place::Inspection(name)) => format!("inspection {name}"),
                Err(Refused { status, text, .. }) => format!("{status}: {text}"),
            };
            assert_eq!(shown, expected, "{path}");
        }
        assert!(place_of(&"/k".repeat(33)).is_err_and(|refused| refused.status == StatusCode::BAD_REQUEST));
    }
}
