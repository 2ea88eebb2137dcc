//! Messages that are wrong, and what is to be done about each (wire reference 3.2, 4, 12).

use crate::{message, parse};
use hearth_wire::{BODY_BYTES_MAX, Refused, RequestNumber, Status, number_of};

/// The answer that a refused request gets.
fn check(action: &str, body: &str, status: Status, text: &str) {
    let message = message(7, action, body);
    match parse(&message) {
        Err(Refused::Request { number, error }) => {
            assert_eq!((number, error.status()), (RequestNumber(7), status), "{message}");
            assert_eq!(error.to_string(), text, "{message}");
        }
        other => panic!("{message}: {other:?}"),
    }
}

#[test]
fn a_request_that_makes_no_sense_is_answered() {
    let invalid = |action, body, text| check(action, body, Status::Invalid, text);
    invalid("k", "{}", "there is no action `k`");
    invalid("q", "[]", "unexpected JSON: invalid length 0, expected an object");
    invalid("p", "3", "unexpected JSON: invalid type: integer `3`, expected an object");
    invalid("q", r#"{"h":""}"#, "unexpected JSON: missing field `p`");
    invalid("p", r#"{"d":1}"#, "unexpected JSON: missing field `p`");
    // A set without data must not become a delete.
    invalid("p", r#"{"p":"a"}"#, "unexpected JSON: missing field `d`");
    invalid("m", r#"{"p":"a"}"#, "unexpected JSON: missing field `d`");
    invalid("p", r#"{"p":"a","d":1,"d":2}"#, "unexpected JSON: duplicate field `d`");
    invalid("n", r#"{"p":"a","p":"b"}"#, "unexpected JSON: duplicate field `p`");
    invalid("p", r#"{"p":1,"d":1}"#, "unexpected JSON: invalid type: integer `1`, expected a string");
    invalid(
        "p",
        r#"{"p":"a.b","d":1}"#,
        "in path `a.b`: key `a.b` has `.` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters",
    );
    invalid(
        "oc",
        r#"{"p":"a/.priority"}"#,
        "in path `a/.priority`: key `.priority` has `.` at byte 0; keys cannot contain . $ # [ ] / or ASCII control characters",
    );
    invalid(
        "p",
        r#"{"p":"users","d":{"ann":{"a.b":1}}}"#,
        "key `a.b` has `.` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters (in `ann`)",
    );
    invalid("p", r#"{"p":"a","d":{"x":1,"x":2}}"#, "key `x` stands twice in one object");
    invalid(
        "p",
        r#"{"p":"a","d":{".sv":"now"}}"#,
        "`.sv` must be \"timestamp\" or {\"increment\": number}, not `now`",
    );
    invalid(
        "p",
        r#"{"d":{".sv":"now"},"p":"a"}"#,
        "`.sv` must be \"timestamp\" or {\"increment\": number}, not `now`",
    );
    invalid(
        "p",
        r#"{"p":"a/.priority","d":true}"#,
        "a priority must be a number, a text or a server value, not true",
    );
    invalid(
        "p",
        r#"{"p":"a","d":1,"h":"abc"}"#,
        "in `h`: a hash is 28 characters of padded Base64 (20 bytes of SHA-1), not 3 characters",
    );
    invalid("m", r#"{"p":"a","d":null}"#, "an update must be an object whose keys are paths, not null");
    invalid(
        "m",
        r#"{"p":"/","d":{"a":1,"a/b":2}}"#,
        "`/a` and `/a/b` cannot be written together: one is at or above the other",
    );
    invalid("m", r#"{"p":"a/.priority","d":{}}"#, "an update needs the path of a node, not of its priority");
    invalid("q", r#"{"p":"a","q":{"l":1}}"#, "a listen to part of the children needs a tag, `t`");
    invalid("q", r#"{"p":"a","q":{"l":0},"t":1}"#, "in the query, `l` must be from 1 to 4294967295, not 0");
    invalid(
        "q",
        r#"{"p":"a","t":"1"}"#,
        "unexpected JSON: invalid type: string \"1\", expected a whole number, at least 0",
    );
    invalid(
        "q",
        r#"{"p":"a","ch":{"hs":[],"ps":[]}}"#,
        "a compound hash has one hash more than paths, not 0 hashes and 0 paths",
    );
    invalid(
        "q",
        r#"{"p":"a","q":{"l":"1"},"t":1}"#,
        "in the query: invalid type: string \"1\", expected a whole number, at least 0",
    );
    invalid("q", r#"{"p":"a","q":3,"t":1}"#, "in the query: invalid type: integer `3`, expected an object");
    for action in ["q", "n", "g", "p", "m", "o", "om", "oc"] {
        for place in [".info", "/.info/connected"] {
            let body = format!(r#"{{"p":"{place}","d":{{}}}}"#);
            let text = "`.info` is made up by each client for itself; the server holds nothing there";
            check(action, &body, Status::PermissionDenied, text);
        }
    }
    invalid("auth", "{}", "unexpected JSON: missing field `cred`");
    invalid(
        "gauth",
        r#"{"cred":"x","noauth":true,"authvar":{}}"#,
        "`noauth` and `authvar` exclude each other",
    );
    invalid(
        "gauth",
        r#"{"cred":"x","authvar":1}"#,
        "unexpected JSON: invalid type: integer `1`, expected a map",
    );
    // A number beyond doubles is a fault of the value and not of the connection.
    invalid("p", r#"{"p":"a","d":1e999}"#, "not valid JSON: number out of range");
}

#[test]
fn what_is_too_long_or_too_deep_is_answered() {
    let deep = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    let body = |path: &str, levels| format!(r#"{{"p":"{path}","d":{}}}"#, deep(levels));
    for (path, levels, fits) in
        [("", 32, true), ("", 33, false), ("a/b", 30, true), ("a/b", 31, false), ("", 90_000, false)]
    {
        let outcome = parse(&message(7, "p", &body(path, levels)));
        assert_eq!(outcome.is_ok(), fits, "{levels} levels below `{path}`");
        if let Err(error) = outcome {
            assert!(matches!(error, Refused::Request { number: RequestNumber(7), .. }), "{error}");
        }
    }
    let long = "x".repeat(10 * 1024 * 1024 + 1);
    check(
        "p",
        &format!(r#"{{"p":"a","d":"{long}"}}"#),
        Status::WriteTooBig,
        "a string value has 10485761 bytes of UTF-8; at most 10485760 are allowed",
    );
    let query = |bytes: usize| {
        let around = r#"{"p":"a","q":{"ep":"","i":".key"},"t":1}"#.len();
        format!(r#"{{"p":"a","q":{{"ep":"{}","i":".key"}},"t":1}}"#, "z".repeat(bytes - around))
    };
    assert!(parse(&message(7, "q", &query(BODY_BYTES_MAX))).is_ok());
    check(
        "q",
        &query(BODY_BYTES_MAX + 1),
        Status::Invalid,
        "the body of `q` has 524289 bytes; at most 524288 are allowed",
    );
}

#[test]
fn a_broken_message_is_answered_if_its_number_can_be_read() {
    for (text, expected) in [
        (r#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"a","d":"#, Some(7)),
        (r#"{"t":"d","d":{"r":0,"a":"p","b":{"p":"a","d":nope}}}"#, Some(0)),
        (r#"{"t":"d","d":{"b":{"p":"a","d":{"x":1,"x":2}},"a":"p","r":7}}"#, Some(7)),
        (r#"{"d":{"b":{"p":"a","d":{"":1}},"a":"p","r":7},"t":"d"}"#, Some(7)),
        (r#"{"t":"d","d":{"r":7}}"#, Some(7)),
        (r#"{"t":"d","d":{"r":7,"a":"p"}}"#, Some(7)),
        (r#"{"t":"d","d":{"r":7,"b":{}}}"#, Some(7)),
        (r#"{"t":"d","d":{"r":7,"a":1,"b":{}}}"#, Some(7)),
        (r#"{"t":"d","d":{"r":7,"a":"n","a":"n","b":{}}}"#, Some(7)),
        (r#"{"t":"d","d":{"r":7,"a":"unauth","b":{}}} x"#, Some(7)),
        (r#"{"d":{"r":7,"a":"unauth","b":{}}}"#, Some(7)),
        // No number, no answer.
        ("", None),
        ("x", None),
        ("12345678", None),
        ("[]", None),
        ("null", None),
        ("{}", None),
        (r#"{"t":"d"}"#, None),
        (r#"{"t":"d","d":{}}"#, None),
        (r#"{"t":"d","d":[7]}"#, None),
        (r#"{"t":"d","d":{"a":"p","b":{}}}"#, None),
        (r#"{"t":"d","d":{"r":"7","a":"unauth","b":{}}}"#, None),
        (r#"{"t":"d","d":{"r":-1,"a":"unauth","b":{}}}"#, None),
        (r#"{"t":"d","d":{"r":7.5,"a":"unauth","b":{}}}"#, None),
        (r#"{"t":"d","d":{"r":null,"a":"unauth","b":{}}}"#, None),
        // Which of two is meant cannot be said.
        (r#"{"t":"d","d":{"r":7,"r":8,"a":"unauth","b":{}}}"#, None),
        (r#"{"t":"c","d":{"t":1,"r":7}}"#, None),
        (r#"{"t":1,"d":{"r":7}}"#, None),
    ] {
        let number = match parse(text) {
            Err(Refused::Request { number: RequestNumber(number), .. }) => Some(number),
            Err(Refused::Broken { .. }) => None,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(number, expected, "{text}");
    }
}

#[test]
fn bytes_that_are_no_text_are_answered_too() {
    let message = b"{\"t\":\"d\",\"d\":{\"r\":7,\"a\":\"p\",\"b\":{\"p\":\"a\",\"d\":\"\xFF\"}}}";
    let error = hearth_wire::ClientMessage::parse(message, &hearth_tree::ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "request 7: the message is not UTF-8");
}

#[test]
fn the_start_of_a_message_gives_its_number() {
    let start = message(7, "p", r#"{"p":"a","d":"xxxx"#);
    for (length, expected) in [(start.len(), Some(7)), (25, Some(7)), (18, None), (0, None)] {
        let number = number_of(&start.as_bytes()[..length]);
        assert_eq!(number, expected.map(RequestNumber), "{}", &start[..length]);
    }
}

#[test]
fn what_is_unknown_but_no_request_is_passed_over() {
    for (text, expected) in [
        (r#"{"t":"x","d":{}}"#, "unknown layer `x`"),
        (r#"{"t":"x","d":5}"#, "unknown layer `x`"),
        (r#"{"t":"c","d":{"t":"z","d":{}}}"#, "unknown kind of control message `z`"),
        (r#"{"t":"c","d":{"t":"h","d":{}}}"#, "unknown kind of control message `h`"),
    ] {
        match parse(text) {
            Err(error @ Refused::Unknown { .. }) => assert_eq!(error.to_string(), expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}
