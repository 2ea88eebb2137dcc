//! The conformance cases of REST against the binary, over HTTP.

mod beyond;
mod case;
mod client;
mod coverage;
mod encoded;
mod expected;
mod profile;
mod public;
mod reported;
mod reported_rules;
mod resumed;
mod rules;
mod server;
mod settings;
mod streams;

use case::Case;
use serde_json::Value;
use server::Running;

fn cases() -> Vec<Value> {
    let text = include_str!("../../../tests/cases/rest-conformance.json");
    serde_json::from_str(text).expect("the cases are JSON")
}

#[test]
fn every_case_of_rest_is_answered_as_it_says() {
    let server = Running::start();
    let mut failures = Vec::new();
    let cases = cases();
    for (number, case) in cases.iter().enumerate() {
        let id = case["id"].as_str().expect("a case has an id");
        if let Err(error) = (Case { server: &server, namespace: format!("case-{number}"), case }).run() {
            failures.push(format!("{id}: {error}"));
        }
    }
    assert_eq!(cases.len(), 219);
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
