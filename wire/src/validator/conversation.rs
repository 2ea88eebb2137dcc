//! Whether what is sent goes with what was asked, in the order that SDKs depend on (wire reference 3.5).
//!
//! The client's own view of untagged data is kept, for two things that can be said for certain: a write that is
//! acknowledged while nothing was pushed over a place where the client holds something else, and a `datastale` while
//! the client holds exactly what it said.

use super::document::Json;
use super::listens::Listens;
use super::value::fault;
use super::window::result_fault;
use crate::envelope::{ClientMessage, Refused};
use crate::hash::Held;
use crate::number::{RequestNumber, Tag};
use crate::push::Push;
use crate::received::ServerMessage;
use crate::request::{Action, OnDisconnect, Put, Request, RequestBody, Unlisten};
use crate::response::{Answer, Outcome};
use crate::status::Status;
use hearth_tree::{Assigned, Assignment, Change, Edit, Node, Path, ReadOptions, Snapshot, To};
use std::collections::VecDeque;

/// What was asked and what was shown so far.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    waiting: VecDeque<Asked>,
    listens: Listens,
    /// What was pushed without tags.
    shown: Snapshot,
}

/// A request that was not answered yet.
#[derive(Debug)]
struct Asked {
    number: RequestNumber,
    /// Nothing, if it makes no sense.
    body: Option<RequestBody>,
    /// Whether anything was pushed over the places that it writes, since it came.
    is_touched: bool,
}

impl Conversation {
    pub(super) fn received(&mut self, message: Result<ClientMessage, Refused>, raw_query: Option<Json>) {
        let (number, body) = match message {
            Ok(ClientMessage::Request(Request { number, body })) => (number, Some(body)),
            Err(Refused::Request { number, .. }) => (number, None),
            Ok(ClientMessage::Control(_)) | Err(Refused::Unknown { .. } | Refused::Broken { .. }) => return,
        };
        if let Some(RequestBody::Listen(listen)) = &body {
            self.listens.ask(number, listen, raw_query);
        }
        self.waiting.push_back(Asked { number, body, is_touched: false });
    }

    pub(super) fn sent(&mut self, message: &[u8], json: &Json, faults: &mut Vec<String>) {
        if json.at(&["t"]).and_then(Json::text) != Some("d") {
            return;
        }
        if let Some(number) = json.at(&["d", "r"]).and_then(Json::integer) {
            let got = match ServerMessage::parse(message, &ReadOptions::default()) {
                Ok(ServerMessage::Reply(reply)) => reply.outcome(Action::Get, &ReadOptions::default()).ok(),
                Ok(ServerMessage::Control(_) | ServerMessage::Push(_)) | Err(_) => None,
            };
            let asked = self.waiting.iter().find(|asked| i128::from(asked.number.0) == number);
            if let (Some(Outcome::Ok(Answer::Data(node))), Some(RequestBody::Get(get))) =
                (&got, asked.and_then(|asked| asked.body.as_ref()))
            {
                faults.extend(result_fault(&get.query, node.as_ref()));
            }
            self.answered(number, json.at(&["d", "b"]).unwrap_or(&Json::Null), faults);
            return;
        }
        // What cannot be read has been noted already.
        if let Ok(ServerMessage::Push(push)) = ServerMessage::parse(message, &ReadOptions::default()) {
            let raw_query = json.at(&["d", "b", "q"]).and_then(|queries| match queries {
                Json::Array(queries) => queries.first(),
                Json::Null
                | Json::Bool(_)
                | Json::Integer(_)
                | Json::Double(_)
                | Json::Text(_)
                | Json::Object(_) => None,
            });
            faults.extend(self.pushed(push, raw_query).err());
        }
    }

    /// Requests that were never answered.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = String> {
        self.waiting.iter().map(|asked| match &asked.body {
            Some(body) => format!("request {} (`{}`) was never answered", asked.number, body.action()),
            None => format!("request {} was never answered", asked.number),
        })
    }

    fn pushed(&mut self, push: Push, raw_query: Option<&Json>) -> Result<(), String> {
        match push {
            Push::Set { edit, tag } => {
                let name = if matches!(edit.to, To::Node(_)) { "d" } else { "m" };
                self.shown_at(&edit.at.clone(), tag, name, vec![edit])
            }
            Push::Merge { at, change, tag } => self.shown_at(&at, tag, "m", change.edits().to_vec()),
            Push::RangeMerge { at, tag, .. } => {
                self.listens.push(&at, tag, "rm")?;
                // What the client holds outside the ranges is not known.
                self.touch(&at);
                self.listens.forget(&at);
                Ok(())
            }
            Push::Cancel { at, .. } => self.listens.cancel(&at, raw_query),
            Push::AuthRevoked(_) | Push::AppCheckRevoked(_) | Push::SecurityDebug { .. } => Ok(()),
        }
    }

    fn shown_at(&mut self, at: &Path, tag: Option<Tag>, name: &str, edits: Vec<Edit>) -> Result<(), String> {
        self.listens.push(at, tag, name)?;
        if tag.is_some() {
            return self.listens.show(at, tag, &edits);
        }
        self.show(edits);
        Ok(())
    }

    fn show(&mut self, edits: Vec<Edit>) {
        edits.iter().for_each(|edit| self.touch(&edit.at));
        if let Ok(change) = Change::new(edits) {
            self.shown = self.shown.apply(&change);
        }
    }

    fn touch(&mut self, at: &Path) {
        for asked in &mut self.waiting {
            let places = asked.written();
            asked.is_touched |= places.iter().any(|(place, _)| place.covers(at) || at.covers(place));
        }
    }

    fn answered(&mut self, number: i128, body: &Json, faults: &mut Vec<String>) {
        let position = self.waiting.iter().position(|asked| i128::from(asked.number.0) == number);
        let Some(asked) = position.and_then(|position| self.waiting.remove(position)) else {
            faults.push(format!(
                "request {number} is not waiting for an answer: it has one already, or was never made"
            ));
            return;
        };
        if let Some(first) = self.waiting.front().filter(|_| position != Some(0)) {
            faults.push(format!(
                "request {number} is answered before request {}, which came first",
                first.number
            ));
        }
        let is_ok = body.member("s").and_then(Json::text) == Some("ok");
        let data = body.member("d").unwrap_or(&Json::Null);
        match &asked.body {
            None if is_ok => faults.push(format!("request {number} makes no sense and is answered with ok")),
            None => {}
            Some(request) if is_ok => {
                faults.extend(ok_data_fault(request, data));
                faults.extend(self.succeeded(&asked, request).err());
            }
            Some(request) => {
                let status = body.member("s").and_then(Json::text).and_then(Status::parse);
                faults.extend(self.failed(&asked, request, status).err());
            }
        }
    }

    fn succeeded(&mut self, asked: &Asked, request: &RequestBody) -> Result<(), String> {
        match request {
            RequestBody::Listen(listen) => self.listening(asked.number, &listen.at, listen.kind.tag()),
            RequestBody::Unlisten(Unlisten { at, kind }) => {
                self.listens.end(at, kind.tag());
                Ok(())
            }
            RequestBody::Put(_) | RequestBody::Merge(_) => self.written(asked),
            RequestBody::Stats(_)
            | RequestBody::Auth(_)
            | RequestBody::Unauth
            | RequestBody::AppCheck(_)
            | RequestBody::UnAppCheck
            | RequestBody::Get(_)
            | RequestBody::OnDisconnect(_) => Ok(()),
        }
    }

    fn listening(&mut self, number: RequestNumber, at: &Path, tag: Option<Tag>) -> Result<(), String> {
        let Some(listener) = self.listens.find(at, tag) else { return Ok(()) };
        let Some(pending) = listener.answered(number) else { return Ok(()) };
        listener.is_live = true;
        match (pending.had_data, pending.held) {
            (true, _) => Ok(()),
            (false, None) => Err(format!(
                "the listen at `{at}` came without a hash, and no data were pushed before its ok: C++ waits for them"
            )),
            (false, Some(Held::Nothing)) => {
                listener.is_known = true;
                listener.window.clear();
                if tag.is_none() {
                    self.show(vec![Edit { at: at.clone(), to: To::Node(None) }]);
                }
                Ok(())
            }
            (false, Some(held @ Held::Hash(_))) => {
                listener.is_known = tag.is_none() && held.is(self.shown.get(at));
                Ok(())
            }
        }
    }

    /// The data of a write must have reached the client's own listens before the ok.
    fn written(&mut self, asked: &Asked) -> Result<(), String> {
        if asked.is_touched {
            return Ok(());
        }
        for (at, written) in asked.written() {
            let Some(written) = written else { continue };
            if self.listens.knows(&at) && self.shown.get(&at) != written.as_ref() {
                return Err(format!(
                    "request {} is acknowledged before its data at `{at}` were pushed: the client shows the old ones again",
                    asked.number
                ));
            }
        }
        Ok(())
    }

    fn failed(&mut self, asked: &Asked, request: &RequestBody, status: Option<Status>) -> Result<(), String> {
        match request {
            RequestBody::Listen(listen) => {
                let tag = listen.kind.tag();
                let Some(listener) = self.listens.find(&listen.at, tag) else { return Ok(()) };
                let was_live = listener.is_live;
                let had_data = listener.answered(asked.number).is_some_and(|pending| pending.had_data);
                self.listens.end(&listen.at, tag);
                if had_data && !was_live {
                    return Err(format!("data at `{}` were pushed to a listen that is refused", listen.at));
                }
                Ok(())
            }
            RequestBody::Put(Put { set, expected }) if status == Some(Status::DataStale) => {
                let Some(held) = expected else {
                    return Err("`datastale` answers a write that is no transaction".into());
                };
                let is_current = self.listens.knows(set.at()) && held.is(self.shown.get(set.at()));
                if is_current && !asked.is_touched {
                    return Err(format!(
                        "`datastale` comes before the data at `{}`: the client tries the same again, 25 times",
                        set.at()
                    ));
                }
                Ok(())
            }
            RequestBody::Put(_)
            | RequestBody::Stats(_)
            | RequestBody::Auth(_)
            | RequestBody::Unauth
            | RequestBody::AppCheck(_)
            | RequestBody::UnAppCheck
            | RequestBody::Unlisten(_)
            | RequestBody::Get(_)
            | RequestBody::Merge(_)
            | RequestBody::OnDisconnect(_) => match status {
                Some(Status::DataStale) => Err("`datastale` answers a request that is no transaction".into()),
                Some(_) | None => Ok(()),
            },
        }
    }
}

impl Asked {
    /// The places that are written, each with what is there afterwards; the inner option is nothing where that is not
    /// known.
    fn written(&self) -> Vec<(Path, Option<Option<Node>>)> {
        let result = |each: &Assignment| {
            let node = match each.to() {
                Assigned::Value(None) => Some(None),
                Assigned::Value(Some(draft)) => draft.as_node().cloned().map(Some),
                Assigned::Priority(_) => None,
            };
            (each.at().clone(), node)
        };
        match &self.body {
            Some(RequestBody::Put(put)) => vec![result(&put.set)],
            Some(RequestBody::Merge(merge)) => merge.update.assignments().iter().map(result).collect(),
            Some(
                RequestBody::Stats(_)
                | RequestBody::Auth(_)
                | RequestBody::Unauth
                | RequestBody::AppCheck(_)
                | RequestBody::UnAppCheck
                | RequestBody::Listen(_)
                | RequestBody::Unlisten(_)
                | RequestBody::Get(_)
                | RequestBody::OnDisconnect(
                    OnDisconnect::Set(_) | OnDisconnect::Update(_) | OnDisconnect::Cancel(_),
                ),
            )
            | None => Vec::new(),
        }
    }
}

/// What is wrong with the `d` of an ok (wire reference 4).
fn ok_data_fault(request: &RequestBody, data: &Json) -> Option<String> {
    let action = request.action();
    let wrong =
        |wanted: &str| Some(format!("the `d` of an ok to `{action}` must be {wanted}, not {}", data.kind()));
    match (request, data) {
        (RequestBody::Listen(_), Json::Object(members)) => match members.as_slice() {
            [] => None,
            [(key, Json::Array(warnings))]
                if key == "w" && warnings.iter().all(|w| w.text() == Some("no_index")) =>
            {
                None
            }
            _ => Some("the `d` of an ok to a listen has more than the warning `no_index`".into()),
        },
        (RequestBody::Listen(_), _) => wrong("an object: Android crashes"),
        (RequestBody::Get(_), _) => fault(data, 0),
        (RequestBody::Auth(_), Json::Object(_) | Json::Text(_)) => None,
        (RequestBody::Auth(_), _) => wrong("an object"),
        (
            RequestBody::Stats(_)
            | RequestBody::Unauth
            | RequestBody::AppCheck(_)
            | RequestBody::UnAppCheck
            | RequestBody::Unlisten(_)
            | RequestBody::Put(_)
            | RequestBody::Merge(_)
            | RequestBody::OnDisconnect(_),
            _,
        ) => {
            if data.text().is_some() {
                None
            } else {
                wrong("a text")
            }
        }
    }
}
