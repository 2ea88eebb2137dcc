//! What must hold after each step, and in the end.

use super::client::Deed;
use super::crash::replayed;
use super::history::hash_of;
use super::outbox::Fresh;
use super::{World, mirror};
use crate::naive::{Doubles, Tree, export};
use crate::twin::model_root;
use hearth_engine::{Answer, Delivery, Identity, Item, Refusal, Ticket, Verdict};
use hearth_tree::Snapshot;

/// When the engine decided what it says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Just now.
    Now,
    /// Possibly earlier.
    Earlier,
}

impl World {
    /// Verdicts leave the committer: the model comes to the same.
    pub(super) fn judge_verdicts(&mut self, verdicts: Vec<Verdict>) {
        for verdict in verdicts {
            let before = self.history.now().clone();
            let asked =
                verdict.ticket.map(|ticket| self.asked.remove(&ticket).expect("each is decided once"));
            let tree = self.tree.clone();
            if let Some(commit) = &verdict.commit {
                self.tree = tree.apply(&commit.change);
            }
            let after = match (&verdict.outcome, asked) {
                (Ok(_), Some((who, deed))) => {
                    self.judge_permission(&who, &tree, &deed);
                    self.done(before.clone(), &deed)
                }
                (Ok(_), None) => {
                    self.counts.fired += usize::from(verdict.commit.is_some());
                    verdict.commit.iter().fold(before.clone(), replayed)
                }
                (Err(refusal), asked) => {
                    self.judge_refusal(refusal, asked.map(|(_, deed)| deed).as_ref());
                    before.clone()
                }
            };
            match &verdict.commit {
                None => assert!(before == after, "a change without a commit: {verdict:?}"),
                Some(commit) => {
                    assert!(verdict.outcome.is_ok(), "a refusal changes something: {verdict:?}");
                    assert!(
                        before != after || commit.arming.is_some(),
                        "a commit that changes nothing: {verdict:?}"
                    );
                    assert!(replayed(before, commit) == after, "{commit:?} is not {after:?}");
                    self.history.push(after);
                    self.judged_by.insert(self.history.newest(), self.laws_made);
                    self.counts.commits += 1;
                    assert_eq!(commit.revision.get(), self.history.newest() as u64);
                }
            }
            if let Ok(accepted) = verdict.outcome {
                assert_eq!(accepted.revision.get(), self.history.newest() as u64, "where it is visible");
            }
            self.owed.extend(verdict.ticket.map(|ticket| (ticket, self.history.newest())));
            self.decided.push_back(verdict);
        }
    }

    /// What has just been decided is allowed by the law of this moment, whatever law is shown.
    fn judge_permission(&self, who: &Identity, before: &Snapshot, deed: &Deed) {
        match deed {
            Deed::Write(wish) | Deed::WriteIf(_, _, wish) => {
                let may = self.laws.now().may_write(who, self.now_ms, (before, &self.tree), &wish.to_write());
                assert!(may, "{deed:?} of {who:?} is not allowed under {:?}", self.laws);
            }
            Deed::Arm(_) | Deed::Disarm(_) => {}
        }
    }

    fn done(&self, mut tree: Tree, deed: &Deed) -> Tree {
        match deed {
            Deed::Write(wish) => wish.apply(&mut tree, self.now_ms).expect("legal writes only"),
            Deed::WriteIf(at, hash, wish) => {
                let both = [Doubles::True, Doubles::JavaScript].map(|doubles| hash_of(tree.get(at), doubles));
                assert!(both.contains(hash), "the hash is not that of `{at}`");
                wish.apply(&mut tree, self.now_ms).expect("legal writes only");
            }
            Deed::Arm(_) | Deed::Disarm(_) => {}
        }
        tree
    }

    fn judge_refusal(&mut self, refusal: &Refusal, deed: Option<&Deed>) {
        match (refusal, deed) {
            (Refusal::Stale { at: place }, Some(Deed::WriteIf(at, hash, _))) => {
                assert_eq!(*place, crate::twin::path(at));
                let found = hash_of(self.history.now().get(at), Doubles::True);
                assert_ne!(found, *hash, "the hash is that of `{at}`");
                self.counts.stale += 1;
            }
            (Refusal::Denied(_), Some(_)) if self.laws.now().has_rules() => self.counts.denied += 1,
            // Rules are stored by nobody's session, who has looked at another version.
            (Refusal::OtherRules { .. }, None) => {}
            (
                Refusal::Denied(_)
                | Refusal::Stale { .. }
                | Refusal::OtherRules { .. }
                | Refusal::Resolve(_)
                | Refusal::Arm(_)
                | Refusal::LogStopped
                | Refusal::InDoubt,
                _,
            ) => {
                panic!("`{refusal}` for {deed:?}")
            }
        }
    }

    /// Something has been published: it is on the disk, and it is what the model has.
    pub(super) fn judge_published(&self) {
        let published = self.publisher.published();
        assert!(self.published() <= self.disk.len(), "shown, and not durable");
        let own = published.governing.own();
        if let Some(index) = own.version.checked_sub(1) {
            let kept = self.disk.rules();
            let kept = kept.get(usize::try_from(index).expect("lives are short"));
            assert_eq!(Some(own), kept, "rules that are shown, and not durable");
        }
        let text = own.text.as_deref();
        assert_eq!(text, self.shown_laws.own.as_ref().map(super::law::Law::text), "other rules are shown");
        assert_eq!(
            model_root(&published.tree),
            self.history.at(self.published()).root,
            "{}",
            published.revision
        );
    }

    /// What has just left the engine may be seen by whom it goes to, at this moment.
    pub(super) fn judge_fresh(&mut self, when: When) {
        let tree = self.publisher.published().tree.clone();
        for (session, fresh) in std::mem::take(&mut self.boxes.fresh) {
            let client = self.clients.iter_mut().find(|client| client.session == session);
            let client = client.expect("queues are those of clients");
            match fresh {
                Fresh::Push(push) => {
                    let query = push.tag.map(|_| {
                        let at = (mirror::model_keys(&push.body.at).join("/"), push.tag);
                        client.standing.get(&at).unwrap_or_else(|| panic!("a push for no listener: {push:?}"))
                    });
                    self.shown_laws.now().check_push(&client.identity, self.now_ms, &tree, &push.body, query);
                }
                Fresh::Revoked(revoked) => {
                    self.counts.revoked += 1;
                    // What was held back for a session that lags was right when it was decided.
                    let may = when == When::Now
                        && self.shown_laws.now().may_read(
                            &client.identity,
                            self.now_ms,
                            &tree,
                            &revoked.at,
                            &revoked.query,
                        );
                    assert!(!may, "revoked without need: {revoked:?}");
                }
            }
        }
    }

    pub(super) fn read(&mut self) {
        if let Some(who) = self.any_client() {
            self.read_client(who);
        }
    }

    /// A client reads the next delivery.
    pub(super) fn read_client(&mut self, who: usize) -> bool {
        let Some(Delivery { items, moment: _ }) = self.boxes.take(self.clients[who].session) else {
            return false;
        };
        let client = &mut self.clients[who];
        let mut least = client.seen;
        let mut revoked_here = Vec::new();
        for item in items {
            match item {
                Item::Push(push) => {
                    self.counts.pushes += 1;
                    for ((_, tag), mirror) in &mut client.mirrors {
                        let is_meant = *tag == push.tag
                            && (tag.is_none() || mirror.at == mirror::model_keys(&push.body.at));
                        if is_meant {
                            mirror.apply(&push.body);
                        }
                    }
                }
                Item::Revoked(revoked) => {
                    let at = mirror::model_keys(&revoked.at).join("/");
                    let place = (at, revoked.tag);
                    client.revoked(&place);
                    revoked_here.push(place);
                }
                Item::Answer(answer) => {
                    self.counts.answers += 1;
                    let (ticket, is_listening) = match answer {
                        Answer::Write(ticket, Err(Refusal::LogStopped | Refusal::InDoubt)) => {
                            self.owed.insert(ticket, 0);
                            (ticket, None)
                        }
                        Answer::Write(ticket, outcome) => {
                            if let Ok(accepted) = outcome {
                                assert!(
                                    accepted.revision.get() <= self.disk.len() as u64,
                                    "acknowledged, not durable"
                                );
                            }
                            (ticket, None)
                        }
                        Answer::Listen(ticket, outcome) => (ticket, Some(outcome.is_ok())),
                        // The clients of this world read by listening.
                        Answer::Read(..) => unreachable!("nobody has asked to read"),
                    };
                    assert_eq!(
                        client.awaited.pop_front(),
                        Some(ticket),
                        "answers come in the order of requests"
                    );
                    least = least.max(self.owed.remove(&ticket).expect("each is answered once"));
                    if let Some(is_listening) = is_listening {
                        let place = client.answered(ticket, is_listening);
                        assert!(
                            !is_listening || place.is_none_or(|place| !revoked_here.contains(&place)),
                            "a client that is told of a revocation after it has listened anew ends it"
                        );
                    }
                }
            }
        }
        let mirrors = || client.mirrors.values().filter(|mirror| mirror.is_answered);
        for mirror in mirrors() {
            assert_eq!(
                mirror.shown, mirror.shown_reversed,
                "the parts of a push depend on their order: {mirror:?}"
            );
        }
        let durable = self.disk.len();
        let agrees = |revision: &usize| mirrors().all(|mirror| self.history.agrees(*revision, mirror));
        let seen = (least..=durable).find(agrees);
        client.seen = seen.unwrap_or_else(|| {
            let last = client.seen;
            let wrong = mirrors().filter(|mirror| !self.history.agrees(durable, mirror));
            let shown: Vec<_> = mirrors().collect();
            let tree = |revision| export(self.history.at(revision).root.as_ref()).to_string();
            let trees: Vec<String> = (last..=durable).map(tree).collect();
            panic!(
                "no revision {least} (was {last}) to {durable} is shown\nshown: {shown:?}\nnot the newest: {:?}\nby revision: {trees:#?}",
                wrong.collect::<Vec<_>>()
            );
        });
        true
    }

    /// Nothing is under way any more.
    pub(super) fn judge_rest(&self) {
        let newest = self.history.newest();
        assert_eq!(self.published(), newest);
        assert_eq!(self.disk.len(), newest);
        let replayed = self.disk.commits().iter().fold(Tree::default(), replayed);
        assert!(&replayed == self.history.now(), "the log is not the history");
        assert_eq!(self.asked.len(), 0, "requests without a verdict");
        let tree = &self.publisher.published().tree;
        for client in &self.clients {
            assert_eq!(client.awaited, Vec::<Ticket>::new(), "requests without an answer");
            for ((at, tag), mirror) in &client.mirrors {
                assert!(mirror.is_answered);
                assert_eq!(
                    mirror.shown,
                    self.history.answer(newest, &mirror.at, &mirror.query),
                    "`{at}` {tag:?} {:?}",
                    mirror.query
                );
                let query = crate::twin::tree_query(&mirror.query);
                assert!(
                    self.laws.now().may_read(
                        &client.identity,
                        self.now_ms,
                        tree,
                        &crate::twin::path(at),
                        &query
                    ),
                    "`{at}` {tag:?} is shown to {:?}",
                    client.identity
                );
            }
        }
    }
}
