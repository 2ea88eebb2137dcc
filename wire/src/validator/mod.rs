//! Judges what a server sends by what the SDKs can bear: the typing and the order that the wire reference asks for in
//! sections 2, 3, 12 and 15.
//!
//! Why in this crate and not in a test: every test that speaks to a server runs through it, and so does who builds
//! another one. Why it reads JSON in its own way: it must see what a lenient reader forgives, such as `1.0`, a key that
//! stands twice, or a `d` that is missing.
//!
//! What it does not see: whether data are the right ones (the naive model does), and how fast an answer comes.

mod conversation;
mod document;
mod listens;
mod texts;
mod typing;
mod value;
mod window;

use crate::control::ClientControl;
use crate::envelope::ClientMessage;
use crate::frame::{Assembled, Assembler, FrameLimits};
use conversation::Conversation;
use document::Json;
use hearth_tree::{Excerpt, ReadOptions};
use texts::Texts;

/// Follows one connection and notes what is wrong with what the server sends.
#[derive(Debug)]
pub struct Validator {
    texts: Texts,
    opening: Opening,
    /// What was asked for; nothing, if that is not known.
    conversation: Option<Conversation>,
    from_client: Assembler,
    pings: usize,
    findings: Vec<String>,
}

/// What the server's first message must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// The handshake.
    Handshake,
    /// The acknowledgement, or the refusal, that a WebSocket gets which takes over a long-polling session.
    Upgrade,
    /// It was sent.
    Done,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing more was to come: whatever was asked must have been answered.
    Settled,
    /// The connection was cut.
    Cut,
}

/// Whatever a client of a test sends.
const NO_LIMITS: FrameLimits = FrameLimits { message_bytes_max: 1 << 30, skipped_bytes_max: 1 << 30 };

impl Validator {
    /// For a connection of which both directions are shown.
    pub fn new() -> Self {
        Self {
            texts: Texts::default(),
            opening: Opening::Handshake,
            conversation: Some(Conversation::default()),
            from_client: Assembler::new(NO_LIMITS),
            pings: 0,
            findings: Vec::new(),
        }
    }

    /// For a connection of which only the server's side is shown: its types are judged, its answers cannot be.
    pub fn without_requests() -> Self {
        Self { conversation: None, ..Self::new() }
    }

    /// The same for a WebSocket that takes over a long-polling session: no handshake comes (wire reference 14.5).
    #[must_use]
    pub const fn upgrading(mut self) -> Self {
        self.opening = Opening::Upgrade;
        self
    }

    /// Takes the next text that the client sent.
    pub fn received(&mut self, text: &[u8]) {
        match self.from_client.push(text) {
            Ok(Some(Assembled::Message(message))) => self.received_message(&message),
            Ok(Some(Assembled::TooBig { .. }) | None) | Err(_) => {}
        }
    }

    /// Takes the next message that the client sent, where a transport carries whole ones.
    pub fn received_message(&mut self, message: &[u8]) {
        let parsed = ClientMessage::parse(message, &ReadOptions::default());
        if parsed == Ok(ClientMessage::Control(ClientControl::Ping)) {
            self.pings += 1;
        }
        if let Some(conversation) = &mut self.conversation {
            let raw_query = std::str::from_utf8(message).ok().and_then(|text| Json::parse(text).ok());
            let raw_query = raw_query.as_ref().and_then(|json| json.at(&["d", "b", "q"])).cloned();
            conversation.received(parsed, raw_query);
        }
    }

    /// Takes the next text that the server sent.
    pub fn sent(&mut self, text: &[u8]) {
        let mut faults = Vec::new();
        let message = self.texts.take(text, &mut faults);
        self.note(text, faults);
        if let Some(message) = message {
            self.sent_message(&message);
        }
    }

    /// Takes the next message that the server sent, where a transport carries whole ones.
    pub fn sent_message(&mut self, message: &[u8]) {
        let faults = match std::str::from_utf8(message) {
            Err(_) => vec!["it is not UTF-8".into()],
            Ok(text) => match Json::parse(text) {
                Err(error) => vec![format!("it is not JSON: {error}")],
                Ok(json) => self.judge(message, &json),
            },
        };
        self.note(message, faults);
    }

    /// What is wrong so far, a sentence each, with the start of the message that it is about.
    pub fn findings(&self) -> &[String] {
        &self.findings
    }

    /// What was wrong, the connection having ended.
    #[must_use]
    pub fn finish(mut self, ending: Ending) -> Vec<String> {
        if ending == Ending::Settled {
            self.findings.extend(self.texts.unfinished());
            if let Some(conversation) = &self.conversation {
                self.findings.extend(conversation.unanswered());
                if 0 < self.pings {
                    self.findings.push(format!(
                        "{} pings were never answered: idle JavaScript clients leave",
                        self.pings
                    ));
                }
            }
        }
        self.findings
    }

    fn judge(&mut self, message: &[u8], json: &Json) -> Vec<String> {
        let mut faults = typing::faults(json);
        self.judge_opening(json, &mut faults);
        if self.conversation.is_some() && json.at(&["d", "t"]).and_then(Json::text) == Some("o") {
            match self.pings.checked_sub(1) {
                Some(left) => self.pings = left,
                None => faults.push("a pong answers no ping".into()),
            }
        }
        if let Some(conversation) = &mut self.conversation {
            conversation.sent(message, json, &mut faults);
        }
        faults
    }

    fn judge_opening(&mut self, json: &Json, faults: &mut Vec<String>) {
        let kind = json
            .at(&["d", "t"])
            .and_then(Json::text)
            .filter(|_| json.at(&["t"]).and_then(Json::text) == Some("c"));
        match (self.opening, kind) {
            (Opening::Handshake, Some("h")) | (Opening::Upgrade, Some("a" | "r")) => {}
            (Opening::Handshake, _) => faults.push("the first message must be the handshake".into()),
            (Opening::Upgrade, _) => {
                faults.push("the first message must be the acknowledgement `a`, or a reset".into());
            }
            (Opening::Done, Some("h")) => {
                faults.push("a connection has one handshake, and it comes first".into());
            }
            (Opening::Done, _) => {}
        }
        self.opening = Opening::Done;
    }

    fn note(&mut self, message: &[u8], faults: Vec<String>) {
        let text = String::from_utf8_lossy(&message[..message.len().min(400)]);
        let sentences = faults.into_iter().map(|fault| format!("{fault}; in `{}`", Excerpt(&text)));
        self.findings.extend(sentences);
    }
}

impl Default for Validator {
    fn default() -> Self {
        Self::new()
    }
}
