//! Findings in SARIF 2.1.0, which code hosts show beside the lines.

use hearth_rules::Position;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// One finding in one file.
pub(crate) struct Finding {
    pub(crate) file: String,
    pub(crate) level: Level,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) rule: Option<String>,
    pub(crate) advice: Option<String>,
    pub(crate) start: Position,
    pub(crate) end: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Warning,
}

impl Level {
    const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl Finding {
    /// In our own JSON.
    pub(crate) fn json(&self) -> Value {
        json!({
            "file": self.file, "level": self.level.name(), "code": self.code, "message": self.message,
            "rule": self.rule, "advice": self.advice,
            "line": self.start.line, "column": self.start.column,
            "endLine": self.end.line, "endColumn": self.end.column,
        })
    }

    fn result(&self) -> Value {
        let text = match &self.advice {
            Some(advice) => format!("{} ({advice})", self.message),
            None => self.message.clone(),
        };
        json!({
            "ruleId": self.code, "level": self.level.name(), "message": {"text": text},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri(&self.file)},
                "region": {
                    "startLine": self.start.line, "startColumn": self.start.column,
                    "endLine": self.end.line, "endColumn": self.end.column,
                },
            }}],
        })
    }
}

/// The name of a file as a reference: slashes stay, what a URI cannot hold is encoded.
fn uri(file: &str) -> String {
    let mut uri = String::new();
    for byte in file.bytes() {
        match byte {
            b'\\' => uri.push('/'),
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte.into()),
            _ => write!(uri, "%{byte:02X}").expect("a text takes more text"),
        }
    }
    uri
}

pub(crate) fn sarif(findings: &[Finding]) -> Value {
    let codes: BTreeSet<&str> = findings.iter().map(|finding| finding.code).collect();
    let rules: Vec<Value> = codes.into_iter().map(|code| json!({ "id": code })).collect();
    json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": {"driver": {"name": "hearth-rules", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            // Ours are counted in characters.
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().map(Finding::result).collect::<Vec<_>>(),
        }],
    })
}
