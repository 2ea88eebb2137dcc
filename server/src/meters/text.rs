//! The text format of Prometheus, version 0.0.4: families with help and type, and a line for each sample.

use std::fmt::{self, Display, Write};

/// What a text is in this format.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text that is written.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

/// The samples of one name.
pub(super) struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
}

/// What a number does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows.
    Counter,
    /// It comes and goes.
    Gauge,
    /// Counts of times by how long they are.
    Histogram,
}

impl Exposition {
    /// Begins a family. Names and helps are our own, and need no escapes.
    pub(super) fn family(&mut self, name: &'static str, kind: Kind, help: &'static str) -> Family<'_> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        put(&mut self.0, format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        Family { text: &mut self.0, name }
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

impl Family<'_> {
    /// A number of it, told apart by its labels.
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.suffixed("", labels, value);
    }

    /// A number whose name has something behind that of the family.
    pub(super) fn suffixed(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let Self { text, name } = self;
        put(text, format_args!("{name}{suffix}"));
        for (number, (label, value)) in labels.iter().enumerate() {
            let before = if number == 0 { "{" } else { "," };
            put(text, format_args!("{before}{label}=\"{}\"", Escaped(value)));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        put(text, format_args!("{after} {value}\n"));
    }
}

fn put(text: &mut String, what: fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a string takes whatever is written to it");
}

/// The value of a label.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|ch| match ch {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            _ => f.write_char(ch),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_its_help_its_type_and_its_samples() {
        let mut text = Exposition::default();
        let mut family = text.family("hearth_a_total", Kind::Counter, "What it is.");
        family.sample(&[], 1);
        family.sample(&[("x", "a\\b\"c\nd"), ("y", "é")], 0.5);
        family.suffixed("_sum", &[("le", "+Inf")], 3);
        let expected = "# HELP hearth_a_total What it is.\n# TYPE hearth_a_total counter\nhearth_a_total 1\n\
            hearth_a_total{x=\"a\\\\b\\\"c\\nd\",y=\"é\"} 0.5\nhearth_a_total_sum{le=\"+Inf\"} 3\n";
        assert_eq!(text.into_text(), expected);
    }
}
