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
