//! What waits to go out, and how it is spelled when it goes.

use super::long::Told;
use super::slots::Outcome;
use super::timed::Waited;
use super::{Connection, news};
use crate::database::Stopped;
use crate::threads::SessionMessage;
use crate::unhurried::unhurried;
use hearth_engine::{Push as EnginePush, is_heavy};
use hearth_tree::{Node, Path};
use hearth_wire::{RequestNumber, Response, ServerControl, TooLong};
use std::collections::VecDeque;
use std::time::Instant;

/// What waits to go out. It is spelled when it goes.
pub(super) enum Outgoing {
    Text(String),
    News(EnginePush),
    /// What is there where a listen begins, and how long that was waited for.
    First(EnginePush, Option<Box<Waited>>),
    Answer(RequestNumber, Outcome),
}

impl Connection {
    /// Whether it can take more news before those that it has have gone out: a read holds on to a whole tree.
    pub(crate) const fn takes_more(&self) -> bool {
        self.reads_outgoing == 0
    }

    /// The next message to the client. A long one is to be written to its end before the next is asked for.
    pub(crate) fn next_outgoing(&mut self) -> Option<Told> {
        loop {
            let Some(outgoing) = self.outgoing.pop_front() else {
                // A connection mostly idles, and there are many: no room is kept for what seldom is there.
                self.outgoing = VecDeque::new();
                if self.slots.is_empty() {
                    self.slots = VecDeque::new();
                    self.window = None;
                }
                return None;
            };
            return Some(match outgoing {
                Outgoing::Text(text) => Told::Text(text.into()),
                Outgoing::News(push) => match self.spell(push, false) {
                    Some(told) => told,
                    None => continue,
                },
                Outgoing::First(push, waited) => {
                    let began = Instant::now();
                    let told = self.spell(push, true);
                    self.took(waited.map(|waited| waited.spelled_since(began)));
                    match told {
                        Some(told) => told,
                        None => continue,
                    }
                }
                Outgoing::Answer(number, Outcome::Answer(answer)) => {
                    Told::Text(Response { number, answer }.to_text().into())
                }
                Outgoing::Answer(number, Outcome::Data(reading, published, waited)) => {
                    self.reads_outgoing -= 1;
                    let began = Instant::now();
                    let is_heavy = is_heavy(published.tree.get(&reading.get.at));
                    let told = || self.answer_to_read(number, &reading, published);
                    let told = if is_heavy { unhurried(told) } else { told() };
                    self.took(waited.map(|waited| waited.spelled_since(began)));
                    told
                }
            });
        }
    }

    /// A request was answered.
    pub(super) fn took(&self, waited: Option<Waited>) {
        if waited.is_some_and(|waited| waited.tell(self.databases.slow(), &self.who())) {
            self.database.meters_of_server().slow_answers.add(1);
        }
    }

    /// The message of a push; none, if the client cannot receive it.
    pub(super) fn spell(&mut self, push: EnginePush, is_first: bool) -> Option<Told> {
        match news::told_of_push(&push, &self.database) {
            Ok((told, bytes)) => {
                // Nodes are counted once, and not with each change of a place.
                let node = is_first.then(|| news::node_of_push(&push)).flatten();
                self.given(&push.body.at, bytes, node);
                if is_first {
                    self.watched.listening(&self.database, &push, bytes);
                }
                Some(told)
            }
            Err(TooLong) => {
                self.untold.push(push);
                None
            }
        }
    }

    /// The client is given so much of what is at a place.
    pub(super) fn given(&self, at: &Path, bytes: usize, node: Option<&Node>) {
        if self.databases.audit().given(&self.who(), at, bytes, node) {
            self.database.meters().bulk_reads.add(1);
        }
    }

    /// Whether there are news that the client cannot receive.
    pub(crate) const fn has_untold(&self) -> bool {
        !self.untold.is_empty()
    }

    /// Ends the listens whose news the client cannot receive, as if they were no longer allowed: it must neither believe
    /// that it is up to date, nor come back and ask the same again.
    pub(crate) async fn give_up_untold(&mut self) -> Result<(), Stopped> {
        for EnginePush { body, tag } in std::mem::take(&mut self.untold) {
            tracing::warn!(at = %body.at, "a listen ends, because there is more than clients can receive");
            self.database.tell(self.session, SessionMessage::GiveUp(body.at.clone(), tag)).await?;
        }
        Ok(())
    }

    /// Tells the client something about the connection.
    pub(crate) fn say(&mut self, control: &ServerControl) {
        self.outgoing.push_back(Outgoing::Text(control.to_text()));
    }
}
