//! The data that everything is measured on: a chat room, whose messages have push ids as keys and four fields each.
//!
//! Why a chat: many small objects in a long list that grows at its end is what most trees of this kind hold. Every run
//! makes the same messages.

use hearth_tree::{Key, Node, PushIds, Scalar, Text};

/// Leaves of one message.
pub(crate) const FIELDS: usize = 4;

const STARTED_MS: u64 = 1_764_500_000_000;

/// The messages of the room, the oldest first, without end.
#[derive(Default)]
pub(crate) struct Messages {
    ids: PushIds,
    sent: u64,
}

impl Iterator for Messages {
    type Item = (Key, Node);

    fn next(&mut self) -> Option<(Key, Node)> {
        // Now and then a few in one millisecond.
        let at_ms = STARTED_MS + self.sent / 3;
        let scattered = u128::from(self.sent).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let id = self.ids.next(at_ms, || scattered);
        let message = message(self.sent, at_ms);
        self.sent += 1;
        Some((id, message))
    }
}

/// A room of that many messages, which shares nothing with any other.
pub(crate) fn room(messages: usize) -> Node {
    Node::inner(Messages::default().take(messages)).expect("a room has messages")
}

pub(crate) fn key(text: &str) -> Key {
    Key::parse(text).expect("the keys of the chat are legal")
}

pub(crate) fn text(text: &str) -> Node {
    Scalar::Text(Text::new(text).expect("the texts of the chat are short")).into()
}

fn message(number: u64, at_ms: u64) -> Node {
    let at = i64::try_from(at_ms).expect("the chat is of this century");
    let fields = [
        (key("at"), Scalar::Number(at.into()).into()),
        (key("from"), text(&format!("user-{:05}", number % 1000))),
        (key("name"), text("Ada Lovelace")),
        (key("text"), text(&format!("message number {number}, how are you doing?"))),
    ];
    Node::inner(fields).expect("a message has fields")
}
