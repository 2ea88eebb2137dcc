//! Reads, which are answered from what is published in their turn.

use super::failure::failure_of_denial;
use super::long::Told;
use super::outgoing::Outgoing;
use super::slots::Outcome;
use super::{Connection, news, watched};
use crate::database::{Database, Databases};
use hearth_engine::{Denied, Identity, Onlooker, Published};
use hearth_tree::View;
use hearth_wire::{Answer, Failure, Get, RequestNumber, Response, Status, TooLong};
use std::sync::Arc;
use std::time::Instant;

/// A read whose turn has not come, and who it is for: by then the connection may be somebody else.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) identity: Identity,
    pub(super) get: Get,
}

impl Reading {
    fn judge(&self, published: &Published, onlooker: &dyn Onlooker) -> Result<(), Denied> {
        let Self { identity, get: Get { at, query } } = self;
        let door = published.door().seen_by(Some(onlooker));
        door.read(identity, crate::clock::now_ms(), &published.tree, at, query).map(|_| ())
    }

    /// The answer to a read that is allowed.
    fn answer(&self, published: &Published, (databases, database): (&Databases, &Database)) -> Answer {
        let Get { at, query } = &self.get;
        if let Some(missing) = published.door().missing_index(at, query) {
            databases.unindexed().asked(database, &missing, None);
            return Answer::Failed(Failure { status: Status::Failure, text: missing.to_string() });
        }
        let node = published.tree.get(at);
        if query.is_everything() {
            return Answer::Data(node.cloned());
        }
        let found = database.index_for(query, at, node);
        let index = found.as_ref().map(|found| &found.index);
        let view = View::new(query, node, index).expect("the index that it needs was found");
        Answer::Data(view.to_node())
    }
}

impl Connection {
    /// The answer to a read, or what is said before it.
    pub(super) fn answer_to_read(
        &mut self,
        number: RequestNumber,
        reading: &Reading,
        published: Arc<Published>,
    ) -> Told {
        let began = self.database.began();
        let judged = reading.judge(&published, &**self.database.rule_watch());
        let answer = match &judged {
            Ok(()) => reading.answer(&published, (&self.databases, &self.database)),
            Err(denied) => {
                self.database.meters().denied_reads.add(1);
                Answer::Failed(failure_of_denial(denied))
            }
        };
        let reasons = judged.as_ref().err().and_then(|denied| self.reasons_for_client(denied.reasons()));
        self.database.let_go_of_tree(published);
        if judged.is_err() {
            watched::read(&self.database, reading, began, None);
        }
        match reasons {
            None => self.told_of_answer(number, (reading, began), answer),
            Some(reasons) => {
                self.outgoing.push_front(Outgoing::Answer(number, Outcome::Answer(answer)));
                Told::Text(reasons.into())
            }
        }
    }

    /// The answer to a read that was at a place. Data that no client could receive are too big (wire reference 2.2).
    pub(super) fn told_of_answer(
        &self,
        number: RequestNumber,
        (reading, began): (&Reading, Option<Instant>),
        answer: Answer,
    ) -> Told {
        let text = |answer| Told::Text(Response { number, answer }.to_text().into());
        let Answer::Data(node) = answer else { return text(answer) };
        match news::told_of_data(number, node.as_ref(), &self.database) {
            Ok((told, bytes)) => {
                self.given(&reading.get.at, bytes, node.as_ref());
                watched::read(&self.database, reading, began, Some(bytes));
                told
            }
            Err(TooLong) => text(Answer::Failed(Status::TooBig.into())),
        }
    }
}
