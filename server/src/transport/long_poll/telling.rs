//! What a client is told, until it has taken it.
//!
//! Why not one script: a client that listens to a place of 16 MB would have the text of it in memory, twice what the data
//! take, for as long as it takes. What is long is written from its nodes as the client takes it, as on a WebSocket
//! ([`crate::connection::Long`]), and nothing else is fetched behind it before it has gone.

use crate::connection::{Long, Told};
use crate::threads::Taking;
use hearth_wire::Script;
use std::collections::VecDeque;
use std::mem;

/// So much of a long message is written at once, if no leaf is longer.
const PIECE_BYTES: usize = 128 * 1024;

/// Scripts, and long messages within them.
#[derive(Default)]
pub(super) struct Telling {
    parts: VecDeque<Part>,
    /// Behind these.
    script: Script,
}

enum Part {
    Script(Script),
    Long(Box<Long>, #[expect(dead_code, reason = "it is held to be dropped")] Option<Taking>),
}

impl Telling {
    /// Whether it says nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.script.is_empty()
    }

    /// Whether something long is in it.
    pub(super) fn is_long(&self) -> bool {
        !self.parts.is_empty()
    }

    /// What is said behind all that is said by now; none of it is a message.
    pub(super) const fn script(&mut self) -> &mut Script {
        &mut self.script
    }

    /// Tells messages under the next number. With something long comes what says that its client takes it.
    pub(super) fn tell(&mut self, number: u64, messages: Vec<(Told, Option<Taking>)>) {
        self.script.begin(number);
        for (index, (message, taking)) in messages.into_iter().enumerate() {
            if 0 < index {
                self.script.next_message();
            }
            match message {
                Told::Text(text) => self.script.message(text.as_str()),
                Told::Long(long) => {
                    self.parts.push_back(Part::Script(mem::take(&mut self.script)));
                    self.parts.push_back(Part::Long(long, taking));
                }
            }
        }
        self.script.end();
    }

    /// The whole text; nothing, if something long is in it.
    pub(super) fn into_text(self) -> Result<String, Self> {
        if self.is_long() { Err(self) } else { Ok(self.script.into_text()) }
    }

    /// How much of it is text by now, in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        let bytes = |part: &Part| match part {
            Part::Script(script) => script.bytes(),
            Part::Long(..) => 0,
        };
        self.script.bytes() + self.parts.iter().map(bytes).sum::<usize>()
    }

    /// The next piece of the text; nothing at the end. O([`PIECE_BYTES`]), or the longest text among the messages.
    pub(super) fn next_piece(&mut self) -> Option<String> {
        loop {
            match self.parts.front_mut() {
                None if self.script.is_empty() => return None,
                None => return Some(mem::take(&mut self.script).into_text()),
                Some(Part::Script(script)) => {
                    let script = mem::take(script);
                    self.parts.pop_front();
                    if !script.is_empty() {
                        return Some(script.into_text());
                    }
                }
                Some(Part::Long(long, _)) => {
                    let mut script = Script::default();
                    let is_longer = long.next_text(PIECE_BYTES, |json| script.message(json));
                    if !is_longer {
                        self.parts.pop_front();
                    }
                    return Some(script.into_text());
                }
            }
        }
    }
}
