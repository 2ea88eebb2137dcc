//! Coverage in the format of `lcov`, which coverage services and editors read.

use hearth_rules::{Coverage, Ruleset};
use std::collections::BTreeMap;

/// Lines are those on which a part of a rule stands, branches the sides of rules and operators.
pub(crate) fn lcov(file: &str, ruleset: &Ruleset, coverage: &Coverage) -> String {
    let line = |offset: u32| ruleset.lines().position(ruleset.source(), offset).line;
    let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
    for (id, rule) in ruleset.rules() {
        let whole = coverage.rule(id).total();
        lines
            .entry(line(rule.text().span().start))
            .and_modify(|hits| *hits = (*hits).max(whole))
            .or_insert(whole);
        for (part, seen) in coverage.parts(ruleset, id) {
            let hits = lines.entry(line(rule.text().locate(rule.part(part)).start)).or_default();
            *hits = (*hits).max(seen.counts.total());
        }
    }
    let points = coverage.points(ruleset);
    let mut text = format!("TN:\nSF:{file}\n");
    for (block, point) in points.iter().enumerate() {
        // A pair of sides is one block of two branches; a rule that comes out one way is a block of its own.
        let branch = points[..block].iter().rev().take_while(|other| other.span == point.span).count() % 2;
        text += &format!("BRDA:{},{},{branch},{}\n", line(point.span.start), block - branch, point.hits);
    }
    let hit = points.iter().filter(|point| point.hits != 0).count();
    text += &format!("BRF:{}\nBRH:{hit}\n", points.len());
    text.extend(lines.iter().map(|(line, hits)| format!("DA:{line},{hits}\n")));
    let hit = lines.values().filter(|&&hits| hits != 0).count();
    text + &format!("LF:{}\nLH:{hit}\nend_of_record\n", lines.len())
}
