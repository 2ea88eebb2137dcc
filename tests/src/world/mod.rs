//! A whole server without sockets, files and threads, and its clients, in one thread and from one seed: committer, a
//! log that fails, publisher, short queues, and clients that show what they are told. The model judges every step.
//!
//! Nothing here knows how the engine keeps its books. What a client shows is made of what it was sent, what is right
//! is replayed by the model, and what may be shown is asked of the rules anew.

mod client;
mod crash;
mod disk;
mod history;
mod judge;
mod law;
mod mirror;
mod outbox;
mod whim;
mod wish;

use crate::dice::Dice;
use crate::twin;
use client::{Ask, Client, Deed};
use disk::Disk;
use hearth_engine::limits::LAG_MS_MAX;
use hearth_engine::{
    Act, Committer, DatabaseId, Decided, Durable, Identity, Listen, LogStep, Published, Publisher, Request,
    Revision, SessionId, Ticket, Verdict,
};
use hearth_tree::Snapshot;
use history::History;
use judge::When;
use law::{Amendment, Law, Laws};
use outbox::Boxes;
use std::collections::{BTreeMap, VecDeque};

/// Most requests that a client sends before the server reads one.
const SENT_MAX: usize = 6;

/// The server, its clients, and what the model makes of it.
pub struct World {
    dice: Dice,
    now_ms: i64,
    /// By which writes are judged.
    laws: Laws,
    /// By which what is published may be read.
    shown_laws: Laws,
    /// What is decided and not published.
    laws_under_way: VecDeque<Amendment>,
    /// How many laws there were before the one by which writes are judged, and which of them judged a revision.
    laws_made: usize,
    judged_by: BTreeMap<usize, usize>,
    committer: Committer,
    /// The tree as it is decided.
    tree: Snapshot,
    disk: Disk,
    log: LogStep<Disk>,
    publisher: Publisher,
    boxes: Boxes,
    clients: Vec<Client>,
    sessions_made: u64,
    tickets_made: u64,
    /// Decided, not in the log.
    decided: VecDeque<Verdict>,
    /// In the log, not published.
    durable: VecDeque<Kept>,
    /// What the model has to do when a request is decided, and who asks.
    asked: BTreeMap<Ticket, (Identity, Deed)>,
    /// The revision that a client must see before it is answered.
    owed: BTreeMap<Ticket, usize>,
    history: History,
    /// What has happened, to tell lives apart in which nothing happens.
    pub counts: Counts,
}

/// A group that is in the log.
#[derive(Debug)]
struct Kept {
    /// Whose requests are in it.
    whose: Vec<SessionId>,
    /// How often the law was to change in it.
    amended: usize,
    /// What became of that.
    amendments: Vec<Amendment>,
    group: Durable<Vec<Verdict>>,
}

/// Whether time goes on while everything comes to rest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    Goes,
    Stands,
}

/// How often something has happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Commits.
    pub commits: usize,
    /// Answers that a client got.
    pub answers: usize,
    /// Pushes that a client got.
    pub pushes: usize,
    /// Refusals because of a hash.
    pub stale: usize,
    /// Refusals because of the rules.
    pub denied: usize,
    /// Listeners that lost their permission.
    pub revoked: usize,
    /// Sessions that caught up with one difference.
    pub caught_up: usize,
    /// Sessions whose armed writes were made.
    pub fired: usize,
    /// Sessions that were given up because they had fallen behind for too long.
    pub cut: usize,
    /// Crashes.
    pub crashes: usize,
    /// Rules that were stored, or taken back.
    pub stored: usize,
    /// Crashes after which stored rules decided.
    pub restored: usize,
}

impl Counts {
    /// Whether everything has happened that does not take rules.
    pub const fn all_happened(&self) -> bool {
        let Self {
            commits,
            answers,
            pushes,
            stale,
            denied: _,
            revoked: _,
            caught_up,
            fired,
            cut,
            crashes,
            stored: _,
            restored: _,
        } = *self;
        0 < commits
            && 0 < answers
            && 0 < pushes
            && 0 < stale
            && 0 < caught_up
            && 0 < fired
            && 0 < cut
            && 0 < crashes
    }
}

impl std::ops::Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            commits: self.commits + other.commits,
            answers: self.answers + other.answers,
            pushes: self.pushes + other.pushes,
            stale: self.stale + other.stale,
            denied: self.denied + other.denied,
            revoked: self.revoked + other.revoked,
            caught_up: self.caught_up + other.caught_up,
            fired: self.fired + other.fired,
            cut: self.cut + other.cut,
            crashes: self.crashes + other.crashes,
            stored: self.stored + other.stored,
            restored: self.restored + other.restored,
        }
    }
}

impl World {
    /// A server where everybody may do everything.
    pub fn open(seed: u64) -> Self {
        Self::new(Dice::new(seed), Law::None)
    }

    /// A server with rules, who change.
    pub fn ruled(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let law = Law::random(&mut dice);
        Self::new(dice, law)
    }

    fn new(dice: Dice, law: Law) -> Self {
        let disk = Disk::default();
        let door = law.door();
        let mut world = Self {
            dice,
            now_ms: 1_000_000,
            shown_laws: Laws { default: law.clone(), own: None },
            laws: Laws { default: law, own: None },
            laws_under_way: VecDeque::new(),
            laws_made: 0,
            judged_by: BTreeMap::new(),
            tree: Snapshot::default(),
            committer: Committer::new(door.clone(), Revision::default(), Snapshot::default()),
            log: LogStep::new(disk.clone()),
            disk,
            publisher: Publisher::new(Published::empty(door)),
            boxes: Boxes::default(),
            clients: Vec::new(),
            sessions_made: 0,
            tickets_made: 0,
            decided: VecDeque::new(),
            durable: VecDeque::new(),
            asked: BTreeMap::new(),
            owed: BTreeMap::new(),
            history: History::default(),
            counts: Counts::default(),
        };
        (0..3).for_each(|_| world.connect());
        world
    }

    /// Lets something happen.
    pub fn step(&mut self) {
        match self.dice.below(1000) {
            0..280 => self.ask(),
            280..540 => self.serve(),
            540..660 => self.keep(),
            660..760 => self.publish(),
            760..900 => self.read(),
            900..950 => self.drain(),
            950..975 => self.pass_time(),
            975..977 => self.tick(),
            977 => self.idle(),
            978..980 => self.settle_some(),
            980..985 => self.change_law(),
            985..992 => self.connect(),
            992..997 => self.disconnect(),
            997 => self.disk.fail_after(self.dice.below(4)),
            _ => self.crash(),
        }
        if self.log.stopped().is_some() && self.dice.percent(10) {
            self.crash();
        }
    }

    /// Lets everything come to its end, and compares.
    pub fn settle(&mut self) {
        if self.log.stopped().is_some() {
            self.crash();
        }
        self.disk.mend();
        self.rest(Time::Goes);
        // Who is still listening shows it.
        for _ in 0..4 {
            self.ask_to_write();
            self.rest(Time::Goes);
        }
        self.tick();
        self.rest(Time::Stands);
        self.judge_rest();
    }

    fn rest(&mut self, time: Time) {
        for _ in 0..10_000 {
            if time == Time::Goes {
                self.pass_time();
            }
            for who in 0..self.clients.len() {
                self.serve_client(who);
                self.drain_client(who);
                while self.read_client(who) {}
            }
            self.keep();
            self.publish();
            self.settle_some();
            let is_idle = |client: &Client| {
                client.sent.is_empty() && client.under_way == 0 && self.boxes.is_idle(client.session)
            };
            let under_way = self.decided.len() + self.durable.len() + self.asked.len();
            // Requests of who is gone may still wait for their turn.
            let is_waiting = time == Time::Goes && self.committer.next_ms().is_some();
            let is_at_rest = self.publisher.is_settled() && !is_waiting;
            if self.clients.iter().all(is_idle) && under_way == 0 && is_at_rest {
                return;
            }
        }
        panic!("the server does not come to rest");
    }

    fn connect(&mut self) {
        if 5 <= self.clients.len() {
            return;
        }
        self.sessions_made += 1;
        let session = SessionId(self.sessions_made);
        let identity = self.laws.now().identity(&mut self.dice);
        self.boxes.open(session, 1 + self.dice.below(4));
        self.publisher.open(session, identity.clone());
        self.clients.push(Client::new(session, identity));
    }

    fn disconnect(&mut self) {
        if self.clients.is_empty() {
            return;
        }
        let who = self.dice.below(self.clients.len());
        self.boxes.close(self.clients[who].session);
        self.publisher.close(self.clients[who].session);
        self.end(who);
    }

    /// The connection of a client has ended.
    fn end(&mut self, who: usize) {
        let client = self.clients.swap_remove(who);
        let act = Act::End;
        let request = Request { session: client.session, ticket: None, identity: client.identity, act };
        let verdicts = self.committer.decide(self.now_ms, request);
        self.judge_verdicts(verdicts);
    }

    fn any_client(&mut self) -> Option<usize> {
        (!self.clients.is_empty()).then(|| self.dice.below(self.clients.len()))
    }

    fn serve(&mut self) {
        if let Some(who) = self.any_client() {
            self.serve_client(who);
        }
    }

    /// The server reads the next request of a client.
    fn serve_client(&mut self, who: usize) {
        let client = &mut self.clients[who];
        // What is no write waits until the writes before it are published.
        let must_wait = |ask: &Ask| !matches!(ask, Ask::Decide(..)) && 0 < client.under_way;
        if client.sent.front().is_none_or(must_wait) {
            return;
        }
        let session = client.session;
        match client.sent.pop_front().expect("it has just been looked at") {
            Ask::Decide(ticket, deed) => {
                client.under_way += 1;
                let act = deed.act();
                let identity = client.identity.clone();
                self.asked.insert(ticket, (identity.clone(), deed));
                let request = Request { session, ticket: Some(ticket), identity, act };
                let verdicts = self.committer.decide(self.now_ms, request);
                self.judge_verdicts(verdicts);
            }
            Ask::Listen { ticket, at, query, tag, known } => {
                let listen = Listen {
                    at: twin::path(&at),
                    query: twin::tree_query(&query),
                    tag,
                    known,
                    held: None,
                    left: None,
                };
                client.standing.insert((at, tag), query);
                self.owed.insert(ticket, self.published());
                self.publisher.listen(self.now_ms, session, ticket, listen, &mut self.boxes);
            }
            Ask::Unlisten(at, tag) => {
                self.publisher.unlisten(session, &twin::path(&at), tag);
                client.standing.remove(&(at, tag));
            }
            Ask::Identify(identity) => {
                client.identity = identity.clone();
                self.publisher.identify(self.now_ms, session, identity, &mut self.boxes);
            }
        }
        self.judge_fresh(When::Now);
    }

    /// A group is appended to the log.
    fn keep(&mut self) {
        let most = self.laws.now().group(&mut self.dice);
        let group: Vec<Verdict> = self.decided.drain(..most.min(self.decided.len())).collect();
        if group.is_empty() {
            return;
        }
        let whose = group.iter().filter(|verdict| verdict.ticket.is_some());
        let whose = whose.map(|verdict| verdict.session).collect();
        let amended = group.iter().filter(|verdict| verdict.governed.is_some()).count();
        let mut amendments: Vec<_> = self.laws_under_way.drain(..amended).collect();
        let group = Decided { database: DatabaseId(0), made: None, verdicts: group };
        let (_, group) = self.log.keep(vec![group]).pop().expect("one database was handed in");
        if self.log.stopped().is_some() {
            // What cannot be kept is not shown. What is the default was never to be kept.
            amendments.retain(|amendment| matches!(amendment, Amendment::Default(_)));
        }
        self.durable.push_back(Kept { whose, amended, amendments, group });
    }

    fn publish(&mut self) {
        let Some(Kept { whose, amended: _, amendments, group }) = self.durable.pop_front() else { return };
        for amendment in amendments {
            self.shown_laws.amend(amendment);
        }
        let before = self.published();
        self.publisher.publish(self.now_ms, group, &mut self.boxes);
        if before < self.published() && self.laws.now().has_rules() {
            let durable: usize = self.durable.iter().map(|kept| kept.amended).sum();
            let shown_law = self.laws_made - self.laws_under_way.len() - durable;
            assert_eq!(
                self.judged_by[&self.published()],
                shown_law,
                "shown under another law than it was judged by"
            );
        }
        for client in &mut self.clients {
            client.under_way -= whose.iter().filter(|&&session| session == client.session).count();
        }
        self.judge_published();
        self.judge_fresh(When::Now);
    }

    fn drain(&mut self) {
        if let Some(who) = self.any_client() {
            self.drain_client(who);
        }
    }

    fn drain_client(&mut self, who: usize) {
        let session = self.clients[who].session;
        if self.boxes.take_refused(session) {
            self.counts.caught_up += 1;
            self.publisher.drained(self.now_ms, session, &mut self.boxes);
            self.judge_fresh(When::Earlier);
        }
    }

    fn pass_time(&mut self) {
        self.now_ms += 1 + i64::try_from(self.dice.below(60)).expect("it is less than 60");
        let verdicts = self.committer.expire(self.now_ms);
        self.judge_verdicts(verdicts);
    }

    fn tick(&mut self) {
        self.publisher.tick(self.now_ms, &mut self.boxes);
        for session in std::mem::take(&mut self.boxes.cut) {
            self.counts.cut += 1;
            let who = self.clients.iter().position(|client| client.session == session);
            self.end(who.expect("queues are those of clients"));
        }
        self.judge_fresh(When::Now);
    }

    /// Nobody does anything for so long that trees are no longer kept for who has fallen behind, or that it is given up.
    fn idle(&mut self) {
        for _ in 0..=self.dice.below(5) {
            self.tick();
            self.now_ms += LAG_MS_MAX;
            let verdicts = self.committer.expire(self.now_ms);
            self.judge_verdicts(verdicts);
        }
        self.tick();
    }

    fn change_law(&mut self) {
        let other = self.laws.default.other(&mut self.dice);
        let version = self.committer.governing().own().version;
        let if_version = self.dice.percent(50).then(|| version + u64::from(self.dice.percent(30)));
        let (amendment, act) = match self.dice.below(5) {
            0..2 => (Amendment::Default(other.clone()), Act::Govern(other.door())),
            2..4 => (
                Amendment::Own(other.rules().map(Law::Rules)),
                Act::Store { rules: other.rules(), if_version },
            ),
            _ => (Amendment::Own(None), Act::Store { rules: None, if_version }),
        };
        let is_stored = matches!(act, Act::Store { .. });
        let is_refused = is_stored && if_version.is_some_and(|expected| expected != version);
        // Nobody has this session, so nobody is told.
        let (session, identity) = (SessionId(0), Identity::Admin);
        let verdicts = self.committer.decide(self.now_ms, Request { session, ticket: None, identity, act });
        let own = verdicts.iter().find(|verdict| verdict.session == session).expect("it waits for nobody");
        assert_eq!(own.outcome.is_err(), is_refused, "{own:?}");
        let had_own = self.laws.own.is_some();
        let changes = !is_refused && !matches!((&amendment, had_own), (Amendment::Own(None), false));
        assert_eq!(own.governed.is_some(), changes, "{own:?}");
        if let Ok(accepted) = &own.outcome {
            assert_eq!(accepted.rules_version, version + u64::from(changes && is_stored), "versions count");
        }
        // What was parked before it was decided before it.
        let at = verdicts.iter().position(|verdict| verdict.session == session).expect("it was found");
        let mut verdicts = verdicts;
        let after = verdicts.split_off(at);
        self.judge_verdicts(verdicts);
        if changes {
            self.counts.stored += usize::from(is_stored);
            self.laws.amend(amendment.clone());
            self.laws_under_way.push_back(amendment);
            self.laws_made += 1;
        }
        self.judge_verdicts(after);
    }

    /// The next of those who are suspended because the law has changed are judged by it.
    fn settle_some(&mut self) {
        self.publisher.settle_some(self.now_ms, &mut self.boxes);
        self.judge_fresh(When::Now);
    }

    fn published(&self) -> usize {
        usize::try_from(self.publisher.published().revision.get()).expect("lives are short")
    }
}

impl Deed {
    fn act(&self) -> Act {
        match self {
            Self::Write(wish) => Act::Write(wish.to_write()),
            Self::WriteIf(at, hash, wish) => {
                Act::WriteIf { at: twin::path(at), hash: *hash, write: wish.to_write() }
            }
            Self::Arm(wish) => Act::Arm(wish.to_write()),
            Self::Disarm(at) => Act::Disarm(twin::path(at)),
        }
    }
}
