//! Messages that are written while their client takes them.

use crate::database::Database;
use crate::unhurried::unhurried;
use hearth_wire::{LongMessage, Parts};
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Up to here a message is one text, in bytes: all who are told the same share it.
pub(super) const WHOLE_BYTES: usize = 1024 * 1024;

/// A message to a client.
pub(crate) enum Told {
    /// Bytes that it may share with the messages to others.
    Text(Utf8Bytes),
    /// What is longer than a mebibyte.
    Long(Box<Long>),
}

/// A message that is too long to stand in memory as one text. It holds on to what it says, and to a few pieces of text.
pub(crate) struct Long {
    /// How many parts there are, until that was said.
    count: Option<usize>,
    parts: Parts,
    /// Behind what else holds its nodes, so that it lets go of them last.
    kept: Kept,
}

/// What a long message says, until it is let go of where nobody waits: it may be of a tree that nobody else holds any more.
pub(crate) struct Kept {
    what: Option<Box<dyn Send>>,
    database: Database,
}

impl Long {
    /// Of so many parts; `what` it says is a thing of this database.
    pub(super) fn told(
        message: LongMessage,
        parts: usize,
        (what, database): (impl Send + 'static, &Database),
    ) -> Told {
        let kept = Kept { what: Some(Box::new(what)), database: database.clone() };
        Told::Long(Box::new(Self { count: Some(parts), parts: Parts::new(message), kept }))
    }

    /// The next frame on a WebSocket: how many parts there are, then the parts. They are written where nobody waits for that.
    pub(crate) fn next_frame(&mut self) -> Option<Utf8Bytes> {
        if let Some(count) = self.count.take() {
            return Some(count.to_string().into());
        }
        while self.parts.lacks_text() {
            unhurried(|| self.parts.fill());
        }
        let part = self.parts.next_part()?;
        self.kept.told(part.len());
        Some(part.into())
    }

    /// The next text of the message where there are no frames, of about so many bytes; whether there is more. It ends between
    /// two tokens of JSON, and a key is in one text with its colon. No frame must have been taken.
    pub(crate) fn next_text(&mut self, bytes: usize, take: impl FnOnce(&str)) -> bool {
        let mut text = Vec::with_capacity(bytes);
        let is_longer = unhurried(|| self.parts.message().append_to(&mut text, bytes));
        self.kept.told(text.len());
        take(std::str::from_utf8(&text).expect("JSON is UTF-8"));
        is_longer
    }
}

impl Kept {
    /// Counts so many bytes that its client is told.
    fn told(&self, bytes: usize) {
        self.database.meters().bytes_out.add(bytes as u64);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(what) = self.what.take() {
            self.database.let_go(what);
        }
    }
}
