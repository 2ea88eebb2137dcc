//! The listens of a connection, as far as a client can tell (wire reference 4.2, 5.3).

use super::document::Json;
use super::window::ShownWindow;
use crate::hash::Held;
use crate::number::{RequestNumber, Tag};
use crate::request::Listen;
use hearth_tree::{Edit, Path};
use std::collections::VecDeque;

/// All listens of a connection.
#[derive(Debug, Default)]
pub(super) struct Listens(Vec<Listener>);

/// A place and tag that a client listens at, or wants to.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) at: Path,
    pub(super) tag: Option<Tag>,
    /// As the client wrote it.
    query: Option<Json>,
    /// Whether the client can follow range merges.
    takes_ranges: bool,
    /// Whether a listen runs.
    pub(super) is_live: bool,
    /// Whether all that the client holds here was pushed since it connected.
    pub(super) is_known: bool,
    /// What was shown through the query of a listen with a tag.
    pub(super) window: ShownWindow,
    /// Listens that were not answered yet; more than one if the client asks again.
    pending: VecDeque<Pending>,
}

/// A listen that was not answered yet.
#[derive(Debug)]
pub(super) struct Pending {
    number: RequestNumber,
    pub(super) held: Option<Held>,
    /// Whether its first data were pushed.
    pub(super) had_data: bool,
}

impl Listens {
    pub(super) fn ask(&mut self, number: RequestNumber, listen: &Listen, query: Option<Json>) {
        let tag = listen.kind.tag();
        let pending = Pending { number, held: listen.held, had_data: false };
        let takes_ranges = listen.held_ranges.is_some();
        let window = ShownWindow::new(listen.at.clone(), listen.kind.query().clone());
        match self.find(&listen.at, tag) {
            Some(listener) => {
                if listener.query != query {
                    listener.window = window;
                }
                listener.query = query;
                listener.takes_ranges |= takes_ranges;
                listener.pending.push_back(pending);
            }
            None => self.0.push(Listener {
                at: listen.at.clone(),
                tag,
                query,
                takes_ranges,
                is_live: false,
                is_known: false,
                window,
                pending: VecDeque::from([pending]),
            }),
        }
    }

    pub(super) fn find(&mut self, at: &Path, tag: Option<Tag>) -> Option<&mut Listener> {
        self.0.iter_mut().find(|listener| listener.at == *at && listener.tag == tag)
    }

    /// Ends what runs at a place.
    pub(super) fn end(&mut self, at: &Path, tag: Option<Tag>) {
        if let Some(listener) = self.find(at, tag) {
            listener.is_live = false;
            listener.is_known = false;
            listener.window.forget();
        }
        self.0.retain(|listener| listener.is_live || !listener.pending.is_empty());
    }

    /// Ends the listen that a `c` means.
    pub(super) fn cancel(&mut self, at: &Path, query: Option<&Json>) -> Result<(), String> {
        let is_meant = |listener: &&mut Listener| {
            let same_query = match (query, &listener.query) {
                (None, _) => listener.tag.is_none(),
                (Some(query), Some(asked)) => query.means(asked),
                (Some(_), None) => false,
            };
            listener.at == *at && listener.is_live && same_query
        };
        let Some(listener) = self.0.iter_mut().find(is_meant) else {
            return Err(format!(
                "no listen runs at `{at}` with exactly this query: JavaScript keeps what it has"
            ));
        };
        let tag = listener.tag;
        // Until here the client was told what the listen that ran may be told; who asked again meanwhile has had nothing.
        if let Some(listener) = self.find(at, tag) {
            listener.pending.iter_mut().for_each(|pending| pending.had_data = false);
        }
        self.end(at, tag);
        Ok(())
    }

    /// The listens that a push for a place means.
    fn meant(&mut self, at: &Path, tag: Option<Tag>) -> impl Iterator<Item = &mut Listener> {
        self.0.iter_mut().filter(move |listener| listener.tag == tag && listener.at.covers(at))
    }

    /// Whether a push of this name (`d`, `m` or `rm`) may come for a place; a priority alone counts as `m`.
    pub(super) fn push(&mut self, at: &Path, tag: Option<Tag>, name: &str) -> Result<(), String> {
        let is_range_merge = name == "rm";
        if self.meant(at, tag).next().is_none() {
            return Err(self.nobody(at, tag));
        }
        if is_range_merge && !self.meant(at, tag).any(|listener| listener.at == *at && listener.takes_ranges)
        {
            return Err("a range merge goes to a client that sent no `ch`: JavaScript loses the data".into());
        }
        let is_whole = is_range_merge || name == "d";
        let mut may_come = false;
        for listener in self.meant(at, tag) {
            if is_whole && listener.at == *at {
                listener.is_known |= !is_range_merge;
                if let Some(pending) = listener.pending.iter_mut().find(|pending| !pending.had_data) {
                    pending.had_data = true;
                }
            }
            may_come |= listener.is_live || listener.pending.iter().any(|pending| pending.had_data);
        }
        if may_come { Ok(()) } else { Err(format!("`{at}` is changed before its first data were pushed")) }
    }

    /// Shows what is pushed through the listen of this tag.
    pub(super) fn show(&mut self, at: &Path, tag: Option<Tag>, edits: &[Edit]) -> Result<(), String> {
        self.meant(at, tag).try_for_each(|listener| listener.window.push(edits))
    }

    fn nobody(&self, at: &Path, tag: Option<Tag>) -> String {
        let covered = |listener: &&Listener| listener.at.covers(at);
        match tag {
            Some(tag) => match self.0.iter().find(|listener| listener.tag == Some(tag)) {
                Some(listener) => format!("tag {tag} belongs to `{}`, not to `{at}`", listener.at),
                None => format!("no listen has tag {tag}"),
            },
            None if self.0.iter().any(|listener| covered(&listener)) => {
                format!(
                    "`{at}` is pushed without a tag, and only listens with tags are there: their windows are corrupted"
                )
            }
            None => format!("`{at}` is pushed, and nobody listens there"),
        }
    }

    /// What the client holds of a place is no longer known.
    pub(super) fn forget(&mut self, at: &Path) {
        for listener in self.0.iter_mut().filter(|listener| listener.at.covers(at) || at.covers(&listener.at))
        {
            listener.is_known = false;
            listener.window.forget();
        }
    }

    /// Whether all that the client holds of a place was pushed to a default listen that runs.
    pub(super) fn knows(&mut self, at: &Path) -> bool {
        self.meant(at, None).any(|listener| listener.is_live && listener.is_known)
    }
}

impl Listener {
    /// Takes off the listen that is answered.
    pub(super) fn answered(&mut self, number: RequestNumber) -> Option<Pending> {
        let index = self.pending.iter().position(|pending| pending.number == number)?;
        self.pending.remove(index)
    }
}
