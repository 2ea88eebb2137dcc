//! Whom a commit concerns, and what each of them is told of it.

use super::{Publisher, Round};
use crate::body::Body;
use crate::delivery::{Item, Push};
use crate::door::Pass;
use crate::indexes::Indexes;
use crate::standing::ListenerId;
use hearth_tree::{Change, Path, Snapshot};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Publisher {
    /// Finds out who is to be told what of a change. Permissions come first: what they no longer allow is not even told
    /// the change that revoked it. Gives the indexes of the tree before, where they have changed.
    pub(super) fn route(
        &mut self,
        now_ms: i64,
        change: &Change,
        before: &Snapshot,
        after: &Snapshot,
        round: &mut Round,
    ) -> Indexes {
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
                    debug_assert!(views.is_some(), "the index at {at} belongs to another tree");
                    views.and_then(|(shown, to_show)| Body::of_views(&at, &shown, &to_show)).map(Arc::new)
                };
                if let Some(body) = body {
                    pushes.extend(ids.iter().map(|&id| (id, body.clone())));
                }
            }
        }
        for (id, body) in pushes {
            if self.is_in_doubt(id) {
                self.judge(now_ms, id, after, round);
            }
            let Some(listener) = self.listeners.get(&id) else { continue };
            if !self.has_ended(listener.session) && !self.lags(listener.session) {
                let push = Item::Push(Push { body, tag: listener.tag });
                round.entry(listener.session).or_default().items.push(push);
            }
        }
        old_indexes
    }
}
