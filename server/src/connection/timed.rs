//! How long the requests of a connection take, for whoever runs the server.
//!
//! Why from when a request is begun until the threads have answered it, and what it takes to spell that: before, it waits for
//! the connection's own requests, and behind, the answer waits for its client. Neither says anything of the server.

use crate::audit::shown;
use crate::limits::{Line, Who, uid_of};
use crate::slow::Slow;
use hearth_tree::{Order, Path, Query, Window};
use hearth_wire::{OnDisconnect, RequestBody};
use std::fmt::{self, Display};
use std::time::{Duration, Instant};

/// A request that was begun.
pub(super) struct Timed {
    began: Instant,
    /// As SDKs call it.
    what: &'static str,
    at: Option<Path>,
    /// If it is not for everything that is there.
    query: Option<Box<Query>>,
}

/// A request that the threads have answered, after so long.
pub(super) struct Waited {
    timed: Timed,
    took: Duration,
}

impl Timed {
    /// A request that begins now.
    pub(super) fn begin(body: &RequestBody) -> Self {
        let asked = |query: &Query| (!query.is_everything()).then(|| Box::new(query.clone()));
        let (what, at, query) = match body {
            RequestBody::Put(put) => {
                let what = if put.expected.is_some() { "transaction" } else { "set" };
                (what, Some(put.set.at()), None)
            }
            RequestBody::Merge(merge) => ("update", Some(merge.update.at()), None),
            RequestBody::OnDisconnect(OnDisconnect::Set(set)) => ("onDisconnect.set", Some(set.at()), None),
            RequestBody::OnDisconnect(OnDisconnect::Update(update)) => {
                ("onDisconnect.update", Some(update.at()), None)
            }
            RequestBody::OnDisconnect(OnDisconnect::Cancel(at)) => ("onDisconnect.cancel", Some(at), None),
            RequestBody::Listen(listen) => ("listen", Some(&listen.at), asked(listen.kind.query())),
            RequestBody::Unlisten(unlisten) => ("unlisten", Some(&unlisten.at), None),
            RequestBody::Get(get) => ("get", Some(&get.at), asked(&get.query)),
            RequestBody::Auth(_) => ("auth", None, None),
            RequestBody::Unauth => ("unauth", None, None),
            RequestBody::Stats(_) => ("stats", None, None),
            RequestBody::AppCheck(_) => ("appcheck", None, None),
            RequestBody::UnAppCheck => ("unappcheck", None, None),
        };
        Self { began: Instant::now(), what, at: at.cloned(), query }
    }

    /// It was answered then.
    pub(super) fn answered(self, at: Instant) -> Waited {
        Waited { took: at.saturating_duration_since(self.began), timed: self }
    }
}

impl Waited {
    /// The same, where the answer was spelled since then.
    pub(super) fn spelled_since(self, began: Instant) -> Self {
        Self { took: self.took + began.elapsed(), ..self }
    }

    /// Tells of it, if it took long; whether it did.
    pub(super) fn tell(&self, slow: &Slow, who: &Who<'_>) -> bool {
        let Self { timed, took } = self;
        let is_slow = slow.is_slow(*took);
        if is_slow {
            let Timed { what, at, query, .. } = timed;
            let keys = at.as_ref().map(|at| (at.keys().first(), at.keys().len()));
            let order = query.as_ref().map(|query| ordered_by(query));
            slow.tell_slow((who.database, what, keys, order), *took, &Told { timed, who });
        }
        is_slow
    }
}

fn ordered_by(query: &Query) -> String {
    match &query.order {
        Order::Key(_) => "$key".into(),
        Order::Value(_) => "$value".into(),
        Order::Priority(_) => "$priority".into(),
        Order::Child(path, _) => path.to_string(),
    }
}

/// What is told of a request: of its query how it is ordered and how long it may get, and no value.
struct Told<'a> {
    timed: &'a Timed,
    who: &'a Who<'a>,
}

impl Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { timed: Timed { what, at, query, .. }, who } = self;
        f.write_str(what)?;
        if let Some(at) = at {
            write!(f, " `{}`", shown(at))?;
        }
        write!(f, " in database `{}`", who.database)?;
        if let Some(query) = query {
            write!(f, ", orderBy=\"{}\"", shown(&ordered_by(query)))?;
            match query.window {
                Window::All => {}
                Window::First(limit) => write!(f, ", limitToFirst={limit}")?,
                Window::Last(limit) => write!(f, ", limitToLast={limit}")?,
            }
        }
        write!(f, ", from {}", who.address)?;
        if let Line::Session(session) = who.line {
            write!(f, ", session {}", session.0)?;
        }
        if let Some(uid) = uid_of(who.identity) {
            write!(f, ", uid `{}`", shown(&uid))?;
        }
        f.write_str(",")
    }
}
