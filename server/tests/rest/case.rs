//! One case (the format is described in the REST reference, appendix A).

use crate::client::{Answer, Ask};
use crate::expected::{matches, matches_header, plain};
use crate::server::Running;
use serde_json::{Value, json};

/// A case, and where it runs: in a namespace of its own.
pub(crate) struct Case<'a> {
    pub(crate) server: &'a Running,
    pub(crate) namespace: String,
    pub(crate) case: &'a Value,
}

type Checked<T> = Result<T, String>;

impl Case<'_> {
    /// Runs it, and says what is not as expected.
    pub(crate) fn run(&self) -> Checked<()> {
        let expect = &self.case["expect"];
        self.prepare()?;
        let ask = self.ask_of(&self.case["request"])?;
        let mut answer = self.send(ask)?;
        let status = expect["status"].as_u64().expect("a case expects a status");
        if u64::from(answer.status) != status {
            let found = answer.status;
            return Err(format!("status {found} instead of {status}: {}", answer.text().unwrap_or_default()));
        }
        self.check_headers(&answer)?;
        if let Some(events) = expect["events"].as_array() {
            self.check_events(&mut answer, events)?;
        } else {
            check_body(expect, &answer.text().map_err(|error| error.to_string())?)?;
        }
        match expect.get("after") {
            None => Ok(()),
            Some(after) => self.check_after(after),
        }
    }

    fn prepare(&self) -> Checked<()> {
        let open = json!({"rules": {".read": true, ".write": true}});
        let rules = self.case.get("rules").unwrap_or(&open);
        let put = self.send(Ask::new("PUT", "/.settings/rules.json").by_owner().with_body(rules))?;
        if put.status != 200 {
            return Err(format!("the rules cannot be stored: {}", put.text().unwrap_or_default()));
        }
        if self.case["initial"].is_null() {
            return Ok(());
        }
        let answer = self.send(Ask::new("PUT", "/.json").by_owner().with_body(&self.case["initial"]))?;
        if answer.status == 200 {
            Ok(())
        } else {
            Err(format!("the data cannot be loaded: {}", answer.status))
        }
    }

    fn ask_of(&self, request: &Value) -> Checked<Ask> {
        let text = |name: &str| request[name].as_str().expect("a request has a method and a path");
        let mut ask = Ask::new(text("method"), text("path"));
        for (name, value) in request["query"].as_object().into_iter().flatten() {
            ask = ask.with_query(name, value.as_str().expect("parameters are texts"));
        }
        for (name, value) in request["headers"].as_object().into_iter().flatten() {
            let value = self.filled(value.as_str().expect("headers are texts"))?;
            ask.headers.push((name.clone(), value));
        }
        if let Some(body) = request.get("body") {
            ask = ask.with_body(body);
        }
        if let Some(text) = request["bodyText"].as_str() {
            ask.body = Some(text.into());
        }
        Ok(ask)
    }

    fn send(&self, ask: Ask) -> Checked<Answer> {
        let ask = ask.with_query("ns", &self.namespace);
        ask.send(&self.server.address).map_err(|error| error.to_string())
    }

    /// A text with the tag of a place filled in.
    fn filled(&self, text: &str) -> Checked<String> {
        let inner = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}"));
        match inner.and_then(|inner| inner.split_once(':')) {
            Some(("etag" | "etag-after", path)) => self.etag(path),
            Some(_) | None => Ok(text.into()),
        }
    }

    fn etag(&self, path: &str) -> Checked<String> {
        let mut ask = Ask::new("GET", &format!("{path}.json")).by_owner();
        ask.headers.push(("X-Firebase-ETag".into(), "true".into()));
        self.send(ask)?.headers.get("etag").cloned().ok_or_else(|| "there is no ETag".into())
    }

    fn check_headers(&self, answer: &Answer) -> Checked<()> {
        for (name, expected) in self.case["expect"]["headers"].as_object().into_iter().flatten() {
            let expected = match expected.as_str() {
                Some(text) => Value::from(self.filled(text)?),
                None => expected.clone(),
            };
            let actual = answer.headers.get(&name.to_ascii_lowercase()).map(String::as_str);
            if !matches_header(&expected, actual) {
                return Err(format!("header {name} is {actual:?} instead of {expected}"));
            }
        }
        Ok(())
    }

    fn check_events(&self, answer: &mut Answer, expected: &[Value]) -> Checked<()> {
        for (number, expected) in expected.iter().enumerate() {
            let event = loop {
                let event = answer.next_event().map_err(|error| format!("event {number}: {error}"))?;
                if event.name != "keep-alive" {
                    break event;
                }
            };
            if expected["event"] != event.name || !matches(&expected["data"], &event.data) {
                return Err(format!("event {number} is {} {} instead of {expected}", event.name, event.data));
            }
            if number == 0 {
                for request in self.case["during"].as_array().into_iter().flatten() {
                    self.send(self.ask_of(request)?)?;
                }
            }
        }
        Ok(())
    }

    fn check_after(&self, expected: &Value) -> Checked<()> {
        let ask = Ask::new("GET", "/.json").by_owner().with_query("format", "export");
        let text = self.send(ask)?.text().map_err(|error| error.to_string())?;
        let actual: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        if matches(&plain(expected), &plain(&actual)) {
            Ok(())
        } else {
            Err(format!("afterwards there is {actual} instead of {expected}"))
        }
    }
}

fn check_body(expect: &Value, text: &str) -> Checked<()> {
    if let Some(expected) = expect.get("body") {
        let actual: Value = serde_json::from_str(text).map_err(|error| format!("{error} in {text}"))?;
        if !matches(expected, &actual) {
            return Err(format!("the body is {text} instead of {expected}"));
        }
    }
    if let Some(expected) = expect["bodyText"].as_str().filter(|expected| *expected != text) {
        return Err(format!("the body is {text} instead of {expected}"));
    }
    let parts = expect["bodyContains"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match parts.into_iter().find(|part| !text.contains(part)) {
        None => Ok(()),
        Some(part) => Err(format!("{part} is not in the body: {text}")),
    }
}
