//! Coverage for programs. The layout is our own; the service's is not documented (rules reference 8).

use super::expressions::{Expression, expression};
use super::percent;
use hearth_rules::{Counts, Coverage, Fault, Rule, RuleId, Ruleset};
use serde_json::{Map, Value, json};

/// What was seen of the rules. `subject` is the name of what they are for, and what it is: a file, a namespace.
pub fn json((kind, name): (&str, &str), ruleset: &Ruleset, coverage: &Coverage) -> Value {
    let points = coverage.points(ruleset);
    let hit = points.iter().filter(|point| point.hits != 0).count();
    let place = |offset: u32| place(ruleset, offset);
    let rule = |(id, rule): (RuleId, &Rule)| {
        let own = points.iter().filter(|point| point.rule == id);
        let sides: Vec<Value> = own
            .map(|point| {
                json!({"side": point.side.to_string(), "start": place(point.span.start), "hits": point.hits})
            })
            .collect();
        let expressions: Vec<Value> =
            expression(ruleset, coverage, id).iter().map(|part| part_of(ruleset, part)).collect();
        json!({
            "path": ruleset.node_path(id), "kind": rule.kind().to_string(),
            "start": place(rule.text().span().start), "end": place(rule.text().span().end),
            "counts": counts(coverage.rule(id)), "sides": sides, "expressions": expressions,
        })
    };
    json!({
        kind: name, "source": ruleset.source(), "sides": points.len(), "exercised": hit, "percent": percent(&points),
        "rules": ruleset.rules().map(rule).collect::<Vec<_>>(),
    })
}

/// Line and column as people count them, and bytes from the start of the document.
fn place(ruleset: &Ruleset, offset: u32) -> Value {
    let position = ruleset.lines().position(ruleset.source(), offset);
    json!({"line": position.line, "column": position.column, "offset": offset})
}

fn counts(Counts { truths, falsehoods, others, failures }: Counts) -> Value {
    json!({"true": truths, "false": falsehoods, "other": others, "error": failures})
}

/// Recursion, as deep as expressions are made.
fn part_of(ruleset: &Ruleset, part: &Expression<'_>) -> Value {
    let mut members = Map::new();
    let mut tell = |name: &str, value: Value| drop(members.insert(name.into(), value));
    tell("expression", part.text.into());
    tell("start", place(ruleset, part.span.start));
    tell("end", place(ruleset, part.span.end));
    tell("counts", counts(part.seen.counts));
    tell("values", values(part));
    if !part.seen.faults.is_empty() {
        let fault = |(fault, count): &(Fault, u64)| json!({"error": fault.to_string(), "count": count});
        tell("errors", part.seen.faults.iter().map(fault).collect());
    }
    if !part.children.is_empty() {
        tell("children", part.children.iter().map(|child| part_of(ruleset, child)).collect());
    }
    Value::Object(members)
}

/// What it came to, and how often: as JSON where a value can be written so, otherwise as a trace shows it.
fn values(part: &Expression<'_>) -> Value {
    let Counts { truths, falsehoods, .. } = part.seen.counts;
    let bools = [(true, truths), (false, falsehoods)];
    let bools =
        bools.iter().filter(|(_, count)| *count != 0).map(|(value, count)| (Value::from(*value), *count));
    let others = part.seen.values.iter().map(|(value, count)| {
        (serde_json::from_str(value).unwrap_or_else(|_| Value::from(value.to_string())), *count)
    });
    bools.chain(others).map(|(value, count)| json!({"value": value, "count": count})).collect()
}
