//! Lists of self-contained cases: each brings its rules, identity, time, data and one operation, or a text that should
//! compile or not.

use super::operation::{read, snapshot, update, write};
use super::readable::identity;
use super::{Attempt, Compile, NOW_MS, Read, Scenario, Step, only, text, time};
use hearth_rules::Ruleset;
use hearth_tree::Snapshot;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(crate) fn scenarios(file: &str, rows: &[Value]) -> Read<Vec<Scenario>> {
    let row = |(index, row): (usize, &Value)| {
        let number = format!("case {}", index + 1);
        let Value::Object(members) = row else { return Err(format!("{number}: a case is a mapping")) };
        let name = text(members, "id", &number)?.unwrap_or(number);
        scenario(file, &name, members).map_err(|error| format!("{name}: {error}"))
    };
    rows.iter().enumerate().map(row).collect()
}

fn scenario(file: &str, name: &str, members: &Map<String, Value>) -> Read<Scenario> {
    let mut rules = None;
    let mut data = Snapshot::default();
    let step = if members.contains_key("op") {
        only(
            members,
            &["id", "rules", "auth", "now", "data", "op", "allow", "why", "confirmed"],
            "the case",
        )?;
        if let Some(source) = members.get("rules") {
            // A text is kept as it is; rules written as data are spelled as JSON.
            let source = source.as_str().map_or_else(|| source.to_string(), Into::into);
            let compiled = Ruleset::compile(&source).map_err(|rejected| format!("its rules: {rejected}"))?;
            rules = Some(Arc::new(compiled));
        }
        data = snapshot(members.get("data").unwrap_or(&Value::Null), "data")?;
        Step::Attempt(attempt(members)?)
    } else {
        Step::Compile(compile(members)?)
    };
    Ok(Scenario { suite: file.into(), name: name.into(), rules, data, steps: vec![step] })
}

fn attempt(members: &Map<String, Value>) -> Read<Attempt> {
    let Some(Value::Object(op)) = members.get("op") else { return Err("`op` is a mapping".into()) };
    only(op, &["kind", "path", "value", "query"], "`op`")?;
    let kind = op.get("kind").and_then(Value::as_str).unwrap_or_default();
    let path = op.get("path").and_then(Value::as_str).ok_or("`op` has a `path`")?;
    let value = op.get("value").unwrap_or(&Value::Null);
    let operation = match kind {
        "read" => read(path, op.get("query"))?,
        "set" => write(path, value)?,
        "update" => update(path, value)?,
        _ => return Err(format!("`{kind}` is no kind of operation; there are `read`, `set`, `update`")),
    };
    let allowed = members.get("allow").and_then(Value::as_bool).ok_or("`allow` is true or false")?;
    Ok(Attempt {
        title: format!("{kind} {path} is {}", if allowed { "allowed" } else { "denied" }),
        auth: identity(members.get("auth").unwrap_or(&Value::Null), "auth")?,
        now_ms: time(members.get("now"), NOW_MS, "the case")?,
        operation,
        allowed,
        because: text(members, "why", "the case")?,
    })
}

fn compile(members: &Map<String, Value>) -> Read<Compile> {
    let source = match (members.get("source"), members.get("expr"), members.get("location")) {
        (Some(Value::String(source)), None, None) => source.clone(),
        (None, Some(expression @ Value::String(_)), Some(Value::String(kind))) => {
            // Where the recorded probes stood, with one capture in scope.
            json!({"rules": {"probe": {"$id": {format!(".{kind}"): expression}}}}).to_string()
        }
        _ => return Err("a case has an `op`, a `source`, or an `expr` and its `location`".into()),
    };
    let known = ["id", "source", "expr", "location", "valid", "error", "why", "confirmed"];
    only(members, &known, "the case")?;
    let valid = members.get("valid").and_then(Value::as_bool).ok_or("`valid` is true or false")?;
    Ok(Compile {
        title: if valid { "compiles".into() } else { "is rejected".into() },
        source,
        valid,
        error: text(members, "error", "the case")?,
    })
}
