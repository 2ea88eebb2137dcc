//! What the database has to say, and the end of a session.

use super::failure::{failure_of_listen, failure_of_write};
use super::outgoing::Outgoing;
use super::{Connection, Next};
use crate::database::Stopped;
use crate::profile::{Operation, Record};
use crate::threads::{Inbox, SessionMessage};
use hearth_engine::{Act, Answer as EngineAnswer, Begun, Delivery, Item, ListenRefusal, Refusal, Revoked};
use hearth_wire::{Answer, Push};
use std::sync::Arc;
use std::time::Instant;

impl Connection {
    /// Takes what the database has to say; the last answers in it are from that time. It may be that nothing true can be said
    /// to the client any more.
    pub(crate) async fn deliver(
        &mut self,
        delivery: Delivery,
        answered: Option<Instant>,
    ) -> Result<Next, Stopped> {
        // The reason before what comes of it.
        self.expire().await?;
        match self.take(delivery.items, answered) {
            Next::Close => Ok(Next::Close),
            Next::GoOn => self.proceed().await.map(|()| Next::GoOn),
        }
    }

    /// No future: that would have room for an item as long as it lives, and each connection has one.
    fn take(&mut self, items: Vec<Item>, answered: Option<Instant>) -> Next {
        let mut items = items.into_iter().peekable();
        while let Some(item) = items.next() {
            match item {
                Item::Push(push) => {
                    let begins = matches!(items.peek(), Some(Item::Answer(EngineAnswer::Listen(_, Ok(_)))));
                    self.outgoing.push_back(if begins {
                        Outgoing::First(push, None)
                    } else {
                        Outgoing::News(push)
                    });
                }
                Item::Revoked(Revoked { at, tag, reasons, .. }) => {
                    self.tell_reasons(reasons.as_ref());
                    let query = tag.and_then(|tag| self.spelled.remove(&at, tag));
                    self.outgoing.push_back(Outgoing::Text(Push::Cancel { at, query }.to_text()));
                }
                // Neither yes nor no: clients send again what was not answered when they come back.
                Item::Answer(EngineAnswer::Write(_, Err(Refusal::InDoubt))) => return Next::Close,
                Item::Answer(EngineAnswer::Write(ticket, outcome)) => {
                    self.writes_under_way -= 1;
                    if let Err(Refusal::Denied(denied)) = &outcome {
                        self.database.meters().denied_writes.add(1);
                        self.tell_reasons(denied.reasons());
                    }
                    self.watched.written(&self.database, ticket, &outcome);
                    let answer = outcome
                        .map_or_else(|refusal| Answer::Failed(failure_of_write(&refusal)), |_| Answer::Done);
                    let waited = self.fill(ticket, answer, answered);
                    self.took(waited);
                    // Before the news of later writes, which may be in the same delivery.
                    self.let_go();
                }
                Item::Answer(EngineAnswer::Listen(ticket, outcome)) => {
                    if let Err(ListenRefusal::Denied(denied)) = &outcome {
                        self.database.meters().denied_reads.add(1);
                        self.tell_reasons(denied.reasons());
                    }
                    if let Ok(Begun { missing_index: Some(missing) }) = &outcome {
                        self.databases.unindexed().asked(&self.database, missing, None);
                    }
                    let is_told_first = matches!(self.outgoing.back(), Some(Outgoing::First(..)));
                    self.watched.listened(&self.database, ticket, &outcome, is_told_first);
                    let listening =
                        |begun: Begun| Answer::Listening { no_index: begun.missing_index.is_some() };
                    let answer =
                        outcome.map_or_else(|refusal| Answer::Failed(failure_of_listen(&refusal)), listening);
                    let waited = self.fill(ticket, answer, answered);
                    match self.outgoing.back_mut() {
                        Some(Outgoing::First(_, of_first)) => *of_first = waited.map(Box::new),
                        _ => self.took(waited),
                    }
                }
                Item::Answer(EngineAnswer::Read(ticket, published)) => {
                    let waited = self.read(ticket, &published, answered);
                    self.took(waited);
                }
            }
        }
        Next::GoOn
    }

    /// Ends the session: makes the writes that it has armed, and forgets its listeners. What `drain` takes off the
    /// session's queue is thrown away; the end is the last answer there.
    pub(crate) async fn end(&mut self, queue: &mut Inbox) -> Result<(), Stopped> {
        let ticket = self.new_ticket();
        let began = self.database.began();
        self.decide(Some(ticket), Act::End).await?;
        let is_end =
            |item: &Item| matches!(item, Item::Answer(EngineAnswer::Write(own, _)) if *own == ticket);
        loop {
            if queue.has_caught_up() {
                self.database.tell(self.session, SessionMessage::Drained).await?;
            }
            match queue.next().await {
                Some(delivery) if !delivery.items.iter().any(is_end) => {}
                Some(_) | None => break,
            }
        }
        if let Some(began) = began {
            if let Some(bytes) = self.watched.armed_bytes() {
                self.database.profile(|| Record::new(Operation::RunOnDisconnect).bytes(bytes).since(began));
            }
            self.database.profile(|| Record::new(Operation::Disconnect).since(began));
        }
        self.database.tell(self.session, SessionMessage::Close).await
    }

    /// Tells a client that asked for it why something is denied, before that is answered.
    pub(super) fn tell_reasons(&mut self, reasons: Option<&Arc<str>>) {
        if let Some(text) = self.reasons_for_client(reasons) {
            self.outgoing.push_back(Outgoing::Text(text));
        }
    }

    /// The message that says why; none for a page of somebody else.
    pub(super) fn reasons_for_client(&self, reasons: Option<&Arc<str>>) -> Option<String> {
        let reasons = reasons.filter(|_| !self.gate.is_foreign())?;
        Some(Push::SecurityDebug { text: reasons.to_string() }.to_text())
    }
}
