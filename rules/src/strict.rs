//! A rules document as plain JSON: without comments, trailing commas and line breaks inside texts.
//!
//! Why from the document and not by leaving out: what a text says is decoded once, in one place.

use crate::diagnostic::Problems;
use crate::document::{Kind, Member, Value, read};
use crate::ruleset::Ruleset;
use std::fmt::Write;

impl Ruleset {
    /// The same document for readers that know no comments, members in the same order. O(length).
    ///
    /// ```
    /// let source = "{ // mine\n  \"rules\": {\".read\": true,}\n}";
    /// let rules = hearth_rules::Ruleset::compile(source).unwrap();
    /// assert_eq!(rules.to_json(), r#"{"rules":{".read":true}}"#);
    /// ```
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        append(&mut json, &read(self.source(), &mut Problems::default()), self.source());
        json
    }
}

/// As deep as a document can be nested.
fn append(json: &mut String, value: &Value, source: &str) {
    match &value.kind {
        Kind::Null => *json += "null",
        Kind::Bool(is_true) => *json += if *is_true { "true" } else { "false" },
        Kind::Number => *json += &source[value.span.start as usize..value.span.end as usize],
        Kind::Text(text) => append_text(json, text.as_str()),
        Kind::List(values) => {
            for (number, value) in values.iter().enumerate() {
                *json += if number == 0 { "[" } else { "," };
                append(json, value, source);
            }
            *json += if values.is_empty() { "[]" } else { "]" };
        }
        Kind::Object(members) => {
            for (number, Member { key, value }) in members.iter().enumerate() {
                *json += if number == 0 { "{" } else { "," };
                append_text(json, key.as_str());
                *json += ":";
                append(json, value, source);
            }
            *json += if members.is_empty() { "{}" } else { "}" };
        }
        Kind::Broken => unreachable!("a ruleset has nothing broken in it"),
    }
}

fn append_text(json: &mut String, text: &str) {
    *json += "\"";
    for ch in text.chars() {
        match ch {
            '"' | '\\' => json.extend(['\\', ch]),
            '\n' => *json += "\\n",
            '\u{0}'..='\u{1f}' => {
                write!(json, "\\u{:04x}", u32::from(ch)).expect("a string takes whatever is written to it");
            }
            _ => json.push(ch),
        }
    }
    *json += "\"";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_what_is_said_stays() {
        for (source, expected) in [
            (r#"{"rules":{}}"#, r#"{"rules":{}}"#),
            ("\u{feff}/* a */ {\"rules\" : { } , } // z", r#"{"rules":{}}"#),
            (
                "{\"rules\": {\"$a\": {\".write\": \"$a != '//' &&\n  true\"}}}",
                r#"{"rules":{"$a":{".write":"$a != '//' &&\n  true"}}}"#,
            ),
            (
                r#"{"rules": {"a\u00e9": {".indexOn": ["x", ".value",], ".read": "'\"'.length > 1"}}}"#,
                r#"{"rules":{"aé":{".indexOn":["x",".value"],".read":"'\"'.length > 1"}}}"#,
            ),
        ] {
            match Ruleset::compile(source) {
                Ok(rules) => assert_eq!(rules.to_json(), expected, "{source}"),
                Err(rejected) => panic!("{source}: {rejected}"),
            }
        }
    }
}
