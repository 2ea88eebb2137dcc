//! Our own suites, made to be read aloud:
//!
//! ```yaml
//! identities:
//!   ada: {uid: ada, token: {role: editor}}
//! data:
//!   rooms: {r1: {members: {ada: true}}}
//! tests:
//!   - name: strangers stay out
//!     steps:
//!       - ada can read: /rooms/r1
//!       - nobody cannot read: /rooms/r1
//!         because: only members read
//!       - ada can write: /rooms/r1/topic
//!         value: hello
//! ```
//!
//! Each test begins with the data of the suite, or with its own; what a step is allowed to write is there for the next.
//! `given` writes whatever the rules say. `nobody` is not signed in; a text as an identity is a uid.

use super::operation::{Verb, read, snapshot, update, write};
use super::{Attempt, NOW_MS, Operation, Read, Scenario, Step, claims, only, text, time};
use hearth_rules::Claim;
use hearth_tree::Snapshot;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

struct Suite {
    identities: BTreeMap<String, Claim>,
    data: Snapshot,
    now_ms: i64,
}

pub(crate) fn scenarios(file: &str, members: &Map<String, Value>) -> Read<Vec<Scenario>> {
    only(members, &["identities", "data", "now", "tests"], "the suite")?;
    let suite = Suite {
        identities: identities(members.get("identities"))?,
        data: snapshot(members.get("data").unwrap_or(&Value::Null), "data")?,
        now_ms: time(members.get("now"), NOW_MS, "the suite")?,
    };
    let Some(Value::Array(tests)) = members.get("tests") else {
        return Err("a suite has a list `tests`".into());
    };
    tests.iter().enumerate().map(|(index, test)| scenario(file, &suite, index, test)).collect()
}

fn identities(value: Option<&Value>) -> Read<BTreeMap<String, Claim>> {
    let mut identities = BTreeMap::from([("nobody".to_owned(), Claim::Null)]);
    match value {
        None => {}
        Some(Value::Object(members)) => {
            for (name, auth) in members {
                identities.insert(name.clone(), identity(auth, name)?);
            }
        }
        Some(_) => return Err("`identities` is a mapping from names to values of `auth`".into()),
    }
    Ok(identities)
}

/// A value of `auth`; a text is short for a signed-in user with that uid.
pub(crate) fn identity(auth: &Value, name: &str) -> Read<Claim> {
    match auth {
        Value::String(uid) => claims(&json!({"uid": uid, "provider": "custom", "token": {"sub": uid}}), name),
        Value::Null | Value::Object(_) => claims(auth, name),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err(format!("{name}: a value of `auth` is a mapping, null, or a uid"))
        }
    }
}

fn scenario(file: &str, suite: &Suite, index: usize, test: &Value) -> Read<Scenario> {
    let number = format!("test {}", index + 1);
    let Value::Object(members) = test else {
        return Err(format!("{number}: a test is a mapping with `steps`"));
    };
    only(members, &["name", "data", "now", "steps"], &number)?;
    let name = text(members, "name", &number)?.unwrap_or_else(|| number.clone());
    let at = format!("{number} (`{name}`)");
    let data = match members.get("data") {
        Some(data) => snapshot(data, &at)?,
        None => suite.data.clone(),
    };
    let now_ms = time(members.get("now"), suite.now_ms, &at)?;
    let Some(Value::Array(steps)) = members.get("steps") else {
        return Err(format!("{at}: a test has a list `steps`"));
    };
    let steps: Vec<Step> = steps
        .iter()
        .enumerate()
        .map(|(index, each)| {
            let at = format!("{at}, step {}", index + 1);
            let step = each.as_object().ok_or_else(|| format!("{at}: {SHAPE}"))?;
            read_step(suite, now_ms, step, &at)
        })
        .collect::<Read<_>>()?;
    if !steps.iter().any(|step| matches!(step, Step::Attempt(_))) {
        return Err(format!("{at}: holds no test: none of its steps tries anything"));
    }
    Ok(Scenario { suite: file.into(), name, rules: None, data, steps })
}

const SHAPE: &str = "a step reads `NAME can read: PATH`, with `can` or `cannot`, and `read`, `write` or `update`; \
                     beside it stand `value`, `query`, `now` and `because`";

fn read_step(suite: &Suite, now_ms: i64, step: &Map<String, Value>, at: &str) -> Read<Step> {
    const BESIDE: [&str; 4] = ["value", "query", "now", "because"];
    let mut actions = step.iter().filter(|(name, _)| !BESIDE.contains(&name.as_str()));
    let (Some((action, object)), None) = (actions.next(), actions.next()) else {
        return Err(format!("{at}: {SHAPE}"));
    };
    if action == "given" {
        only(step, &["given", "now"], at)?;
        return given(object, time(step.get("now"), now_ms, at)?, at);
    }
    let mut words = action.rsplitn(3, ' ');
    let verb = words.next().and_then(Verb::parse);
    let allowed = match words.next() {
        Some("can") => Some(true),
        Some("cannot") => Some(false),
        Some(_) | None => None,
    };
    let (Some(verb), Some(allowed), Some(who)) = (verb, allowed, words.next()) else {
        return Err(format!("{at}: `{action}` is no action; {SHAPE}"));
    };
    let path = object.as_str().ok_or_else(|| format!("{at}: the path behind `{action}` is a text"))?;
    let auth = suite.identities.get(who).cloned();
    let auth = auth.ok_or_else(|| format!("{at}: `{who}` is not among the `identities`"))?;
    let operation = operation(verb, path, step).map_err(|error| format!("{at}: {error}"))?;
    Ok(Step::Attempt(Attempt {
        title: format!("{action} {path}"),
        auth,
        now_ms: time(step.get("now"), now_ms, at)?,
        operation,
        allowed,
        because: text(step, "because", at)?,
    }))
}

fn operation(verb: Verb, path: &str, step: &Map<String, Value>) -> Read<Operation> {
    let (value, query) = (step.get("value"), step.get("query"));
    match (verb, value, query) {
        (Verb::Read, None, query) => read(path, query),
        (Verb::Read, Some(_), _) => Err("a read has no `value`".into()),
        (Verb::Write | Verb::Update, _, Some(_)) => Err("only a read has a `query`".into()),
        (Verb::Write, Some(value), None) => write(path, value),
        (Verb::Update, Some(value), None) => update(path, value),
        (Verb::Write, None, None) => Err("a write needs a `value`; `value: null` deletes".into()),
        (Verb::Update, None, None) => Err("an update needs a `value`, a mapping from paths to values".into()),
    }
}

fn given(places: &Value, now_ms: i64, at: &str) -> Read<Step> {
    let Value::Object(places) = places else {
        return Err(format!("{at}: `given` is a mapping from paths to values"));
    };
    let mut writes = Vec::new();
    for (path, value) in places {
        if let Operation::Write(write, ..) = write(path, value).map_err(|error| format!("{at}: {error}"))? {
            writes.push(write);
        }
    }
    Ok(Step::Given(writes, now_ms))
}
