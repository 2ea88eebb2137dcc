//! The conformance cases that bring rules, against the same handler in a database that has them.

use crate::database::Databases;
use crate::keep_alive::KeepAlive;
use crate::mode::{Dev, Mode, Reach};
use crate::sessions::Sessions;
use crate::threads::Threads;
use crate::transport::{Server, router};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use hearth_rules::Ruleset;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

fn served_by(rules: &Value) -> Router {
    let rules = Some(Arc::new(Ruleset::compile(&rules.to_string()).unwrap()));
    let mode = Mode::Dev(Dev { reach: Reach::Loopback, allowed: Vec::new(), rules, public: None });
    let (threads, _running) = Threads::start().unwrap();
    let databases = Arc::new(Databases::new(threads, mode.door(), mode.naming()));
    let keep_alive = KeepAlive::DEFAULT;
    router(Server { databases, sessions: Arc::new(Sessions::default()), mode: Arc::new(mode), keep_alive })
}

async fn ask(router: &Router, request: &Value) -> (StatusCode, Value) {
    let encoded = |value: &Value| utf8_percent_encode(value.as_str().unwrap(), NON_ALPHANUMERIC).to_string();
    let query: Vec<String> = request["query"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", encoded(value)))
        .collect();
    let method: Method = request["method"].as_str().unwrap().parse().unwrap();
    let uri = format!("{}?{}", request["path"].as_str().unwrap(), query.join("&"));
    let mut asked = Request::builder().method(method).uri(uri).header("Host", "localhost");
    for (name, value) in request["headers"].as_object().into_iter().flatten() {
        asked = asked.header(name, value.as_str().unwrap());
    }
    let body = request.get("body").map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let answer = router.clone().oneshot(asked.body(body).unwrap()).await.unwrap();
    let status = answer.status();
    let bytes = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

async fn put_as_admin(router: &Router, value: &Value) {
    let headers = json!({"Authorization": "Bearer owner"});
    let request = json!({"method": "PUT", "path": "/.json", "headers": headers, "body": value});
    assert_eq!(ask(router, &request).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_with_rules_are_answered_as_they_say() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../../../tests/cases/rest-conformance.json")).unwrap();
    let ruled = |case: &&Value| {
        let is_setting = case["request"]["path"].as_str().unwrap().starts_with("/.settings");
        case.get("rules").is_some() && !is_setting
    };
    let mut run = 0;
    for case in cases.iter().filter(ruled) {
        let router = served_by(&case["rules"]);
        put_as_admin(&router, &case["initial"]).await;
        let (status, body) = ask(&router, &case["request"]).await;
        let expect = &case["expect"];
        assert_eq!(u64::from(status.as_u16()), expect["status"].as_u64().unwrap(), "{}: {body}", case["id"]);
        if let Some(expected) = expect.get("body").filter(|expected| expected.get("<oneof>").is_none()) {
            assert_eq!(body, *expected, "{}", case["id"]);
        }
        run += 1;
    }
    assert!(40 < run, "only {run} cases bring rules");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_read_learns_nothing_from_conditions() {
    let rules = json!({"rules": {"w": {".write": true}, "r": {".read": true}}});
    let router = served_by(&rules);
    put_as_admin(&router, &json!({"w": {"a": 1}, "r": {"a": {"n": 1}}})).await;
    let denied = json!({"error": "Permission denied"});
    let query = json!({"orderBy": "\"n\""});
    for (method, path, headers, query, status) in [
        ("PUT", "/w.json", json!({"if-match": "null_etag"}), json!({}), 401),
        ("PUT", "/w.json", json!({"if-match": "x"}), json!({}), 401),
        ("DELETE", "/w/b.json", json!({"if-match": "x"}), json!({}), 401),
        ("PUT", "/w/b.json", json!({"if-match": "null_etag"}), json!({}), 200),
        ("GET", "/w.json", json!({"if-none-match": "x"}), json!({}), 401),
        ("GET", "/w.json", json!({}), query.clone(), 401),
        ("GET", "/r.json", json!({}), query, 400),
        ("PUT", "/r.json", json!({"if-match": "x"}), json!({}), 412),
        // What was written is told even to who may not read it.
        ("PUT", "/w/t.json", json!({}), json!({}), 200),
    ] {
        let body = json!({"at": {".sv": "timestamp"}});
        let request =
            json!({"method": method, "path": path, "headers": headers, "query": query, "body": body});
        let (found, body) = ask(&router, &request).await;
        assert_eq!(found.as_u16(), status, "{request}: {body}");
        match status {
            401 => assert_eq!(body, denied, "{request}"),
            200 => assert!(body["at"].is_number(), "{request}: {body}"),
            _ => {}
        }
    }
}
