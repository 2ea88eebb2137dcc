//! Queries in the spelling of REST (rest reference 3.1), with the service's own words for what is wrong with them.

use super::params::Params;
use super::refused::Refused;
use hearth_tree::{
    ChildPath, KeyBound, Order, Position, Priority, Query, Range, ReadOptions, Scalar, Window, read_node,
};
use serde::de::IgnoredAny;
use std::ops::Bound;

/// What of a node is wanted.
pub(super) struct Wanted {
    /// The children.
    pub(super) query: Query,
    /// Whether an order was asked for, which needs its index even if it hides nothing.
    pub(super) is_ordered: bool,
    /// Only the keys.
    pub(super) shallow: bool,
}

const BOUNDS: [&str; 5] = ["startAt", "startAfter", "endAt", "endBefore", "equalTo"];
const PRIMITIVE: &str = "Constraint index field must be a JSON primitive";

/// Reads the query of a URL.
///
/// # Errors
/// The service's text, or ours where its own is not known.
pub(super) fn wanted_of(params: &Params) -> Result<Wanted, Refused> {
    let order_by = params.query_text("orderBy")?;
    let window = window_of(params)?;
    let mut is_bounded = false;
    for name in BOUNDS {
        is_bounded |= params.query_text(name)?.is_some();
    }
    if params.flag("shallow")? {
        return shallow_of(params, order_by.is_some(), window);
    }
    let Some(order_by) = order_by else {
        if is_bounded || window != Window::All {
            return Err(Refused::bad("orderBy must be defined when other query parameters are defined"));
        }
        return Ok(Wanted { query: Query::EVERYTHING, is_ordered: false, shallow: false });
    };
    let order_by: String = serde_json::from_str(&order_by)
        .map_err(|_| Refused::bad("orderBy must be a valid JSON encoded path"))?;
    let ends = Ends::of(params)?;
    let order = match order_by.as_str() {
        "$key" => Order::Key(ends.range(key_bound)?),
        "$value" => Order::Value(ends.range(value_position)?),
        "$priority" => Order::Priority(ends.range(priority_position)?),
        path => {
            let path = ChildPath::parse(path);
            let path = path.map_err(|_| Refused::bad("orderBy must be a valid JSON encoded path"))?;
            Order::Child(path, ends.range(value_position)?)
        }
    };
    Ok(Wanted { query: Query { order, window }, is_ordered: true, shallow: false })
}

/// Keys alone go with a limit from the start and a key to go on after, which is how whole lists are walked.
fn shallow_of(params: &Params, is_ordered: bool, window: Window) -> Result<Wanted, Refused> {
    let mut mixed = is_ordered || matches!(window, Window::Last(_));
    for name in BOUNDS.into_iter().filter(|name| *name != "startAfter") {
        mixed |= params.query_text(name)?.is_some();
    }
    if mixed {
        return Err(Refused::bad("Mixing 'shallow' and querying parameters is not supported"));
    }
    let start = match params.text("startAfter")? {
        None => Bound::Unbounded,
        // Bare, as no other bound is; but a quoted one is no key, so it can only be meant as a text.
        Some(key) => {
            let text = serde_json::from_str::<String>(&key).unwrap_or_else(|_| key.into_owned());
            Bound::Excluded(KeyBound::parse(&text))
        }
    };
    let order = Order::Key(Range { start, end: Bound::Unbounded });
    Ok(Wanted { query: Query { order, window }, is_ordered: false, shallow: true })
}

fn window_of(params: &Params) -> Result<Window, Refused> {
    let limits = (limit_of(params, "limitToFirst")?, limit_of(params, "limitToLast")?);
    let window = match limits {
        (Some(_), Some(_)) => {
            return Err(Refused::bad("Only one of limitToFirst and limitToLast may be specified"));
        }
        (Some(first), None) => Window::first(first),
        (None, Some(last)) => Window::last(last),
        (None, None) => Ok(Window::All),
    };
    window.map_err(|error| Refused::bad(error.to_string()))
}

/// At least 1. A number that no limit can be is as good as the highest that one can.
fn limit_of(params: &Params, name: &'static str) -> Result<Option<u32>, Refused> {
    let Some(text) = params.text(name)? else { return Ok(None) };
    match text.parse::<i64>() {
        Err(_) => Err(Refused::bad(format!("{name} must be an integer"))),
        Ok(..=0) => Err(Refused::bad(format!("{name} must be positive"))),
        Ok(limit) => Ok(Some(u32::try_from(limit).unwrap_or(u32::MAX))),
    }
}

/// Start and end as they were given.
struct Ends {
    start: Bound<Given>,
    end: Bound<Given>,
}

/// A value, and perhaps the key among the children of that value: two JSON texts with a comma between.
#[derive(Clone)]
struct Given {
    value: Option<Scalar>,
    key: Option<String>,
}

impl Ends {
    fn of(params: &Params) -> Result<Self, Refused> {
        let given = |name| params.query_text(name)?.map(|text| Given::parse(&text)).transpose();
        let starts = (given("startAt")?, given("startAfter")?);
        let ends = (given("endAt")?, given("endBefore")?);
        if let Some(only) = given("equalTo")? {
            if !matches!((starts, ends), ((None, None), (None, None))) {
                let text =
                    "equalTo cannot be specified in addition to startAfter, startAt, endAt, or endBefore";
                return Err(Refused::bad(text));
            }
            let Range { start, end } = Range::only(only);
            return Ok(Self { start, end });
        }
        let one = |(included, excluded), names: &str| match (included, excluded) {
            (Some(_), Some(_)) => Err(Refused::bad(format!("Only one of {names} may be specified"))),
            (Some(at), None) => Ok(Bound::Included(at)),
            (None, Some(at)) => Ok(Bound::Excluded(at)),
            (None, None) => Ok(Bound::Unbounded),
        };
        Ok(Self { start: one(starts, "startAt and startAfter")?, end: one(ends, "endAt and endBefore")? })
    }

    fn range<B>(self, read: impl Fn(Given) -> Result<B, Refused>) -> Result<Range<B>, Refused> {
        let bound = |bound| -> Result<Bound<B>, Refused> {
            Ok(match bound {
                Bound::Included(given) => Bound::Included(read(given)?),
                Bound::Excluded(given) => Bound::Excluded(read(given)?),
                Bound::Unbounded => Bound::Unbounded,
            })
        };
        Ok(Range { start: bound(self.start)?, end: bound(self.end)? })
    }
}

impl Given {
    fn parse(text: &str) -> Result<Self, Refused> {
        let no_primitive = || Refused::bad(PRIMITIVE);
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        if text.trim_start().starts_with(['{', '[']) || !matches!(values.next(), Some(Ok(_))) {
            return Err(no_primitive());
        }
        let (value, rest) = text.split_at(values.byte_offset());
        let node = read_node(value.as_bytes(), &ReadOptions::default()).map_err(|_| no_primitive())?;
        let key = match rest.trim() {
            "" => None,
            rest => {
                let key = rest.strip_prefix(',').and_then(|key| serde_json::from_str(key).ok());
                Some(key.ok_or_else(no_primitive)?)
            }
        };
        Ok(Self { value: node.and_then(|node| node.value().cloned()), key })
    }

    fn tie(&self) -> Option<KeyBound> {
        self.key.as_deref().map(KeyBound::parse)
    }
}

fn key_bound(given: Given) -> Result<KeyBound, Refused> {
    match given.value {
        Some(Scalar::Text(text)) => Ok(KeyBound::parse(text.as_str())),
        None | Some(Scalar::Bool(_) | Scalar::Number(_)) => {
            Err(Refused::bad("Provided key index type is invalid, must be string"))
        }
    }
}

fn value_position(given: Given) -> Result<Position<Option<Scalar>>, Refused> {
    Ok(Position { key: given.tie(), value: given.value })
}

fn priority_position(given: Given) -> Result<Position<Option<Priority>>, Refused> {
    let key = given.tie();
    let value = match given.value {
        None => None,
        Some(Scalar::Number(number)) => Some(Priority::Number(number)),
        Some(Scalar::Text(text)) => Some(Priority::Text(text)),
        Some(Scalar::Bool(_)) => {
            return Err(Refused::bad(
                "Provided priority index type is invalid, must be null, a number or a string",
            ));
        }
    };
    Ok(Position { value, key })
}
