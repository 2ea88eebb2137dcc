//! Streams that go on where another one was cut (`eventIds`, `Last-Event-ID`).

use crate::client::{Answer, Ask, Event};
use crate::server::Running;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use std::cell::Cell;

const KEY_RANGE: [(&str, &str); 2] = [("orderBy", "\"$key\""), ("startAt", "\"b\"")];

/// Who listens to what.
#[derive(Clone, Debug, Default)]
struct Listen {
    path: &'static str,
    query: Vec<(&'static str, &'static str)>,
    uid: Option<&'static str>,
    namespace: String,
}

impl Listen {
    fn to(path: &'static str) -> Self {
        Self { path, ..Self::default() }
    }

    fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.query.push((name, value));
        self
    }

    fn by(mut self, uid: &'static str) -> Self {
        self.uid = Some(uid);
        self
    }

    /// Begins, behind an id if there is one.
    fn begin(&self, server: &Running, id: Option<&str>) -> Answer {
        let mut ask = Ask::new("GET", self.path).with_query("eventIds", "true");
        ask.headers.push(("Accept".into(), "text/event-stream".into()));
        if let Some(id) = id {
            ask.headers.push(("Last-Event-ID".into(), id.into()));
        }
        let query = self.query.iter().copied();
        let mut ask = query.fold(ask, |ask, (name, value)| ask.with_query(name, value));
        if !self.namespace.is_empty() {
            ask = ask.with_query("ns", &self.namespace);
        }
        if let Some(uid) = self.uid {
            ask = ask.with_query("auth", &token(uid));
        }
        let answer = ask.send(&server.address).expect("the server answers");
        assert_eq!(answer.status, 200, "{self:?}");
        answer
    }
}

/// As the SDK for tests makes them: unsigned.
fn token(uid: &str) -> String {
    use base64::Engine;
    let part = |value: Value| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.", part(json!({"alg": "none"})), part(json!({"sub": uid})))
}

fn write(server: &Running, namespace: &str, method: &str, path: &str, body: &Value) {
    let ask = Ask::new(method, path).by_owner().with_body(body);
    let ask = if namespace.is_empty() { ask } else { ask.with_query("ns", namespace) };
    let answer = ask.send(&server.address).expect("the server answers");
    assert_eq!(answer.status, 200, "{method} {path} {body}");
}

fn event(name: &str, path: &str, data: &Value) -> Event {
    Event { name: name.into(), data: json!({"path": path, "data": data}) }
}

fn nothing_missed() -> Event {
    Event { name: "keep-alive".into(), data: Value::Null }
}

#[test]
fn a_stream_goes_on_with_what_is_there_now() {
    let server = Running::start();
    let before = json!({"a": {"x": 1}, "b": 2, "leaf": 5, "z": {"k": true}});
    let s = || Listen::to("/s.json");
    let keys = || s().with("orderBy", "\"$key\"").with("startAt", "\"b\"").with("endAt", "\"m\"");
    let newest = || s().with("orderBy", "\"$key\"").with("limitToLast", "2");
    let put = |path: &str, data: Value| event("put", path, &data);
    let whole = |data: Value| vec![event("put", "/", &data)];
    for (listen, writes, expected) in [
        (s(), vec![], vec![nothing_missed()]),
        (s(), vec![("PUT", "/elsewhere.json", json!(1))], vec![nothing_missed()]),
        (s(), vec![("PUT", "/s/b.json", json!(3))], vec![put("/b", json!(3))]),
        // Only what is there now.
        (
            s(),
            vec![("PUT", "/s/b.json", json!(3)), ("PUT", "/s/b.json", json!(4))],
            vec![put("/b", json!(4))],
        ),
        (
            s(),
            vec![("PUT", "/s/n/x.json", json!(3)), ("DELETE", "/s/n.json", json!(null))],
            vec![put("/n", json!(null))],
        ),
        (
            s(),
            vec![("PUT", "/s/a/y.json", json!(1)), ("PUT", "/s/a.json", json!(7))],
            vec![put("/a", json!(7))],
        ),
        (
            s(),
            vec![("PUT", "/s/b.json", json!(3)), ("DELETE", "/s/z/k.json", json!(null))],
            vec![event("patch", "/", &json!({"b": 3, "z": null}))],
        ),
        // A value was replaced by something that has gone again: the client still has the value.
        (
            s(),
            vec![("PUT", "/s/leaf/x.json", json!(1)), ("DELETE", "/s/leaf/x.json", json!(null))],
            vec![put("/leaf", json!(null))],
        ),
        (
            s(),
            vec![("PATCH", "/.json", json!({"s/a/y": 3, "s/b": null}))],
            vec![put("/a/y", json!(3)), put("/b", json!(null))],
        ),
        // At or above.
        (s(), vec![("PUT", "/s.json", json!({"only": 1}))], whole(json!({"only": 1}))),
        (s(), vec![("PUT", "/.json", json!({"s": 1}))], whole(json!(1))),
        (s(), vec![("DELETE", "/s.json", json!(null))], whole(json!(null))),
        // Queries: by the key alone, and others.
        (
            keys(),
            vec![("PUT", "/s/a/x.json", json!(9)), ("PUT", "/s/z.json", json!(9))],
            vec![nothing_missed()],
        ),
        (
            keys(),
            vec![("PUT", "/s/c/x.json", json!(9)), ("DELETE", "/s/b.json", json!(null))],
            vec![put("/b", json!(null)), put("/c", json!({"x": 9}))],
        ),
        (newest(), vec![("PUT", "/t.json", json!(1))], vec![nothing_missed()]),
        (newest(), vec![("PUT", "/s/zz.json", json!(1))], whole(json!({"z": {"k": true}, "zz": 1}))),
        // Keys alone have no ids, and begin anew.
        (s().with("shallow", "true"), vec![], whole(json!({"a": true, "b": true, "leaf": true, "z": true}))),
    ] {
        write(&server, "", "PUT", "/.json", &json!({"s": before, "t": {}}));
        let mut first = listen.begin(&server, None);
        assert_eq!(first.next_event().expect("it begins").data["path"], json!("/"), "{listen:?}");
        let id = first.last_id.take();
        drop(first);
        for (method, path, body) in &writes {
            write(&server, "", method, path, body);
        }
        let mut second = listen.begin(&server, id.as_deref());
        for expected in expected {
            assert_eq!(second.next_event().ok(), Some(expected), "{listen:?} {writes:?}");
        }
        // And goes on.
        write(&server, "", "PUT", "/s/z/last.json", &json!(1));
        write(&server, "", "PUT", "/s/l.json", &json!(1));
        assert!(second.next_event().is_ok(), "{listen:?} {writes:?}");
    }
}

#[test]
fn an_id_of_anything_else_gives_everything_and_says_nothing() {
    let server = Running::start();
    let mine = json!("auth.uid === 'ada' || auth.uid === 'bob'");
    let rules = json!({"rules": {"s": {".read": mine}, "t": {".read": mine}, "door": {".read": "root.child('open').exists()"}}});
    write(&server, "", "PUT", "/.settings/rules.json", &rules);
    write(&server, "", "PUT", "/.json", &json!({"s": {"a": 1}, "t": {"b": 2}, "open": 1, "door": {"c": 3}}));
    let ada = || Listen::to("/s.json").by("ada");
    let id_of = |listen: &Listen| {
        let mut stream = listen.begin(&server, None);
        stream.next_event().expect("it begins");
        stream.last_id.take().expect("it has an id")
    };
    let id = id_of(&ada());
    let by_key = || ada().with("orderBy", "\"$key\"");
    for (listen, id, expected) in [
        (ada(), id.clone(), nothing_missed()),
        (ada().with("print", "pretty"), id.clone(), nothing_missed()),
        (Listen::to("/s.json").by("bob"), id.clone(), event("put", "/", &json!({"a": 1}))),
        (Listen::to("/t.json").by("ada"), id.clone(), event("put", "/", &json!({"b": 2}))),
        (by_key(), id.clone(), event("put", "/", &json!({"a": 1}))),
        (ada(), id_of(&by_key()), event("put", "/", &json!({"a": 1}))),
        (ada(), "made-up".into(), event("put", "/", &json!({"a": 1}))),
        (ada(), id.to_ascii_lowercase(), event("put", "/", &json!({"a": 1}))),
        (ada(), String::new(), event("put", "/", &json!({"a": 1}))),
    ] {
        let mut stream = listen.begin(&server, Some(&id));
        assert_eq!(stream.next_event().ok(), Some(expected), "{listen:?} {id}");
    }
    // Rules that have changed, if only for a while, and rules that refuse now.
    let door = Listen::to("/door.json").by("ada");
    let of_door = id_of(&door);
    write(&server, "", "DELETE", "/open.json", &Value::Null);
    let mut ask =
        Ask::new("GET", "/door.json").with_query("eventIds", "true").with_query("auth", &token("ada"));
    ask.headers = vec![("Accept".into(), "text/event-stream".into()), ("Last-Event-ID".into(), of_door)];
    assert_eq!(ask.send(&server.address).map(|answer| answer.status).ok(), Some(401));
    write(&server, "", "PUT", "/.settings/rules.json", &rules);
    let mut stream = ada().begin(&server, Some(&id));
    assert_eq!(stream.next_event().ok(), Some(event("put", "/", &json!({"a": 1}))), "other rules");
    let query = [("eventIds", "maybe"), ("lastEventId", &id)];
    for (name, value) in query {
        let mut ask = Ask::new("GET", "/s.json").with_query(name, value).by_owner();
        ask.headers.push(("Accept".into(), "text/event-stream".into()));
        assert_eq!(ask.send(&server.address).map(|answer| answer.status).ok(), Some(400), "{name}");
    }
    // As a parameter, for who cannot send a header; the header is newer.
    let id = id_of(&ada());
    for (header, param, expected) in [
        (None, id.as_str(), nothing_missed()),
        (Some(id.as_str()), "old", nothing_missed()),
        (Some("old"), id.as_str(), event("put", "/", &json!({"a": 1}))),
    ] {
        let mut ask = Ask::new("GET", "/s.json").with_query("auth", &token("ada"));
        ask = ask.with_query("eventIds", "true").with_query("lastEventId", param);
        ask.headers.push(("Accept".into(), "text/event-stream".into()));
        ask.headers.extend(header.map(|id| ("Last-Event-ID".into(), id.into())));
        let mut stream = ask.send(&server.address).expect("the server answers");
        assert_eq!(stream.next_event().ok(), Some(expected), "{header:?} {param}");
    }
}

#[test]
fn who_does_not_ask_sees_no_ids_and_a_restart_or_too_many_changes_give_everything() {
    let server = Running::with(&["--keep-alive", "1"]);
    let mut ask = Ask::new("GET", "/s.json");
    ask.headers.push(("Accept".into(), "text/event-stream".into()));
    ask.headers.push(("Last-Event-ID".into(), "x".into()));
    let mut plain = ask.send(&server.address).expect("the server answers");
    assert_eq!(
        plain.next_lines(6).expect("two events"),
        [
            "event: put\n",
            "data: {\"path\":\"/\",\"data\":null}\n",
            "\n",
            "event: keep-alive\n",
            "data: null\n",
            "\n",
        ]
    );
    let listen = Listen::to("/s.json");
    let mut stream = listen.begin(&server, None);
    stream.next_event().expect("it begins");
    let first = stream.last_id.take();
    // Signs of life carry ids that get newer as others write.
    write(&server, "", "PUT", "/elsewhere.json", &json!(1));
    let mut newer = first.clone();
    for _ in 0..10 {
        assert_eq!(stream.next_event().ok(), Some(nothing_missed()));
        newer = stream.last_id.take();
        if newer != first {
            break;
        }
    }
    assert!(first.is_some() && newer.is_some() && newer != first, "{first:?} {newer:?}");
    let many: Map<String, Value> = (0..3_000).map(|number| (format!("k{number}"), json!(1))).collect();
    write(&server, "", "PATCH", "/s.json", &Value::Object(many.clone()));
    let mut resumed = listen.begin(&server, newer.as_deref());
    assert_eq!(resumed.next_event().ok(), Some(event("put", "/", &Value::Object(many))));
    let id = resumed.last_id.take();
    let other = Running::start();
    let mut elsewhere = listen.begin(&other, id.as_deref());
    assert_eq!(elsewhere.next_event().ok(), Some(event("put", "/", &Value::Null)), "another start");
}

/// What a naive client has of a place.
#[derive(Debug, Default)]
struct Mirror {
    value: Value,
    id: Option<String>,
}

impl Mirror {
    fn apply(&mut self, Event { name, data }: &Event) {
        let path: Vec<&str> =
            data["path"].as_str().unwrap_or_default().split('/').filter(|key| !key.is_empty()).collect();
        match (name.as_str(), &data["data"]) {
            ("put", value) => set(&mut self.value, &path, value),
            ("patch", Value::Object(members)) => {
                for (key, value) in members {
                    set(&mut self.value, &[&path[..], &[key]].concat(), value);
                }
            }
            _ => {}
        }
    }
}

fn set(node: &mut Value, path: &[&str], value: &Value) {
    let Some((key, below)) = path.split_first() else {
        *node = value.clone();
        return;
    };
    if !node.is_object() {
        if value.is_null() {
            return;
        }
        *node = json!({});
    }
    let members = node.as_object_mut().expect("it was made one");
    set(members.entry(*key).or_insert(Value::Null), below, value);
    members.retain(|_, child| !child.is_null() && *child != json!({}));
    if members.is_empty() {
        *node = Value::Null;
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(String, Value),
    /// Everything is read.
    Read,
    /// One event is read, perhaps of several, and the connection is cut.
    Glimpse,
    Cut,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let leaf = || prop_oneof![Just(Value::Null), (0..9).prop_map(Value::from)];
    let value = prop_oneof![3 => leaf(), 1 => prop::collection::btree_map(key(), leaf(), 0..3).prop_map(|map| json!(map))];
    let path = prop::collection::vec(key(), 0..3)
        .prop_map(|keys| keys.iter().map(|key| format!("/{key}")).collect());
    let parts = prop::collection::btree_map(key(), leaf(), 1..4).prop_map(|map| json!(map));
    let step = prop_oneof![
        6 => (path, value).prop_map(|(path, value): (String, Value)| Step::Write(path, value)),
        1 => parts.prop_map(|parts| Step::Write("PATCH".into(), parts)),
        1 => Just(Step::Read),
        1 => Just(Step::Glimpse),
        2 => Just(Step::Cut),
    ];
    prop::collection::vec(step, 1..24)
}

/// Plays steps, and compares what a client has that was cut again and again with what is there.
fn play(server: &Running, namespace: &str, query: &[(&'static str, &'static str)], steps: &[Step]) {
    let listen = Listen { path: "/s.json", query: query.to_vec(), uid: None, namespace: namespace.into() };
    let mut mirror = Mirror::default();
    let mut stream = listen.begin(server, None);
    let mut marks = 0;
    let mut read = |stream: &mut Answer, mirror: &mut Mirror, only_one: bool| {
        marks += 1;
        write(server, namespace, "PUT", "/s/mark.json", &json!(marks));
        while mirror.value["mark"] != json!(marks) {
            mirror.apply(&stream.next_event().expect("the mark comes"));
            mirror.id = stream.last_id.clone().or(mirror.id.take());
            if only_one {
                return;
            }
        }
    };
    for step in steps {
        match step {
            Step::Write(path, value) if path == "PATCH" => {
                write(server, namespace, "PATCH", "/s.json", value);
            }
            Step::Write(path, value) => write(server, namespace, "PUT", &format!("/s{path}.json"), value),
            Step::Read => read(&mut stream, &mut mirror, false),
            Step::Glimpse | Step::Cut => {
                if matches!(step, Step::Glimpse) {
                    read(&mut stream, &mut mirror, true);
                }
                stream = listen.begin(server, mirror.id.as_deref());
            }
        }
    }
    read(&mut stream, &mut mirror, false);
    let ask = Ask::new("GET", "/s.json").with_query("ns", namespace);
    let ask = query.iter().fold(ask, |ask, (name, value)| ask.with_query(name, value));
    let stored = ask.send(&server.address).and_then(Answer::text).expect("the server answers");
    let stored: Value = serde_json::from_str(&stored).expect("it is JSON");
    assert_eq!(mirror.value, stored, "{query:?} {steps:?}");
}

#[test]
fn a_client_that_is_cut_again_and_again_ends_with_what_is_there() {
    let server = Running::start();
    let limited = [("orderBy", "\"$key\""), ("limitToLast", "3")];
    let cases = Cell::new(0);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(48) });
    let played = runner.run(&steps(), |steps| {
        for query in [&[][..], &KEY_RANGE, &limited] {
            cases.set(cases.get() + 1);
            play(&server, &format!("case-{}", cases.get()), query, &steps);
        }
        Ok(())
    });
    played.expect("it holds");
}
