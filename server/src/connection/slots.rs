//! Requests that were begun, until their answers leave.

use super::Connection;
use super::outgoing::Outgoing;
use super::queued::Size;
use super::reading::Reading;
use super::timed::{Timed, Waited};
use crate::log::Staged;
use hearth_engine::{Published, Tag, Ticket};
use hearth_tree::Path;
use hearth_wire::{Answer, RequestNumber};
use std::sync::Arc;
use std::time::Instant;

pub(super) struct Slot {
    pub(super) number: RequestNumber,
    /// Of its request.
    pub(super) size: Size,
    /// Until it is answered; nothing, if it was refused at once.
    pub(super) timed: Option<Timed>,
    pub(super) state: SlotState,
}

pub(super) enum SlotState {
    /// For a write, which may be on the disk already.
    Waiting(Ticket, Option<Box<Staged>>),
    Listening(Ticket, Path, Option<Tag>),
    Reading(Ticket, Box<Reading>),
    /// The answer, which leaves when all has left that was told before what was asked for was done.
    Settling(Ticket, Answer),
    Ready(Outcome),
}

/// What an answer is made of.
pub(super) enum Outcome {
    Answer(Answer),
    Data(Box<Reading>, Arc<Published>, Option<Box<Waited>>),
}

impl Connection {
    /// Whether any request waits for an answer.
    pub(crate) fn waits(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Answers, from what was published in its turn, what waits for that. How long that took, unless it is yet to be spelled.
    pub(super) fn read(
        &mut self,
        ticket: Ticket,
        published: &Arc<Published>,
        answered: Option<Instant>,
    ) -> Option<Waited> {
        for slot in &mut self.slots {
            let Slot { timed, state, .. } = slot;
            let mut waited = || Some(timed.take()?.answered(answered?));
            let (outcome, waited) = match state {
                SlotState::Reading(own, reading) if *own == ticket => {
                    (Outcome::Data(reading.clone(), published.clone(), waited().map(Box::new)), None)
                }
                SlotState::Settling(own, answer) if *own == ticket => {
                    (Outcome::Answer(answer.clone()), waited())
                }
                SlotState::Reading(..)
                | SlotState::Settling(..)
                | SlotState::Waiting(..)
                | SlotState::Listening(..)
                | SlotState::Ready(_) => continue,
            };
            slot.state = SlotState::Ready(outcome);
            return waited;
        }
        None
    }

    /// Answers what waits for that. How long that took.
    pub(super) fn fill(
        &mut self,
        ticket: Ticket,
        answer: Answer,
        answered: Option<Instant>,
    ) -> Option<Waited> {
        let waits = |slot: &&mut Slot| matches!(slot.state, SlotState::Waiting(own, _) | SlotState::Listening(own, ..) if own == ticket);
        let slot = self.slots.iter_mut().find(waits)?;
        if let (SlotState::Listening(_, at, Some(tag)), Answer::Failed(_)) = (&slot.state, &answer) {
            drop(self.spelled.remove(at, *tag));
        }
        let ready = SlotState::Ready(Outcome::Answer(answer));
        if let SlotState::Waiting(_, Some(staged)) = std::mem::replace(&mut slot.state, ready) {
            self.database.let_go(staged);
        }
        Some(slot.timed.take()?.answered(answered?))
    }

    pub(super) fn let_go(&mut self) {
        while let Some(Slot { state: SlotState::Ready(_), .. }) = self.slots.front() {
            if let Some(Slot { number, size, state: SlotState::Ready(outcome), .. }) = self.slots.pop_front()
            {
                self.request_bytes -= size.bytes;
                self.give_back(size);
                self.reads_outgoing += usize::from(matches!(outcome, Outcome::Data(..)));
                self.outgoing.push_back(Outgoing::Answer(number, outcome));
            }
        }
    }
}
