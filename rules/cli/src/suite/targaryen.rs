//! Suites of targaryen, so that people can bring theirs (rules reference 9.1).
//!
//! Stricter than the original where that hid mistakes: an expectation or a user that is not known is refused. `now` beside
//! `tests`, in milliseconds since 1970, is ours: the original has no clock.

use super::operation::{read, snapshot, write};
use super::{Attempt, NOW_MS, Operation, Read, Scenario, Step, claims, only, time};
use hearth_rules::Claim;
use hearth_tree::{Path, Snapshot};
use serde_json::{Map, Value};

pub(crate) fn scenarios(file: &str, members: &Map<String, Value>) -> Read<Vec<Scenario>> {
    only(members, &["root", "users", "tests", "now"], "the suite")?;
    let now_ms = time(members.get("now"), NOW_MS, "the suite")?;
    let no_users = Map::new();
    let users = members.get("users").and_then(Value::as_object).unwrap_or(&no_users);
    let data = root(members.get("root").unwrap_or(&Value::Null), now_ms)?;
    let tests = members.get("tests").and_then(Value::as_object).into_iter().flatten();
    let mut scenarios = Vec::new();
    for (path, expectations) in tests {
        let Value::Object(expectations) = expectations else {
            return Err(format!("`{path}`: the expectations for a path are a mapping"));
        };
        only(expectations, &["canRead", "cannotRead", "canWrite", "cannotWrite"], path)?;
        if expectations.values().all(|list| list.as_array().is_some_and(Vec::is_empty)) {
            return Err(format!("`{path}`: holds no test"));
        }
        for (kind, list) in expectations {
            let Value::Array(list) = list else { return Err(format!("`{path}`: `{kind}` is a list")) };
            for each in list {
                let attempt =
                    attempt(users, now_ms, path, kind, each).map_err(|error| format!("`{path}`: {error}"))?;
                // Every expectation begins with the same data.
                scenarios.push(Scenario {
                    suite: file.into(),
                    name: path.clone(),
                    rules: None,
                    data: data.clone(),
                    steps: vec![Step::Attempt(attempt)],
                });
            }
        }
    }
    Ok(scenarios)
}

/// The data may hold timestamps.
fn root(value: &Value, now_ms: i64) -> Read<Snapshot> {
    let Operation::Write(write, ..) = write("/", value).map_err(|error| format!("root: {error}"))? else {
        return snapshot(value, "root");
    };
    let empty = Snapshot::default();
    let change = write.resolve(now_ms, &empty).map_err(|error| format!("root: {error}"))?;
    Ok(empty.apply(&change))
}

fn attempt(users: &Map<String, Value>, now_ms: i64, path: &str, kind: &str, each: &Value) -> Read<Attempt> {
    let allowed = kind.starts_with("can") && !kind.starts_with("cannot");
    let (auth, operation) = if kind.ends_with("Read") {
        (each, read(path, None)?)
    } else {
        let Value::Object(members) = each else {
            return Err(format!("`{kind}` lists mappings with `auth` and `data`"));
        };
        only(members, &["auth", "data"], kind)?;
        (
            members.get("auth").unwrap_or(&Value::Null),
            write(path, members.get("data").unwrap_or(&Value::Null))?,
        )
    };
    let who = auth.as_str().map_or_else(|| auth.to_string(), Into::into);
    let place = Path::parse(path).map_err(|error| error.to_string())?;
    let verb = if kind.ends_with("Read") { "read" } else { "write" };
    let can = if allowed { "can" } else { "cannot" };
    Ok(Attempt {
        title: format!("{who} {can} {verb} {place}"),
        auth: user(users, auth)?,
        now_ms,
        operation,
        allowed,
        because: None,
    })
}

/// A name among the users, or a value of `auth` itself.
fn user(users: &Map<String, Value>, auth: &Value) -> Read<Claim> {
    let Value::String(name) = auth else { return claims(auth, "auth") };
    let user = users.get(name).ok_or_else(|| format!("`{name}` is not among the `users`"))?;
    claims(user, name)
}
