//! Routes each durable commit to the listeners it touches.
//!
//! Why after the log: a client must never be shown a value that a crash can take back.

mod judging;
mod lagging;
mod listening;
mod round;
mod routing;
mod trail;
mod waiting;

pub use listening::{Begun, Listen, ListenRefusal};
pub use waiting::WantedIndex;

use crate::delivery::{Answer, Delivery, Item, Outboxes};
use crate::door::{Identity, Pass, WatchedDoor};
use crate::forgotten::Forgotten;
use crate::indexes::Indexes;
use crate::log::Durable;
use crate::onlooker::Onlooker;
use crate::outdated::Outdated;
use crate::own_rules::Governed;
use crate::path_map::PathMap;
use crate::published::Published;
use crate::request::{SessionId, Ticket, Verdict};
use crate::standing::{ListenerId, Standing, Tag};
use hearth_tree::{Path, Query};
use lagging::{Lag, Lagging};
use round::{Load, Round};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use trail::Trail;
use waiting::Building;

/// What everybody may see of one database, and who is told when it changes.
#[derive(Debug)]
pub struct Publisher {
    published: Arc<Published>,
    /// Who looks on while rules are asked.
    onlooker: Option<Arc<dyn Onlooker>>,
    sessions: BTreeMap<SessionId, Session>,
    listeners: BTreeMap<ListenerId, Listener>,
    listeners_made: u64,
    places: PathMap<Standing>,
    indexes: Indexes,
    /// Listeners whose permission depends on a place.
    looks: PathMap<BTreeSet<ListenerId>>,
    /// Listeners whose permission depends on the time.
    clock_watchers: BTreeSet<ListenerId>,
    /// Listeners that are suspended: not served until they are judged again, because rules or identity have changed since.
    unjudged: BTreeSet<ListenerId>,
    judged: u64,
    /// What sessions that have ended listened to, as far as it is not forgotten yet. Nobody is told of it any more.
    ended: Vec<Listens>,
    lagging: Lagging,
    building: Vec<Building>,
    /// To be built, and not taken yet.
    wanted: Vec<WantedIndex>,
    /// What was replaced and not taken yet.
    outdated: Vec<Outdated>,
    /// Which places commits have touched, once somebody has asked to go on later from where it was.
    trail: Option<Trail>,
    /// How often other rules have begun.
    rules_begun: u64,
}

/// What a session listens to.
type Listens = BTreeMap<(Path, Option<Tag>), ListenerId>;

#[derive(Debug)]
struct Session {
    identity: Identity,
    listens: Listens,
    /// What the places and queries of its listeners weigh together.
    listens_bytes: usize,
    forgotten: Forgotten,
    lag: Option<Lag>,
    /// What it asks to listen to, from the first on that needs an index that is being built.
    waiting: VecDeque<(Ticket, Listen)>,
}

#[derive(Debug)]
struct Listener {
    session: SessionId,
    at: Path,
    query: Arc<Query>,
    tag: Option<Tag>,
    pass: Pass,
    /// Whether it has not been shown anything yet, because there was no room for that.
    is_new: bool,
    /// What its place and query weigh.
    bytes: usize,
}

impl Publisher {
    /// Goes on from what is published. The tree is the committer's own ([`crate::Committer::tree`]) and no copy of it:
    /// later trees share its nodes, and the indexes know by that what has not changed.
    pub fn new(published: Published) -> Self {
        Self {
            published: Arc::new(published),
            onlooker: None,
            sessions: BTreeMap::new(),
            listeners: BTreeMap::new(),
            listeners_made: 0,
            places: PathMap::new(),
            indexes: Indexes::default(),
            looks: PathMap::new(),
            clock_watchers: BTreeSet::new(),
            unjudged: BTreeSet::new(),
            judged: 0,
            ended: Vec::new(),
            lagging: Lagging::default(),
            building: Vec::new(),
            wanted: Vec::new(),
            outdated: Vec::new(),
            trail: None,
            rules_begun: 0,
        }
    }

    /// Lets somebody look on from now on.
    pub fn seen_by(&mut self, onlooker: Arc<dyn Onlooker>) {
        self.onlooker = Some(onlooker);
    }

    fn door(&self) -> WatchedDoor<'_> {
        self.published.door().seen_by(self.onlooker.as_deref())
    }

    /// What everybody may see now; readers load it and wait for nobody.
    pub const fn published(&self) -> &Arc<Published> {
        &self.published
    }

    /// How many listen now.
    pub fn listeners_now(&self) -> usize {
        self.listeners.len()
    }

    /// How many times a listener was judged again since the start: what changes cost those who only listen.
    pub const fn judged_total(&self) -> u64 {
        self.judged
    }

    /// A session begins.
    pub fn open(&mut self, session: SessionId, identity: Identity) {
        let (listens, forgotten) = (BTreeMap::new(), Forgotten::default());
        let waiting = VecDeque::new();
        let opened = Session { identity, listens, listens_bytes: 0, forgotten, lag: None, waiting };
        self.sessions.insert(session, opened);
    }

    /// A session has ended. It is told nothing more, and its listeners are gone; those of many in slices: see
    /// [`Publisher::settle_some`].
    pub fn close(&mut self, session: SessionId) {
        let Some(own) = self.sessions.remove(&session) else { return };
        if let Some(lag) = own.lag {
            self.lagging.end(session, &lag);
            self.outdated.extend(lag.into_outdated());
        }
        self.ended.push(own.listens);
        self.forget_some();
    }

    /// Gives a session what is published, in its turn. Why not just [`Publisher::published`]: that may be ahead of the news
    /// on their way to the session, and a client that reads a value and is then told an older one believes the older.
    pub fn read(&mut self, session: SessionId, ticket: Ticket, outboxes: &mut impl Outboxes) {
        let published = self.published.clone();
        let items = vec![Item::Answer(Answer::Read(ticket, published.clone()))];
        self.hand_out(
            Round::from([(session, Delivery { items, ..Delivery::default() })]),
            &published,
            outboxes,
        );
    }

    /// Shows a group of commits, one after the other, and answers those who asked for them. A session is told what several
    /// of them say in one delivery, as long as they are small. Where other rules begin among them, nobody is told anything
    /// from there on that they do not allow: who listens is suspended until it is judged by them, at the latest when there
    /// is news for it; see [`Publisher::settle_some`].
    pub fn publish(&mut self, now_ms: i64, group: Durable<Vec<Verdict>>, outboxes: &mut impl Outboxes) {
        // Nothing grows where nobody takes it.
        self.outdated.clear();
        let (mut round, mut load) = (Round::new(), Load::default());
        // What those have seen who find no room for the round.
        let mut seen = self.published.clone();
        for verdict in group.into_inner() {
            if let Some(commit) = verdict.commit {
                let before = self.published.clone();
                let tree = verdict.tree;
                debug_assert!(tree == before.tree.apply(&commit.change), "the log tells another history");
                let own = Load::of(&commit.change, &before.tree);
                if !load.take(own) {
                    self.hand_out(std::mem::take(&mut round), &seen, outboxes);
                    (seen, load) = (before.clone(), own);
                }
                self.replaced(&commit.change, &before.tree);
                let indexes = self.route(now_ms, &commit.change, &before.tree, &tree, &mut round);
                let governing = before.governing.clone();
                if own.is_outdating() {
                    self.outdated.push(Outdated::new(before, indexes));
                }
                if let Some(trail) = &mut self.trail {
                    trail.add(commit.revision, &commit.change);
                }
                self.published = Arc::new(Published { revision: commit.revision, tree, governing });
                outboxes.show(&self.published);
            }
            if let Some(governed) = verdict.governed {
                let judges = match governed {
                    Governed::ByDefault(_) | Governed::Own(..) => true,
                    Governed::Set(_) => false,
                };
                let mut published = Published::clone(&self.published);
                published.governing.follow(governed);
                self.published = Arc::new(published);
                outboxes.show(&self.published);
                if judges {
                    self.rules_begun += 1;
                    self.trail = self.trail.take().map(|_| Trail::new(self.published.revision));
                    self.unjudged = self.listeners.keys().copied().collect();
                }
            }
            if let Some(ticket) = verdict.ticket {
                let answer = Item::Answer(Answer::Write(ticket, verdict.outcome));
                round.entry(verdict.session).or_default().items.push(answer);
            }
        }
        self.hand_out(round, &seen, outboxes);
    }

    /// What was large and is not shown any more, since the last time: whoever takes it drops it where nobody waits.
    pub fn take_outdated(&mut self) -> Vec<Outdated> {
        std::mem::take(&mut self.outdated)
    }
}
