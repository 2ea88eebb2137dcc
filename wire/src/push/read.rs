//! Reads what a server sends unasked, for clients.

use super::{Push, RangeData};
use crate::number::Tag;
use crate::query::QueryText;
use crate::received::{ReceiveError, fields};
use crate::response::Failure;
use crate::status::Status;
use hearth_tree::{
    Assigned, Change, Draft, Edit, Node, Part, Path, Pending, Priority, ReadOptions, RelativePath, Target,
    To, read_node, read_priority, read_update,
};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct DataFields<'a> {
    p: String,
    #[serde(borrow)]
    d: &'a RawValue,
    t: Option<Tag>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct RangeFields<'a> {
    s: Option<String>,
    e: Option<String>,
    #[serde(borrow)]
    m: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct CancelFields<'a> {
    p: String,
    #[serde(borrow)]
    q: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct RevokedFields {
    s: String,
    #[serde(default)]
    d: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct DebugFields {
    msg: String,
}

/// Reads the body of a push of this name.
pub(crate) fn read(name: &str, body: &str, options: &ReadOptions) -> Result<Push, ReceiveError> {
    match name {
        "d" => read_set(fields(body)?, options),
        "m" => read_merge(fields(body)?, options),
        "rm" => read_ranges(fields(body)?, options),
        "c" => read_cancel(fields(body)?),
        "ac" => Ok(Push::AuthRevoked(failure(fields(body)?))),
        "apc" => Ok(Push::AppCheckRevoked(failure(fields(body)?))),
        "sd" => Ok(Push::SecurityDebug { text: fields::<DebugFields>(body)?.msg }),
        _ => Err(ReceiveError::Unknown { what: "push", name: name.into() }),
    }
}

fn read_set(fields: DataFields<'_>, options: &ReadOptions) -> Result<Push, ReceiveError> {
    let DataFields { p, d, t: tag } = fields;
    let Target { path: at, part } = Target::<Path>::parse(&p)?;
    let text = d.get().as_bytes();
    let to = match part {
        Part::Value => To::Node(read_node(text, options)?),
        Part::Priority => read_priority(text, options).map(known_priority)??,
    };
    Ok(Push::Set { edit: Edit { at, to }, tag })
}

fn read_merge(fields: DataFields<'_>, options: &ReadOptions) -> Result<Push, ReceiveError> {
    let DataFields { p, d, t: tag } = fields;
    let at = Path::parse(&p)?;
    let update = read_update(d.get().as_bytes(), &at, options)?;
    let edits = update.assignments().iter().map(|each| {
        let to = match each.to().clone() {
            Assigned::Value(value) => To::Node(value.map(known_value).transpose()?),
            Assigned::Priority(priority) => known_priority(priority)?,
        };
        Ok(Edit { at: each.at().clone(), to })
    });
    let edits = edits.collect::<Result<_, ReceiveError>>()?;
    let change = Change::new(edits).expect("the places of an update do not cover each other");
    Ok(Push::Merge { at, change, tag })
}

fn known_value(draft: Draft) -> Result<Node, ReceiveError> {
    draft.as_node().cloned().ok_or(ReceiveError::ServerValue)
}

fn known_priority(priority: Option<Pending<Priority>>) -> Result<To, ReceiveError> {
    match priority {
        None => Ok(To::Priority(None)),
        Some(Pending::Known(priority)) => Ok(To::Priority(Some(priority))),
        Some(Pending::Server(_)) => Err(ReceiveError::ServerValue),
    }
}

fn read_ranges(body: DataFields<'_>, options: &ReadOptions) -> Result<Push, ReceiveError> {
    let DataFields { p, d, t: tag } = body;
    let ranges: Vec<RangeFields<'_>> = fields(d.get())?;
    let ranges = ranges.into_iter().map(|RangeFields { s, e, m }| {
        Ok(RangeData {
            after: s.as_deref().map(RelativePath::parse).transpose()?,
            up_to: e.as_deref().map(RelativePath::parse).transpose()?,
            data: read_node(m.get().as_bytes(), options)?,
        })
    });
    Ok(Push::RangeMerge { at: Path::parse(&p)?, ranges: ranges.collect::<Result<_, ReceiveError>>()?, tag })
}

fn read_cancel(fields: CancelFields<'_>) -> Result<Push, ReceiveError> {
    let query = fields.q.and_then(|queries| queries.first().map(|query| QueryText::said(query)));
    Ok(Push::Cancel { at: Path::parse(&fields.p)?, query })
}

/// Whatever the server calls it, the client does the same.
fn failure(fields: RevokedFields) -> Failure {
    let status = Status::parse(&fields.s).unwrap_or(Status::Failure);
    Failure { status, text: fields.d.unwrap_or_default() }
}
