//! The file of limits: JSON with comments, as rules are.
//!
//! ```json
//! {
//!   "limits": {
//!     // Anybody may write here.
//!     "/inbox": {"valueBytes": 10000, "writes": {"address": {"perSecond": 0.5, "burst": 20}}},
//!     "/rooms/$room/messages": {"writes": {"uid": {"perSecond": 5}}, "bytes": {"uid": {"perSecond": 20000}}}
//!   }
//! }
//! ```

use super::Limits;
use super::limit::{Limit, Measure, Per, Rate};
use super::places::Step;
use hearth_rules::document::{self, Kind, Member, Value};
use hearth_rules::{Lines, Position, SourceText, Span};
use hearth_tree::{DEPTH_MAX, Key};

/// Most limits in a file.
const LIMITS_MAX: usize = 1_000;
/// Most that can be said of a rate: more bytes in a second than any network brings.
const PER_SECOND_MAX: f64 = 1e9;
/// The slowest rate: one in a day, so that the times of buckets stay in reach.
const PER_SECOND_MIN: f64 = 1e-5;
/// Longest time that an empty bucket may take until it is full.
const WHOLE_SECONDS_MAX: f64 = 7.0 * 86_400.0;

/// Something wrong with a file of limits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mistake {
    pub(crate) span: Span,
    /// The same for people.
    pub(crate) position: Position,
    pub(crate) text: String,
}

/// Reads the file.
///
/// # Errors
/// Every mistake, in the order of the file.
pub(crate) fn parse(source: &str) -> Result<Limits, Vec<Mistake>> {
    let document = document::parse(source).map_err(|rejected| {
        let mistake = |found: &hearth_rules::Diagnostic| Mistake {
            span: found.span,
            position: found.position,
            text: found.problem.to_string(),
        };
        rejected.diagnostics().iter().map(mistake).collect::<Vec<_>>()
    })?;
    let mut reader = Reader { source, found: Vec::new() };
    let limits = reader.limits(&document);
    if reader.found.is_empty() {
        return Ok(limits);
    }
    let lines = Lines::of(source);
    reader.found.sort_by_key(|(span, _)| span.start);
    let located = reader.found.into_iter().map(|(span, text)| {
        let position = lines.position(source, span.start);
        Mistake { span, position, text }
    });
    Err(located.collect())
}

struct Reader<'s> {
    source: &'s str,
    found: Vec<(Span, String)>,
}

impl Reader<'_> {
    fn limits(&mut self, document: &Value) -> Limits {
        let mut limits = Limits::default();
        let mut is_there = false;
        for Member { key, value } in self.members(document, "the file is an object with the member `limits`")
        {
            if key.as_str() != "limits" {
                self.add(key.span(), format!("`{}` means nothing here: only `limits` does", key.as_str()));
                continue;
            }
            is_there = true;
            for Member { key, value } in self.members(value, "limits are an object with places for keys") {
                self.limit(&mut limits, key, value);
            }
        }
        if !is_there && self.found.is_empty() {
            self.add(document.span, "the member `limits` is missing".into());
        }
        limits
    }

    fn limit(&mut self, limits: &mut Limits, places: &SourceText, value: &Value) {
        let mut rates = Vec::new();
        let mut value_bytes_max = None;
        for Member { key, value } in self.members(value, "a limit is an object") {
            let measure = Measure::ALL.into_iter().find(|measure| measure.word() == key.as_str());
            match measure {
                Some(measure) => self.rates(measure, value, &mut rates),
                None if key.as_str() == "valueBytes" => value_bytes_max = self.count(value),
                None => {
                    let text = format!(
                        "a limit has no `{}`: it has `valueBytes`, `writes`, `bytes` and `reads`",
                        key.as_str()
                    );
                    self.add(key.span(), text);
                }
            }
        }
        if rates.is_empty() && value_bytes_max.is_none() && self.found.is_empty() {
            self.add(
                value.span,
                "this limits nothing: a limit has `valueBytes`, `writes`, `bytes` or `reads`".into(),
            );
        }
        let Some(steps) = self.steps(places) else { return };
        if limits.all.len() == LIMITS_MAX {
            self.add(places.span(), format!("there are more than {LIMITS_MAX} limits"));
            return;
        }
        let level = limits.root.make(steps);
        if level.own.is_some() {
            self.add(
                places.span(),
                "these places have a limit already: what a `$variable` is called makes no difference".into(),
            );
            return;
        }
        level.own = Some(limits.all.len());
        limits.all.push(Limit::new(places.as_str(), value_bytes_max, rates));
    }

    fn rates(&mut self, measure: Measure, value: &Value, rates: &mut Vec<Rate>) {
        for Member { key, value } in
            self.members(value, "this is an object with `connection`, `address` or `uid`")
        {
            match Per::ALL.into_iter().find(|per| per.word() == key.as_str()) {
                Some(per) => rates.extend(self.rate(measure, per, value)),
                None => {
                    let (word, measure) = (key.as_str(), measure.word());
                    let text = format!(
                        "{measure} are counted by `connection`, `address` or `uid`, and not by `{word}`"
                    );
                    self.add(key.span(), text);
                }
            }
        }
    }

    fn rate(&mut self, measure: Measure, per: Per, value: &Value) -> Option<Rate> {
        let (mut per_second, mut burst) = (None, None);
        for Member { key, value } in self
            .members(value, "a rate is an object with `perSecond`, and with `burst` if it is not the same")
        {
            match key.as_str() {
                "perSecond" => per_second = Some(self.per_second(value)?),
                "burst" => burst = Some(self.count(value)?),
                other => {
                    let text = format!("a rate has no `{other}`: it has `perSecond` and `burst`");
                    self.add(key.span(), text);
                }
            }
        }
        let Some(per_second) = per_second else {
            if self.found.is_empty() {
                self.add(value.span, "`perSecond` is missing".into());
            }
            return None;
        };
        // What comes in a second, and at least one.
        let burst = burst.map_or_else(|| per_second.ceil(), f64::from);
        if WHOLE_SECONDS_MAX < burst / per_second {
            self.add(value.span, "an empty bucket would take more than a week until it is full".into());
            return None;
        }
        Some(Rate::new(measure, per, per_second, burst))
    }

    fn per_second(&mut self, value: &Value) -> Option<f64> {
        let number = self.number_text(value).and_then(|text| text.parse().ok());
        let number = number.filter(|number| (PER_SECOND_MIN..=PER_SECOND_MAX).contains(number));
        if number.is_none() {
            self.add(value.span, format!("a rate is a number from {PER_SECOND_MIN} to {PER_SECOND_MAX}"));
        }
        number
    }

    fn count(&mut self, value: &Value) -> Option<u32> {
        let count = self.number_text(value).and_then(|text| text.parse().ok()).filter(|&count| count != 0);
        if count.is_none() {
            self.add(value.span, format!("this is a whole number from 1 to {}", u32::MAX));
        }
        count
    }

    fn number_text(&self, value: &Value) -> Option<&str> {
        matches!(value.kind, Kind::Number).then(|| self.source.get(value.span.range()))?
    }

    /// What stands in an object; nothing, if it is none, which is reported.
    fn members<'v>(&mut self, value: &'v Value, expected: &str) -> &'v [Member] {
        match &value.kind {
            Kind::Object(members) => members,
            Kind::Null | Kind::Bool(_) | Kind::Number | Kind::Text(_) | Kind::List(_) | Kind::Broken => {
                self.add(value.span, expected.into());
                &[]
            }
        }
    }

    /// The parts of `/rooms/$room/messages`.
    fn steps(&mut self, places: &SourceText) -> Option<Vec<Step>> {
        let Some(path) = places.as_str().strip_prefix('/') else {
            self.add(places.span(), "places begin with `/`".into());
            return None;
        };
        let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
        if DEPTH_MAX < parts.len() {
            self.add(places.span(), format!("no data lies deeper than {DEPTH_MAX} levels"));
            return None;
        }
        let step = |part: &&str| match part.strip_prefix('$') {
            Some(name) if !name.is_empty() && name.chars().all(|ch| ch.is_alphanumeric() || ch == '_') => {
                Ok(Step::Any)
            }
            Some(_) => Err(format!(
                "`{part}` is no `$variable`: a name of letters, digits and `_` stands behind `$`"
            )),
            None => Key::parse(part).map(Step::Named).map_err(|error| error.to_string()),
        };
        match parts.iter().map(step).collect() {
            Ok(steps) => Some(steps),
            Err(text) => {
                self.add(places.span(), text);
                None
            }
        }
    }

    fn add(&mut self, span: Span, text: String) {
        self.found.push((span, text));
    }
}
