//! Paths, values and queries of suites and of the command line, as what the rules judge.

use super::{Operation, Read};
use hearth_rules::{OrderedBy, QueryValues};
use hearth_tree::{
    Assignment, Part, Path, ReadOptions, Scalar, Snapshot, Target, Text, Window, Write, read_node,
    read_priority, read_update, read_value,
};
use serde_json::Value;

/// What somebody tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Verb {
    /// Reads a place
    Read,
    /// Replaces what is at a place; null deletes it
    Write,
    /// Replaces what is at several places below one
    Update,
}

impl Verb {
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "read" => Self::Read,
            "write" => Self::Write,
            "update" => Self::Update,
            _ => return None,
        })
    }
}

/// Data as people write it, or as the service exports it.
pub(crate) fn snapshot(data: &Value, at: &str) -> Read<Snapshot> {
    let node = read_node(data.to_string().as_bytes(), &ReadOptions::default());
    node.map(Snapshot::new).map_err(|error| format!("{at}: {error}"))
}

pub(crate) fn read(path: &str, query: Option<&Value>) -> Read<Operation> {
    let path = Path::parse(path).map_err(|error| error.to_string())?;
    let query = query.map_or_else(|| Ok(QueryValues::default()), query_values)?;
    Ok(Operation::Read(path, query))
}

pub(crate) fn write(path: &str, value: &Value) -> Read<Operation> {
    let Target { path, part } = Target::<Path>::parse(path).map_err(|error| error.to_string())?;
    let (text, options) = (value.to_string(), ReadOptions::default());
    let assignment = match part {
        Part::Priority => {
            let priority = read_priority(text.as_bytes(), &options).map_err(|error| error.to_string())?;
            Assignment::priority(path.clone(), priority)
        }
        Part::Value => {
            let value = read_value(text.as_bytes(), &options).map_err(|error| error.to_string())?;
            Assignment::value(path.clone(), value).map_err(|error| error.to_string())?
        }
    };
    Ok(Operation::Write(Write::Set(assignment), path, text))
}

pub(crate) fn update(path: &str, value: &Value) -> Read<Operation> {
    let path = Path::parse(path).map_err(|error| error.to_string())?;
    let text = value.to_string();
    let update = read_update(text.as_bytes(), &path, &ReadOptions::default());
    let update = update.map_err(|error| error.to_string())?;
    Ok(Operation::Write(Write::Update(update), path, text))
}

/// Every place that a write is addressed to.
pub(crate) fn targets(write: &Write) -> Vec<Target> {
    let assignments = match write {
        Write::Set(assignment) => std::slice::from_ref(assignment),
        Write::Update(update) => update.assignments(),
    };
    assignments.iter().map(|each| Target { path: each.at().clone(), part: each.part() }).collect()
}

/// A query by the names of the SDKs: `{orderByChild: owner, equalTo: ada, limitToFirst: 10}`. Rules see where `startAfter` and
/// `endBefore` are in `startAt` and `endAt` (rules reference 3).
pub(crate) fn query_values(query: &Value) -> Read<QueryValues> {
    let Value::Object(members) = query else { return Err("a query is a mapping".into()) };
    let mut values = QueryValues::default();
    for [one, other] in [
        ["startAt", "startAfter"],
        ["endAt", "endBefore"],
        ["limitToFirst", "limitToLast"],
        ["equalTo", "startAt"],
        ["equalTo", "startAfter"],
        ["equalTo", "endAt"],
        ["equalTo", "endBefore"],
    ] {
        if members.contains_key(one) && members.contains_key(other) {
            return Err(format!("`{one}` and `{other}` cannot stand in one query"));
        }
    }
    for (name, value) in members {
        let order = match name.as_str() {
            "orderByKey" => Some(OrderedBy::Key),
            "orderByValue" => Some(OrderedBy::Value),
            "orderByPriority" => Some(OrderedBy::Priority),
            "orderByChild" => value.as_str().map(|path| OrderedBy::Child(path.into())),
            "startAt" | "startAfter" => {
                values.start_at = scalar(name, value)?;
                continue;
            }
            "endAt" | "endBefore" => {
                values.end_at = scalar(name, value)?;
                continue;
            }
            "equalTo" => {
                values.equal_to = scalar(name, value)?;
                continue;
            }
            "limitToFirst" | "limitToLast" => {
                values.window = window(name, value)?;
                continue;
            }
            _ => {
                return Err(format!(
                    "`{name}` is not known in a query; there are `orderByKey`, `orderByValue`, `orderByPriority`, \
                     `orderByChild`, `startAt`, `startAfter`, `endAt`, `endBefore`, `equalTo`, `limitToFirst`, \
                     `limitToLast`"
                ));
            }
        };
        let is_asked = name == "orderByChild" || value == &Value::Bool(true);
        match (order, is_asked) {
            (Some(order), true) if values.order == OrderedBy::Unasked => values.order = order,
            (Some(_), true) => return Err("a query has one order".into()),
            (Some(_), false) if value == &Value::Bool(false) => {}
            (Some(_), false) => return Err(format!("`{name}` is true or false")),
            (None, _) => return Err(format!("`{name}` is the path of a child")),
        }
    }
    Ok(values)
}

fn scalar(name: &str, value: &Value) -> Read<Option<Scalar>> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(Scalar::Bool(*value))),
        Value::Number(number) => {
            let number = match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Some(integer.into()),
                (None, double) => double.and_then(|double| hearth_tree::Number::from_f64(double).ok()),
            };
            number.map(|number| Some(Scalar::Number(number))).ok_or_else(|| format!("`{name}` is not finite"))
        }
        Value::String(text) => {
            Text::new(text).map(|text| Some(Scalar::Text(text))).map_err(|error| format!("`{name}`: {error}"))
        }
        Value::Array(_) | Value::Object(_) => {
            Err(format!("`{name}` is a text, a number, true, false or null"))
        }
    }
}

fn window(name: &str, value: &Value) -> Read<Window> {
    let limit = value.as_u64().and_then(|limit| u32::try_from(limit).ok());
    let window =
        limit.map(|limit| if name == "limitToFirst" { Window::first(limit) } else { Window::last(limit) });
    match window {
        Some(Ok(window)) => Ok(window),
        Some(Err(_)) | None => Err(format!("`{name}` is a number of children, at least 1")),
    }
}
