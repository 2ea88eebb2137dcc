//! The types of single messages and texts (wire reference 2, 3, 7.1, 15).

use crate::{findings, run};
use hearth_wire::Validator;

/// What is found first in a message, whoever it goes to.
#[track_caller]
fn check(message: &str, expected: &str) {
    let mut validator = Validator::without_requests();
    validator.sent(br#"{"t":"c","d":{"t":"h","d":{"ts":1764500000158,"v":"5","h":"x","s":"y"}}}"#);
    let found = run(validator, &[&format!("<{message}")]);
    assert_eq!(found.first().map(String::as_str), Some(expected), "{message}");
}

#[test]
fn layers_and_control_messages() {
    for (message, expected) in [
        ("=[]", "a message must be an object, not an array"),
        ("={}", "a message must have `d`"),
        (r#"={"d":{}}"#, "a message must have `t`"),
        (r#"={"t":"x","d":{}}"#, "`t` must be \"c\" or \"d\""),
        (r#"={"t":"d","d":{},"x":1}"#, "a message has `x`, which nobody reads"),
        (r#"={"t":"c","d":{"t":"o"}}"#, "a control message must have `d`"),
        (r#"={"t":"c","d":{"d":{}}}"#, "a control message must have `t`"),
        (r#"={"t":"c","d":{"t":"k","d":{}}}"#, "there is no control message `k`"),
        (r#"={"t":"c","d":{"t":"r","d":{}}}"#, "the host of a reset must be a text"),
        (r#"={"t":"c","d":{"t":"s","d":1}}"#, "the `d` of control message `s` must be a text"),
        (r#"={"t":"d","t":"d","d":{"a":"sd","b":{"msg":""}}}"#, "key `t` stands twice in one object"),
        ("={", "it is not JSON: EOF while parsing an object at line 1 column 1"),
    ] {
        check(message, expected);
    }
}

#[test]
fn handshakes() {
    for (fields, expected) in [
        (
            r#""ts":1764500000158.0,"v":"5","h":"x","s":"y""#,
            "`ts` of the handshake must be an integer: Android connects again for ever",
        ),
        (
            r#""ts":"1764500000158","v":"5","h":"x","s":"y""#,
            "`ts` of the handshake must be an integer: Android connects again for ever",
        ),
        (
            r#""ts":1764500000,"v":"5","h":"x","s":"y""#,
            "`ts` of the handshake is too low for milliseconds: Android connects again for ever",
        ),
        (
            r#""ts":1764500000158,"v":5,"h":"x","s":"y""#,
            "`v` of the handshake must be a text, not an integer",
        ),
        (r#""ts":1764500000158,"v":"4","h":"x","s":"y""#, "`v` of the handshake must be \"5\""),
        (r#""ts":1764500000158,"v":"5","s":"y""#, "the handshake must have `h`"),
        (r#""ts":1764500000158,"v":"5","h":"","s":"y""#, "`h` of the handshake must name a host"),
        (
            r#""ts":1764500000158,"v":"5","h":"0.0.0.0:9000","s":"y""#,
            "`h` of the handshake is an address to listen at; no client reaches it",
        ),
        (r#""ts":1764500000158,"v":"5","h":"x""#, "the handshake must have `s`"),
        (
            r#""ts":1764500000158,"v":"5","h":"x","s":"a+b/c=""#,
            "`s` of the handshake: `a+b/c=` is not a session id: 1 to 128 of A-Z a-z 0-9 . _ ~ - are allowed",
        ),
    ] {
        let line = format!(r#"<={{"t":"c","d":{{"t":"h","d":{{{fields}}}}}}}"#);
        assert_eq!(run(Validator::new(), &[&line]), [expected], "{fields}");
    }
}

#[test]
fn responses() {
    for (message, expected) in [
        (
            r#"={"t":"d","d":{"error":"x"}}"#,
            "a data message with `error` makes JavaScript throw and Apple crash",
        ),
        (r#"={"t":"d","d":{}}"#, "a data message must have `r` or `a`"),
        (
            r#"={"t":"d","d":{"r":1,"a":"d","b":{}}}"#,
            "a message is a response (`r`) or a push (`a`), not both",
        ),
        (r#"={"t":"d","d":{"r":"1","b":{"s":"ok","d":""}}}"#, "`r` must be an integer, not a text"),
        (
            r#"={"t":"d","d":{"r":1.0,"b":{"s":"ok","d":""}}}"#,
            "`r` must be an integer, not a number that is not written as an integer",
        ),
        (r#"={"t":"d","d":{"r":1}}"#, "a response must have `b`"),
        (r#"={"t":"d","d":{"r":1,"b":{"s":"ok"}}}"#, "a response must have `d`"),
        (r#"={"t":"d","d":{"r":1,"b":{"d":""}}}"#, "a response must have `s`"),
        (
            "1 permission_denied {}",
            "the `d` of an error must be a text or null, not an object: Android drops the connection",
        ),
        (r#"1 nope "x""#, "there is no status `nope`"),
        // The client's own words.
        (r#"1 maxretry "x""#, "there is no status `maxretry`"),
    ] {
        check(message, expected);
    }
}

#[test]
fn pushes() {
    for (message, expected) in [
        ("! zz {}", "there is no push `zz`"),
        (r#"! d {"d":1}"#, "a push must have `p`"),
        (r#"! d {"p":"a"}"#, "a push must have `d`"),
        (r#"! d {"p":"a.b","d":1}"#, "`a.b` in a path is no key"),
        (r#"! d {"p":"a","d":1,"x":1}"#, "the body of a push has `x`, which nobody reads"),
        (
            r#"! d {"p":"a","d":1,"t":"1"}"#,
            "`t` must be an integer, not a text: Android takes the push for an untagged one",
        ),
        (
            r#"! d {"p":"a","d":1,"t":null}"#,
            "`t` must be an integer, not null: Android takes the push for an untagged one",
        ),
        (r#"! m {"p":"a","d":[]}"#, "the `d` of a merge must be an object, not an array"),
        (r#"! m {"p":"a","d":{}}"#, "a merge says nothing"),
        (r#"! m {"p":"a","d":{"":1}}"#, "a merge sets its own place; that is a `d`"),
        (r#"! m {"p":"a","d":{"x":1,"x/y":2}}"#, "in a merge `x` is at or above `x/y`"),
        (
            r#"! m {"p":"a","d":{"x/.priority":true}}"#,
            "a priority must be a number or a text, not true or false",
        ),
        (r#"! rm {"p":"a","d":{}}"#, "the `d` of a range merge must be an array, not an object"),
        (r#"! rm {"p":"a","d":[{"s":"x"}]}"#, "a range must have `m`"),
        (
            r#"! c {"p":"a","q":{"l":1}}"#,
            "`q` of a revoked listen must be an array of one query: JavaScript throws",
        ),
        (r#"! ac {"s":"expired_token"}"#, "a revocation must have `d`"),
        ("! sd {}", "a debug text must have `msg`"),
    ] {
        check(message, expected);
    }
}

#[test]
fn data() {
    for (data, expected) in [
        ("[1]", "an array stands in data, where only objects do"),
        ("{}", "an object without children stands in data; null is nothing"),
        (r#"{".priority":1}"#, "an object without children stands in data; null is nothing"),
        (r#"{"a":null}"#, "null stands inside data, where only what exists is written"),
        (r#"{".value":1}"#, "`.value` stands without `.priority`; the value alone says it"),
        (r#"{".value":1,".priority":1,"a":1}"#, "`.value` stands beside children"),
        (r#"{".value":null,".priority":1}"#, "`.value` is no value of a leaf"),
        (r#"{"a":1,".priority":null}"#, "`.priority` is null; no priority is not written"),
        (r#"{"a":1,".priority":{}}"#, "a priority must be a number or a text, not an object"),
        (r#"{".sv":"timestamp"}"#, "an object without children stands in data; null is nothing"),
        (r#"{"a":1,".sv":"timestamp"}"#, "`.sv` in data is no key"),
        (r#"{"a/b":1}"#, "`a/b` in data is no key"),
        (r#"{"":1}"#, "`` in data is no key"),
        ("1.0", "a whole number is written as a double: Android's apps see 1.0 and not 1"),
        ("-0", "a whole number is written as a double: Android's apps see -0.0 and not -0"),
        ("1e3", "a whole number is written as a double: Android's apps see 1000.0 and not 1000"),
        (r#"{"a":1,"a":2}"#, "key `a` stands twice in one object"),
    ] {
        check(&format!(r#"! d {{"p":"x","d":{data}}}"#), expected);
    }
    let deep = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    check(&format!(r#"! d {{"p":"x","d":{}}}"#, deep(32)), "data reach below level 32");
    for data in ["1", "1.5", "1e+21", "\"\"", "false", "null", r#"{".value":1.5,".priority":"p"}"#, &deep(31)]
    {
        let mut validator = Validator::without_requests();
        validator.sent(br#"{"t":"c","d":{"t":"h","d":{"ts":1764500000158,"v":"5","h":"x","s":""}}}"#);
        let found = run(validator, &[&format!(r#"<! d {{"p":"x","d":{data}}}"#)]);
        assert_eq!(found, Vec::<String>::new(), "{data}");
    }
}

#[test]
fn texts() {
    let number =
        "JavaScript takes this text for a number of parts, which must be from 1 to 9999, in digits only";
    for text in ["0", "00", "10000", "1.5", "-1", " 1", "0x1", "1e3", "+1", "  "] {
        assert_eq!(findings(&[&format!("<={text}")]), [number], "{text:?}");
    }
    assert_eq!(findings(&["<="]), ["an empty text ends a JavaScript client's connection for good"]);
    let empty = r#"{"t":"d","d":{"a":"sd","b":{"msg":""}}}"#;
    let debug = |units: usize| empty.replace(r#""""#, &format!(r#""{}""#, "x".repeat(units - empty.len())));
    let whole = format!("<={}", debug(16_384));
    assert_eq!(findings(&[&whole]), Vec::<String>::new());
    let long = format!("<={}", debug(16_385));
    assert_eq!(findings(&[&long]), ["a text has 16385 UTF-16 units; longer ones than 16384 must be split"]);
    let (start, end) = long.split_at(16_386);
    let end = format!("<={end}");
    assert_eq!(findings(&["<=2", start, &end]), Vec::<String>::new());
    assert_eq!(findings(&["<=3", start, &end]), ["the last message lacks 1 of its parts"]);
    // Within a message an empty part is as bad.
    assert_eq!(
        findings(&["<=3", start, "<=", &end]),
        ["an empty text ends a JavaScript client's connection for good"]
    );
    let mut validator = Validator::new();
    validator.sent(b"{\"\xC3");
    assert!(validator.findings()[0].starts_with("a text is cut inside a character"));
}
