//! The conformance cases of REST against the binary, over HTTP.

mod beyond;
mod case;
mod client;
mod expected;
mod public;
mod reported;
mod server;
mod streams;

use case::Case;
use serde_json::Value;
use server::Running;

/// Cases that are not answered right yet, and why.
const NOT_YET: &[(&str, &str)] = &[
    ("q-index-missing", OPEN),
    ("q-index-missing-root", OPEN),
    ("q-index-missing-value", OPEN),
    ("auth-read-denied", OPEN),
    ("auth-write-denied", OPEN),
    ("auth-patch-denied", OPEN),
    ("auth-post-denied", OPEN),
    ("auth-delete-denied", OPEN),
    ("auth-default-closed", OPEN),
    ("auth-admin-needs-index", OPEN),
    ("auth-user-other", OPEN),
    ("auth-claims-missing", OPEN),
    ("auth-override-null", OPEN),
    ("auth-override-uid-denied", OPEN),
    ("rules-parent-not-readable", OPEN),
    ("rules-shallow-needs-read", OPEN),
    ("rules-query-needs-read", OPEN),
    ("rules-validate-fails", OPEN),
    ("rules-multipath-atomic", OPEN),
    ("sse-denied", OPEN),
    ("settings-rules-get", NO_SETTINGS),
    ("settings-rules-get-denied", NO_SETTINGS),
    ("settings-rules-put", NO_SETTINGS),
    ("settings-rules-put-comments", NO_SETTINGS),
    ("settings-rules-put-invalid", NO_SETTINGS),
    ("settings-rules-put-denied", NO_SETTINGS),
];
/// Rules cannot be installed, so everything is allowed and in every order.
const OPEN: &str = "the database is open, whatever rules the case brings";
const NO_SETTINGS: &str = "there are no settings";

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
        let outcome = Case { server: &server, namespace: format!("case-{number}"), case }.run();
        let reason = NOT_YET.iter().find(|(own, _)| *own == id).map(|(_, reason)| *reason);
        match (outcome, reason) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Ok(()), Some(reason)) => failures.push(format!("{id} passes, though listed: {reason}")),
            (Err(error), None) => failures.push(format!("{id}: {error}")),
        }
    }
    for (id, _) in NOT_YET {
        assert!(cases.iter().any(|case| case["id"] == *id), "there is no case {id}");
    }
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
