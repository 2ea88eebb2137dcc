//! Coverage as a page: the rules as they were written, coloured by what was exercised, and every part with its values.
//!
//! Why no script: the page is kept as a file by builds, and is looked at where nobody runs one. What shows on pointing at
//! a part in the text stands below it once more, for fingers and keyboards.

use super::expressions::{Expression, expression, holds};
use super::percent;
use crate::report::junit::escape;
use hearth_rules::{Counts, Coverage, Point, Rule, RuleId, Ruleset, Seen, Span};
use std::cmp::Reverse;

const STYLE: &str = "\
:root{color-scheme:light dark;--ok:#d3f3da;--part:#fdecb8;--miss:#fbd3d3;--ink:#1c2128;--dim:#626d7a;--line:#dfe3e8;\
--paper:#fff;--code:#f7f8fa;--bar:#2f9e57}\
@media(prefers-color-scheme:dark){:root{--ok:#154225;--part:#4d3d0b;--miss:#5c2023;--ink:#e4e8ee;--dim:#95a0ae;\
--line:#2b323b;--paper:#14171c;--code:#1a1e25;--bar:#3fae68}}\
*{box-sizing:border-box}body{margin:0 auto;max-width:70rem;padding:1.5rem 1rem 3rem;background:var(--paper);\
color:var(--ink);font:15px/1.55 system-ui,sans-serif}\
h1{font-size:1.4rem;margin:0 0 .25rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:2rem 0 .5rem}p{margin:.4rem 0}\
.dim{color:var(--dim)}.sum{display:flex;flex-wrap:wrap;align-items:baseline;gap:.2rem .8rem}.sum b{font-size:1.7rem}\
.bar{height:.5rem;border-radius:1rem;background:var(--miss);overflow:hidden;margin:.4rem 0 .8rem}\
.bar i{display:block;height:100%;background:var(--bar)}\
.key{display:flex;flex-wrap:wrap;gap:.3rem 1rem;font-size:.9rem}.key i{padding:0 .4rem}\
pre{font:13px/1.65 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;counter-reset:line;background:var(--code);\
border:1px solid var(--line);border-radius:8px;padding:.8rem 0;margin:1rem 0;tab-size:2}\
pre>span{display:block;position:relative;padding:0 1rem 0 4em;white-space:pre-wrap;overflow-wrap:anywhere}\
pre>span::before{counter-increment:line;content:counter(line);position:absolute;left:0;width:3em;text-align:right;\
color:var(--dim);user-select:none}\
i{font-style:normal}pre i{border-radius:3px;cursor:help}.ok{background:var(--ok)}.part{background:var(--part)}\
.miss{background:var(--miss)}.key i,li>code{border-radius:4px}a{color:inherit}\
details{border-top:1px solid var(--line)}details:last-of-type{border-bottom:1px solid var(--line)}\
summary{padding:.45rem .2rem;cursor:pointer;overflow-wrap:anywhere}summary code{font-weight:600}\
code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}\
ul{list-style:none;margin:0;padding:0 0 0 1rem;border-left:2px solid var(--line)}details>ul{margin:0 0 .8rem .4rem}\
li{padding:.12rem 0}li>code{padding:.05rem .3rem;-webkit-box-decoration-break:clone;box-decoration-break:clone}\
li>small{color:var(--dim);padding-left:.4rem}small{font-size:.86rem;overflow-wrap:anywhere}\
.missed{padding:0;border:0}.missed>li{padding:.4rem 0;border-top:1px solid var(--line)}.missed small{color:var(--dim);\
padding:0}details:target{background:var(--code)}footer{margin-top:2rem;font-size:.9rem}\
button{font:inherit;padding:.25rem .8rem;margin-right:.5rem;\
border:1px solid var(--line);border-radius:6px;background:var(--code);color:inherit;cursor:pointer}\
@media(max-width:40rem){body{padding:1rem .75rem 2rem}pre{font-size:12px;margin-inline:-.75rem;border-radius:0;\
border-inline:0}pre>span{padding:0 .6rem 0 3.2em}pre>span::before{width:2.4em}ul{padding-left:.6rem}}";

/// Most parts that are listed below the rules, and most sides that are missing. People cannot read more.
const LISTED_MAX: usize = 5_000;

/// One page that needs nothing else. `subject` is what the rules are for, as text; `foot` stands at the end, as HTML.
pub fn html(subject: &str, ruleset: &Ruleset, coverage: &Coverage, foot: &str) -> String {
    let points = coverage.points(ruleset);
    let hit = points.iter().filter(|point| point.hits != 0).count();
    let percent = percent(&points);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{0}: coverage of the rules</title>\
<style>{STYLE}</style>\n<p class=\"dim\">Coverage of the rules</p>\n<h1>{0}</h1>\n<p class=\"sum\"><b>{percent:.1} %</b> \
<span>{hit} of {1} sides exercised</span></p>\n<div class=\"bar\"><i style=\"width:{percent:.1}%\"></i></div>\n\
<p class=\"key\"><span><i class=\"ok\">true and false</i></span><span><i class=\"part\">only one of them</i></span>\
<span><i class=\"miss\">never evaluated</i></span></p>\n<p class=\"dim\">A rule has two sides, true and false. In it, either operand \
of <code>&amp;&amp;</code> and <code>||</code> can decide, the right one both ways, and so can each branch of <code>?:</code>. \
Point at a part to see how often it was evaluated and what it came to; <a href=\"#rules\">below</a> the same stands in \
full.</p>\n<pre>",
        escape(subject),
        points.len()
    );
    page += &source(ruleset, coverage);
    page += "</pre>\n";
    page += &missed(ruleset, coverage, &points);
    page += "<h2 id=\"rules\">Every rule</h2>\n";
    let mut left = LISTED_MAX;
    for (id, rule) in ruleset.rules() {
        page += &listed(ruleset, coverage, (id, rule), &mut left);
    }
    page + "<footer class=\"dim\">" + foot + "</footer>\n</html>\n"
}

/// What is missing, a row for each rule.
fn missed(ruleset: &Ruleset, coverage: &Coverage, points: &[Point]) -> String {
    let all = points.iter().filter(|point| point.hits == 0);
    let missed: Vec<&Point> = all.clone().take(LISTED_MAX).collect();
    let further = all.count() - missed.len();
    let row = |of_rule: &[&Point]| {
        let rule = of_rule[0].rule;
        let sides = if coverage.rule(rule).total() == 0 {
            "evaluated".to_owned()
        } else {
            let side = |point: &&Point| {
                let position = ruleset.lines().position(ruleset.source(), point.span.start);
                format!(
                    "{} <small>({}:{})</small>",
                    escape(&point.side.to_string()),
                    position.line,
                    position.column
                )
            };
            of_rule.iter().map(side).collect::<Vec<_>>().join(", ")
        };
        format!(
            "<li><a href=\"#{}\">{}</a><br>never {sides}</li>\n",
            anchor(ruleset, rule),
            path(ruleset, rule)
        )
    };
    let mut rows: String = missed.chunk_by(|a, b| a.rule == b.rule).map(row).collect();
    if further != 0 {
        rows += &format!("<li>… and {further} further sides</li>\n");
    }
    if rows.is_empty() {
        rows
    } else {
        format!("<h2>Never exercised</h2>\n<ul class=\"missed\">\n{rows}</ul>\n")
    }
}

/// Where a rule stands on the page: its line, which no other rule need have to itself, and its column.
fn anchor(ruleset: &Ruleset, rule: RuleId) -> String {
    let position = ruleset.lines().position(ruleset.source(), ruleset.rule(rule).text().span().start);
    format!("r{}-{}", position.line, position.column)
}

/// The place of a rule; it may be broken behind a slash.
fn path(ruleset: &Ruleset, rule: RuleId) -> String {
    format!("<code>{}</code>", escape(&ruleset.rule_path(rule)).replace('/', "/<wbr>"))
}

/// One rule with its parts inside each other.
fn listed(ruleset: &Ruleset, coverage: &Coverage, (id, rule): (RuleId, &Rule), left: &mut usize) -> String {
    let position = ruleset.lines().position(ruleset.source(), rule.text().span().start);
    let whole = Seen { counts: coverage.rule(id), ..Seen::default() };
    let mut html = format!(
        "<details id=\"{}\"><summary>{} <small class=\"dim\">line {}: {}</small></summary>\n<ul>",
        anchor(ruleset, id),
        path(ruleset, id),
        position.line,
        told(&whole, 0)
    );
    for part in expression(ruleset, coverage, id) {
        html += &item(&part, left);
    }
    if *left == 0 {
        html += "<li><small>… and further parts</small></li>";
    }
    html + "</ul></details>\n"
}

/// Recursion, as deep as expressions are made.
fn item(part: &Expression<'_>, left: &mut usize) -> String {
    let Some(rest) = left.checked_sub(1) else { return String::new() };
    *left = rest;
    let class = class(part.text, part.seen.counts, part.interrupted).unwrap_or("plain");
    let (text, told) = (escape(&part.shown()), escape(&told(part.seen, part.interrupted)));
    let mut html = format!("<li><code class=\"{class}\">{text}</code> <small>{told}</small>");
    if !part.children.is_empty() {
        html += "<ul>";
        for child in &part.children {
            html += &item(child, left);
        }
        html += "</ul>";
    }
    html + "</li>"
}

/// A part of a rule, as it is shown.
#[derive(Clone, Copy)]
struct Shade<'a> {
    class: &'static str,
    seen: &'a Seen,
    interrupted: u64,
}

/// Some bytes of the document, and the innermost part of a rule that they belong to.
struct Run<'a> {
    end: u32,
    shade: Option<Shade<'a>>,
}

/// The document, in runs. O(parts log parts), however deep they are.
fn runs<'a>(ruleset: &'a Ruleset, coverage: &'a Coverage) -> Vec<Run<'a>> {
    let mut parts: Vec<(Span, &str, &Seen, u64)> = Vec::new();
    for (id, rule) in ruleset.rules() {
        let text = |part| &rule.text().as_str()[rule.part(part).range()];
        let own = coverage.parts(ruleset, id).zip(coverage.interruptions(ruleset, id));
        parts.extend(own.map(|((part, seen), interrupted)| {
            (rule.text().locate(rule.part(part)), text(part), seen, interrupted)
        }));
    }
    // Outer parts before those inside.
    parts.sort_by_key(|(span, ..)| (span.start, Reverse(span.end)));
    let mut runs: Vec<Run<'a>> = Vec::new();
    let mut around: Vec<(Span, Shade<'a>)> = Vec::new();
    let mut run_to = |end: u32, shade: Option<Shade<'a>>| {
        if runs.last().map_or(0, |run| run.end) < end {
            runs.push(Run { end, shade });
        }
    };
    for (span, text, seen, interrupted) in parts {
        while let Some((outer, shade)) = around.pop_if(|(outer, _)| !holds(*outer, span)) {
            run_to(outer.end, Some(shade));
        }
        let outer = around.last().map(|&(_, shade)| shade);
        run_to(span.start, outer);
        // What is neither true nor false is a part of something that is, or that failed; it was evaluated itself.
        let outer = outer.map_or("ok", |outer| if outer.class == "miss" { "part" } else { outer.class });
        let class = class(text, seen.counts, interrupted).unwrap_or(outer);
        around.push((span, Shade { class, seen, interrupted }));
    }
    while let Some((span, shade)) = around.pop() {
        run_to(span.end, Some(shade));
    }
    let shown = ruleset.source().trim_end();
    run_to(u32::try_from(shown.len()).unwrap_or(u32::MAX), None);
    runs
}

fn source(ruleset: &Ruleset, coverage: &Coverage) -> String {
    let mut page = String::from("<span>");
    let mut start = 0;
    for Run { end, shade } in runs(ruleset, coverage) {
        // A part may go on in the next line.
        let text = ruleset.source().get(start as usize..end as usize).unwrap_or_default();
        for (number, line) in text.split('\n').enumerate() {
            if number != 0 {
                page += "\n</span><span>";
            }
            page += &match shade {
                Some(Shade { class, seen, interrupted }) if !line.is_empty() => {
                    let told = escape(&told(seen, interrupted));
                    format!("<i class=\"{class}\" title=\"{told}\">{}</i>", escape(line))
                }
                Some(_) | None => escape(line),
            };
        }
        start = end;
    }
    page + "</span>"
}

/// How well it was exercised; nothing, if it has other values than true and false.
fn class(text: &str, counts: Counts, interrupted: u64) -> Option<&'static str> {
    // A literal can only be what it is.
    let is_literal = matches!(text, "true" | "false") && counts.total() != 0;
    match (counts.total(), counts.truths, counts.falsehoods, counts.others) {
        _ if is_literal => Some("ok"),
        (0, ..) if interrupted == 0 => Some("miss"),
        (.., 1..) => None,
        (_, 0, _, 0) | (_, _, 0, 0) => Some("part"),
        _ => Some("ok"),
    }
}

/// How often it was evaluated, and to what.
fn told(seen: &Seen, interrupted: u64) -> String {
    let Counts { truths, falsehoods, others, failures } = seen.counts;
    // A count stays with what it counts.
    let times = |count: u64, what: &str| (count != 0).then(|| format!("{count}\u{a0}×\u{a0}{what}"));
    let named: u64 = seen.values.iter().map(|(_, count)| count).sum();
    let others_told = if named == 0 { "a value" } else { "further values" };
    let mut told: Vec<String> =
        [times(truths, "true"), times(falsehoods, "false")].into_iter().flatten().collect();
    told.extend(seen.values.iter().filter_map(|(value, count)| times(*count, value)));
    told.extend(times(others - named, others_told));
    told.extend(seen.faults.iter().filter_map(|(fault, count)| times(*count, &format!("failed: {fault}"))));
    let named: u64 = seen.faults.iter().map(|(_, count)| count).sum();
    told.extend(times(failures - named, "failed"));
    told.extend(times(interrupted, "a part of it failed"));
    if told.is_empty() { "never evaluated".into() } else { told.join(", ") }
}
