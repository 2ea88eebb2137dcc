//! Coverage for programs. The layout is our own; the service's is not documented (rules reference 8).

use super::expressions::{Expression, expression};
use super::percent;
use hearth_rules::{Counts, Coverage, Fault, Rule, RuleId, Ruleset};
use serde_json::{Map, Value, json};

/// Most parts of rules, and most sides, that are told one by one: for each its line and column must be found.
const TOLD_MAX: usize = 20_000;

/// What was seen of the rules. `subject` is the name of what they are for, and what it is: a file, a namespace.
pub fn json((kind, name): (&str, &str), ruleset: &Ruleset, coverage: &Coverage) -> Value {
    let points = coverage.points(ruleset);
    let hit = points.iter().filter(|point| point.hits != 0).count();
    let place = |offset: u32| place(ruleset, offset);
    let mut sides_left = points.iter().take(TOLD_MAX).peekable();
    let mut left = TOLD_MAX;
    let mut rule = |(id, rule): (RuleId, &Rule)| {
        // They come in the order of the rules.
        let mut sides = Vec::new();
        while let Some(point) = sides_left.next_if(|point| point.rule == id) {
            sides.push(
                json!({"side": point.side.to_string(), "start": place(point.span.start), "hits": point.hits}),
            );
        }
        let expressions = parts_of(ruleset, &expression(ruleset, coverage, id), &mut left);
        json!({
            "path": ruleset.node_path(id), "kind": rule.kind().to_string(),
            "start": place(rule.text().span().start), "end": place(rule.text().span().end),
            "counts": counts(coverage.rule(id)), "sides": sides, "expressions": expressions,
        })
    };
    let rules = ruleset.rules().map(&mut rule).collect::<Vec<_>>();
    let mut report = json!({
        kind: name, "source": ruleset.source(), "sides": points.len(), "exercised": hit, "percent": percent(&points),
        "rules": rules,
    });
    if left == 0 || TOLD_MAX < points.len() {
        report["truncated"] = true.into();
    }
    report
}

/// Line and column as people count them, and bytes from the start of the document.
fn place(ruleset: &Ruleset, offset: u32) -> Value {
    let position = ruleset.lines().position(ruleset.source(), offset);
    json!({"line": position.line, "column": position.column, "offset": offset})
}

fn counts(Counts { truths, falsehoods, others, failures }: Counts) -> Value {
    json!({"true": truths, "false": falsehoods, "other": others, "error": failures})
}

/// As many as may still be told.
fn parts_of(ruleset: &Ruleset, parts: &[Expression<'_>], left: &mut usize) -> Vec<Value> {
    let mut told = Vec::new();
    for part in parts {
        let Some(rest) = left.checked_sub(1) else { break };
        *left = rest;
        told.push(part_of(ruleset, part, left));
    }
    told
}

/// Recursion, as deep as expressions are made.
fn part_of(ruleset: &Ruleset, part: &Expression<'_>, left: &mut usize) -> Value {
    let mut members = Map::new();
    let mut tell = |name: &str, value: Value| drop(members.insert(name.into(), value));
    tell("expression", part.shown().into());
    tell("start", place(ruleset, part.span.start));
    tell("end", place(ruleset, part.span.end));
    tell("counts", counts(part.seen.counts));
    tell("values", values(part));
    if !part.seen.faults.is_empty() {
        let fault = |(fault, count): &(Fault, u64)| json!({"error": fault.to_string(), "count": count});
        tell("errors", part.seen.faults.iter().map(fault).collect());
    }
    if !part.children.is_empty() {
        tell("children", parts_of(ruleset, &part.children, left).into());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::html::html;

    /// How long both reports are for a rule of so many terms, and whether something is left out of the JSON.
    fn lengths(terms: usize) -> ([usize; 2], bool) {
        let chain = vec!["data.child('k').exists()"; terms].join(" || ");
        let rules = Ruleset::compile(&format!(r#"{{"rules": {{".read": "{chain}"}}}}"#)).unwrap();
        let coverage = Coverage::new(&rules);
        let report = json(("file", "rules.json"), &rules, &coverage);
        let page = html("rules.json", &rules, &coverage, "");
        ([report.to_string().len(), page.len()], report["truncated"] == true)
    }

    #[test]
    fn a_report_grows_with_the_rules_and_not_with_their_square() {
        let (few, few_truncated) = lengths(500);
        let (many, many_truncated) = lengths(1_000);
        for (few, many) in few.into_iter().zip(many) {
            assert!(many < 3 * few, "{few} {many}");
        }
        assert!(!few_truncated && !many_truncated);
        // More sides than are told.
        let (most, most_truncated) = lengths(11_000);
        assert!(most_truncated && most.iter().all(|&length| length < 24_000_000), "{most:?}");
    }
}
