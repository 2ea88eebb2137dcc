//! Routes each durable commit to the listeners it touches.
//!
//! Why after the log: a client must never be shown a value that a crash can take back. Why a listen is one step here:
//! between the snapshot that it is given and the commits that follow nothing can be lost or come twice.

use crate::body::{Body, Content};
use crate::delivery::{Answer, Delivery, Item, Outboxes, Push, Revoked};
use crate::door::{Denied, Door, Identity, Pass};
use crate::forgotten::Forgotten;
use crate::indexes::Indexes;
use crate::limits::LISTENS_MAX;
use crate::log::Durable;
use crate::path_map::PathMap;
use crate::published::Published;
use crate::request::{SessionId, Ticket, Verdict};
use crate::standing::{ListenerId, Standing, Tag};
use hearth_tree::{Change, Hash, Path, Query, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What everybody may see of one database, and who is told when it changes.
#[derive(Debug)]
pub struct Publisher {
    door: Door,
    published: Arc<Published>,
    sessions: BTreeMap<SessionId, Session>,
    listeners: BTreeMap<ListenerId, Listener>,
    listeners_made: u64,
    places: PathMap<Standing>,
    indexes: Indexes,
    /// Listeners whose permission depends on a place.
    looks: PathMap<BTreeSet<ListenerId>>,
    /// Listeners whose permission depends on the time.
    clock_watchers: BTreeSet<ListenerId>,
}

#[derive(Debug)]
struct Session {
    identity: Identity,
    listens: BTreeMap<(Path, Option<Tag>), ListenerId>,
    forgotten: Forgotten,
    lag: Option<Lag>,
}

/// What a session that fell behind has missed.
#[derive(Debug)]
struct Lag {
    /// What it was shown last.
    since: Arc<Published>,
    /// Answers and revocations that come after the news that it missed. No more than the session has requests and
    /// listens under way.
    held: Vec<Item>,
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
}

/// A wish to be told what is at a place, now and whenever it changes.
#[derive(Clone, Debug)]
pub struct Listen {
    /// Where.
    pub at: Path,
    /// What of it.
    pub query: Query,
    /// What the session calls it; none, if it listens to everything.
    pub tag: Option<Tag>,
    /// The hash of what the client has of it, which need not be sent again; `Some(None)` is nothing, `None` a client
    /// that does not say.
    pub known: Option<Option<Hash>>,
}

/// Why somebody cannot listen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListenRefusal {
    /// The rules do not allow it.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// It listens to enough already.
    #[error("a connection can listen to {LISTENS_MAX} places, and this would be more")]
    TooMany,
    /// The session is not open.
    #[error("the connection has ended")]
    Closed,
}

impl Session {
    /// Whether news on its way to the client could be taken for news of a listener that begins now, so that the client
    /// ends with something else than what it said to have: news of a listener that is gone, or of one below.
    fn may_mistake(&self, at: &Path, tag: Option<Tag>) -> bool {
        let below = self.listens.range((at.clone(), None)..).take_while(|((own, _), _)| at.covers(own));
        let mut below = below.map(|(place, _)| place);
        self.forgotten.concerns(at, tag)
            || tag.is_none() && below.any(|(own, own_tag)| own_tag.is_none() && own != at)
    }
}

/// What one step has to say, by session.
type Round = BTreeMap<SessionId, Delivery>;

impl Publisher {
    /// Goes on from what is published.
    pub fn new(door: Door, published: Published) -> Self {
        Self {
            door,
            published: Arc::new(published),
            sessions: BTreeMap::new(),
            listeners: BTreeMap::new(),
            listeners_made: 0,
            places: PathMap::new(),
            indexes: Indexes::default(),
            looks: PathMap::new(),
            clock_watchers: BTreeSet::new(),
        }
    }

    /// What everybody may see now; readers load it and wait for nobody.
    pub const fn published(&self) -> &Arc<Published> {
        &self.published
    }

    /// A session begins.
    pub fn open(&mut self, session: SessionId, identity: Identity) {
        let (listens, forgotten) = (BTreeMap::new(), Forgotten::default());
        self.sessions.insert(session, Session { identity, listens, forgotten, lag: None });
    }

    /// A session has ended; its listeners are gone.
    pub fn close(&mut self, session: SessionId) {
        let session = self.sessions.remove(&session);
        for id in session.into_iter().flat_map(|session| session.listens.into_values()) {
            self.forget(id);
        }
    }

    /// A session has become somebody else; what it may no longer listen to is revoked.
    pub fn identify(
        &mut self,
        now_ms: i64,
        session: SessionId,
        identity: Identity,
        outboxes: &mut impl Outboxes,
    ) {
        let Some(own) = self.sessions.get_mut(&session) else { return };
        own.identity = identity;
        let ids = own.listens.values().copied().collect();
        self.judge_listeners(now_ms, ids, outboxes);
    }

    /// Other rules hold; what they do not allow is revoked.
    pub fn set_door(&mut self, now_ms: i64, door: Door, outboxes: &mut impl Outboxes) {
        self.door = door;
        let ids = self.listeners.keys().copied().collect();
        self.judge_listeners(now_ms, ids, outboxes);
    }

    /// Judges again what depends on the time. To be called every now and then.
    pub fn tick(&mut self, now_ms: i64, outboxes: &mut impl Outboxes) {
        let ids = self.clock_watchers.iter().copied().collect();
        self.judge_listeners(now_ms, ids, outboxes);
    }

    /// Begins to listen, or listens anew to a place under a tag that is in use (wire reference 4.2).
    pub fn listen(
        &mut self,
        now_ms: i64,
        session: SessionId,
        ticket: Ticket,
        listen: Listen,
        outboxes: &mut impl Outboxes,
    ) {
        let Listen { at, query, tag, known } = listen;
        let own = self.sessions.get(&session);
        let known = known.filter(|_| own.is_some_and(|own| !own.may_mistake(&at, tag)));
        let begun = self.begin(now_ms, session, &at, query, tag);
        let new = begun.as_ref().ok().copied();
        // A session that lags is shown this listener with all others.
        let push = new.filter(|_| !self.lags(session)).and_then(|id| self.first_push(id, known));
        let answer = Item::Answer(Answer::Listen(ticket, begun.map(|_| ())));
        let items = push.map(Item::Push).into_iter().chain([answer]).collect();
        let since = self.published.clone();
        self.hand_out(Round::from([(session, Delivery { items })]), &since, outboxes);
        if !self.lags(session) {
            self.mark_shown(new);
        }
    }

    /// Gives a session what is published, in its turn. Why not just [`Publisher::published`]: that may be ahead of the news
    /// on their way to the session, and a client that reads a value and is then told an older one believes the older.
    pub fn read(&mut self, session: SessionId, ticket: Ticket, outboxes: &mut impl Outboxes) {
        let published = self.published.clone();
        let items = vec![Item::Answer(Answer::Read(ticket, published.clone()))];
        self.hand_out(Round::from([(session, Delivery { items })]), &published, outboxes);
    }

    /// Stops listening.
    pub fn unlisten(&mut self, session: SessionId, at: &Path, tag: Option<Tag>) {
        let own = self.sessions.get_mut(&session);
        let id = own.and_then(|own| {
            let id = own.listens.remove(&(at.clone(), tag))?;
            own.forgotten.add(at, tag);
            Some(id)
        });
        if let Some(id) = id {
            self.forget(id);
        }
    }

    /// Shows a group of commits, one after the other, and answers those who asked for them.
    pub fn publish(&mut self, now_ms: i64, group: Durable<Vec<Verdict>>, outboxes: &mut impl Outboxes) {
        for verdict in group.into_inner() {
            let before = self.published.clone();
            let mut round = Round::new();
            if let Some(commit) = verdict.commit {
                let tree = before.tree.apply(&commit.change);
                self.route(now_ms, &commit.change, &before.tree, &tree, &mut round);
                self.published = Arc::new(Published { revision: commit.revision, tree });
                outboxes.show(&self.published);
            }
            if let Some(ticket) = verdict.ticket {
                let answer = Item::Answer(Answer::Write(ticket, verdict.outcome));
                round.entry(verdict.session).or_default().items.push(answer);
            }
            self.hand_out(round, &before, outboxes);
        }
    }

    /// A session that lagged has room again: one difference for all its listeners, then what had to wait for it.
    pub fn drained(&mut self, now_ms: i64, session: SessionId, outboxes: &mut impl Outboxes) {
        let Some(own) = self.sessions.get_mut(&session) else { return };
        let Some(Lag { since, held }) = own.lag.take() else { return };
        let (revoked, ids) = self.judge_clock_watchers(now_ms, session);
        let news = ids.iter().filter_map(|&id| self.missed(id, &since)).map(Item::Push);
        let held = held.into_iter().map(|item| self.renewed(item));
        let items = news.chain(held).chain(revoked).collect();
        match outboxes.offer(session, Delivery { items }) {
            Ok(()) => self.mark_shown(ids),
            Err(refused) => self.lag(session, since, refused),
        }
    }

    /// What had to wait for a difference, as it is behind that difference.
    fn renewed(&self, held: Item) -> Item {
        match held {
            Item::Answer(Answer::Read(ticket, _)) => {
                Item::Answer(Answer::Read(ticket, self.published.clone()))
            }
            Item::Push(_) | Item::Revoked(_) | Item::Answer(Answer::Write(..) | Answer::Listen(..)) => held,
        }
    }

    /// Judges again what of a session depends on the time; gives what is revoked, and the listeners that are left.
    fn judge_clock_watchers(&mut self, now_ms: i64, session: SessionId) -> (Vec<Item>, Vec<ListenerId>) {
        let listens = |publisher: &Self| -> Vec<ListenerId> {
            let own = publisher.sessions.get(&session);
            own.map(|own| own.listens.values().copied().collect()).unwrap_or_default()
        };
        let mut round = Round::new();
        let tree = self.published.clone();
        for id in listens(self).into_iter().filter(|id| self.clock_watchers.contains(id)).collect::<Vec<_>>()
        {
            self.judge(now_ms, id, &tree.tree, &mut round);
        }
        (round.remove(&session).unwrap_or_default().items, listens(self))
    }

    /// Registers a listener that has not been shown anything yet.
    fn begin(
        &mut self,
        now_ms: i64,
        session: SessionId,
        at: &Path,
        query: Query,
        tag: Option<Tag>,
    ) -> Result<ListenerId, ListenRefusal> {
        let own = self.sessions.get(&session).ok_or(ListenRefusal::Closed)?;
        let place = (at.clone(), tag);
        if LISTENS_MAX <= own.listens.len() && !own.listens.contains_key(&place) {
            return Err(ListenRefusal::TooMany);
        }
        let pass = self.door.read(&own.identity, now_ms, &self.published.tree, at, &query)?;
        if let Some(id) = own.listens.get(&place).copied() {
            self.forget(id);
        }
        let id = ListenerId(self.listeners_made);
        self.listeners_made += 1;
        self.indexes.ensure(at, &query, &self.published.tree);
        let query = self.places.entry(at).add(query, id);
        self.watch(id, &pass);
        self.listeners.insert(id, Listener { session, at: at.clone(), query, tag, pass, is_new: true });
        if let Some(own) = self.sessions.get_mut(&session) {
            own.forgotten.told(at, tag);
            // Told only now, a revocation from before would end the new listener at its client.
            if let Some(lag) = &mut own.lag {
                let is_old = |revoked: &Revoked| revoked.at == *at && revoked.tag == tag;
                lag.held.retain(|item| !matches!(item, Item::Revoked(revoked) if is_old(revoked)));
            }
            own.listens.insert(place, id);
        }
        Ok(id)
    }

    fn lags(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|own| own.lag.is_some())
    }

    fn mark_shown(&mut self, ids: impl IntoIterator<Item = ListenerId>) {
        for id in ids {
            if let Some(listener) = self.listeners.get_mut(&id) {
                listener.is_new = false;
            }
        }
    }

    /// All that a listener shows, unless its client knows that.
    fn first_push(&self, id: ListenerId, known: Option<Option<Hash>>) -> Option<Push> {
        let Listener { at, query, tag, .. } = self.listeners.get(&id)?;
        let tree = &self.published.tree;
        let node = if query.is_everything() {
            tree.get(at).cloned()
        } else {
            self.indexes.view(at, query, tree).ok().and_then(|view| view.to_node())
        };
        let is_known = match (known, &node) {
            (Some(Some(hash)), Some(node)) => node.has_hash(hash),
            (Some(None), None) => true,
            (Some(_), _) | (None, _) => false,
        };
        let body = Body::new(at.clone(), Content::Put(node));
        (!is_known).then(|| Push { body: Arc::new(body), tag: *tag })
    }

    /// What a listener has missed since its session fell behind.
    fn missed(&self, id: ListenerId, since: &Published) -> Option<Push> {
        let Listener { at, query, tag, is_new, .. } = self.listeners.get(&id)?;
        let (before, after) = (since.tree.get(at), self.published.tree.get(at));
        if *is_new {
            return self.first_push(id, None);
        }
        if before == after {
            return None;
        }
        let body = if query.is_everything() {
            Body::of_difference(at, &since.tree, &self.published.tree)
        } else if let (None, None) = (query.index_for(before), query.index_for(after)) {
            let none = Indexes::default();
            let [before, after] = [&since.tree, &self.published.tree].map(|tree| none.view(at, query, tree));
            Body::of_views(at, &before.ok()?, &after.ok()?)
        } else {
            // The index of what was shown last is gone: the window whole.
            return self.first_push(id, None);
        };
        Some(Push { body: Arc::new(body?), tag: *tag })
    }

    /// Finds out who is to be told what of a change. Permissions come first: what they no longer allow is not even told
    /// the change that revoked it.
    fn route(
        &mut self,
        now_ms: i64,
        change: &Change,
        before: &Snapshot,
        after: &Snapshot,
        round: &mut Round,
    ) {
        let edits = change.edits();
        let suspects: BTreeSet<ListenerId> =
            self.looks.touched(edits).iter().filter_map(|at| self.looks.get(at)).flatten().copied().collect();
        for id in suspects {
            let differs = |pass: &Pass| pass.looks.iter().any(|look| look.differs(before, after));
            if self.listeners.get(&id).is_some_and(|listener| differs(&listener.pass)) {
                self.judge(now_ms, id, after, round);
            }
        }
        let old_indexes = self.indexes.update(edits, after);
        // Of a write at one place everybody above is told the same.
        let shared = match edits {
            [_] => Body::of_change(&Path::root(), change, before, after).map(Arc::new),
            _ => None,
        };
        let mut pushes = Vec::new();
        for at in self.places.touched(edits) {
            let Some(standing) = self.places.get(&at) else { continue };
            for (query, ids) in standing.queries() {
                let body = if query.is_everything() {
                    match &shared {
                        Some(body) if at.covers(&body.at) => Some(body.clone()),
                        Some(_) | None => Body::of_change(&at, change, before, after).map(Arc::new),
                    }
                } else {
                    self.indexes.ensure(&at, query, after);
                    let shown = old_indexes
                        .view(&at, query, before)
                        .or_else(|_| self.indexes.view(&at, query, before));
                    let to_show = self.indexes.view(&at, query, after);
                    let views = shown.ok().zip(to_show.ok());
                    views.and_then(|(shown, to_show)| Body::of_views(&at, &shown, &to_show)).map(Arc::new)
                };
                if let Some(body) = body {
                    pushes.extend(ids.iter().map(|&id| (id, body.clone())));
                }
            }
        }
        for (id, body) in pushes {
            if self.clock_watchers.contains(&id) {
                self.judge(now_ms, id, after, round);
            }
            let Some(listener) = self.listeners.get(&id) else { continue };
            if !self.lags(listener.session) {
                let push = Item::Push(Push { body, tag: listener.tag });
                round.entry(listener.session).or_default().items.push(push);
            }
        }
    }

    fn judge_listeners(&mut self, now_ms: i64, ids: Vec<ListenerId>, outboxes: &mut impl Outboxes) {
        let published = self.published.clone();
        let mut round = Round::new();
        for id in ids {
            self.judge(now_ms, id, &published.tree, &mut round);
        }
        self.hand_out(round, &published, outboxes);
    }

    /// Judges a listener again, and revokes what is not allowed.
    fn judge(&mut self, now_ms: i64, id: ListenerId, tree: &Snapshot, round: &mut Round) {
        let Some(listener) = self.listeners.get(&id) else { return };
        let Some(session) = self.sessions.get(&listener.session) else { return };
        match self.door.read(&session.identity, now_ms, tree, &listener.at, &listener.query) {
            Ok(pass) => {
                self.unwatch(id);
                self.watch(id, &pass);
                if let Some(listener) = self.listeners.get_mut(&id) {
                    listener.pass = pass;
                }
            }
            Err(_) => {
                let Listener { session, at, query, tag, .. } = listener;
                let (session, revoked) =
                    (*session, Revoked { at: at.clone(), query: query.clone(), tag: *tag });
                self.unlisten(session, &revoked.at, revoked.tag);
                round.entry(session).or_default().items.push(Item::Revoked(revoked));
            }
        }
    }

    fn watch(&mut self, id: ListenerId, pass: &Pass) {
        for look in &pass.looks {
            self.looks.entry(&look.at).insert(id);
        }
        if pass.saw_now {
            self.clock_watchers.insert(id);
        }
    }

    fn unwatch(&mut self, id: ListenerId) {
        self.clock_watchers.remove(&id);
        let Some(listener) = self.listeners.get(&id) else { return };
        for look in &listener.pass.looks {
            if let Some(ids) = self.looks.get_mut(&look.at) {
                ids.remove(&id);
                if ids.is_empty() {
                    self.looks.remove(&look.at);
                }
            }
        }
    }

    /// Drops a listener that its session no longer names.
    fn forget(&mut self, id: ListenerId) {
        self.unwatch(id);
        let Some(Listener { at, query, .. }) = self.listeners.remove(&id) else { return };
        let Some(standing) = self.places.get_mut(&at) else { return };
        standing.remove(&query, id);
        self.indexes.retain(&at, |by| standing.queries().any(|(query, _)| query.orders_by(by)));
        if standing.is_empty() {
            self.places.remove(&at);
        }
    }

    /// Gives the connections what one step has to say. Who has no room lags from the snapshot before on: its news are
    /// dropped, its answers wait for the difference that it gets instead.
    fn hand_out(&mut self, round: Round, before: &Arc<Published>, outboxes: &mut impl Outboxes) {
        for (id, delivery) in round {
            let lag = self.sessions.get_mut(&id).and_then(|session| session.lag.as_mut());
            match lag {
                Some(lag) => lag.held.extend(delivery.without_news()),
                None => {
                    if let Err(refused) = outboxes.offer(id, delivery) {
                        self.lag(id, before.clone(), refused);
                    }
                }
            }
        }
    }

    fn lag(&mut self, session: SessionId, since: Arc<Published>, refused: Delivery) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.lag = Some(Lag { since, held: refused.without_news() });
        }
    }
}
