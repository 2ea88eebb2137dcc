//! What the parser of the command line says, as one sentence.

/// The first paragraphs of what it renders, up to the usage, in one line.
pub(crate) fn of(rendered: &str) -> String {
    let lines = rendered.lines().map(str::trim).filter(|line| !line.is_empty());
    let said: Vec<_> =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more")).collect();
    let joined = said.join(" ").replace(" tip:", "; tip:");
    joined.strip_prefix("error: ").unwrap_or(&joined).to_owned()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_page_becomes_a_sentence() {
        for (rendered, expected) in [
            ("error: no such flag\n", "no such flag"),
            (
                "error: unexpected argument '--lisen'\n\n  tip: a similar argument exists: '--listeners'\n\nUsage: x\n\nFor more\n",
                "unexpected argument '--lisen'; tip: a similar argument exists: '--listeners'",
            ),
            (
                "error: the following required arguments:\n  <A>\n\nUsage: x\n",
                "the following required arguments: <A>",
            ),
        ] {
            assert_eq!(of(rendered), expected);
        }
    }
}
