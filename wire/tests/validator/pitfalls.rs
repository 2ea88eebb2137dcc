//! The pitfalls of wire reference 12, as far as one connection shows them.

use crate::findings;

const LISTEN: &str = r#">1 q {"p":"a","h":""}"#;
const WINDOW: &str = r#">1 q {"p":"a","q":{"l":1,"vf":"r"},"t":1,"h":""}"#;
const OK: &str = "<1 ok {}";

/// A number, a connection that falls into the pitfall, and the start of what is found, or nothing where the pitfall is
/// to find fault with a client that is right.
const PITFALLS: &[(u8, &[&str], Option<&str>)] = &[
    (1, &["<=0"], Some("JavaScript takes this text for a number of parts")),
    (1, &["<="], Some("an empty text ends")),
    (2, &[r#">={"t":"c","d":{"t":"p","d":{}}}"#], Some("1 pings were never answered")),
    (5, &[LISTEN, r#"<1 ok """#], Some("the `d` of an ok to `q` must be an object")),
    (5, &[LISTEN, r#"<={"t":"d","d":{"r":1,"b":{"s":"ok"}}}"#], Some("a response must have `d`")),
    (6, &[LISTEN, "<1 permission_denied {}"], Some("the `d` of an error must be a text or null")),
    (
        7,
        &[r#">1 q {"p":"a"}"#, OK, r#"<! d {"p":"a","d":1}"#],
        Some("the listen at `/a` came without a hash"),
    ),
    (
        8,
        &[LISTEN, OK, r#">2 p {"p":"a","d":1}"#, r#"<2 ok """#],
        Some("request 2 is acknowledged before its data"),
    ),
    (
        9,
        &[LISTEN, OK, r#">2 p {"p":"a","d":1,"h":""}"#, "<2 datastale null"],
        Some("`datastale` comes before the data"),
    ),
    (10, &[WINDOW, OK, r#"<! d {"p":"a","d":{"x":1}}"#], Some("`/a` is pushed without a tag")),
    (10, &[LISTEN, OK, r#"<! d {"p":"a","d":1,"t":1}"#], Some("no listen has tag 1")),
    (11, &[WINDOW, OK, r#"<! m {"p":"a","d":{"x/y":1},"t":1}"#], Some("`/a/x` enters the window in part")),
    (
        12,
        &[WINDOW, OK, r#"<! c {"p":"a","q":{"l":1,"vf":"r"}}"#],
        Some("`q` of a revoked listen must be an array"),
    ),
    (16, &[r#">0 n {"p":"a"}"#, r#"<0 ok """#], None),
    (17, &[r#">1 q {"p":"a%2fb","h":""}"#, r#"<! d {"p":"/a%2fb","d":1}"#, OK], None),
    (
        20,
        &[r#">1 auth {"cred":"x"}"#, r#">2 n {"p":"a"}"#, r#"<2 ok """#, "<1 ok {}"],
        Some("request 2 is answered before"),
    ),
    (
        22,
        &[r#">1 g {"p":"a","q":{"l":1}}"#, r#"<1 ok {"x":1,"y":2}"#],
        Some("the result of a query shows 1 children"),
    ),
    (27, &[r#">1 q {"p":"a","q":{"ep":"[MAX_KEY]","i":".key"},"t":1,"h":""}"#, OK], None),
    (
        28,
        &[LISTEN, OK, r#"<! rm {"p":"a","d":[]}"#],
        Some("a range merge goes to a client that sent no `ch`"),
    ),
    (29, &[LISTEN, OK, r#">2 q {"p":"a","h":""}"#, "<2 ok {}", r#"<! d {"p":"a","d":1}"#], None),
    (
        30,
        &[WINDOW, r#"<! d {"p":"a","d":{"x":1,".priority":1},"t":1}"#, OK],
        Some("the result of a query shows the priority"),
    ),
    (33, &[LISTEN, r#"<! d {"p":"a","d":1.0}"#, OK], Some("a whole number is written as a double")),
    (34, &[r#"<={"t":"d","d":{"error":"x"}}"#], Some("a data message with `error`")),
];

#[test]
fn a_server_that_falls_into_a_pitfall_is_told() {
    for (number, lines, expected) in PITFALLS {
        let found = findings(lines);
        let first = found.first().map(String::as_str);
        let is_found = match (first, expected) {
            (Some(first), Some(expected)) => first.starts_with(expected),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        assert!(is_found, "pitfall {number}, {lines:#?}: {found:#?}");
    }
}
