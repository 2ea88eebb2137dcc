//! What a server sends unasked (wire reference 3.3, 3.4).

mod body;
mod ranges;
mod read;

pub use body::Body;
pub(crate) use body::{members_of_merge, news_of_nothing, node_of, set_of_nothing};
pub use ranges::ranges_that_differ;
pub(crate) use read::read;

use crate::number::Tag;
use crate::query::QueryText;
use crate::response::Failure;
use crate::text::{Envelope, Shown, Unrooted, encode};
use hearth_tree::{Change, Edit, Node, Path, RelativePath};
use serde::Serialize;

/// What a server sends unasked.
#[derive(Clone, Debug, PartialEq)]
pub enum Push {
    /// `d`: what a place, or its priority, is now.
    Set {
        /// The place and what it is.
        edit: Edit,
        /// The listen that is meant, if not all of them.
        tag: Option<Tag>,
    },
    /// `m`: what several places are now, in one piece.
    Merge {
        /// The place that all of them are below.
        at: Path,
        /// The places, from the root on, and what they are.
        change: Change,
        /// The listen that is meant, if not all of them.
        tag: Option<Tag>,
    },
    /// `rm`: what is in some ranges of the leaves below a place. Only for a listen that came with
    /// [`crate::Listen::held_ranges`]: JavaScript loses the data.
    RangeMerge {
        /// The place.
        at: Path,
        /// The ranges.
        ranges: Vec<RangeData>,
        /// The listen that is meant, if not all of them.
        tag: Option<Tag>,
    },
    /// `c`: a listen has ended because it is no longer allowed. Android, Apple and C++ end all listens there.
    Cancel {
        /// The place.
        at: Path,
        /// The query as the client spelled it; none for the default listen.
        query: Option<QueryText>,
    },
    /// `ac`: the client is nobody now. It closes the connection and comes back with a new token.
    AuthRevoked(Failure),
    /// `apc`: the App Check token is no good.
    AppCheckRevoked(Failure),
    /// `sd`: a text for the client's log.
    SecurityDebug {
        /// The text.
        text: String,
    },
}

/// What is in a range of leaves, in leaf order (wire reference 6.6).
#[derive(Clone, Debug, PartialEq)]
pub struct RangeData {
    /// The leaf before the range; none at the start.
    pub after: Option<RelativePath>,
    /// The last leaf of the range; none at the end.
    pub up_to: Option<RelativePath>,
    /// Everything in the range, as a tree from the place on.
    pub data: Option<Node>,
}

#[derive(Serialize)]
struct PushFields<B> {
    a: &'static str,
    b: B,
}

fn push<B>(a: &'static str, b: B) -> Envelope<PushFields<B>> {
    Envelope::data(PushFields { a, b })
}

impl Push {
    /// The message. O(length). Where several listens get the same, see [`Body`].
    pub fn to_text(&self) -> String {
        #[derive(Serialize)]
        struct Cancel<'a> {
            p: Shown<Unrooted<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            q: Option<[&'a QueryText; 1]>,
        }
        #[derive(Serialize)]
        struct Revoked<'a> {
            s: &'a str,
            d: &'a str,
        }
        #[derive(Serialize)]
        struct Debug<'a> {
            msg: &'a str,
        }
        let revoked =
            |a, failure: &Failure| encode(&push(a, Revoked { s: failure.status.as_str(), d: &failure.text }));
        match self {
            Self::Set { edit, tag } => Body::set(edit).into_text(*tag),
            Self::Merge { at, change, tag } => Body::merge(at, change.edits()).into_text(*tag),
            Self::RangeMerge { at, ranges, tag } => Body::ranges(at, ranges).into_text(*tag),
            Self::Cancel { at, query } => {
                let q = query.as_ref().map(|query| [query]);
                encode(&push("c", Cancel { p: Shown(Unrooted(at)), q }))
            }
            Self::AuthRevoked(failure) => revoked("ac", failure),
            Self::AppCheckRevoked(failure) => revoked("apc", failure),
            Self::SecurityDebug { text } => encode(&push("sd", Debug { msg: text })),
        }
    }
}
