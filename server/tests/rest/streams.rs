//! What the cases do not say of event streams.

use crate::client::{Answer, Ask, Event};
use crate::server::Running;
use serde_json::{Value, json};

fn open(server: &Running, path: &str, query: &[(&str, &str)]) -> Answer {
    let mut ask = Ask::new("GET", path);
    ask.headers.push(("Accept".into(), "text/html, text/event-stream;q=0.9".into()));
    let ask = query.iter().fold(ask, |ask, (name, value)| ask.with_query(name, value));
    ask.send(&server.address).expect("the server answers")
}

fn write(server: &Running, method: &str, path: &str, body: &Value) {
    let answer = Ask::new(method, path).with_body(body).send(&server.address).expect("the server answers");
    assert_eq!(answer.status, 200, "{method} {path} {body}");
}

fn event(name: &str, path: &str, data: &Value) -> Event {
    Event { name: name.into(), data: json!({"path": path, "data": data}) }
}

#[test]
fn a_write_is_as_few_events_as_say_it_all() {
    let server = Running::start();
    let mut everything = open(&server, "/s.json", &[]);
    let newest = [("orderBy", "\"$key\""), ("limitToLast", "2")];
    let mut window = open(&server, "/s.json", &newest);
    for stream in [&mut everything, &mut window] {
        assert_eq!(stream.next_event().ok(), Some(event("put", "/", &Value::Null)));
    }
    for (method, path, body, all, windowed) in [
        (
            "PUT",
            "/s.json",
            json!({"a": {"x": 1}, "b": 2}),
            vec![event("put", "/", &json!({"a": {"x": 1}, "b": 2}))],
            vec![event("put", "/a", &json!({"x": 1})), event("put", "/b", &json!(2))],
        ),
        // One comes, and pushes another one out.
        (
            "PUT",
            "/s/c.json",
            json!(["l"]),
            vec![event("put", "/c", &json!(["l"]))],
            vec![event("put", "/a", &Value::Null), event("put", "/c", &json!(["l"]))],
        ),
        // Several places that have no node in common: one after the other.
        (
            "PATCH",
            "/.json",
            json!({"s/a/y": 3, "s/b": null, "elsewhere": 1}),
            vec![event("put", "/a/y", &json!(3)), event("put", "/b", &Value::Null)],
            vec![event("put", "/a", &json!({"x": 1, "y": 3})), event("put", "/b", &Value::Null)],
        ),
        // Priorities do not show.
        ("PUT", "/s/a/.priority.json", json!(5), vec![], vec![event("put", "/a", &json!({"x": 1, "y": 3}))]),
        ("PUT", "/elsewhere.json", json!(1), vec![], vec![]),
        (
            "PATCH",
            "/s/a.json",
            json!({"x": 9, "z": {"k": 1}}),
            vec![event("patch", "/a", &json!({"x": 9, "z": {"k": 1}}))],
            vec![event("put", "/a/x", &json!(9)), event("put", "/a/z", &json!({"k": 1}))],
        ),
        (
            "DELETE",
            "/s.json",
            Value::Null,
            vec![event("put", "/", &Value::Null)],
            vec![event("put", "/a", &Value::Null), event("put", "/c", &Value::Null)],
        ),
    ] {
        write(&server, method, path, &body);
        for (stream, expected) in [(&mut everything, all), (&mut window, windowed)] {
            for expected in expected {
                assert_eq!(stream.next_event().ok(), Some(expected), "{method} {path} {body}");
            }
        }
    }
}

/// An object of more than a megabyte, and the first letter of all its texts.
fn long(letter: &str) -> Value {
    let text = letter.repeat(60);
    Value::Object((0..20_000).map(|number| (format!("k{number:05}"), json!(text))).collect())
}

#[test]
fn what_is_long_is_told_as_what_is_short() {
    let server = Running::start();
    let mut everything = open(&server, "/s.json", &[]);
    let mut window = open(&server, "/s.json", &[("orderBy", "\"$key\""), ("limitToLast", "2")]);
    let mut resumable = open(&server, "/s.json", &[("eventIds", "true")]);
    for stream in [&mut everything, &mut window, &mut resumable] {
        assert_eq!(stream.next_event().ok(), Some(event("put", "/", &Value::Null)));
    }
    let (x, y, z) = (long("x"), long("y"), long("\u{1}"));
    for (method, path, body, all, windowed) in [
        (
            "PUT",
            "/s.json",
            json!({"a": x, "b": 2}),
            vec![event("put", "/", &json!({"a": x, "b": 2}))],
            vec![event("put", "/a", &x), event("put", "/b", &json!(2))],
        ),
        (
            "PATCH",
            "/s/a.json",
            json!({"k00000": y, "k00001": 1, "k00002": null, "new": z}),
            vec![event("patch", "/a", &json!({"k00000": y, "k00001": 1, "k00002": null, "new": z}))],
            vec![
                event("put", "/a/k00000", &y),
                event("put", "/a/k00001", &json!(1)),
                event("put", "/a/k00002", &Value::Null),
                event("put", "/a/new", &z),
            ],
        ),
        (
            "PATCH",
            "/.json",
            json!({"s/a": null, "s/b": z}),
            vec![event("patch", "/", &json!({"a": null, "b": z}))],
            vec![event("put", "/a", &Value::Null), event("put", "/b", &z)],
        ),
        (
            "PUT",
            "/s/b.json",
            json!(3),
            vec![event("put", "/b", &json!(3))],
            vec![event("put", "/b", &json!(3))],
        ),
    ] {
        write(&server, method, path, &body);
        resumable.last_id = None;
        for (stream, expected) in [(&mut everything, &all), (&mut window, &windowed), (&mut resumable, &all)]
        {
            for expected in expected {
                let found = stream.next_event().expect("the stream goes on");
                assert!(found == *expected, "{method} {path}: {} at {}", found.name, found.data["path"]);
            }
        }
        assert!(resumable.last_id.is_some(), "{method} {path}: the last of them has an id");
    }
    let first = open(&server, "/s.json", &[]).next_event();
    assert_eq!(first.ok(), Some(event("put", "/", &json!({"b": 3}))));
    // What is there already when it is asked for.
    write(&server, "PUT", "/s.json", &x);
    assert!(open(&server, "/s.json", &[]).next_event().ok() == Some(event("put", "/", &x)));
}

#[test]
fn a_shallow_stream_tells_keys_alone() {
    let server = Running::start();
    let mut stream = open(&server, "/s.json", &[("shallow", "true")]);
    let keys = |keys: &[&str]| keys.iter().map(|key| ((*key).to_owned(), json!(true))).collect::<Value>();
    assert_eq!(stream.next_event().ok(), Some(event("put", "/", &Value::Null)));
    for (method, path, body, expected) in [
        ("PUT", "/s.json", json!({"a": {"x": 1}, "b": 2}), vec![event("put", "/", &keys(&["a", "b"]))]),
        ("PUT", "/s/a/x.json", json!(2), vec![]),
        ("PUT", "/s/b.json", json!({"deep": 1}), vec![]),
        ("PUT", "/s/c/x.json", json!(3), vec![event("put", "/c", &json!(true))]),
        ("PATCH", "/s.json", json!({"a": null, "c": 1}), vec![event("put", "/a", &Value::Null)]),
        ("PUT", "/s.json", json!("leaf"), vec![event("put", "/", &json!("leaf"))]),
        ("PUT", "/s/d.json", json!(1), vec![event("put", "/", &keys(&["d"]))]),
        ("DELETE", "/s/d.json", Value::Null, vec![event("put", "/", &Value::Null)]),
    ] {
        write(&server, method, path, &body);
        for expected in expected {
            assert_eq!(stream.next_event().ok(), Some(expected), "{method} {path} {body}");
        }
    }
}

#[test]
fn a_stream_that_is_read_late_ends_where_the_writes_did() {
    const WRITES: usize = 250;
    let server = Running::start();
    let mut stream = open(&server, "/big.json", &[]);
    let large = "x".repeat(200_000);
    for number in 0..=WRITES {
        write(&server, "PUT", "/big.json", &json!(format!("{number} {large}")));
    }
    let last = json!(format!("{WRITES} {large}"));
    let mut events = 0;
    loop {
        let event = stream.next_event().expect("the stream goes on to the last write");
        events += 1;
        if event.data["data"] == last {
            break;
        }
    }
    // What did not fit was not kept: fewer events than writes.
    assert!(events < WRITES, "{events} events");
}

#[test]
fn a_stream_leaves_behind_what_it_was_asked_to() {
    let server = Running::start();
    let admin = |path: &str, body: &Value| {
        let answer = Ask::new("PUT", path).by_owner().with_body(body).send(&server.address);
        assert_eq!(answer.map(|answer| answer.status).ok(), Some(200), "{path} {body}");
    };
    let is_open = json!("root.child('door').val() !== 'shut'");
    let rules = json!({".read": true, "open": {".write": is_open}, "mark": {".write": true}});
    admin("/.settings/rules.json", &json!({"rules": rules}));
    let mut watch = open(&server, "/.json", &[]);
    assert_eq!(watch.next_event().ok(), Some(event("put", "/", &Value::Null)));
    // What it is to leave behind, whether the door is shut meanwhile, how it is answered, and what comes of it.
    let away = [("/open/a", json!("away")), ("/open/b/c", json!(1))];
    let only_mark = [("/mark", json!(2))];
    for (report, on_close, is_shut, status, made) in [
        ("R065", json!({"open/a": "away", "/open/b/c": {".sv": {"increment": 1}}}), false, 200, &away[..]),
        // Judged again when it is made, and each place by itself where not all are allowed.
        ("R065", json!({"open/a": "late", "mark": 2}), true, 200, &only_mark),
        ("R065", json!({"closed": 1}), false, 401, &[]),
        ("R065", json!({"open": 1, "open/a": 2}), false, 400, &[]),
        ("R065", json!({"open/a$": 2}), false, 400, &[]),
        ("R065", json!("away"), false, 400, &[]),
    ] {
        let data = json!({"row": on_close.to_string()});
        admin("/.json", &data);
        // Nothing has come of the row before but what was expected.
        assert_eq!(watch.next_event().ok(), Some(event("put", "/", &data)), "{report}");
        let mut stream = open(&server, "/elsewhere.json", &[("onClose", &on_close.to_string())]);
        assert_eq!(stream.status, status, "{report} {on_close}");
        if status == 200 {
            assert_eq!(stream.next_event().ok(), Some(event("put", "/", &Value::Null)), "{report}");
        }
        if is_shut {
            admin("/door.json", &json!("shut"));
            assert_eq!(watch.next_event().ok(), Some(event("put", "/door", &json!("shut"))), "{report}");
        }
        drop(stream);
        for (path, value) in made {
            assert_eq!(watch.next_event().ok(), Some(event("put", path, value)), "{report} {on_close}");
        }
    }
    let read = Ask::new("GET", "/open.json").with_query("onClose", "{}").send(&server.address);
    assert_eq!(read.map(|answer| answer.status).ok(), Some(400), "nothing would be left behind");
}

#[test]
fn a_stream_that_cannot_be_is_refused_as_any_request() {
    let server = Running::start();
    for (path, query, status) in [
        ("/a.json", vec![("limitToFirst", "1")], 400),
        ("/a$b.json", vec![], 400),
        ("/a/.priority.json", vec![], 400),
        ("/a.json", vec![("auth", "nonsense")], 401),
        ("/a", vec![], 404),
    ] {
        let answer = open(&server, path, &query);
        assert_eq!(answer.status, status, "{path} {query:?}");
        let text = answer.text().expect("it is no stream");
        assert!(text.starts_with("{\n  \"error\" : "), "{path} {query:?}: {text}");
    }
}
