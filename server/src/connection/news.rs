//! News in the words of the protocol.

use super::long::{Long, Told, WHOLE_BYTES};
use crate::database::Database;
use crate::unhurried::unhurried;
use hearth_engine::{Body, Content, Encoded, HeldRanges, Push};
use hearth_tree::{Edit, Node, Path, RelativePath, To};
use hearth_wire::{Length, LongMessage, RangeData, RequestNumber, Tag, TooLong};
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// The message of a push, and its length in bytes. The body is encoded by whoever needs it first, for all who are told the
/// same; without a tag they all share its bytes.
///
/// # Errors
/// [`TooLong`], if its client could not receive it.
pub(super) fn told_of_push(push: &Push, database: &Database) -> Result<(Told, usize), TooLong> {
    let Push { body, tag } = push;
    let tag = tag.map(|tag| Tag(tag.0));
    // Whoever measures a long message has it at hand.
    let mut measured = None;
    let encoded = match body.encoded.get() {
        Some(encoded) => encoded,
        None if body.is_heavy() => unhurried(|| {
            body.encoded.get_or_init(|| {
                let message = long_message(body);
                measured = Some(message.clone());
                encoded_long(message)
            })
        }),
        None => body.encoded.get_or_init(|| encoded(body)),
    };
    match *encoded {
        Encoded::TooLong => Err(TooLong),
        Encoded::Text(ref bytes) => {
            let text = Utf8Bytes::try_from(bytes.clone()).expect("it was encoded as text");
            let text = match tag {
                None => text,
                Some(_) => hearth_wire::Body::tagged(&text, tag).into_owned().into(),
            };
            let bytes = text.len();
            Ok((Told::Text(text), bytes))
        }
        Encoded::Long { bytes, parts, last_units } => {
            let message = measured.unwrap_or_else(|| unhurried(|| long_message(body)));
            let parts = Length { bytes, parts, last_units }.parts_with(tag);
            Ok((Long::told(message.ended(tag), parts, (body.clone(), database)), bytes))
        }
    }
}

fn differing(node: &Node, held: &HeldRanges) -> Option<Vec<RangeData>> {
    hearth_wire::ranges_that_differ(node, held.iter().map(|(place, hash)| (place, *hash)))
}

/// How long the message of a body is, in bytes, for who looks on. Encodes it, if nobody has yet.
pub(crate) fn bytes_told(body: &Body) -> usize {
    let encode = || if body.is_heavy() { encoded_long(long_message(body)) } else { encoded(body) };
    match body.encoded.get_or_init(encode) {
        Encoded::Text(text) => text.len(),
        Encoded::Long { bytes, .. } => *bytes,
        Encoded::TooLong => 0,
    }
}

/// What a push says is there, if it says all of it.
pub(super) fn node_of_push(push: &Push) -> Option<&Node> {
    match &push.body.content {
        Content::Put(node) => node.as_ref(),
        Content::PutOver(..) | Content::Priority(_) | Content::Merge(_) => None,
    }
}

/// The answer to a read, and its length in bytes.
///
/// # Errors
/// [`TooLong`], if its client could not receive it.
pub(super) fn told_of_data(
    number: RequestNumber,
    node: Option<&Node>,
    database: &Database,
) -> Result<(Told, usize), TooLong> {
    let message = LongMessage::data(number, node.cloned());
    match encoded_long(message.clone()) {
        Encoded::TooLong => Err(TooLong),
        Encoded::Text(bytes) => {
            let length = bytes.len();
            Ok((Told::Text(Utf8Bytes::try_from(bytes).expect("it was encoded as text")), length))
        }
        Encoded::Long { bytes, parts, last_units } => {
            let parts = Length { bytes, parts, last_units }.parts_with(None);
            Ok((Long::told(message.ended(None), parts, (node.cloned(), database)), bytes))
        }
    }
}

/// As one text, if it is short enough. O(length).
fn encoded_long(message: LongMessage) -> Encoded {
    let mut text = Vec::new();
    if !message.clone().ended(None).append_to(&mut text, WHOLE_BYTES) {
        return Encoded::Text(text.into());
    }
    drop(text);
    match Length::of(message) {
        Ok(Length { bytes, parts, last_units }) => Encoded::Long { bytes, parts, last_units },
        Err(TooLong) => Encoded::TooLong,
    }
}

/// O(edits or ranges), and to find the ranges O(nodes).
fn long_message(body: &Body) -> LongMessage {
    let set = |to| LongMessage::set(&Edit { at: body.at.clone(), to });
    match &body.content {
        Content::PutOver(node, held) => match differing(node, held) {
            Some(ranges) => LongMessage::ranges(&body.at, ranges),
            None => set(To::Node(Some(node.clone()))),
        },
        Content::Put(node) => set(To::Node(node.clone())),
        Content::Priority(priority) => set(To::Priority(priority.clone())),
        Content::Merge(parts) => LongMessage::merge(&body.at, &edits_of(&body.at, parts)),
    }
}

/// As one text, which all who are told the same share.
fn encoded(body: &Body) -> Encoded {
    let set = |to| hearth_wire::Body::received_set(&Edit { at: body.at.clone(), to });
    let encoded = match &body.content {
        Content::PutOver(node, held) => match differing(node, held) {
            Some(ranges) => hearth_wire::Body::received_ranges(&body.at, &ranges),
            None => set(To::Node(Some(node.clone()))),
        },
        Content::Put(node) => set(To::Node(node.clone())),
        Content::Priority(priority) => set(To::Priority(priority.clone())),
        Content::Merge(parts) => hearth_wire::Body::received_merge(&body.at, &edits_of(&body.at, parts)),
    };
    encoded.map_or(Encoded::TooLong, |body| Encoded::Text(body.into_text(None).into()))
}

fn edits_of(at: &Path, parts: &[(RelativePath, To)]) -> Vec<Edit> {
    let keys = |below: &RelativePath| at.keys().iter().chain(below.keys()).cloned().collect();
    parts.iter().map(|(below, to)| Edit { at: keys(below), to: to.clone() }).collect()
}
