//! An address whose path stands behind its query. firebase-tools deploys rules like this to a server that is not Google's:
//! it appends the path to an address that already has `?ns=` (rest reference 1.2).
//!
//! Why for PUT of a setting only: everything else that judges a request by its address has looked at it as it came, and
//! nothing of that matters where an admin is needed and no page gets a script.

use axum::http::uri::PathAndQuery;
use axum::http::{Method, Uri};

/// What such a path begins with, behind the name of the database.
const SETTINGS: &str = "/.settings/";

/// The address that is meant: `/?ns=NAME/.settings/rules.json?dryRun=true` is `/.settings/rules.json?ns=NAME&dryRun=true`.
/// Nothing if it is none of these.
pub(super) fn meant(method: &Method, uri: &Uri) -> Option<Uri> {
    if *method != Method::PUT || uri.path() != "/" {
        return None;
    }
    let (name, behind) = uri.query()?.strip_prefix("ns=")?.split_once('/')?;
    let target = match behind.split_once('?') {
        Some((path, query)) => format!("/{path}?ns={name}&{query}"),
        None => format!("/{behind}?ns={name}"),
    };
    let target = PathAndQuery::try_from(target).ok()?;
    if !target.path().starts_with(SETTINGS) {
        return None;
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_behind_the_query_is_put_before_it() {
        for (method, from, expected) in [
            (
                "PUT",
                "/?ns=a/.settings/rules.json?dryRun=true",
                Some("/.settings/rules.json?ns=a&dryRun=true"),
            ),
            ("PUT", "/?ns=a/.settings/rules.json", Some("/.settings/rules.json?ns=a")),
            ("PUT", "http://h:1/?ns=a/.settings/rules.json", Some("http://h:1/.settings/rules.json?ns=a")),
            ("PUT", "/?ns=a%2F.settings/rules.json", None),
            ("PUT", "/?ns=a", None),
            ("PUT", "/?ns=a/b.json", None),
            ("PUT", "/?ns=a//.settings/rules.json", None),
            ("PUT", "/?print=pretty&ns=a/.settings/rules.json", None),
            ("PUT", "/a.json?ns=a/.settings/rules.json", None),
            ("PUT", "/", None),
            ("GET", "/?ns=a/.settings/rules.json?callback=f", None),
            ("POST", "/?ns=a/.settings/rules.json?callback=f", None),
        ] {
            let method = Method::from_bytes(method.as_bytes()).expect("methods of the table are methods");
            let uri: Uri = from.parse().expect("addresses of the table are addresses");
            assert_eq!(
                meant(&method, &uri).map(|uri| uri.to_string()).as_deref(),
                expected,
                "{method} {from}"
            );
        }
    }
}
