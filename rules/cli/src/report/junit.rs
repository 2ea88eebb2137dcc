//! Test results in the XML that CI systems read.

use crate::run::Outcome;

/// One suite per file, one case per step.
pub(crate) fn junit(outcomes: &[Outcome]) -> String {
    let failed = |outcomes: &[Outcome]| outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml += &format!("<testsuites tests=\"{}\" failures=\"{}\">\n", outcomes.len(), failed(outcomes));
    for suite in outcomes.chunk_by(|a, b| a.suite == b.suite) {
        let name = escape(&suite[0].suite);
        xml += &format!(
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\">\n",
            suite.len(),
            failed(suite)
        );
        xml.extend(suite.iter().map(case));
        xml += "  </testsuite>\n";
    }
    xml + "</testsuites>\n"
}

fn case(outcome: &Outcome) -> String {
    let head = format!(
        "    <testcase classname=\"{}\" name=\"{}\"",
        escape(&outcome.scenario),
        escape(&outcome.step)
    );
    match &outcome.failure {
        None => head + "/>\n",
        Some(failure) => format!(
            "{head}>\n      <failure type=\"verdict\" message=\"{}\">{}</failure>\n    </testcase>\n",
            escape(&failure.message),
            escape(&failure.trace)
        ),
    }
}

/// For XML and HTML alike; control characters, which XML cannot hold, become blanks.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\n' | '\t' => escaped.push(ch),
            _ if ch.is_control() || matches!(ch, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            _ => escaped.push(ch),
        }
    }
    escaped
}
