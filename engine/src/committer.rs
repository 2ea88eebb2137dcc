//! Decides writes, one after the other: precondition, rules, order.
//!
//! Why it runs ahead of the log: the sync takes longer than deciding, so many decisions share one. Its state is private
//! for that reason: what it has decided can still be lost, and nobody may see it before it cannot.

use crate::armed::Armed;
use crate::commit::{Arming, ArmingStep, Commit};
use crate::door::{Door, Identity, WatchedDoor};
use crate::limits::{HASHED_AT_ONCE_MAX, PARKED_MAX};
use crate::onlooker::Onlooker;
use crate::own_rules::{Governed, Governing, OwnRules};
use crate::parked::Parked;
use crate::request::{Accepted, Act, Refusal, Request, SessionId, Verdict};
use crate::revision::Revision;
use crate::settings::Settings;
use crate::turns::Turns;
use hearth_rules::Rejected;
use hearth_tree::{Change, Hash, Path, Query, Snapshot, Update, Write};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything decided so far for one database, and what is needed to go on. Owning it is the lock.
#[derive(Debug)]
pub struct Committer {
    governing: Governing,
    /// Who looks on while rules are asked.
    onlooker: Option<Arc<dyn Onlooker>>,
    revision: Revision,
    tree: Snapshot,
    /// Shared with whoever writes a checkpoint: copied where a session goes on arming meanwhile.
    armed: BTreeMap<SessionId, Arc<Armed>>,
    turns: Turns,
    /// Requests that wait for somebody else's turn, and all later ones of the same sessions.
    parked: Parked,
}

/// A change of the tree, and what is there with it.
struct Step {
    change: Change,
    after: Snapshot,
}

/// What is to be done, or what is to be answered instead.
type Decision = Result<Step, Refusal>;

impl Committer {
    /// Goes on from a revision, at which nothing was armed and no rules were stored.
    pub fn new(door: Door, revision: Revision, tree: Snapshot) -> Self {
        Self::resume(Governing::by_default(door), revision, tree, BTreeMap::new())
    }

    /// Goes on from a revision, what was armed then, and which rules decided.
    pub fn resume(
        governing: Governing,
        revision: Revision,
        tree: Snapshot,
        armed: BTreeMap<SessionId, Arc<Armed>>,
    ) -> Self {
        let (turns, parked) = (Turns::default(), Parked::default());
        Self { governing, onlooker: None, revision, tree, armed, turns, parked }
    }

    /// Lets somebody look on from now on.
    pub fn seen_by(&mut self, onlooker: Arc<dyn Onlooker>) {
        self.onlooker = Some(onlooker);
    }

    fn door(&self) -> WatchedDoor<'_> {
        self.governing.door().seen_by(self.onlooker.as_deref())
    }

    /// Replays a commit from the log.
    pub fn replay(&mut self, commit: &Commit) {
        self.follow(commit, self.tree.apply(&commit.change));
    }

    /// Replays from the log that other rules were stored, or taken back. Until [`Committer::understand_rules`] is called
    /// the database is closed.
    pub fn replay_rules(&mut self, own: OwnRules) {
        self.governing.replay(own);
    }

    /// Replays from the log that something else was set.
    pub fn replay_settings(&mut self, settings: Settings) {
        self.governing.replay_settings(settings);
    }

    /// To be called when all is replayed, before anything is decided. O(length of the text).
    ///
    /// # Errors
    /// [`Rejected`], if this program does not understand the rules that were kept. Then only admins may do anything, until
    /// others are stored.
    pub fn understand_rules(&mut self) -> Result<(), Rejected> {
        self.governing.understand()
    }

    fn follow(&mut self, commit: &Commit, after: Snapshot) {
        self.revision = commit.revision;
        self.tree = after;
        if let Some(arming) = &commit.arming {
            self.apply_arming(arming);
        }
    }

    /// The newest decided revision.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Which rules decide at the newest decided revision.
    pub const fn governing(&self) -> &Governing {
        &self.governing
    }

    /// The newest decided tree. At the start, before anything is decided, it is what is durable.
    pub const fn tree(&self) -> &Snapshot {
        &self.tree
    }

    /// What is armed at the newest decided revision. A clone costs O(sessions), however much they have armed.
    pub const fn armed(&self) -> &BTreeMap<SessionId, Arc<Armed>> {
        &self.armed
    }

    /// Sessions with armed writes. After a crash all of them are gone, and are to be ended before anybody is served.
    pub fn armed_sessions(&self) -> impl Iterator<Item = SessionId> {
        self.armed.keys().copied()
    }

    /// Decides a request, and what had to wait for it. `now_ms` is the time in milliseconds since 1970; it becomes
    /// every timestamp of the write. No verdict for the request itself means that it waits for somebody's turn:
    /// [`Committer::next_ms`] says when to ask again.
    pub fn decide(&mut self, now_ms: i64, request: Request) -> Vec<Verdict> {
        // Who is late is late for this request, too.
        let mut verdicts = self.expire(now_ms);
        let session = request.session;
        let waits = self.parked.has(session) || self.must_wait(&request);
        if waits && self.parked.len() < PARKED_MAX {
            self.parked.push(request);
            self.stand_in_line(session);
            return verdicts;
        }
        while let Some(earlier) = self.parked.take(session) {
            verdicts.push(self.decide_now(now_ms, earlier));
        }
        verdicts.push(self.decide_now(now_ms, request));
        verdicts.extend(self.expire(now_ms));
        verdicts
    }

    /// Decides what has waited long enough.
    pub fn expire(&mut self, now_ms: i64) -> Vec<Verdict> {
        self.turns.expire(now_ms);
        let mut verdicts = Vec::new();
        // Each round decides one request, or ends.
        while let Some(request) = self.take_ready() {
            let session = request.session;
            verdicts.push(self.decide_now(now_ms, request));
            self.stand_in_line(session);
            self.turns.expire(now_ms);
        }
        verdicts
    }

    /// When [`Committer::expire`] has something to do at the latest, in milliseconds since 1970.
    pub fn next_ms(&self) -> Option<i64> {
        if self.parked.is_empty() { None } else { self.turns.next_ms() }
    }

    fn must_wait(&self, request: &Request) -> bool {
        match &request.act {
            Act::WriteIf { at, .. } => self.turns.must_wait(at, request.session),
            Act::Write(_)
            | Act::Arm(_)
            | Act::Disarm(_)
            | Act::End
            | Act::Govern(_)
            | Act::Store { .. }
            | Act::Set(_) => false,
        }
    }

    /// What a session waits with stands in line.
    fn stand_in_line(&mut self, session: SessionId) {
        if let Some(Request { act: Act::WriteIf { at, .. }, .. }) = self.parked.first(session)
            && self.turns.must_wait(at, session)
        {
            self.turns.wait(at, session);
        }
    }

    /// The parked request that came first of those that are the first of their session and need not wait.
    fn take_ready(&mut self) -> Option<Request> {
        let ready = self.parked.firsts().filter(|(_, request)| !self.must_wait(request));
        let session = ready.min_by_key(|&(arrival, _)| arrival).map(|(_, request)| request.session)?;
        self.parked.take(session)
    }

    fn decide_now(&mut self, now_ms: i64, request: Request) -> Verdict {
        let Request { session, ticket, identity, act } = request;
        let mut governed = None;
        let decided = match act {
            Act::Write(write) => self.write(now_ms, &identity, &write).map(|step| (step, None)),
            Act::WriteIf { at, hash, write } => {
                let step = self.write_if(now_ms, session, &identity, (&at, hash), &write);
                step.map(|step| (step, None))
            }
            Act::Arm(write) => {
                self.arm(now_ms, session, &identity, &write).map(|arming| (self.no_change(), Some(arming)))
            }
            Act::Disarm(at) => {
                let arming = self.armed.contains_key(&session).then_some(ArmingStep::Disarm(at));
                Ok((self.no_change(), arming))
            }
            Act::End => Ok(self.end(now_ms, session)),
            Act::Govern(door) => {
                governed = Some(Governed::ByDefault(door));
                Ok((self.no_change(), None))
            }
            Act::Store { rules, if_version } => self.check_version(if_version).map(|()| {
                governed = self.governing.next(now_ms, rules);
                (self.no_change(), None)
            }),
            Act::Set(setting) => {
                governed = self.governing.set(setting);
                Ok((self.no_change(), None))
            }
        };
        if let Some(governed) = &governed {
            self.governing.follow(governed.clone());
        }
        let (outcome, commit) = match decided {
            Ok((step, arming)) => {
                let commit = self.commit(step, arming.map(|step| Arming { session, step }));
                let rules_version = self.governing.own().version;
                (Ok(Accepted { revision: self.revision, rules_version }), commit)
            }
            Err(refusal) => (Err(refusal), None),
        };
        Verdict { session, ticket, outcome, commit, tree: self.tree.clone(), governed }
    }

    fn check_version(&self, expected: Option<u64>) -> Result<(), Refusal> {
        let found = self.governing.own().version;
        match expected {
            Some(expected) if expected != found => Err(Refusal::OtherRules { found, expected }),
            Some(_) | None => Ok(()),
        }
    }

    fn no_change(&self) -> Step {
        Step { change: Change::default(), after: self.tree.clone() }
    }

    fn write(&self, now_ms: i64, identity: &Identity, write: &Write) -> Decision {
        let change = write.resolve(now_ms, &self.tree)?;
        let after = self.tree.apply(&change);
        self.door().write(identity, now_ms, (&self.tree, &after), &write.targets())?;
        Ok(Step { change, after })
    }

    /// The hash first: JavaScript runs the first attempt of a transaction on nothing, and judging that value would end
    /// it where it should try again (wire reference 4.5). Who may not read learns nothing of what is there.
    fn write_if(
        &mut self,
        now_ms: i64,
        session: SessionId,
        identity: &Identity,
        (at, hash): (&Path, Option<Hash>),
        write: &Write,
    ) -> Decision {
        let holds = match (self.tree.get(at), hash) {
            (None, None) => true,
            (Some(node), Some(hash)) => node.hash_costs_at_most(HASHED_AT_ONCE_MAX) && node.has_hash(hash),
            (None, Some(_)) | (Some(_), None) => false,
        };
        if !holds {
            return match self.door().read_again(identity, now_ms, &self.tree, at, &Query::EVERYTHING) {
                Ok(_) => {
                    self.turns.refused(at, session, now_ms);
                    Err(Refusal::Stale { at: at.clone() })
                }
                Err(denied) => {
                    // It cannot learn what is there, so it does not come back.
                    self.turns.done(at, session);
                    Err(denied.into())
                }
            };
        }
        let step = self.write(now_ms, identity, write);
        self.turns.done(at, session);
        step
    }

    fn arm(
        &self,
        now_ms: i64,
        session: SessionId,
        identity: &Identity,
        write: &Write,
    ) -> Result<ArmingStep, Refusal> {
        self.write(now_ms, identity, write)?;
        match self.armed.get(&session) {
            Some(armed) => armed.check(identity, write)?,
            None => Armed::new(identity.clone()).check(identity, write)?,
        }
        Ok(ArmingStep::Arm(identity.clone(), write.clone()))
    }

    /// Makes the armed writes of a session that are allowed now: all of them in one piece, or if the rules do not take
    /// that, each one that they take.
    fn end(&mut self, now_ms: i64, session: SessionId) -> (Step, Option<ArmingStep>) {
        self.turns.forget(session);
        let Some(armed) = self.armed.get(&session).map(|armed| Armed::clone(armed)) else {
            return (self.no_change(), None);
        };
        let identity = armed.identity().clone();
        let Some(update) = armed.into_update() else {
            return (self.no_change(), Some(ArmingStep::Fired));
        };
        let allowed: Vec<_> = match self.write(now_ms, &identity, &Write::Update(update.clone())) {
            Ok(step) => return (step, Some(ArmingStep::Fired)),
            Err(_) => {
                let each = update.assignments().iter().cloned();
                each.filter(|each| self.write(now_ms, &identity, &Write::Set(each.clone())).is_ok()).collect()
            }
        };
        let rest = Update::new(Path::root(), allowed).expect("what lay apart still does");
        // Writes that are allowed one by one need not be together; then none of them counts.
        let step = self.write(now_ms, &identity, &Write::Update(rest)).unwrap_or_else(|_| self.no_change());
        (step, Some(ArmingStep::Fired))
    }

    fn commit(&mut self, Step { change, after }: Step, arming: Option<Arming>) -> Option<Commit> {
        if change.is_empty() && arming.is_none() {
            return None;
        }
        let commit = Commit { revision: self.revision.next(), change, arming };
        self.follow(&commit, after);
        Some(commit)
    }

    fn apply_arming(&mut self, arming: &Arming) {
        let session = arming.session;
        match &arming.step {
            ArmingStep::Arm(identity, write) => {
                let new = || Arc::new(Armed::new(identity.clone()));
                Arc::make_mut(self.armed.entry(session).or_insert_with(new)).arm(identity, write);
            }
            ArmingStep::Disarm(at) => {
                if let Some(armed) = self.armed.get_mut(&session) {
                    let armed = Arc::make_mut(armed);
                    armed.disarm(at);
                    if armed.is_empty() {
                        self.armed.remove(&session);
                    }
                }
            }
            ArmingStep::Fired => drop(self.armed.remove(&session)),
        }
    }
}
