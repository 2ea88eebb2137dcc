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
    // The sides of one operator are the branches of one block, and so are those of a rule.
    let mut block = 0;
    for of_one in points.chunk_by(|a, b| (a.rule, a.operator) == (b.rule, b.operator)) {
        for (branch, point) in of_one.iter().enumerate() {
            text += &format!("BRDA:{},{block},{branch},{}\n", line(point.span.start), point.hits);
        }
        block += of_one.len();
    }
    let hit = points.iter().filter(|point| point.hits != 0).count();
    text += &format!("BRF:{}\nBRH:{hit}\n", points.len());
    text.extend(lines.iter().map(|(line, hits)| format!("DA:{line},{hits}\n")));
    let hit = lines.values().filter(|&&hits| hits != 0).count();
    text + &format!("LF:{}\nLH:{hit}\nend_of_record\n", lines.len())
}
