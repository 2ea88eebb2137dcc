//! What a session shall be told, on its way from the publisher to whoever tells it.
//!
//! Why our own and no channel of the runtime: a connection mostly idles, and such a channel takes more than a kilobyte from
//! its first moment; this one takes a tenth of that. And whether there is room, and whether the publisher must hear when
//! there is again, belong together: here one lock holds both.

use hearth_engine::{Delivery, Item};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Room for so many deliveries that is kept when none wait.
const KEPT_ROOM: usize = 4;

/// A queue of so many deliveries: one more, or one that is heavy and finds others there, is refused, and the session gets
/// one difference instead when it has taken what waits.
pub(crate) fn outbox(deliveries_max: usize) -> (Outbox, Inbox) {
    let waiting = Waiting {
        deliveries: VecDeque::new(),
        deliveries_max,
        was_refused: false,
        is_ended: false,
        is_left: false,
        is_taking: false,
        answered: None,
        reader: None,
    };
    let queue = Arc::new(Queue(Mutex::new(waiting)));
    (Outbox(queue.clone()), Inbox(queue))
}

/// The publisher's end. Dropped, it ends the session.
#[derive(Debug)]
pub(crate) struct Outbox(Arc<Queue>);

/// The session's end.
#[derive(Debug)]
pub(crate) struct Inbox(Arc<Queue>);

/// A client takes something long; until this is dropped it is not taken for one that takes nothing.
#[derive(Debug)]
pub(crate) struct Taking(Arc<Queue>);

#[derive(Debug)]
struct Queue(Mutex<Waiting>);

#[derive(Debug)]
struct Waiting {
    deliveries: VecDeque<Delivery>,
    deliveries_max: usize,
    /// A delivery was refused, so that others waited then: the session must say when it has taken all of them.
    was_refused: bool,
    /// There will be no more.
    is_ended: bool,
    /// Nobody will take any more.
    is_left: bool,
    /// The client takes something long, and fast enough.
    is_taking: bool,
    /// When the last answer was offered.
    answered: Option<Instant>,
    /// Who waits for the next one.
    reader: Option<Waker>,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outbox {
    /// Takes a delivery; everything, where nobody will take it off again.
    ///
    /// # Errors
    /// The delivery, if there is no room: [`Inbox::has_caught_up`] says when there is.
    pub(super) fn offer(&self, delivery: Delivery) -> Result<(), Delivery> {
        let mut waiting = self.0.waiting();
        if waiting.is_left {
            return Ok(());
        }
        let has_room = waiting.deliveries.is_empty()
            || (waiting.deliveries.len() < waiting.deliveries_max && !delivery.is_heavy());
        if !has_room {
            waiting.was_refused = true;
            return Err(delivery);
        }
        // News end no request, and most deliveries are news.
        if delivery.items.iter().any(|item| matches!(item, Item::Answer(_))) {
            waiting.answered = Some(Instant::now());
        }
        waiting.deliveries.push_back(delivery);
        let reader = waiting.reader.take();
        // Whoever is woken up wants the lock.
        drop(waiting);
        if let Some(reader) = reader {
            reader.wake();
        }
        Ok(())
    }

    /// Whether the client takes something long just now, and fast enough.
    pub(super) fn is_taking(&self) -> bool {
        self.0.waiting().is_taking
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        waiting.is_ended = true;
        let reader = waiting.reader.take();
        drop(waiting);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl Inbox {
    /// Waits for the next delivery; nothing, when there will be none. Nothing is lost if it is dropped.
    pub(crate) async fn next(&mut self) -> Option<Delivery> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Delivery>> {
        let mut waiting = self.0.waiting();
        if let Some(delivery) = waiting.take() {
            return Poll::Ready(Some(delivery));
        }
        if waiting.is_ended {
            return Poll::Ready(None);
        }
        if !waiting.reader.as_ref().is_some_and(|reader| reader.will_wake(context.waker())) {
            waiting.reader = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// The next delivery, if it is there.
    pub(crate) fn take(&mut self) -> Option<Delivery> {
        self.0.waiting().take()
    }

    /// When the last answer was offered, taken or not. How long answers have waited for their client since then says nothing
    /// of the server.
    pub(crate) fn answered(&self) -> Option<Instant> {
        self.0.waiting().answered
    }

    /// Whether everything was taken after something had been refused: then the publisher is to be told, and this says so
    /// once.
    pub(crate) fn has_caught_up(&mut self) -> bool {
        let mut waiting = self.0.waiting();
        waiting.deliveries.is_empty() && std::mem::take(&mut waiting.was_refused)
    }

    /// The client begins to take something long.
    pub(crate) fn taking(&self) -> Taking {
        self.0.waiting().is_taking = true;
        Taking(self.0.clone())
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        waiting.is_left = true;
        let left = std::mem::take(&mut waiting.deliveries);
        drop(waiting);
        drop(left);
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        self.0.waiting().is_taking = false;
    }
}

impl Waiting {
    fn take(&mut self) -> Option<Delivery> {
        let delivery = self.deliveries.pop_front()?;
        if self.deliveries.is_empty() && KEPT_ROOM < self.deliveries.capacity() {
            self.deliveries = VecDeque::new();
        }
        Some(delivery)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearth_engine::limits::HEAVY_BYTES;
    use hearth_engine::{Answer, ListenRefusal, Moment, Revoked, Ticket};
    use hearth_tree::{Path, Query};
    use std::pin::pin;
    use tokio::time::{Duration, timeout};

    /// A delivery that can be told from others by its number of items; a heavy one has one more for its weight.
    fn delivery(items: usize, is_heavy: bool) -> Delivery {
        let item = |reasons: Option<Arc<str>>| {
            Item::Revoked(Revoked {
                at: Path::root(),
                query: Arc::new(Query::EVERYTHING),
                tag: None,
                reasons,
            })
        };
        let weight = is_heavy.then(|| item(Some("x".repeat(HEAVY_BYTES + 1).into())));
        Delivery { moment: Moment::default(), items: (0..items).map(|_| item(None)).chain(weight).collect() }
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// A delivery of so many items has room.
        Offer(usize),
        /// So has one that is heavy.
        OfferHeavy(usize),
        /// It is refused.
        Refuse(usize),
        RefuseHeavy(usize),
        /// The next one has so many items.
        Take(usize),
        /// There is none.
        Empty,
        /// The publisher is to be told, or is not.
        CaughtUp(bool),
    }
    use Step::{CaughtUp, Empty, Offer, OfferHeavy, Refuse, RefuseHeavy, Take};

    #[test]
    fn what_finds_no_room_is_refused_until_everything_is_taken() {
        for steps in [
            &[Empty, CaughtUp(false), Offer(1), CaughtUp(false), Take(1), CaughtUp(false)][..],
            &[
                Offer(1),
                Offer(2),
                Refuse(3),
                Take(1),
                CaughtUp(false),
                Take(2),
                CaughtUp(true),
                CaughtUp(false),
            ],
            &[
                Offer(1),
                Offer(2),
                Refuse(3),
                Take(1),
                Take(2),
                CaughtUp(true),
                Offer(4),
                Take(4),
                CaughtUp(false),
            ],
            &[OfferHeavy(1), RefuseHeavy(1), Offer(2), Refuse(3), Take(2), Take(2), Empty, CaughtUp(true)],
            &[Offer(1), RefuseHeavy(2), Take(1), CaughtUp(true), OfferHeavy(2), Take(3), CaughtUp(false)],
        ] {
            let (outbox, mut inbox) = outbox(2);
            for step in steps {
                let is_right = match *step {
                    Offer(items) => outbox.offer(delivery(items, false)).is_ok(),
                    OfferHeavy(items) => outbox.offer(delivery(items, true)).is_ok(),
                    Refuse(items) => outbox.offer(delivery(items, false)).is_err(),
                    RefuseHeavy(items) => outbox.offer(delivery(items, true)).is_err(),
                    Take(items) => inbox.take().is_some_and(|taken| taken.items.len() == items),
                    Empty => inbox.take().is_none(),
                    CaughtUp(expected) => inbox.has_caught_up() == expected,
                };
                assert!(is_right, "{step:?} of {steps:?}");
            }
        }
    }

    #[tokio::test]
    async fn who_waits_hears_of_a_delivery_and_of_the_end() {
        let (outbox, mut inbox) = outbox(2);
        {
            let mut next = pin!(inbox.next());
            assert!(timeout(Duration::ZERO, &mut next).await.is_err(), "nothing was offered");
            outbox.offer(delivery(1, false)).expect("it has room");
            assert_eq!(next.await.map(|taken| taken.items.len()), Some(1));
        }
        outbox.offer(delivery(2, false)).expect("it has room");
        let ends = tokio::spawn(async move {
            let last = inbox.next().await.map(|taken| taken.items.len());
            (last, inbox.next().await.is_none())
        });
        tokio::task::yield_now().await;
        drop(outbox);
        assert_eq!(ends.await.expect("it does not panic"), (Some(2), true));
    }

    #[test]
    fn answers_are_from_when_they_were_offered_and_news_are_none() {
        let (outbox, mut inbox) = outbox(4);
        outbox.offer(delivery(1, false)).expect("it has room");
        assert_eq!(inbox.answered(), None);
        let before = Instant::now();
        let answer = Item::Answer(Answer::Listen(Ticket(1), Err(ListenRefusal::TooMany)));
        outbox.offer(Delivery { items: vec![answer], ..delivery(0, false) }).expect("it has room");
        let after = Instant::now();
        outbox.offer(delivery(1, false)).expect("it has room");
        while inbox.take().is_some() {}
        let answered = inbox.answered().expect("there was one");
        assert!(before <= answered && answered <= after);
    }

    #[test]
    fn whoever_has_left_is_offered_everything_and_keeps_nothing() {
        let (outbox, inbox) = outbox(1);
        outbox.offer(delivery(1, false)).expect("it has room");
        drop(inbox);
        for _ in 0..3 {
            outbox.offer(delivery(1, true)).expect("nobody is there to refuse it for");
        }
        assert!(outbox.0.waiting().deliveries.is_empty());
    }
}
