//! Much data, as an app would have them: chat messages of four fields, in rooms.

use std::fmt::Write;

/// Fields of a message, so leaves.
pub(crate) const FIELDS: u64 = 4;
/// How many rooms there are, where nothing else is said.
pub(crate) const ROOMS: u64 = 100;

/// So many messages in so many rooms, as JSON text.
pub(crate) fn text(messages: u64, rooms: u64) -> String {
    let step = usize::try_from(rooms).unwrap_or(usize::MAX);
    let mut text = String::from("{");
    for room in 0..rooms.min(messages) {
        let comma = if room == 0 { "" } else { "," };
        write!(text, "{comma}\"room{room:03}\":{{").expect("a text takes more text");
        for (count, message) in (room..messages).step_by(step).enumerate() {
            let comma = if count == 0 { "" } else { "," };
            write!(text, "{comma}\"{}\":{}", key(message), message_text(message))
                .expect("a text takes more text");
        }
        text.push('}');
    }
    text.push('}');
    text
}

/// How many messages make so many bytes of text, about.
pub(crate) fn messages_in(bytes: u64) -> u64 {
    bytes / (key(0).len() + message_text(0).len() + 4) as u64
}

/// Where a message is, of many in [`ROOMS`] rooms.
pub(crate) fn place_of(message: u64) -> String {
    format!("room{:03}/{}", message % ROOMS, key(message))
}

fn key(message: u64) -> String {
    format!("-OfJOJtHRp{message:010}")
}

pub(crate) fn message_text(message: u64) -> String {
    format!(
        r#"{{"name":"user {}","text":"this is message {message}, of a usual length","time":{},"uid":"u{:027}"}}"#,
        message % 100,
        1_767_225_600_000 + message,
        message % 1_000
    )
}
