//! Which database a client means (wire reference 1.2).

use hearth_tree::Excerpt;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Most characters of a namespace. Labels of host names have at most 63, project ids at most 30.
pub const NAMESPACE_CHARS_MAX: usize = 100;

/// The name of a database: 1 to 100 of `a-z 0-9 . _ -`, the first of them a letter or digit. Clients compare names
/// without case, so it is kept in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(String);

/// The database that a connection or request is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Addressed {
    /// The client has no name for it: a bare host, or what JavaScript clients make of one (`undefined` for `localhost`,
    /// the first number of an IPv4 address). The server's default database, where there is one.
    Default,
    /// This one.
    Named(Namespace),
}

/// A text that is not a namespace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is not a database name: 1 to {NAMESPACE_CHARS_MAX} of A-Z a-z 0-9 . _ - are allowed, the first a letter or digit",
    Excerpt(.text)
)]
pub struct NamespaceError {
    /// The text.
    pub text: String,
}

impl Namespace {
    /// Checks the characters and makes them lower case.
    ///
    /// # Errors
    /// [`NamespaceError`] if there are none, too many, or others.
    pub fn parse(text: &str) -> Result<Self, NamespaceError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let starts_well = text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
        if starts_well && text.len() <= NAMESPACE_CHARS_MAX && text.bytes().all(allowed) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(NamespaceError { text: text.into() })
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Addressed {
    /// The database that `ns` (the parameter of the URL, if given) and `host` (the `Host` header, `host[:port]`) mean:
    /// `ns` if it says something, otherwise the first label of the host.
    ///
    /// # Errors
    /// [`NamespaceError`] if that is not a name.
    pub fn find(ns: Option<&str>, host: &str) -> Result<Self, NamespaceError> {
        let host = without_port(host);
        let name = match ns {
            Some(ns) if !ns.is_empty() => Some(ns).filter(|ns| !means_nothing(ns, host)),
            Some(_) | None => first_label(host),
        };
        name.map_or(Ok(Self::Default), |name| Namespace::parse(name).map(Self::Named))
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // The colons of an address stand in brackets, its port behind them.
        Some((name, port)) if !port.ends_with(']') => name,
        Some(_) | None => host,
    }
}

/// Whether a JavaScript client says this because it found no name in its URL.
fn means_nothing(ns: &str, host: &str) -> bool {
    let of_address = || host.parse::<Ipv4Addr>().is_ok() && host.split('.').next() == Some(ns);
    ns == "undefined" || ns == "127" || of_address()
}

fn first_label(host: &str) -> Option<&str> {
    let is_address = host.parse::<Ipv4Addr>().is_ok()
        || host.trim_start_matches('[').trim_end_matches(']').parse::<Ipv6Addr>().is_ok();
    let (label, _) = host.split_once('.')?;
    Some(label).filter(|_| !is_address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ns: Option<&str>, host: &str, expected: Option<&str>) {
        let expected = expected.map_or(Addressed::Default, |name| Addressed::Named(Namespace(name.into())));
        assert_eq!(Addressed::find(ns, host), Ok(expected), "ns {ns:?}, host {host}");
    }

    #[test]
    fn a_namespace_comes_from_the_parameter_or_the_host() {
        check(Some("demo-ns"), "localhost:9000", Some("demo-ns"));
        check(Some("Demo-NS"), "db.example.com", Some("demo-ns"));
        check(Some(""), "chat.example.com:9000", Some("chat"));
        check(None, "chat.example.com:9000", Some("chat"));
        check(None, "My-App-default-rtdb.europe-west1.firebasedatabase.app", Some("my-app-default-rtdb"));
        check(None, "example.com", Some("example"));
        check(None, "localhost:9000", None);
        check(None, "", None);
        check(None, "127.0.0.1:9000", None);
        check(None, "[::1]:9000", None);
        check(None, "[::1]", None);
        check(None, "[::ffff:1.2.3.4]:80", None);
        check(Some("undefined"), "localhost:9000", None);
        check(Some("127"), "127.0.0.1:9000", None);
        check(Some("127"), "localhost:9000", None);
        check(Some("192"), "192.168.1.5:9000", None);
        check(Some("192"), "10.0.0.1:9000", Some("192"));
    }

    #[test]
    fn a_name_that_could_be_taken_for_a_path_is_refused() {
        for text in ["..", ".a", "-a", "a/b", "a b", "é", "a%2f", &"a".repeat(101)] {
            assert!(Namespace::parse(text).is_err(), "{text}");
        }
        assert!(Namespace::parse(&"a".repeat(NAMESPACE_CHARS_MAX)).is_ok());
    }
}
