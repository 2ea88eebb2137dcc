//! How a read ran, for who asks with `explain=true`: that is answered instead of the data.
//!
//! Why the read takes notes of itself, instead of a second look by whoever explains: what is told must be what happened,
//! also when somebody changes how reads are served.

use super::answer::{NO_CACHE, Print};
use super::refused::Refused;
use super::{Asked, place::Place, stream};
use crate::audit::shown;
use crate::rule_watch::RuleWatch;
use axum::body::HttpBody;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hearth_engine::{Door, Onlooker};
use hearth_rules::{Claim, Coverage, IndexToAdd, MissingIndex, Ruleset};
use hearth_tree::{BoundedText, Compact, Part, Path, Pretty, Query, Target};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What asks for it.
pub(super) const EXPLAIN: &str = "explain";

/// Of these the answer says what was asked for.
const QUERY: [&str; 9] = [
    "orderBy",
    "limitToFirst",
    "limitToLast",
    "startAt",
    "startAfter",
    "endAt",
    "endBefore",
    "equalTo",
    "shallow",
];

/// Longest explanation, in bytes: a path and a query, some kilobytes each, and reasons of 16 KB.
const BYTES_MAX: usize = 1024 * 1024;

/// What a read notes of itself.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Of a read that is to be explained. Others look at no clock.
    clock: Option<Clock>,
    /// Once rules were asked.
    index: Option<Index>,
    /// What rules have cost, if they were asked.
    steps: Option<u64>,
    /// Children that were sorted for this answer.
    pub(super) sorted: usize,
    /// Children in the answer; 1 for a value.
    pub(super) returned: usize,
}

#[derive(Debug)]
struct Clock {
    began: Instant,
    /// When the step before ended.
    last: Instant,
    took: Microseconds,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Microseconds {
    rules: u64,
    find: u64,
    spell: u64,
    total: u64,
}

/// What a query needs so that its children need not be looked through.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "state")]
enum Index {
    #[serde(rename = "not needed")]
    NotNeeded,
    #[serde(rename = "declared")]
    Declared { on: String, at: String },
    #[serde(rename = "missing")]
    Missing { on: String, at: String, add: String },
}

/// A step of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Rules are asked.
    Rules,
    /// What is wanted is found.
    Find,
    /// It is spelled, or the beginning of it.
    Spell,
}

impl Notes {
    /// Of a read that begins now.
    pub(super) fn begin() -> Self {
        let now = Instant::now();
        let clock = Clock { began: now, last: now, took: Microseconds::default() };
        Self { clock: Some(clock), ..Self::default() }
    }

    /// A step begins.
    pub(super) fn start(&mut self) {
        if let Some(clock) = &mut self.clock {
            clock.last = Instant::now();
        }
    }

    /// It has ended.
    pub(super) fn end(&mut self, step: Step) {
        let Some(Clock { last, took, .. }) = &mut self.clock else { return };
        let step = match step {
            Step::Rules => &mut took.rules,
            Step::Find => &mut took.find,
            Step::Spell => &mut took.spell,
        };
        *step += since(*last);
        *last = Instant::now();
    }

    /// Who looks on at the verdict, if this is to be explained.
    pub(super) fn explaining<'a>(&self, watch: &'a RuleWatch) -> Option<Explaining<'a>> {
        self.clock.as_ref().map(|_| Explaining { watch, steps: AtomicU64::new(NOT_ASKED) })
    }

    /// What came of it, and which index the query needs.
    pub(super) fn judged(
        &mut self,
        explaining: Option<&Explaining<'_>>,
        door: &Door,
        at: &Path,
        query: Option<&Query>,
    ) {
        let Some(explaining) = explaining else { return };
        let steps = explaining.steps.load(Ordering::Relaxed);
        self.steps = (steps != NOT_ASKED).then_some(steps);
        self.index = Some(Index::of(door, at, query));
    }
}

fn since(then: Instant) -> u64 {
    u64::try_from(then.elapsed().as_micros()).unwrap_or(u64::MAX)
}

impl Index {
    fn of(door: &Door, at: &Path, query: Option<&Query>) -> Self {
        let Some(needed) = query.and_then(|query| MissingIndex::needed(at, &query.order)) else {
            return Self::NotNeeded;
        };
        match door {
            Door::Rules(rules)
                if query.is_some_and(|query| rules.missing_index(at, &query.order).is_none()) =>
            {
                Self::Declared { on: needed.on, at: rules.place_of(at) }
            }
            Door::Rules(_) | Door::Open | Door::Closed => {
                let IndexToAdd { place, line, .. } = door.index_to_add(&needed);
                Self::Missing { on: needed.on, at: place, add: line }
            }
        }
    }
}

const NOT_ASKED: u64 = u64::MAX;

/// Looks on at the one verdict of a read.
#[derive(Debug)]
pub(super) struct Explaining<'a> {
    watch: &'a RuleWatch,
    steps: AtomicU64,
}

impl Onlooker for Explaining<'_> {
    fn look_on(&self, rules: &Arc<Ruleset>, judge: &mut dyn FnMut(Option<&mut Coverage>)) {
        self.watch.look_on(rules, judge);
    }

    fn takes_notes(&self) -> bool {
        self.watch.takes_notes()
    }

    fn judged(&self, steps: u64) {
        self.watch.judged(steps);
        self.steps.store(steps, Ordering::Relaxed);
    }

    /// Who may have a read explained may know that as well.
    fn tells_reasons(&self, _auth: &Claim) -> bool {
        true
    }
}

/// Refuses what cannot be explained, by its name.
pub(super) fn check(method: &Method, is_write: bool, asked: &Asked<Target>) -> Result<(), Refused> {
    if !asked.explains {
        return Ok(());
    }
    let refused = |what: &str| Err(Refused::bad(format!("{EXPLAIN} is not supported for {what}")));
    if is_write {
        return refused(method.as_str());
    }
    if stream::is_asked_for(&asked.headers) {
        return refused("event streams");
    }
    if asked.target.part == Part::Priority {
        return refused("priorities");
    }
    for name in ["callback", "download"] {
        if asked.params.text(name)?.is_some() {
            return refused(&format!("a request with {name}"));
        }
    }
    if asked.style.print == Print::Silent {
        return refused("a request with print=silent");
    }
    if asked.conditions.wants_tag || asked.conditions.if_none_match.is_some() {
        return refused("a request with X-Firebase-ETag or If-None-Match");
    }
    Ok(())
}

/// The same of what is no data.
pub(super) fn check_place(place: &Place<'_>, explains: bool) -> Result<(), Refused> {
    let what = match place {
        Place::Setting(_) if explains => ".settings",
        Place::Inspection(_) if explains => ".inspect",
        Place::Data(_) | Place::Setting(_) | Place::Inspection(_) => return Ok(()),
    };
    Err(Refused::bad(format!("{EXPLAIN} is not supported for {what}: it tells how a read of data ran")))
}

#[derive(Serialize)]
struct Explained<'a> {
    path: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    query: Map<String, Value>,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    index: Index,
    rules: Rules<'a>,
    visited: usize,
    sorted: usize,
    returned: usize,
    bytes: u64,
    microseconds: Microseconds,
}

#[derive(Serialize)]
struct Rules<'a> {
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<&'a str>,
}

/// What is answered instead of what came of the read. What was refused before rules were asked is refused.
pub(super) fn answer(
    asked: &Asked,
    notes: Notes,
    outcome: Result<Response, Refused>,
) -> Result<Response, Refused> {
    let Notes { clock: Some(clock), index: Some(index), steps, sorted, returned } = notes else {
        return outcome;
    };
    let refused = outcome.as_ref().err();
    let status = refused
        .map_or_else(|| outcome.as_ref().map_or(StatusCode::OK, Response::status), |refused| refused.status);
    let verdict = match (steps, status) {
        (None, _) => "not asked",
        (Some(_), StatusCode::UNAUTHORIZED) => "denied",
        (Some(_), _) => "allowed",
    };
    let reasons = refused.and_then(|refused| refused.reasons.as_deref());
    let reasons = reasons.map(|text| text.lines().filter(|line| !line.trim().is_empty()).collect());
    let explained = Explained {
        path: asked.target.path.to_string(),
        query: query_of(asked)?,
        status: status.as_u16(),
        error: refused.map(|refused| refused.text.as_str()),
        index,
        rules: Rules { verdict, steps, reasons: reasons.unwrap_or_default() },
        visited: sorted.max(returned),
        sorted,
        returned,
        bytes: outcome.as_ref().map_or(0, length_of),
        microseconds: Microseconds { total: since(clock.began), ..clock.took },
    };
    let mut text = BoundedText::up_to(BYTES_MAX);
    let spelled = match asked.style.print {
        Print::Pretty => text.append_json(&explained, Pretty::default()),
        Print::Compact | Print::Silent => text.append_json(&explained, Compact),
    };
    spelled.map_err(|_| {
        Refused::bad(format!("the explanation of `{}` is too long", shown(&asked.target.path)))
    })?;
    let headers = [(CONTENT_TYPE, "application/json; charset=utf-8"), (CACHE_CONTROL, NO_CACHE)];
    Ok((headers, text.into_bytes()).into_response())
}

/// As it was asked for.
fn query_of(asked: &Asked) -> Result<Map<String, Value>, Refused> {
    let mut query = Map::new();
    for name in QUERY {
        if let Some(text) = asked.params.query_text(name)? {
            query.insert(name.into(), serde_json::from_str(&text).unwrap_or(Value::String(text)));
        }
    }
    Ok(query)
}

/// How long the body of an answer is, in bytes.
pub(super) fn length_of(response: &Response) -> u64 {
    let said = response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    said.or_else(|| response.body().size_hint().exact()).unwrap_or_default()
}
