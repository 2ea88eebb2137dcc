//! Many who make conditional writes at one place: everybody gets through, and nobody can hold up the rest.

use hearth_engine::limits::{PARKED_MAX, TURN_MS};
use hearth_engine::{Act, Committer, Door, Identity, Refusal, Request, Revision, SessionId, Ticket, Verdict};
use hearth_tests::dice::Dice;
use hearth_tests::twin::path;
use hearth_tree::{Assignment, Hash, Node, Scalar, Snapshot, Write};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// After so many refusals the SDKs give up (wire reference 4.5).
const ATTEMPTS_MAX: usize = 25;
const SYNC_MS: i64 = 1;

fn node(value: i64) -> Node {
    Scalar::Number(value.into()).into()
}

fn write(at: &str, value: i64) -> Write {
    Write::Set(Assignment::value(path(at), Some(node(value).into())).expect("it is not deep"))
}

fn write_if(session: u64, ticket: u64, at: &str, hash: Option<Hash>, value: i64) -> Request {
    let act = Act::WriteIf { at: path(at), hash, write: write(at, value) };
    let (session, ticket) = (SessionId(session), Some(Ticket(ticket)));
    Request { session, ticket, identity: Identity::nobody(), act }
}

fn committer() -> Committer {
    Committer::new(Door::Open, Revision::default(), Snapshot::default())
}

/// Somebody who counts up: reads what was pushed, writes one more if that is still there, and tries again at once.
struct Counter {
    latency_ms: i64,
    value: Option<i64>,
    done: u64,
    attempts: usize,
    attempts_most: usize,
    is_liar: bool,
}

#[derive(Clone, Copy)]
enum Event {
    Arrives { who: usize, known: Option<i64> },
    Pushed { who: usize, value: i64 },
    Answered { who: usize, is_done: bool },
    Expire,
}

struct Race {
    now_ms: i64,
    events: BTreeMap<(i64, u64), Event>,
    events_made: u64,
    /// For when the committer is to be asked again.
    expires: BTreeSet<i64>,
    committer: Committer,
    counters: Vec<Counter>,
    goal: u64,
}

impl Race {
    fn new(latencies: &[i64], goal: u64) -> Self {
        let counter = |&latency_ms| Counter {
            latency_ms,
            value: None,
            done: 0,
            attempts: 0,
            attempts_most: 0,
            is_liar: false,
        };
        Self {
            now_ms: 0,
            events: BTreeMap::new(),
            events_made: 0,
            expires: BTreeSet::new(),
            committer: committer(),
            counters: latencies.iter().map(counter).collect(),
            goal,
        }
    }

    fn after(&mut self, wait_ms: i64, event: Event) {
        self.events_made += 1;
        self.events.insert((self.now_ms + wait_ms, self.events_made), event);
    }

    fn send(&mut self, who: usize) {
        let Counter { latency_ms, value, is_liar, .. } = self.counters[who];
        self.counters[who].attempts += 1;
        let known = if is_liar { Some(-1) } else { value };
        self.after(latency_ms, Event::Arrives { who, known });
    }

    fn run(&mut self, dice: &mut Dice) {
        for who in 0..self.counters.len() {
            // Who comes first is a matter of chance.
            let latency_ms = self.counters[who].latency_ms;
            self.counters[who].attempts = 1;
            let start = i64::from(dice.percent(50)) + latency_ms;
            self.after(start, Event::Arrives { who, known: None });
        }
        while let Some(((at_ms, _), event)) = self.events.pop_first() {
            self.now_ms = at_ms;
            assert!(at_ms < 600_000, "nobody gets through");
            let honest = self.counters.iter().filter(|counter| !counter.is_liar);
            if honest.map(|counter| counter.done).min() == Some(self.goal) {
                return;
            }
            self.happen(event);
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrives { who, known } => {
                let hash = known.map(|value| node(value).hash());
                let request = write_if(who as u64, 0, "n", hash, known.unwrap_or(0) + 1);
                let verdicts = self.committer.decide(self.now_ms, request);
                self.tell(&verdicts);
            }
            Event::Expire => {
                let verdicts = self.committer.expire(self.now_ms);
                self.tell(&verdicts);
            }
            Event::Pushed { who, value } => self.counters[who].value = Some(value),
            Event::Answered { who, is_done } => {
                let counter = &mut self.counters[who];
                counter.attempts_most = counter.attempts_most.max(counter.attempts);
                if is_done {
                    counter.attempts = 0;
                    counter.done += 1;
                }
                if counter.done < self.goal {
                    self.send(who);
                }
            }
        }
        if let Some(at_ms) = self.committer.next_ms() {
            assert!(self.now_ms <= at_ms, "what is due at {at_ms} is not done at {}", self.now_ms);
            if self.expires.insert(at_ms) {
                self.after(at_ms - self.now_ms, Event::Expire);
            }
        }
    }

    fn tell(&mut self, verdicts: &[Verdict]) {
        for verdict in verdicts {
            if let Some(commit) = &verdict.commit {
                let value = i64::try_from(commit.revision.get()).expect("a small number");
                for who in 0..self.counters.len() {
                    let wait_ms = SYNC_MS + self.counters[who].latency_ms;
                    self.after(wait_ms, Event::Pushed { who, value });
                }
            }
            let who = usize::try_from(verdict.session.0).expect("a small number");
            let wait_ms = SYNC_MS + self.counters[who].latency_ms;
            self.after(wait_ms, Event::Answered { who, is_done: verdict.outcome.is_ok() });
        }
    }
}

#[test]
fn ten_who_count_up_together_lose_nothing_and_nobody_gives_up() {
    for latency_ms in [0, 1, 5, 20, 35, 50] {
        for seed in 0..5 {
            let mut dice = Dice::new(seed);
            let same = vec![latency_ms; 10];
            let spread: Vec<i64> = (0..10).map(|who| latency_ms * who / 9).collect();
            for latencies in [same, spread] {
                let mut race = Race::new(&latencies, 100);
                race.run(&mut dice);
                let what = format!("seed {seed}, latencies {latencies:?}");
                assert_eq!(race.committer.revision(), Revision::new(1_000), "{what}");
                let attempts: Vec<_> = race.counters.iter().map(|counter| counter.attempts_most).collect();
                assert!(attempts.iter().all(|&most| most <= ATTEMPTS_MAX), "{what}: {attempts:?}");
            }
        }
    }
}

#[test]
fn who_is_wrong_again_and_again_does_not_hold_up_the_others() {
    for liars in [1, 3] {
        let mut race = Race::new(&[5; 8], 20);
        for counter in &mut race.counters[..liars] {
            counter.is_liar = true;
            counter.latency_ms = 1;
        }
        race.run(&mut Dice::new(1));
        for counter in &race.counters[liars..] {
            assert_eq!(counter.done, 20, "{liars} liars");
            assert!(counter.attempts_most <= ATTEMPTS_MAX, "{liars} liars: {}", counter.attempts_most);
        }
    }
}

#[test]
fn who_disappears_is_waited_for_once_and_many_hardly_longer() {
    for gone in [1, 2, 50] {
        let mut committer = committer();
        let foreign = Some(node(7).hash());
        let mut last_ms = 0;
        for session in 0..gone {
            last_ms = i64::try_from(session).expect("a small number");
            // Who must wait is refused when its turn comes.
            committer.decide(last_ms, write_if(session, 0, "n", foreign, 8));
        }
        let answered = committer.decide(last_ms, write_if(1_000, 1, "n", None, 1));
        let mut answered: VecDeque<Verdict> = answered.into();
        let mut now_ms = last_ms;
        while !answered.iter().any(|verdict| verdict.ticket == Some(Ticket(1))) {
            now_ms = committer.next_ms().unwrap_or_else(|| panic!("{gone} gone: nobody is waited for"));
            answered.extend(committer.expire(now_ms));
        }
        let waited_ms = now_ms - last_ms;
        // Each of them is refused in its turn, for which it has come; then it is waited for half as long as the last.
        let most_ms = if gone == 1 { TURN_MS } else { 2 * TURN_MS + i64::try_from(gone).expect("few") };
        assert!(waited_ms <= most_ms, "{gone} gone: {waited_ms} ms");
    }
}

#[test]
fn other_writes_and_other_places_wait_for_nobody() {
    let foreign = Some(node(7).hash());
    let mut committer = committer();
    let refused = committer.decide(0, write_if(1, 1, "n", foreign, 8));
    assert!(matches!(refused[..], [Verdict { outcome: Err(Refusal::Stale { .. }), .. }]), "{refused:?}");
    for (what, request, waits) in [
        ("the same place", write_if(2, 2, "n", None, 1), true),
        ("behind it in the same session", write_if(2, 3, "m", None, 1), true),
        ("another place", write_if(3, 4, "m", None, 1), false),
        ("below", write_if(4, 5, "n/a", None, 1), false),
        (
            "an unconditional write",
            Request {
                session: SessionId(5),
                ticket: None,
                identity: Identity::nobody(),
                act: Act::Write(write("n", 3)),
            },
            false,
        ),
        ("who was refused", write_if(1, 6, "n", Some(node(3).hash()), 1), false),
    ] {
        let verdicts = committer.decide(1, request);
        assert_eq!(verdicts.is_empty(), waits, "{what}: {verdicts:?}");
    }
    // The last one has had its turn; those behind it were decided with it.
    assert_eq!(committer.next_ms(), None);
}

#[test]
fn requests_of_one_session_keep_their_order_however_many_wait() {
    let mut committer = committer();
    committer.decide(0, write_if(1, 0, "n", Some(node(7).hash()), 8));
    let mut tickets = Vec::new();
    let count = PARKED_MAX as u64 + 10;
    for ticket in 0..count {
        let verdicts = committer.decide(1, write_if(2, ticket, "n", None, 1));
        tickets.extend(verdicts.into_iter().filter_map(|verdict| verdict.ticket));
    }
    tickets.extend(committer.expire(TURN_MS * 3).into_iter().filter_map(|verdict| verdict.ticket));
    assert!(tickets.iter().map(|ticket| ticket.0).eq(0..count), "{} of {count}", tickets.len());
}
