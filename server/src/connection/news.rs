//! News in the words of the protocol.

use bytes::Bytes;
use hearth_engine::{Body, Content, Push};
use hearth_tree::{Edit, To};
use hearth_wire::Tag;

/// The message of a push. The body is encoded by whoever needs it first, for all who are told the same.
pub(super) fn text_of_push(push: &Push) -> String {
    let bytes = push.body.encoded.get_or_init(|| Bytes::from(encoded(&push.body)));
    let text = std::str::from_utf8(bytes).expect("it was encoded as text");
    hearth_wire::Body::tagged(text, push.tag.map(|tag| Tag(tag.0))).into_owned()
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
