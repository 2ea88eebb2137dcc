//! Coverage as a page: the rules as they were written, coloured by what was exercised.

use crate::report::junit::escape;
use hearth_rules::{Counts, Coverage, ExprId, RuleId, Ruleset};

const STYLE: &str = "\
:root{color-scheme:light dark;--ok:#d7f5dc;--part:#fdf0c2;--miss:#fbd5d5;--ink:#1c2128;--dim:#6b7683;--paper:#fff}\
@media(prefers-color-scheme:dark){:root{--ok:#153d22;--part:#4a3b0c;--miss:#571f22;--ink:#e4e8ee;--dim:#8b96a5;--paper:#14171c}}\
body{margin:2rem auto;max-width:72rem;padding:0 1rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}\
pre{font:13px/1.6 ui-monospace,monospace;overflow-x:auto;counter-reset:line}\
pre>span{display:block}pre>span::before{counter-increment:line;content:counter(line);display:inline-block;width:3.5em;padding-right:1em;text-align:right;color:var(--dim);user-select:none}\
i{font-style:normal;border-radius:3px}.ok{background:var(--ok)}.part{background:var(--part)}.miss{background:var(--miss)}\
table{border-collapse:collapse}td{padding:.1rem .8rem .1rem 0;vertical-align:top}.dim{color:var(--dim)}";

/// One page that needs nothing else.
pub(crate) fn html(file: &str, ruleset: &Ruleset, coverage: &Coverage) -> String {
    let points = coverage.points(ruleset);
    let hit = points.iter().filter(|point| point.hits != 0).count();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
<title>{0}: coverage</title><style>{STYLE}</style>\n<h1>{0}</h1>\n<p>{hit} of {1} sides exercised. \
<i class=\"ok\">&nbsp;true and false&nbsp;</i> <i class=\"part\">&nbsp;only one of them&nbsp;</i> \
<i class=\"miss\">&nbsp;never evaluated&nbsp;</i> <span class=\"dim\">Point at a part to see its counts.</span></p>\n<pre>",
        escape(file),
        points.len()
    );
    page += &source(ruleset, coverage);
    page += "</pre>\n";
    let missed: Vec<_> = points.iter().filter(|point| point.hits == 0).collect();
    if !missed.is_empty() {
        page += "<h2>Never exercised</h2>\n<table>\n";
        for point in missed {
            let position = ruleset.lines().position(ruleset.source(), point.span.start);
            let rule = ruleset.rule_path(point.rule);
            let (line, column) = (position.line, position.column);
            page += &format!(
                "<tr><td class=\"dim\">{line}:{column}<td>{}<td>{}</tr>\n",
                escape(&rule),
                escape(&point.side.to_string())
            );
        }
        page += "</table>\n";
    }
    page + "</html>\n"
}

/// A part of a rule, for each byte of the document; none outside of rules.
type Paint = Vec<Option<(RuleId, ExprId, Counts)>>;

fn source(ruleset: &Ruleset, coverage: &Coverage) -> String {
    let source = ruleset.source();
    let mut paint: Paint = vec![None; source.len()];
    for (id, rule) in ruleset.rules() {
        // Operands come before operators, so backwards the inner parts are painted over the outer ones.
        let parts: Vec<_> = coverage.parts(ruleset, id).collect();
        for &(part, counts) in parts.iter().rev() {
            let span = rule.text().locate(rule.part(part)).range();
            if let Some(bytes) = paint.get_mut(span) {
                bytes.fill(Some((id, part, counts)));
            }
        }
    }
    let mut page = String::new();
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        page += "<span>";
        page += &painted(line, &paint[start..start + line.len()]);
        page += "</span>";
        start += line.len();
    }
    page
}

fn painted(line: &str, paint: &[Option<(RuleId, ExprId, Counts)>]) -> String {
    let mut html = String::new();
    let mut at = 0;
    for run in paint.chunk_by(|a, b| a == b) {
        let text = escape(line.get(at..at + run.len()).unwrap_or_default());
        at += run.len();
        html += &match run[0] {
            None => text,
            Some((_, _, counts)) => {
                // A literal can only be what it is.
                let literal = matches!(text.as_str(), "true" | "false") && counts.total() != 0;
                let class = if literal { "ok" } else { class(counts) };
                format!("<i class=\"{class}\" title=\"{}\">{text}</i>", escape(&title(counts)))
            }
        };
    }
    html
}

const fn class(counts: Counts) -> &'static str {
    match (counts.total(), counts.truths, counts.falsehoods, counts.others) {
        (0, ..) => "miss",
        (_, 0, _, 0) | (_, _, 0, 0) => "part",
        _ => "ok",
    }
}

fn title(counts: Counts) -> String {
    let Counts { truths, falsehoods, others, failures } = counts;
    let told = [(truths, "true"), (falsehoods, "false"), (others, "other values"), (failures, "failed")];
    let told: Vec<String> = told
        .iter()
        .filter(|(count, _)| *count != 0)
        .map(|(count, what)| format!("{count} × {what}"))
        .collect();
    if told.is_empty() { "never evaluated".into() } else { told.join(", ") }
}
