//! Pushes, as a server writes and a client reads them (wire reference 3.3, 3.4, 6.6).

use hearth_tree::{
    Change, Edit, Node, Path, Priority, Query, ReadOptions, RelativePath, Scalar, Text, To, Window, read_node,
};
use hearth_wire::{Body, Failure, Push, QueryText, RangeData, ServerMessage, Status, Tag};

fn node(text: &str) -> Option<Node> {
    read_node(text.as_bytes(), &ReadOptions::default()).expect(text)
}

fn path(text: &str) -> Path {
    Path::parse(text).expect(text)
}

fn relative(text: &str) -> Option<RelativePath> {
    Some(RelativePath::parse(text).expect(text))
}

fn set(at: &str, value: &str) -> Edit {
    Edit { at: path(at), to: To::Node(node(value)) }
}

fn priority(at: &str, priority: Option<&str>) -> Edit {
    let priority = priority.map(|text| Priority::Text(Text::new(text).expect(text)));
    Edit { at: path(at), to: To::Priority(priority) }
}

fn read(text: &str) -> Push {
    match ServerMessage::parse(text.as_bytes(), &ReadOptions::default()) {
        Ok(ServerMessage::Push(push)) => push,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn pushes_are_written_and_read() {
    let merge = |at: &str, edits: Vec<Edit>, tag| Push::Merge {
        at: path(at),
        change: Change::new(edits).unwrap(),
        tag,
    };
    let failure = |status, text: &str| Failure { status, text: text.into() };
    let newest = Query { window: Window::last(2).unwrap(), ..Query::EVERYTHING };
    for (push, expected) in [
        (
            Push::Set { edit: set("rooms/a", r#"{"x":1}"#), tag: Some(Tag(3)) },
            r#"{"a":"d","b":{"p":"rooms/a","d":{"x":1},"t":3}}"#,
        ),
        (Push::Set { edit: set("rooms/a", "null"), tag: None }, r#"{"a":"d","b":{"p":"rooms/a","d":null}}"#),
        (Push::Set { edit: set("/", "2.50"), tag: None }, r#"{"a":"d","b":{"p":"/","d":2.5}}"#),
        (
            Push::Set { edit: set("a", r#"{".value":1.0,".priority":-0.0}"#), tag: None },
            r#"{"a":"d","b":{"p":"a","d":{".value":1,".priority":0}}}"#,
        ),
        (
            Push::Set { edit: set("a", r#"["x",null,"z"]"#), tag: None },
            r#"{"a":"d","b":{"p":"a","d":{"0":"x","2":"z"}}}"#,
        ),
        (
            Push::Set { edit: priority("a/b", Some("p")), tag: Some(Tag(1)) },
            r#"{"a":"d","b":{"p":"a/b/.priority","d":"p","t":1}}"#,
        ),
        (Push::Set { edit: priority("", None), tag: None }, r#"{"a":"d","b":{"p":".priority","d":null}}"#),
        (
            merge("rooms/a", vec![set("rooms/a/c/t", "1"), set("rooms/a/b", "null")], Some(Tag(0))),
            r#"{"a":"m","b":{"p":"rooms/a","d":{"b":null,"c/t":1},"t":0}}"#,
        ),
        (
            merge("", vec![priority("", Some("p")), priority("a", None), set("a/b", r#""x""#)], None),
            r#"{"a":"m","b":{"p":"/","d":{".priority":"p","a/.priority":null,"a/b":"x"}}}"#,
        ),
        (
            Push::RangeMerge {
                at: path("big/list"),
                ranges: vec![
                    RangeData {
                        after: relative("k07/t"),
                        up_to: relative("k14/x"),
                        data: node(r#"{"k09":{"t":1,"x":"new"}}"#),
                    },
                    RangeData { after: relative("k39/x"), up_to: None, data: node(r#"{"k40":{"t":2}}"#) },
                ],
                tag: Some(Tag(4)),
            },
            r#"{"a":"rm","b":{"p":"big/list","d":[{"s":"k07/t","e":"k14/x","m":{"k09":{"t":1,"x":"new"}}},{"s":"k39/x","m":{"k40":{"t":2}}}],"t":4}}"#,
        ),
        (
            Push::RangeMerge {
                at: path("a"),
                ranges: vec![RangeData { after: None, up_to: relative("/"), data: None }],
                tag: None,
            },
            r#"{"a":"rm","b":{"p":"a","d":[{"e":"/","m":null}]}}"#,
        ),
        (Push::Cancel { at: path("rooms/a"), query: None }, r#"{"a":"c","b":{"p":"rooms/a"}}"#),
        (
            Push::Cancel { at: path("rooms/a"), query: Some(QueryText::of(&newest)) },
            r#"{"a":"c","b":{"p":"rooms/a","q":[{"l":2,"vf":"r"}]}}"#,
        ),
        (
            Push::AuthRevoked(failure(Status::ExpiredToken, "Auth token is expired.")),
            r#"{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired."}}"#,
        ),
        (
            Push::AppCheckRevoked(failure(Status::InvalidToken, "x")),
            r#"{"a":"apc","b":{"s":"invalid_token","d":"x"}}"#,
        ),
        (Push::SecurityDebug { text: "x".into() }, r#"{"a":"sd","b":{"msg":"x"}}"#),
    ] {
        let text = push.to_text();
        assert_eq!(text, format!(r#"{{"t":"d","d":{expected}}}"#));
        assert_eq!(read(&text), push, "{text}");
    }
}

#[test]
fn one_body_serves_every_listen() {
    let edits = [set("a/b", r#"{"x":"}}}"}"#), priority("a/b", Some("}}}"))];
    let bodies = [
        Body::set(&edits[0]),
        Body::set(&edits[1]),
        Body::merge(&path("a"), &[set("a/b/x", "1"), set("a/c", "null")]),
        Body::ranges(&path("a"), &[]),
    ];
    for body in bodies {
        for tag in [None, Some(Tag(0)), Some(Tag(u64::MAX))] {
            let text = body.with_tag(tag).into_owned();
            assert_eq!(body.clone().into_text(tag), text);
            let read_tag = match read(&text) {
                Push::Set { tag, .. } | Push::Merge { tag, .. } | Push::RangeMerge { tag, .. } => tag,
                Push::Cancel { .. }
                | Push::AuthRevoked(_)
                | Push::AppCheckRevoked(_)
                | Push::SecurityDebug { .. } => panic!("{text} carries data"),
            };
            assert_eq!(read_tag, tag, "{text}");
        }
    }
}

#[test]
fn a_client_takes_what_any_server_pushes() {
    for (text, expected) in [
        (
            r#"{"d":{"b":{"t":3.0,"d":1,"p":"/a/"},"a":"d"},"t":"d"}"#,
            Push::Set {
                edit: Edit { at: path("a"), to: To::Node(Some(Scalar::Number(1.into()).into())) },
                tag: Some(Tag(3)),
            },
        ),
        (r#"{"t":"d","d":{"a":"c","b":{"p":"a","q":[]}}}"#, Push::Cancel { at: path("a"), query: None }),
        (
            r#"{"t":"d","d":{"a":"ac","b":{"s":"other"}}}"#,
            Push::AuthRevoked(Failure { status: Status::Failure, text: String::new() }),
        ),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    for (text, expected) in [
        (r#"{"t":"d","d":{"a":"zz","b":{}}}"#, "unknown push `zz`"),
        (r#"{"t":"x","d":{}}"#, "unknown layer `x`"),
        (r#"{"t":"c","d":{"t":"z","d":{}}}"#, "unknown kind of control message `z`"),
        (
            r#"{"t":"d","d":{"a":"c","b":{"p":"a","q":{}}}}"#,
            "unexpected JSON: invalid type: map, expected a sequence",
        ),
        (
            r#"{"t":"d","d":{"a":"m","b":{"p":"a","d":{"b":{".sv":"timestamp"}}}}}"#,
            "the server sent a server value (`.sv`) instead of what it stands for",
        ),
        (
            r#"{"t":"d","d":{"a":"d","b":{"p":"a","d":{".sv":"timestamp"}}}}"#,
            "`.sv` asks the server to fill in a value; only values that are filled in are allowed here",
        ),
    ] {
        let error = ServerMessage::parse(text.as_bytes(), &ReadOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}
