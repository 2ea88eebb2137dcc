//! Which place of a database a URL means (rest reference 1.3 to 1.5).

use super::refused::Refused;
use axum::http::StatusCode;
use hearth_tree::{Key, Part, Path, RelativePath, Target};
use percent_encoding::percent_decode_str;

const SUFFIX: &str = ".json";
const PRIORITY: &str = ".priority";
/// What begins like this is no data.
const RESERVED: [&str; 3] = [".info", ".inspect", ".settings"];

/// What stands before the suffix.
///
/// # Errors
/// Without the suffix it is no place.
pub(super) fn without_suffix(path: &str) -> Result<&str, Refused> {
    let text = "404 Not Found: append .json to your request URI to use the REST API.";
    path.strip_suffix(SUFFIX).ok_or_else(|| Refused::new(StatusCode::NOT_FOUND, text))
}

/// The place that a path means, as it came but without its suffix: split first, each part decoded once.
///
/// # Errors
/// A part may be no key, or one too many.
pub(super) fn target_of(path: &str) -> Result<Target, Refused> {
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if parts.first().is_some_and(|first| RESERVED.contains(first)) {
        return Err(Refused::new(StatusCode::NOT_FOUND, "404 Not Found"));
    }
    let part = if parts.last() == Some(&PRIORITY) { Part::Priority } else { Part::Value };
    if part == Part::Priority {
        parts.pop();
    }
    let keys: RelativePath = parts.into_iter().map(key_of).collect::<Result<_, _>>()?;
    let path = Path::root().join(&keys);
    let path = path.map_err(|error| Refused::bad(format!("Invalid path: {error}")))?;
    Ok(Target { path, part })
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
            ("/.settings/rules.json", "404 Not Found: 404 Not Found"),
            ("/a", "404 Not Found: 404 Not Found: append .json to your request URI to use the REST API."),
        ] {
            let shown = match without_suffix(path).and_then(target_of) {
                Ok(Target { path, part: Part::Value }) => path.to_string(),
                Ok(Target { path, part: Part::Priority }) => format!("{path}'s priority"),
                Err(Refused { status, text }) => format!("{status}: {text}"),
            };
            assert_eq!(shown, expected, "{path}");
        }
        assert!(target_of(&"/k".repeat(33)).is_err_and(|refused| refused.status == StatusCode::BAD_REQUEST));
    }
}
