//! Values as clients write and read them: the export form and the REST form (wire reference 7.1, 7.2, 7.6).

use super::{Node, Refusal, Value, check_key};
use serde_json::{Map, Value as Json};

/// What a client wrote, with every server value filled in. `current` is what is at the place before the write,
/// `now_ms` the server's time. Nothing, if it amounts to nothing.
///
/// # Errors
/// A [`Refusal`] for what no server may store.
pub fn read(json: &Json, current: Option<&Node>, now_ms: i64) -> Result<Option<Node>, Refusal> {
    match json {
        Json::Null => Ok(None),
        Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(Some(Node::leaf(read_scalar(json)?))),
        Json::Array(items) => {
            let named = items.iter().enumerate().map(|(position, item)| (position.to_string(), item));
            read_children(named, current, now_ms)
        }
        Json::Object(members) if members.contains_key(".sv") => {
            let value = server_value(members, current.and_then(Node::value), now_ms)?;
            Ok(Some(Node::leaf(value)))
        }
        Json::Object(members) => read_object(members, current, now_ms),
    }
}

fn read_object(
    members: &Map<String, Json>,
    current: Option<&Node>,
    now_ms: i64,
) -> Result<Option<Node>, Refusal> {
    let children = members.iter().filter(|(key, _)| !matches!(key.as_str(), ".value" | ".priority"));
    let children = read_children(children.map(|(key, child)| (key.clone(), child)), current, now_ms)?;
    let value = match members.get(".value") {
        None | Some(Json::Null) => None,
        // What amounts to nothing as a node amounts to nothing here, too.
        Some(Json::Object(value)) if value.is_empty() => None,
        Some(Json::Array(value)) if value.is_empty() => None,
        Some(Json::Object(value)) if value.contains_key(".sv") => {
            Some(server_value(value, current.and_then(Node::value), now_ms)?)
        }
        Some(Json::Object(_) | Json::Array(_)) => return Err(Refusal::BadValue),
        Some(value) => Some(read_scalar(value)?),
    };
    let priority = match members.get(".priority") {
        None => None,
        Some(priority) => read_priority(priority, current, now_ms)?,
    };
    match (value, children) {
        (None, None) => Ok(None),
        (Some(value), None) => Ok(Some(Node { priority, ..Node::leaf(value) })),
        (None, Some(node)) => Ok(Some(Node { priority, ..node })),
        (Some(_), Some(_)) => Err(Refusal::BadValue),
    }
}

fn read_children<'a>(
    members: impl Iterator<Item = (String, &'a Json)>,
    current: Option<&Node>,
    now_ms: i64,
) -> Result<Option<Node>, Refusal> {
    let mut node = None;
    for (key, child) in members {
        if key.starts_with('.') {
            return Err(Refusal::DotKey(key));
        }
        check_key(&key)?;
        let child = read(child, current.and_then(|current| current.child(&key)), now_ms)?;
        node = Node::with_child(node, &key, child);
    }
    Ok(node)
}

fn read_scalar(json: &Json) -> Result<Value, Refusal> {
    match json {
        Json::Bool(value) => Ok(Value::Bool(*value)),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Ok(Value::Int(integer)),
            (None, Some(double)) => Value::from_f64(double).ok_or(Refusal::NotFinite),
            (None, None) => Err(Refusal::NotFinite),
        },
        Json::String(text) if 10 * 1024 * 1024 < text.len() => Err(Refusal::TextTooLong),
        Json::String(text) => Ok(Value::Text(text.clone())),
        Json::Null | Json::Array(_) | Json::Object(_) => Err(Refusal::BadValue),
    }
}

/// A priority as a client wrote it. `current` is the node before the write.
///
/// # Errors
/// [`Refusal::BadPriority`] for anything but null, a number, a text or a server value.
pub(super) fn read_priority(
    json: &Json,
    current: Option<&Node>,
    now_ms: i64,
) -> Result<Option<Value>, Refusal> {
    match json {
        Json::Null => Ok(None),
        Json::Number(_) | Json::String(_) => read_scalar(json).map(Some),
        Json::Object(members) if members.contains_key(".sv") => {
            let current = current.and_then(|current| current.priority.as_ref());
            server_value(members, current, now_ms).map(Some)
        }
        Json::Bool(_) | Json::Array(_) | Json::Object(_) => Err(Refusal::BadPriority),
    }
}

/// `{".sv": "timestamp"}` or `{".sv": {"increment": δ}}` (7.6).
fn server_value(members: &Map<String, Json>, current: Option<&Value>, now_ms: i64) -> Result<Value, Refusal> {
    if members.len() != 1 {
        return Err(Refusal::BadServerValue);
    }
    match &members[".sv"] {
        Json::String(name) if name == "timestamp" => Ok(Value::Int(now_ms)),
        Json::Object(operation) if operation.len() == 1 => match operation.get("increment") {
            Some(delta @ Json::Number(_)) => {
                Value::incremented(current, &read_scalar(delta)?).ok_or(Refusal::NotFinite)
            }
            Some(_) | None => Err(Refusal::BadServerValue),
        },
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
            Err(Refusal::BadServerValue)
        }
    }
}

/// The export form: priorities shown, never an array (7.1). Nothing is `null`.
pub fn export(node: Option<&Node>) -> Json {
    let Some(node) = node else { return Json::Null };
    let mut members = Map::new();
    if let Some(priority) = &node.priority {
        members.insert(".priority".into(), scalar(priority));
    }
    match node.value() {
        Some(value) if members.is_empty() => return scalar(value),
        Some(value) => drop(members.insert(".value".into(), scalar(value))),
        None => members.extend(node.children().iter().map(|(key, child)| (key.clone(), export(Some(child))))),
    }
    Json::Object(members)
}

/// What a plain REST read shows: no priorities, arrays where 7.2 makes them.
pub fn rest(node: Option<&Node>) -> Json {
    let Some(node) = node else { return Json::Null };
    match node.value() {
        Some(value) => scalar(value),
        None => arrayed(node, &rest),
    }
}

/// What a REST read with `format=export` shows: priorities, and arrays where neither the node nor one of its direct
/// children has a priority (REST reference 7.1).
pub fn rest_export(node: Option<&Node>) -> Json {
    let Some(node) = node else { return Json::Null };
    if node.value().is_some() {
        return export(Some(node));
    }
    let prioritized = node.children().iter().any(|(_, child)| child.priority.is_some());
    if node.priority.is_none() && !prioritized {
        return arrayed(node, &rest_export);
    }
    let mut members = object(node, &rest_export);
    if let Some(priority) = &node.priority {
        members.insert(".priority".into(), scalar(priority));
    }
    Json::Object(members)
}

fn object(node: &Node, show: &dyn Fn(Option<&Node>) -> Json) -> Map<String, Json> {
    node.children().iter().map(|(key, child)| (key.clone(), show(Some(child)))).collect()
}

/// An array if every key matches `^(0|[1-9][0-9]*)$` and the greatest is less than twice the number of children (7.2).
fn arrayed(node: &Node, show: &dyn Fn(Option<&Node>) -> Json) -> Json {
    let positions: Option<Vec<u64>> = node.children().iter().map(|(key, _)| position(key)).collect();
    let greatest = positions.and_then(|positions| positions.into_iter().max());
    match greatest {
        Some(greatest) if greatest < 2 * node.children().len() as u64 => {
            (0..=greatest).map(|position| show(node.child(&position.to_string()))).collect()
        }
        Some(_) | None => Json::Object(object(node, show)),
    }
}

fn position(key: &str) -> Option<u64> {
    let digits = key.chars().all(|ch| ch.is_ascii_digit());
    let canonical = key == "0" || !key.starts_with('0');
    // What does not fit in 64 bits is no less than twice any number of children either.
    if digits && canonical { key.parse().ok() } else { None }
}

fn scalar(value: &Value) -> Json {
    match value {
        Value::Bool(value) => Json::from(*value),
        Value::Int(integer) => Json::from(*integer),
        Value::Double(double) => Json::from(*double),
        Value::Text(text) => Json::from(text.as_str()),
    }
}
