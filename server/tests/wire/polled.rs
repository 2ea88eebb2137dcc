//! One end of a session of long polling, as a browser has it: while there is something to say two requests are under way,
//! otherwise one. Everything that the server says is judged by the validator.

use crate::polls::{Polls, Said, get, segments};
use hearth_wire::{Ending, Validator};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// How long a request may take before it is taken for one that is never answered; it is held for 20 s.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most characters of a segment (wire reference 14.4).
const SEGMENT_CHARS: usize = 1_840;

pub(crate) struct Polled {
    polls: Polls,
    under_way: usize,
    ended: Sender<Vec<Said>>,
    ends: Receiver<Vec<Said>>,
    told: VecDeque<String>,
    is_over: bool,
    validator: Validator,
}

impl Polled {
    /// Begins a session there, under that name of the server and with these parameters.
    pub(crate) fn start(address: &str, host: &str, params: &str) -> Self {
        let mut polls = Polls::start(address, params, &[("host", host)]).unwrap();
        let (ended, ends) = channel();
        let told = polls.in_turn(Vec::new()).into();
        let mut own =
            Self { polls, under_way: 0, ended, ends, told, is_over: false, validator: Validator::new() };
        own.judge("the start", 0);
        own
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, text: &str, place: &str) {
        self.validator.received_message(text.as_bytes());
        for url in segments(text, self.polls.segment, SEGMENT_CHARS) {
            while 2 <= self.under_way {
                self.hear(place);
            }
            self.polls.segment += 1;
            self.ask(url);
        }
    }

    /// The next message; nothing, if the session is over.
    pub(crate) fn next(&mut self, place: &str) -> Option<String> {
        loop {
            if let Some(text) = self.told.pop_front() {
                return Some(text);
            }
            match (self.under_way, self.is_over) {
                (0, true) => return None,
                (0, false) => self.ask(String::new()),
                (_, _) => {}
            }
            self.hear(place);
        }
    }

    /// Says goodbye, and waits until the session is over. Nothing may be left to say.
    pub(crate) fn end(mut self, place: &str) {
        let farewell = format!("disconn=t&{}", self.polls.ticket);
        assert_eq!(get(&self.polls.address, &farewell, &[]).0, 204, "{place}");
        assert_eq!(self.next(place), None, "{place}: something comes before the end");
        assert_eq!(self.validator.finish(Ending::Settled), [""; 0], "{place}");
    }

    fn ask(&mut self, url: String) {
        let (own, ended) = (self.polls.clone(), self.ended.clone());
        // Nobody listens any more where a conversation has failed.
        thread::spawn(move || drop(ended.send(own.poll(&url))));
        self.under_way += 1;
    }

    /// Takes the answer to a request.
    fn hear(&mut self, place: &str) {
        let said = self.ends.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{place}: {error}"));
        self.under_way -= 1;
        let is_close = |call: &Said| matches!(call, Said::Close(_));
        self.is_over |= said.iter().any(is_close);
        let seen = self.told.len();
        let messages = said.into_iter().filter(|call| !is_close(call)).collect();
        self.told.extend(self.polls.in_turn(messages));
        self.judge(place, seen);
    }

    /// Judges what was told behind so many messages.
    fn judge(&mut self, place: &str, seen: usize) {
        self.told.iter().skip(seen).for_each(|text| self.validator.sent_message(text.as_bytes()));
        assert_eq!(self.validator.findings(), [""; 0], "{place}");
    }
}
