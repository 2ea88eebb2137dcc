//! Which sources have woken a task.
//!
//! Why: whoever waits for several things at once is woken by one of them, and then asks all. With a thousand connections
//! nothing of that is in a cache, and news, which are nearly always what wakes one, cost less to tell than to ask the others
//! in vain. So the others have a bell, and are asked when it has rung.

use futures_util::task::{ArcWake, AtomicWaker, waker_ref};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

/// The bell of some sources of one task.
pub(super) struct Bell {
    cord: Arc<Cord>,
    /// Whether there was room for what the sources say when that was asked last.
    had_room: bool,
}

/// What the sources hold.
struct Cord {
    is_rung: AtomicBool,
    task: AtomicWaker,
}

impl Bell {
    /// One that has rung: nobody has been asked yet.
    pub(super) fn new() -> Self {
        let cord = Cord { is_rung: AtomicBool::new(true), task: AtomicWaker::new() };
        Self { cord: Arc::new(cord), had_room: false }
    }

    /// Asks the sources if one of them has woken the task, if what was asked last had an answer, or if there is room where
    /// there was none: they need not all be asked without. Who asks must ask each that it has not an answer of.
    pub(super) fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        has_room: bool,
        ask: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let cord = &self.cord;
        // Before the look, so that who rings after it wakes the task.
        cord.task.register(context.waker());
        let has_room_again = has_room && !self.had_room;
        self.had_room = has_room;
        if !cord.is_rung.swap(false, Ordering::AcqRel) && !has_room_again {
            return Poll::Pending;
        }
        let answer = ask(&mut Context::from_waker(&waker_ref(cord)));
        if answer.is_ready() {
            // Nobody wakes the task for what is there already.
            cord.is_rung.store(true, Ordering::Release);
        }
        answer
    }
}

impl ArcWake for Cord {
    fn wake_by_ref(cord: &Arc<Self>) {
        cord.is_rung.store(true, Ordering::Release);
        cord.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicUsize;

    /// Wakes of the task.
    #[derive(Default)]
    struct Task(AtomicUsize);

    impl ArcWake for Task {
        fn wake_by_ref(task: &Arc<Self>) {
            task.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Has something now and then, and remembers nobody but who asked last and in vain.
    #[derive(Default)]
    struct Source {
        there: usize,
        waits: AtomicWaker,
        asked: usize,
    }

    impl Source {
        fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
            self.asked += 1;
            if self.there == 0 {
                self.waits.register(context.waker());
                return Poll::Pending;
            }
            self.there -= 1;
            Poll::Ready(())
        }

        fn come(&mut self) {
            self.there += 1;
            self.waits.wake();
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        News,
        Said,
        Tick,
        /// There is room, or none, for what is said; seen when the task goes on for another reason.
        Room(bool),
        /// What was woken goes on, for so many answers at the most before others have their turn.
        GoOn(usize),
        /// It goes on in another task.
        Move,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            Just(Step::News),
            Just(Step::Said),
            Just(Step::Tick),
            any::<bool>().prop_map(Step::Room),
            (1_usize..4).prop_map(Step::GoOn),
            Just(Step::Move),
        ]
    }

    /// A task as a connection is one: news without a bell, and behind it what is said and a clock.
    struct World {
        task: Arc<Task>,
        bell: Bell,
        news: Source,
        said: Source,
        clock: Source,
        has_room: bool,
        news_come_first: bool,
    }

    impl World {
        fn new() -> Self {
            Self {
                task: Arc::new(Task(AtomicUsize::new(1))),
                bell: Bell::new(),
                news: Source::default(),
                said: Source::default(),
                clock: Source::default(),
                has_room: true,
                news_come_first: true,
            }
        }

        fn next(&mut self) -> Poll<()> {
            let waker = waker_ref(&self.task);
            let context = &mut Context::from_waker(&waker);
            if self.news_come_first && self.news.poll(context).is_ready() {
                return Poll::Ready(());
            }
            let (said, clock, has_room) = (&mut self.said, &mut self.clock, self.has_room);
            let others = self.bell.poll(context, has_room, |context| {
                if has_room && said.poll(context).is_ready() {
                    return Poll::Ready(());
                }
                clock.poll(context)
            });
            if others.is_ready() || self.news_come_first {
                return others;
            }
            self.news.poll(context)
        }

        /// Goes on while it is woken; one that stops before it has asked in vain is woken again, as by a runtime.
        fn go_on(&mut self, answers_max: usize) {
            if self.task.0.swap(0, Ordering::Relaxed) == 0 {
                return;
            }
            for _ in 0..answers_max {
                if self.next().is_pending() {
                    return;
                }
            }
            self.task.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    proptest! {
        #[test]
        fn no_wake_is_lost(steps in prop::collection::vec(step(), 0..60)) {
            let mut world = World::new();
            for step in steps {
                match step {
                    Step::News => world.news.come(),
                    Step::Said => world.said.come(),
                    Step::Tick => world.clock.come(),
                    Step::Room(has_room) => {
                        world.has_room = has_room;
                        // Room comes with news.
                        world.news.come();
                    }
                    Step::GoOn(answers_max) => {
                        world.news_come_first = !world.news_come_first;
                        world.go_on(answers_max);
                    }
                    Step::Move => world.task = Arc::new(Task(AtomicUsize::new(1))),
                }
            }
            world.go_on(usize::MAX);
            prop_assert_eq!((world.news.there, world.clock.there), (0, 0));
            prop_assert!(world.said.there == 0 || !world.has_room);
            // What was not read for want of room is read with it.
            world.has_room = true;
            world.news.come();
            world.go_on(usize::MAX);
            prop_assert_eq!((world.news.there, world.said.there, world.clock.there), (0, 0, 0));
        }
    }

    #[test]
    fn who_has_not_rung_is_not_asked() {
        let mut world = World::new();
        world.go_on(usize::MAX);
        for _ in 0..10 {
            world.news.come();
            world.go_on(usize::MAX);
        }
        assert_eq!((world.news.asked, world.said.asked, world.clock.asked), (21, 1, 1));
        world.said.come();
        world.go_on(usize::MAX);
        assert_eq!((world.said.asked, world.clock.asked), (3, 2));
    }
}
