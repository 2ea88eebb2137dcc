//! The parts of a rule as a tree, for reports that show them inside each other.
//!
//! Why not as deep as they are: `a && b && …` is as deep as it is long, and what is built, written and dropped by
//! recursion must not be. What is nested further than [`LEVELS_MAX`] stands flat below the last level.

use hearth_rules::{Coverage, ExprId, RuleId, Ruleset, Seen, Span};
use std::borrow::Cow;

/// Most parts inside each other. People cannot read more.
const LEVELS_MAX: usize = 32;
/// Most characters of a part that are shown.
const SHOWN_CHARS_MAX: usize = 200;

/// A part of a rule, and what was seen of it.
#[derive(Debug)]
pub(crate) struct Expression<'a> {
    pub(crate) text: &'a str,
    /// In the document.
    pub(crate) span: Span,
    pub(crate) seen: &'a Seen,
    /// How often it came to nothing because something in it failed.
    pub(crate) interrupted: u64,
    /// What it consists of, in the order of the text.
    pub(crate) children: Vec<Self>,
}

impl<'a> Expression<'a> {
    /// Its text, or the beginning where it is long: parts stand inside each other, so that whole texts would make a report
    /// of n parts as long as the square of n.
    pub(crate) fn shown(&self) -> Cow<'a, str> {
        match self.text.char_indices().nth(SHOWN_CHARS_MAX) {
            None => self.text.into(),
            Some((end, _)) => format!("{}…", &self.text[..end]).into(),
        }
    }
}

/// The whole of a rule. O(parts).
pub(crate) fn expression<'a>(
    ruleset: &'a Ruleset,
    coverage: &'a Coverage,
    id: RuleId,
) -> Vec<Expression<'a>> {
    let rule = ruleset.rule(id);
    let parts: Vec<(ExprId, &Seen)> = coverage.parts(ruleset, id).collect();
    let levels = levels(&parts.iter().map(|&(part, _)| rule.part(part)).collect::<Vec<_>>());
    let mut built: Vec<Expression<'a>> = Vec::new();
    let interrupted = coverage.interruptions(ruleset, id);
    for (((part, seen), level), interrupted) in parts.into_iter().zip(levels).zip(interrupted) {
        let own = rule.part(part);
        let span = rule.text().locate(own);
        // Operands come before their operator, so its own are the last that were built.
        let inside = built.iter().rev().take_while(|other| holds(span, other.span)).count();
        let children = if level < LEVELS_MAX { built.split_off(built.len() - inside) } else { Vec::new() };
        let text = &rule.text().as_str()[own.range()];
        built.push(Expression { text, span, seen, interrupted, children });
    }
    built
}

/// How many others each is inside of. Spans come operands first.
fn levels(spans: &[Span]) -> Vec<usize> {
    let mut levels = vec![0; spans.len()];
    let mut around: Vec<Span> = Vec::new();
    for (level, &span) in levels.iter_mut().zip(spans).rev() {
        while around.last().is_some_and(|&outer| !holds(outer, span)) {
            around.pop();
        }
        *level = around.len();
        around.push(span);
    }
    levels
}

pub(crate) const fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(expressions: &[Expression<'_>]) -> String {
        let each = |expression: &Expression<'_>| match expression.children.as_slice() {
            [] => expression.text.to_owned(),
            children => format!("{}[{}]", expression.text, shown(children)),
        };
        expressions.iter().map(each).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn parts_stand_inside_each_other() {
        for (rule, expected) in [
            ("true", "true"),
            ("auth != null", "auth != null[auth, null]"),
            (
                "!(data.exists() && auth.uid == $u)",
                "!(data.exists() && auth.uid == $u)[data.exists() && auth.uid == $u[data.exists()[data], \
                 auth.uid == $u[auth.uid[auth], $u]]]",
            ),
        ] {
            let rules =
                Ruleset::compile(&format!(r#"{{"rules": {{"$u": {{".read": "{rule}"}}}}}}"#)).unwrap();
            let coverage = Coverage::new(&rules);
            let (id, _) = rules.rules().next().unwrap();
            assert_eq!(shown(&expression(&rules, &coverage, id)), expected);
        }
    }

    #[test]
    fn what_is_long_is_cut() {
        for (text, expected) in [
            ("ü".repeat(SHOWN_CHARS_MAX), "ü".repeat(SHOWN_CHARS_MAX)),
            ("ü".repeat(SHOWN_CHARS_MAX + 1), "ü".repeat(SHOWN_CHARS_MAX) + "…"),
        ] {
            let part = Expression {
                text: &text,
                span: Span::default(),
                seen: &Seen::default(),
                interrupted: 0,
                children: Vec::new(),
            };
            assert_eq!(part.shown(), expected);
        }
    }

    #[test]
    fn what_is_deep_is_flat() {
        let chain = vec!["now > 1"; 20_000].join(" && ");
        let rules = Ruleset::compile(&format!(r#"{{"rules": {{".read": "{chain}"}}}}"#)).unwrap();
        let coverage = Coverage::new(&rules);
        let (id, _) = rules.rules().next().unwrap();
        let mut level = &expression(&rules, &coverage, id)[..];
        for _ in 0..LEVELS_MAX {
            assert!(level.len() <= 2, "{}", level.len());
            level = &level[0].children;
        }
        assert!(20_000 < level.len(), "{}", level.len());
        assert!(level.iter().all(|part| part.children.is_empty()));
    }
}
