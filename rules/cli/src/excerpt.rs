//! The line that a problem stands in, with carets under it.

use hearth_rules::{Lines, Span};
use hearth_tree::disturbs_lines;

/// Most characters of a line that are shown: where a terminal of 80 columns breaks a line, carets stand under something
/// else. Rules can be one line of a megabyte.
const CHARS_MAX: usize = 70;
/// How many of them stand before the problem.
const BEFORE_MAX: usize = 35;

/// Two lines, each indented and ended. O(length of the source).
pub fn excerpt(source: &str, span: Span) -> String {
    let lines = Lines::of(source);
    let position = lines.position(source, span.start);
    let line: Vec<char> = lines.text(source, position.line).chars().map(printable).collect();
    let at = position.column as usize - 1;
    // A line that fits is shown from its start.
    let from = if line.len() <= CHARS_MAX { 0 } else { at.saturating_sub(BEFORE_MAX).min(line.len()) };
    let to = (from + CHARS_MAX).min(line.len());
    let marked =
        source.get(span.range()).map_or(1, |text| text.lines().next().unwrap_or_default().chars().count());
    let carets = "^".repeat(marked.clamp(1, (to.saturating_sub(at)).max(1)));
    let number = position.line.to_string();
    let ellipsis = if from == 0 { "" } else { "…" };
    let shown: String = line[from..to].iter().collect();
    let indent = " ".repeat(at - from + ellipsis.chars().count());
    let blank = " ".repeat(number.len());
    format!("  {number} | {ellipsis}{shown}\n  {blank} | {indent}{carets}\n")
}

/// One column each, whatever it is.
fn printable(ch: char) -> char {
    if disturbs_lines(ch) { ' ' } else { ch }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_what_is_meant() {
        let long = format!("{}bad{}", "x".repeat(500), "y".repeat(500));
        for (source, needle, expected) in [
            ("a\n\tbad b", "bad", "  2 |  bad b\n    |  ^^^\n".to_owned()),
            ("ü bad", "bad", "  1 | ü bad\n    |   ^^^\n".into()),
            (
                &long,
                "bad",
                format!("  1 | …{}bad{}\n    |  {}^^^\n", "x".repeat(35), "y".repeat(32), " ".repeat(35)),
            ),
        ] {
            let start = u32::try_from(source.find(needle).unwrap()).unwrap();
            let span = Span { start, end: start + u32::try_from(needle.len()).unwrap() };
            assert_eq!(excerpt(source, span), expected);
        }
        assert_eq!(excerpt("", Span { start: 0, end: 0 }), "  1 | \n    | ^\n");
    }
}
