//! The conformance cases of REST against the binary, over HTTP.

mod beyond;
mod case;
mod client;
mod coverage;
mod encoded;
mod expected;
mod explained;
mod over_http2;
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
    let cases = cases();
    assert_eq!(cases.len(), 219);
    check(&Running::start(), &cases);
}

/// What is proved by tokens without a signature is development's alone, and there is no TLS.
#[test]
fn every_case_of_rest_is_answered_alike_over_http2() {
    let (unsigned, cases): (Vec<Value>, Vec<Value>) =
        cases().into_iter().partition(|case| case["request"]["query"]["auth"].is_string());
    assert_eq!((cases.len(), unsigned.len()), (213, 6));
    let names: Vec<String> = (0..cases.len()).map(namespace_of).collect();
    check(&over_http2::start(&names.join(",")), &cases);
}

fn namespace_of(number: usize) -> String {
    format!("case-{number}")
}

fn check(server: &Running, cases: &[Value]) {
    let mut failures = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let id = case["id"].as_str().expect("a case has an id");
        if let Err(error) = (Case { server, namespace: namespace_of(number), case }).run() {
            failures.push(format!("{id}: {error}"));
        }
    }
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
