//! News in the words of the protocol.

use crate::unhurried::unhurried;
use bytes::Bytes;
use hearth_engine::{Body, Content, HeldRanges, Push};
use hearth_tree::{Edit, Node, To};
use hearth_wire::{RangeData, Tag, TooLong};
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Kept as the encoded form of what no client can receive.
const TOO_LONG: Bytes = Bytes::new();

/// The message of a push. The body is encoded by whoever needs it first, for all who are told the same; without a tag
/// they all share its bytes.
///
/// # Errors
/// [`TooLong`], if its client could not receive it.
pub(super) fn text_of_push(push: &Push) -> Result<Utf8Bytes, TooLong> {
    let encode = || encoded(&push.body).map_or(TOO_LONG, Bytes::from);
    let bytes = match push.body.encoded.get() {
        Some(bytes) => bytes,
        None if push.body.is_heavy() => unhurried(|| push.body.encoded.get_or_init(encode)),
        None => push.body.encoded.get_or_init(encode),
    };
    if bytes.is_empty() {
        return Err(TooLong);
    }
    let text = Utf8Bytes::try_from(bytes.clone()).expect("it was encoded as text");
    Ok(match push.tag {
        None => text,
        Some(tag) => hearth_wire::Body::tagged(&text, Some(Tag(tag.0))).into_owned().into(),
    })
}

fn differing(node: &Node, held: &HeldRanges) -> Option<Vec<RangeData>> {
    hearth_wire::ranges_that_differ(node, held.iter().map(|(place, hash)| (place, *hash)))
}

/// What a push says is there, if it says all of it.
pub(super) fn node_of_push(push: &Push) -> Option<&Node> {
    match &push.body.content {
        Content::Put(node) => node.as_ref(),
        Content::PutOver(..) | Content::Priority(_) | Content::Merge(_) => None,
    }
}

fn encoded(body: &Body) -> Result<String, TooLong> {
    let at = || body.at.clone();
    let body = match &body.content {
        Content::PutOver(node, held) => match differing(node, held) {
            Some(ranges) => hearth_wire::Body::received_ranges(&body.at, &ranges),
            None => hearth_wire::Body::received_set(&Edit { at: at(), to: To::Node(Some(node.clone())) }),
        },
        Content::Put(node) => hearth_wire::Body::received_set(&Edit { at: at(), to: To::Node(node.clone()) }),
        Content::Priority(priority) => {
            hearth_wire::Body::received_set(&Edit { at: at(), to: To::Priority(priority.clone()) })
        }
        Content::Merge(parts) => {
            let keys = |below: &hearth_tree::RelativePath| {
                body.at.keys().iter().chain(below.keys()).cloned().collect()
            };
            let edits: Vec<_> =
                parts.iter().map(|(below, to)| Edit { at: keys(below), to: to.clone() }).collect();
            hearth_wire::Body::received_merge(&body.at, &edits)
        }
    };
    Ok(body?.into_text(None))
}
