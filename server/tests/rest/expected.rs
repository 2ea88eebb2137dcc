//! Whether what came is what a case expects, placeholders included.

use serde_json::{Map, Value};
use std::time::{SystemTime, UNIX_EPOCH};

const PUSH_ID: &str = "<pushid>";

/// Whether a value is as expected: numbers by value, keys in any order.
pub(crate) fn matches(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::String(expected), _) if expected == "<any>" => true,
        (Value::String(expected), _) if expected == "<timestamp>" => actual.as_f64().is_some_and(is_now),
        (Value::String(expected), Value::String(actual)) => matches_text(expected, actual),
        (Value::Number(expected), Value::Number(actual)) => expected.as_f64() == actual.as_f64(),
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(e, a)| matches(e, a))
        }
        (Value::Object(expected), _) if expected.contains_key("<oneof>") => {
            let choices = expected["<oneof>"].as_array().expect("a list of choices");
            choices.iter().any(|choice| matches(choice, actual))
        }
        (Value::Object(expected), Value::Object(actual)) => matches_object(expected, actual),
        (expected, actual) => expected == actual,
    }
}

fn matches_object(expected: &Map<String, Value>, actual: &Map<String, Value>) -> bool {
    let literal = |key: &&String| *key != PUSH_ID && expected.contains_key(*key);
    expected.len() == actual.len()
        && expected.iter().all(|(key, value)| match key.as_str() {
            PUSH_ID => {
                let (_, made) = actual.iter().find(|(key, _)| !literal(key) && is_push_id(key)).unzip();
                made.is_some_and(|made| matches(value, made))
            }
            key => actual.get(key).is_some_and(|actual| matches(value, actual)),
        })
}

fn matches_text(expected: &str, actual: &str) -> bool {
    match expected.split_once(PUSH_ID) {
        None => expected == actual,
        Some((before, after)) => {
            let id = actual.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            id.is_some_and(is_push_id)
        }
    }
}

fn is_push_id(text: &str) -> bool {
    text.len() == 20 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Within a minute of now.
fn is_now(ms: f64) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
    (ms - now.as_secs_f64() * 1000.0).abs() < 60_000.0
}

/// The same data without arrays and nulls; nothing is null.
pub(crate) fn plain(value: &Value) -> Value {
    let children: Map<String, Value> = match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, item)| (at.to_string(), plain(item))).collect()
        }
        Value::Object(members) => members.iter().map(|(key, member)| (key.clone(), plain(member))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return value.clone(),
    };
    let children: Map<_, _> = children.into_iter().filter(|(_, child)| !child.is_null()).collect();
    if children.is_empty() { Value::Null } else { Value::Object(children) }
}

/// Whether a header is as expected.
pub(crate) fn matches_header(expected: &Value, actual: Option<&str>) -> bool {
    match (expected, actual) {
        (Value::Null, actual) => actual.is_none(),
        (Value::String(expected), Some(actual)) if expected == "<nonempty>" => !actual.is_empty(),
        (Value::String(expected), Some(actual)) => expected == actual,
        (Value::Object(expected), actual) => {
            let contains = expected.get("contains").and_then(Value::as_str);
            let not = expected.get("not").and_then(Value::as_str);
            contains.is_none_or(|part| actual.is_some_and(|actual| actual.contains(part)))
                && not.is_none_or(|not| actual != Some(not))
        }
        (_, _) => false,
    }
}

#[test]
fn placeholders_stand_for_what_they_say() {
    let id = "-OfJOJo-------------";
    for (expected, actual, is_match) in [
        (serde_json::json!({"a": 1}), serde_json::json!({"a": 1.0}), true),
        (serde_json::json!({"a": 1}), serde_json::json!({"a": 1, "b": 2}), false),
        (serde_json::json!({"<pushid>": 1, "k": 2}), serde_json::json!({id: 1, "k": 2}), true),
        (serde_json::json!({"<pushid>": 1, "k": 2}), serde_json::json!({"short": 1, "k": 2}), false),
        (serde_json::json!({"<oneof>": [{}, null]}), Value::Null, true),
        (serde_json::json!({"<oneof>": [{}, null]}), serde_json::json!(1), false),
        (serde_json::json!("/<pushid>"), serde_json::json!(format!("/{id}")), true),
        (serde_json::json!("/<pushid>"), serde_json::json!("/x"), false),
        (serde_json::json!("<timestamp>"), serde_json::json!(1), false),
    ] {
        assert_eq!(matches(&expected, &actual), is_match, "{expected} and {actual}");
    }
}
