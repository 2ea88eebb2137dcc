//! What passes over one connection, in the order in which it passes.

use super::frames::{self, Frames, Kind, Texts};
use super::head;
use super::polls::Polls;
use super::web::Web;
use hearth_wire::Validator;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// One connection, followed from its first byte.
pub(super) struct Exchange {
    number: u64,
    polls: Arc<Mutex<Polls>>,
    stage: Stage,
}

/// How far a connection has come.
enum Stage {
    /// The client asks for something; what it has said of that so far.
    Asking(Vec<u8>),
    /// The client has asked for a WebSocket.
    Answering {
        target: String,
        /// What the server has said so far.
        answer: Vec<u8>,
        /// What the client says already, though it does not know yet to whom.
        early: Vec<u8>,
    },
    Talking(Box<Talk>),
    /// HTTP, of which long polling is judged.
    Web(Box<Web>),
}

/// A WebSocket.
struct Talk {
    target: String,
    validator: Validator,
    from_client: Frames,
    client_texts: Texts,
    from_server: Frames,
    server_texts: Texts,
    texts_sent: u64,
    is_closed: bool,
}

impl Exchange {
    pub(super) const fn new(number: u64, polls: Arc<Mutex<Polls>>) -> Self {
        Self { number, polls, stage: Stage::Asking(Vec::new()) }
    }

    /// Takes what the client sends.
    pub(super) fn received(&mut self, bytes: &[u8]) {
        match &mut self.stage {
            Stage::Asking(asked) => {
                asked.extend_from_slice(bytes);
                if let Some((head, early)) = head::split_head(asked) {
                    self.stage = match head::wanted_socket(head) {
                        Some(target) => {
                            Stage::Answering { target, answer: Vec::new(), early: early.to_vec() }
                        }
                        None => {
                            let mut web = Box::<Web>::default();
                            web.received(asked);
                            Stage::Web(web)
                        }
                    };
                }
            }
            Stage::Answering { early, .. } => early.extend_from_slice(bytes),
            Stage::Talking(talk) => talk.received(bytes),
            Stage::Web(web) => web.received(bytes),
        }
    }

    /// Takes what the server sends. What is wrong with it.
    pub(super) fn sent(&mut self, bytes: &[u8]) -> Option<String> {
        let number = self.number;
        match &mut self.stage {
            // A server that says something before it was asked refuses what was begun.
            Stage::Asking(_) => None,
            Stage::Web(_) if head::is_upgrade(bytes) => Some(format!(
                "connection {number} becomes a WebSocket after it was used for something else; that is not followed"
            )),
            Stage::Web(web) => {
                let mut bytes = bytes;
                while let Some(answer) = web.sent(mem::take(&mut bytes)) {
                    let fault = self.polls.lock().unwrap_or_else(PoisonError::into_inner).told(&answer);
                    if let Some(fault) = fault {
                        let path = answer.target.split('?').next().unwrap_or_default();
                        return Some(format!("connection {number}, an answer from `{path}`: {fault}"));
                    }
                }
                None
            }
            Stage::Answering { target, answer, early } => {
                answer.extend_from_slice(bytes);
                let (head, texts) = head::split_head(answer)?;
                if !head::is_upgrade(head) {
                    let refusal = mem::take(answer);
                    self.stage = Stage::Web(Box::new(Web::asked(mem::take(target))));
                    return self.sent(&refusal);
                }
                if let Some(fault) = head::upgrade_fault(head) {
                    return Some(format!("connection {number} to `{target}`, the answer: {fault}"));
                }
                let texts = texts.to_vec();
                let mut talk = Talk::new(mem::take(target));
                talk.received(&mem::take(early));
                self.stage = Stage::Talking(Box::new(talk));
                self.sent(&texts)
            }
            Stage::Talking(talk) => {
                let fault = talk.sent(bytes)?;
                let (target, text) = (&talk.target, talk.texts_sent);
                Some(format!("connection {number} to `{target}`, text {text} of the server: {fault}"))
            }
        }
    }
}

impl Talk {
    fn new(target: String) -> Self {
        Self {
            validator: head::validator(&target),
            target,
            from_client: Frames::default(),
            client_texts: Texts::default(),
            from_server: Frames::default(),
            server_texts: Texts::default(),
            texts_sent: 0,
            is_closed: false,
        }
    }

    fn received(&mut self, bytes: &[u8]) {
        self.from_client.push(bytes);
        while let Some(frame) = self.from_client.next() {
            if let Some(text) = self.client_texts.take(frame) {
                self.validator.received(&text);
            }
        }
    }

    fn sent(&mut self, bytes: &[u8]) -> Option<String> {
        self.from_server.push(bytes);
        while let Some(frame) = self.from_server.next() {
            self.texts_sent += u64::from(frame.kind == Kind::Text);
            if self.is_closed {
                return Some("something comes after the goodbye".into());
            }
            if let Some(fault) = frames::fault(&frame, self.server_texts.is_inside()) {
                return Some(fault.into());
            }
            self.is_closed = frame.kind == Kind::Close;
            if let Some(text) = self.server_texts.take(frame) {
                self.validator.sent(&text);
            }
            if let [first, ..] = self.validator.findings() {
                return Some(first.clone());
            }
        }
        None
    }
}
