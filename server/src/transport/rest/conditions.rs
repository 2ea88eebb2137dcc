//! Conditional requests (rest reference 4).

use super::refused::Refused;
use axum::http::header::{IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName};
use hearth_tree::{Hash, Node};

/// The tag of a place where nothing is.
pub(super) const NULL_ETAG: &str = "null_etag";

const X_FIREBASE_ETAG: HeaderName = HeaderName::from_static("x-firebase-etag");

/// What a request says about tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Conditions {
    /// The answer shall have a tag.
    pub(super) wants_tag: bool,
    /// Only if the place has this tag.
    pub(super) if_match: Option<Tag>,
    /// Only if the place has another tag.
    pub(super) if_none_match: Option<String>,
}

/// A tag as a client sends it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// Nothing is there.
    Nothing,
    /// A node with this hash is there.
    Node(Hash),
    /// Something is there, `*`.
    Anything,
    /// None that this server has ever given.
    Foreign,
}

impl Conditions {
    /// Reads the headers.
    pub(super) fn parse(headers: &HeaderMap) -> Self {
        let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let tag = |name: &HeaderName| text(name).map(|tag| tag.trim().trim_matches('"'));
        Self {
            wants_tag: text(&X_FIREBASE_ETAG).is_some_and(|value| value.eq_ignore_ascii_case("true")),
            if_match: tag(&IF_MATCH).map(Tag::parse),
            if_none_match: tag(&IF_NONE_MATCH).map(Into::into),
        }
    }

    /// Refuses what a method or a place does not support.
    pub(super) fn refuse(&self, tags: bool, if_match: bool, who: &str) -> Result<(), Refused> {
        if self.if_match.is_some() && !if_match {
            return Err(Refused::bad(format!("if-match is not supported for {who}")));
        }
        if self.wants_tag && !tags {
            return Err(Refused::bad(format!("X-Firebase-ETag is not supported for {who}")));
        }
        Ok(())
    }
}

impl Tag {
    fn parse(text: &str) -> Self {
        match text {
            NULL_ETAG => Self::Nothing,
            "*" => Self::Anything,
            _ => Hash::parse(text).map_or(Self::Foreign, Self::Node),
        }
    }
}

/// The tag of what is at a place.
pub(super) fn etag_of(node: Option<&Node>) -> String {
    node.map_or_else(|| NULL_ETAG.into(), |node| node.hash().to_string())
}
