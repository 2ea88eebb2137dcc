//! Listening, and no longer (wire reference 4.2, 4.3).

use super::error::RequestError;
use super::place::place;
use crate::hash::{CompoundFields, CompoundHash, Held};
use crate::number::Tag;
use crate::query::QueryText;
use crate::text::Shown;
use hearth_tree::{Path, Query};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// `q`: the data at a place, now and whenever they change. The same place and tag again replaces the listen.
#[derive(Clone, Debug, PartialEq)]
pub struct Listen {
    /// The place.
    pub at: Path,
    /// What of its children.
    pub kind: ListenKind,
    /// What the client holds. If it is what the server would send, the answer suffices. A client that does not say
    /// (C++) waits for data, even if there are none.
    pub held: Option<Held>,
    /// The same, range by range. Only a client that says it may be sent range merges.
    pub held_ranges: Option<CompoundHash>,
}

/// `n`: the end of a listen. Answered with ok even if there was none.
#[derive(Clone, Debug, PartialEq)]
pub struct Unlisten {
    /// The place.
    pub at: Path,
    /// Which of the listens there; only the tag matters.
    pub kind: ListenKind,
}

/// Which listen at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum ListenKind {
    /// Everything that is there: the default listen, whose pushes have no tag.
    Default,
    /// What a query shows. Its pushes must have the tag, and no others may.
    Tagged {
        /// The query.
        query: Query,
        /// The query in the client's own words, by which it knows the listen again.
        spelled: QueryText,
        /// The tag.
        tag: Tag,
    },
}

impl ListenKind {
    /// The tag, if there is one.
    pub const fn tag(&self) -> Option<Tag> {
        match self {
            Self::Default => None,
            Self::Tagged { tag, .. } => Some(*tag),
        }
    }

    /// The query; [`Query::EVERYTHING`] for the default listen.
    pub const fn query(&self) -> &Query {
        const EVERYTHING: &Query = &Query::EVERYTHING;
        match self {
            Self::Default => EVERYTHING,
            Self::Tagged { query, .. } => query,
        }
    }

    /// A listen to what a query shows, spelled as the JavaScript SDK does.
    pub fn tagged(query: Query, tag: Tag) -> Self {
        let spelled = QueryText::of(&query);
        Self::Tagged { query, spelled, tag }
    }

    fn of(said: Option<&RawValue>, tag: Option<Tag>) -> Result<Self, RequestError> {
        let spelled = said.map_or_else(|| QueryText::of(&Query::EVERYTHING), QueryText::said);
        let query = spelled.query()?;
        match tag {
            Some(tag) => Ok(Self::Tagged { query, spelled, tag }),
            None if query.is_everything() => Ok(Self::Default),
            None => Err(RequestError::TagMissing),
        }
    }

    fn fields<'a>(&'a self, at: &'a Path) -> PlaceFields<'a> {
        let p = Shown(at);
        match self {
            Self::Default => PlaceFields { p, q: None, t: None },
            Self::Tagged { spelled, tag, .. } => PlaceFields { p, q: Some(spelled), t: Some(*tag) },
        }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct ListenFields<'a> {
    p: String,
    #[serde(borrow)]
    q: Option<&'a RawValue>,
    t: Option<Tag>,
    h: Option<String>,
    ch: Option<CompoundFields>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct UnlistenFields<'a> {
    p: String,
    #[serde(borrow)]
    q: Option<&'a RawValue>,
    t: Option<Tag>,
}

/// What a listen and its end have in common.
#[derive(Serialize)]
struct PlaceFields<'a> {
    p: Shown<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<&'a QueryText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<Tag>,
}

impl Listen {
    pub(super) fn of(fields: ListenFields<'_>) -> Result<Self, RequestError> {
        let ListenFields { p, q, t, h, ch } = fields;
        Ok(Self {
            at: place(&p)?,
            kind: ListenKind::of(q, t)?,
            held: h.as_deref().map(Held::parse).transpose()?,
            held_ranges: ch.map(CompoundHash::try_from).transpose()?,
        })
    }
}

impl Unlisten {
    pub(super) fn of(fields: UnlistenFields<'_>) -> Result<Self, RequestError> {
        let UnlistenFields { p, q, t } = fields;
        Ok(Self { at: place(&p)?, kind: ListenKind::of(q, t)? })
    }
}

impl Serialize for Listen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            #[serde(flatten)]
            place: PlaceFields<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            h: Option<Held>,
            #[serde(skip_serializing_if = "Option::is_none")]
            ch: Option<&'a CompoundHash>,
        }
        let place = self.kind.fields(&self.at);
        Fields { place, h: self.held, ch: self.held_ranges.as_ref() }.serialize(serializer)
    }
}

impl Serialize for Unlisten {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.kind.fields(&self.at).serialize(serializer)
    }
}
