//! News in the words of the protocol.

use bytes::Bytes;
use hearth_engine::{Body, Content, Push};
use hearth_tree::{Edit, To};
use hearth_wire::Tag;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// The message of a push. The body is encoded by whoever needs it first, for all who are told the same; without a tag
/// they all share its bytes.
pub(super) fn text_of_push(push: &Push) -> Utf8Bytes {
    let bytes = push.body.encoded.get_or_init(|| Bytes::from(encoded(&push.body)));
    let text = Utf8Bytes::try_from(bytes.clone()).expect("it was encoded as text");
    match push.tag {
        None => text,
        Some(tag) => hearth_wire::Body::tagged(&text, Some(Tag(tag.0))).into_owned().into(),
    }
}

fn encoded(body: &Body) -> String {
    let at = || body.at.clone();
    let body = match &body.content {
        Content::Put(node) => hearth_wire::Body::set(&Edit { at: at(), to: To::Node(node.clone()) }),
        Content::Priority(priority) => {
            hearth_wire::Body::set(&Edit { at: at(), to: To::Priority(priority.clone()) })
        }
        Content::Merge(parts) => {
            let keys = |below: &hearth_tree::RelativePath| {
                body.at.keys().iter().chain(below.keys()).cloned().collect()
            };
            let edits: Vec<_> =
                parts.iter().map(|(below, to)| Edit { at: keys(below), to: to.clone() }).collect();
            hearth_wire::Body::merge(&body.at, &edits)
        }
    };
    body.into_text(None)
}
