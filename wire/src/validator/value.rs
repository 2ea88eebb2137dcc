//! Data and places as a server may write them (wire reference 7.1, 7.2, 7.3).

use super::document::Json;
use hearth_tree::{DEPTH_MAX, Excerpt, KEY_BYTES_MAX};

/// What is wrong with the data at a place, `depth` levels down; null stands for nothing.
pub(super) fn fault(json: &Json, depth: usize) -> Option<String> {
    if *json == Json::Null { None } else { fault_inside(json, depth) }
}

/// What is wrong with a priority; null stands for none.
pub(super) fn priority_fault(json: &Json) -> Option<String> {
    match json {
        Json::Null | Json::Text(_) => None,
        Json::Integer(_) | Json::Double(_) => number_fault(json),
        Json::Bool(_) | Json::Array(_) | Json::Object(_) => {
            Some(format!("a priority must be a number or a text, not {}", json.kind()))
        }
    }
}

/// What is wrong with a place.
pub(super) fn path_fault(path: &str) -> Option<String> {
    let (path, _) = split_priority(path);
    let keys: Vec<_> = path.split('/').filter(|key| !key.is_empty()).collect();
    if DEPTH_MAX < keys.len() {
        return Some(format!(
            "path `{}` has {} keys; at most {DEPTH_MAX} are allowed",
            Excerpt(path),
            keys.len()
        ));
    }
    keys.into_iter().find(|key| !is_key(key)).map(|key| format!("`{}` in a path is no key", Excerpt(key)))
}

/// The node of a place, and whether its priority is meant.
pub(super) fn split_priority(path: &str) -> (&str, bool) {
    match path.strip_suffix(".priority") {
        Some(path) if path.is_empty() || path.ends_with('/') => (path, true),
        Some(_) | None => (path, false),
    }
}

fn fault_inside(json: &Json, depth: usize) -> Option<String> {
    match json {
        Json::Null => Some("null stands inside data, where only what exists is written".into()),
        Json::Bool(_) | Json::Text(_) => None,
        Json::Integer(_) | Json::Double(_) => number_fault(json),
        Json::Array(_) => Some("an array stands in data, where only objects do".into()),
        Json::Object(members) => object_fault(members, depth),
    }
}

fn object_fault(members: &[(String, Json)], depth: usize) -> Option<String> {
    let find = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let children = members.iter().filter(|(key, _)| !key.starts_with('.')).count();
    let (value, priority) = (find(".value"), find(".priority"));
    match (value, priority) {
        (None, _) if children == 0 => {
            return Some("an object without children stands in data; null is nothing".into());
        }
        (Some(_), _) if 0 < children => return Some("`.value` stands beside children".into()),
        (Some(_), None) => {
            return Some("`.value` stands without `.priority`; the value alone says it".into());
        }
        (_, Some(Json::Null)) => return Some("`.priority` is null; no priority is not written".into()),
        (_, Some(priority)) if priority_fault(priority).is_some() => return priority_fault(priority),
        (Some(Json::Null | Json::Array(_) | Json::Object(_)), _) => {
            return Some("`.value` is no value of a leaf".into());
        }
        (Some(_) | None, _) => {}
    }
    members.iter().find_map(|(key, child)| match key.as_str() {
        ".priority" => None,
        ".value" => fault_inside(child, depth),
        _ if !is_key(key) => Some(format!("`{}` in data is no key", Excerpt(key))),
        _ if DEPTH_MAX <= depth => Some(format!("data reach below level {DEPTH_MAX}")),
        _ => fault_inside(child, depth + 1),
    })
}

fn number_fault(json: &Json) -> Option<String> {
    /// 2^63: integers from there on are written as JavaScript writes doubles.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match json {
        Json::Double(double) if double.fract() == 0.0 && double.abs() < BEYOND => Some(format!(
            "a whole number is written as a double: Android's apps see {double:?} and not {double}"
        )),
        Json::Null
        | Json::Bool(_)
        | Json::Integer(_)
        | Json::Double(_)
        | Json::Text(_)
        | Json::Array(_)
        | Json::Object(_) => None,
    }
}

fn is_key(key: &str) -> bool {
    let forbidden = |ch: char| ".$#[]/".contains(ch) || ch.is_ascii_control();
    !key.is_empty() && key.len() <= KEY_BYTES_MAX && !key.contains(forbidden)
}
