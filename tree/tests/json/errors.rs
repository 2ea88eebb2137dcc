//! Every refusal, in the words that a person gets.

use hearth_tree::{
    ControlCharacters, Path, ReadError, ReadOptions, read_node, read_priority, read_update, read_value,
};

fn check<T>(id: &str, text: &str, found: Result<T, ReadError>, expected: &str) {
    match found {
        Ok(_) => panic!("{id}: {text}: was read, but should be refused: {expected}"),
        Err(error) => assert_eq!(error.to_string(), expected, "{id}: {text}"),
    }
}

#[test]
fn values_are_refused_in_words() {
    const KEY: &str = "keys cannot contain . $ # [ ] / or ASCII control characters";
    let key = |what: &str, place: &str| format!("{what}; {KEY} ({place})");
    for (id, text, expected) in [
        ("syntax", "", "not valid JSON: EOF while parsing a value (line 1, column 1)".into()),
        ("syntax", "  ", "not valid JSON: EOF while parsing a value (line 1, column 2)".into()),
        ("syntax", "nul", "not valid JSON: EOF while parsing a value (line 1, column 3)".into()),
        ("syntax", "{\"a\":\n  x}", "not valid JSON: expected value (line 2, column 3, in `a`)".into()),
        ("syntax", "[1,2", "not valid JSON: EOF while parsing a list (line 1, column 4, in `2`)".into()),
        ("syntax", "[1,]", "not valid JSON: trailing comma (line 1, column 4, in `1`)".into()),
        ("syntax", "{1:2}", "not valid JSON: key must be a string (line 1, column 2)".into()),
        ("trailing garbage", "1 2", "not valid JSON: trailing characters (line 1, column 3)".into()),
        ("comment", "1 // one", "not valid JSON: trailing characters (line 1, column 3)".into()),
        ("single quotes", "{'a':1}", "not valid JSON: key must be a string (line 1, column 2)".into()),
        ("single quotes", "'a'", "not valid JSON: expected value (line 1, column 1)".into()),
        ("two marks of UTF-8", "\u{FEFF}\u{FEFF}1", "not valid JSON: expected value (line 1, column 1)".into()),
        ("raw control", "\"a\u{1}\"", "not valid JSON: control character (\\u0000-\\u001F) found while parsing a string (line 1, column 3)".into()),
        ("not a number", "NaN", "not valid JSON: expected value (line 1, column 1)".into()),
        ("not a number", "-Infinity", "not valid JSON: invalid number (line 1, column 2)".into()),
        ("number out of range", r#"{"a":1e999}"#, "not valid JSON: number out of range (line 1, column 10, in `a`)".into()),
        ("number form", "01", "not valid JSON: invalid number (line 1, column 2)".into()),
        ("key", r#"{"":1}"#, "a key cannot be empty (line 1, column 2)".into()),
        ("key", r#"{"a.b":1}"#, key("key `a.b` has `.` at byte 1", "line 1, column 2")),
        ("key", r#"{"a$":1}"#, key("key `a$` has `$` at byte 1", "line 1, column 2")),
        ("key", r##"{"#":1}"##, key("key `#` has `#` at byte 0", "line 1, column 2")),
        ("key", r#"{"a[0":1}"#, key("key `a[0` has `[` at byte 1", "line 1, column 2")),
        ("key", r#"{"]":1}"#, key("key `]` has `]` at byte 0", "line 1, column 2")),
        ("key", "{\n \"ok\" : {\n  \"a/b\"  :1}}", key("key `a/b` has `/` at byte 1", "line 3, column 3, in `ok`")),
        ("key", r#"[{"a":[0,{"a/b":1}]}]"#, key("key `a/b` has `/` at byte 1", "line 1, column 11, in `0/a/1`")),
        ("key with quotes", r#"{"x\"\\":1,"\"\\\"$\\":1}"#, key(r#"key `"\"$\` has `$` at byte 3"#, "line 1, column 12")),
        ("R025", r#"{"a\u0007":1}"#, key("key `a\\u{7}` has control character U+0007 at byte 1", "line 1, column 2")),
        ("R025", "{\"\u{7F}\":1}", key("key `\\u{7f}` has control character U+007F at byte 0", "line 1, column 2")),
        ("dotted key", r#"{"a":{".indexOn":"x"}}"#, "key `.indexOn` begins with a dot; only `.value`, `.priority` and `.sv` do, and each has a meaning (line 1, column 7, in `a`)".into()),
        ("dotted key", r#"{".":1}"#, "key `.` begins with a dot; only `.value`, `.priority` and `.sv` do, and each has a meaning (line 1, column 2)".into()),
        ("twice", r#"{"a":1,"a":2}"#, "key `a` stands twice in one object (line 1, column 8)".into()),
        ("twice", r#"{"b":1,"a":{},"c":3,"a":{"b":{}}}"#, "key `a` stands twice in one object (line 1, column 21)".into()),
        ("twice, one null", r#"{"a":1,"a":null}"#, "key `a` stands twice in one object (line 1, column 8)".into()),
        ("twice, one null", r#"{"a":null,"b":1,"a":1}"#, "key `a` stands twice in one object (line 1, column 17)".into()),
        ("twice null", r#"{"a":null,"a":null}"#, "key `a` stands twice in one object (line 1, column 11)".into()),
        ("twice, one pending", r#"{"a":{".sv":"timestamp"},"a":1}"#, "key `a` stands twice in one object (line 1, column 26)".into()),
        ("twice, one pending", r#"{"a":{".sv":"timestamp"},"a":null}"#, "key `a` stands twice in one object (line 1, column 26)".into()),
        ("twice pending", r#"{"a":{".sv":"timestamp"},"a":{".sv":"timestamp"}}"#, "key `a` stands twice in one object (line 1, column 26)".into()),
        ("twice, spelled differently", "[{\"x\":[\"a\"],\"a\":{\"a\":1},\n \"\\u0061\" : 2 }]", "key `a` stands twice in one object (line 2, column 2, in `0`)".into()),
        ("twice", r#"{".value":1,".value":null}"#, "key `.value` stands twice in one object (line 1, column 13)".into()),
        ("twice", r#"{".value":null,".value":1}"#, "key `.value` stands twice in one object (line 1, column 16)".into()),
        ("twice", r#"{"a":{".priority":1,"x":1,".priority":1}}"#, "key `.priority` stands twice in one object (line 1, column 27, in `a`)".into()),
        ("`.value` and children", r#"{"q":{".value":1,"x":2}}"#, "`.value` stands beside child `x`; a place holds a value or children, not both (line 1, column 23, in `q`)".into()),
        ("`.value` and children", r#"{"x":{"y":2},".value":false}"#, "`.value` stands beside child `x`; a place holds a value or children, not both (line 1, column 28)".into()),
        ("`.value` and children", r#"{"x":{".sv":"timestamp"},".value":1}"#, "`.value` stands beside child `x`; a place holds a value or children, not both (line 1, column 36)".into()),
        ("`.value` with content", r#"{".value":{"a":1}}"#, "`.value` must be true, false, a number, a text or a server value, not an object with keys (line 1, column 14)".into()),
        ("`.value` with content", r#"{".value":{".value":1}}"#, "`.value` must be true, false, a number, a text or a server value, not an object with keys (line 1, column 19)".into()),
        ("`.value` with content", r#"{".value":[1]}"#, "`.value` must be true, false, a number, a text or a server value, not an array with elements (line 1, column 11)".into()),
        ("priority", r#"{"a":1,".priority":true}"#, "a priority must be a number, a text or a server value, not true (line 1, column 23)".into()),
        ("priority", r#"{"a":{"b":1,".priority":{}}}"#, "a priority must be a number, a text or a server value, not an object (line 1, column 26, in `a`)".into()),
        ("priority", r#"{"a":1,".priority":{"x":1}}"#, "a priority must be a number, a text or a server value, not an object (line 1, column 23)".into()),
        ("priority", r#"{".priority":[1],"a":1}"#, "a priority must be a number, a text or a server value, not an array (line 1, column 14)".into()),
        ("R037", r#"{"a":{".sv":"timestamp"},"b":{".sv":"bogus"},"c":{".sv":"timestamp","x":1}}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not `bogus` (line 1, column 43, in `b`)".into()),
        ("R037", r#"{"c":{".sv":"timestamp","x":1}}"#, "`.sv` must stand alone in its object, without `x` (line 1, column 25, in `c`)".into()),
        ("R037", r#"{"c":{"x":1,".sv":"timestamp"}}"#, "`.sv` must stand alone in its object, without `x` (line 1, column 13, in `c`)".into()),
        ("R037", r#"{"c":{"x":null,".sv":"timestamp"}}"#, "`.sv` must stand alone in its object, without `x` (line 1, column 16, in `c`)".into()),
        ("`.sv` and `.priority`", r#"{".sv":"timestamp",".priority":1}"#, "`.sv` must stand alone in its object, without `.priority` (line 1, column 20)".into()),
        ("`.sv` and `.priority`", r#"{".priority":1,".sv":"timestamp"}"#, "`.sv` must stand alone in its object, without `.priority` (line 1, column 16)".into()),
        ("`.sv` and `.value`", r#"{".value":null,".sv":"timestamp"}"#, "`.sv` must stand alone in its object, without `.value` (line 1, column 16)".into()),
        ("`.sv` twice", r#"{".sv":"timestamp",".sv":"timestamp"}"#, "`.sv` must stand alone in its object, without `.sv` (line 1, column 20)".into()),
        ("`.sv` in `.value`", r#"{".value":{".sv":"timestamp","x":1}}"#, "`.sv` must stand alone in its object, without `x` (line 1, column 30)".into()),
        ("unknown `.sv`", r#"{".sv":null}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not null (line 1, column 11)".into()),
        ("unknown `.sv`", r#"{".sv":1}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not a number (line 1, column 8)".into()),
        ("unknown `.sv`", r#"{".sv":[]}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not an array (line 1, column 9)".into()),
        ("unknown `.sv`", r#"{".sv":{}}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not an empty object (line 1, column 9)".into()),
        ("unknown `.sv`", r#"{".sv":{"multiply":2}}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not operation `multiply` (line 1, column 18)".into()),
        ("unknown `.sv`", r#"{".sv":{"increment":"2"}}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not an increment by a text (line 1, column 23)".into()),
        ("unknown `.sv`", r#"{".sv":{"increment":{}}}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not an increment by an object (line 1, column 22)".into()),
        ("unknown `.sv`", r#"{".sv":{"increment":1,"x":1}}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not an increment with `x` beside it (line 1, column 25)".into()),
        ("unknown `.sv`", r#"{"a":1,".priority":{".sv":"now"}}"#, "`.sv` must be \"timestamp\" or {\"increment\": number}, not `now` (line 1, column 31)".into()),
    ] {
        let found = read_value(text.as_bytes(), &ReadOptions::default());
        check(id, text, found, &expected);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_where_they_stand() {
    for (bytes, expected) in [
        (&b"\"\xFF\""[..], "not valid JSON: the text is not UTF-8 (line 1, column 2)"),
        (b"{\"a\":\n\"ab\xED\xA0\x80\"}", "not valid JSON: the text is not UTF-8 (line 2, column 4)"),
        (b"\xFF\xFE1\0", "not valid JSON: the text is not UTF-8 (line 1, column 1)"),
    ] {
        let text = String::from_utf8_lossy(bytes);
        check("bytes", &text, read_value(bytes, &ReadOptions::default()), expected);
    }
}

#[test]
fn stored_values_hold_no_server_values() {
    const REFUSED: &str =
        "`.sv` asks the server to fill in a value; only values that are filled in are allowed here";
    for (text, place) in [
        (r#"{".sv":"timestamp"}"#, "line 1, column 2"),
        (r#"{"a":[{".sv":"timestamp"}]}"#, "line 1, column 8, in `a/0`"),
        (r#"{".value":{".sv":"timestamp"}}"#, "line 1, column 12"),
        (r#"{"a":1,".priority":{".sv":"timestamp"}}"#, "line 1, column 21"),
    ] {
        let found = read_node(text.as_bytes(), &ReadOptions::default());
        check("node", text, found, &format!("{REFUSED} ({place})"));
    }
}

#[test]
fn priorities_are_refused_in_words() {
    for (text, expected) in [
        ("true", "a priority must be a number, a text or a server value, not true (line 1, column 4)"),
        ("{}", "a priority must be a number, a text or a server value, not an object (line 1, column 2)"),
        ("[]", "a priority must be a number, a text or a server value, not an array (line 1, column 2)"),
        (
            r#"{".value":1}"#,
            "a priority must be a number, a text or a server value, not an object (line 1, column 9)",
        ),
        (
            r#"{".sv":"x"}"#,
            "`.sv` must be \"timestamp\" or {\"increment\": number}, not `x` (line 1, column 10)",
        ),
        ("1 1", "not valid JSON: trailing characters (line 1, column 3)"),
    ] {
        check("priority", text, read_priority(text.as_bytes(), &ReadOptions::default()), expected);
    }
}

#[test]
fn updates_are_refused_in_words() {
    for (id, text, expected) in [
        (
            "no object",
            "null",
            "an update must be an object whose keys are paths, not null (line 1, column 4)",
        ),
        (
            "no object",
            "[1]",
            "an update must be an object whose keys are paths, not an array (line 1, column 1)",
        ),
        (
            "no object",
            "\"x\"",
            "an update must be an object whose keys are paths, not a text (line 1, column 3)",
        ),
        ("no name", r#"{"a":1,"":null}"#, "in path ``: a key cannot be empty (line 1, column 8)"),
        ("no name", r#"{"//":null}"#, "in path `//`: a key cannot be empty (line 1, column 2)"),
        (
            "key",
            r#"{"a/b.c":1}"#,
            "in path `a/b.c`: key `b.c` has `.` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters (line 1, column 2)",
        ),
        (
            "key",
            r#"{"a/.value":1}"#,
            "in path `a/.value`: key `.value` has `.` at byte 0; keys cannot contain . $ # [ ] / or ASCII control characters (line 1, column 2)",
        ),
        (
            "key",
            r#"{"a/.priority/b":1}"#,
            "in path `a/.priority/b`: key `.priority` has `.` at byte 0; keys cannot contain . $ # [ ] / or ASCII control characters (line 1, column 2)",
        ),
        (
            "value",
            r#"{"a/b":{"c":[{"x$":1}]}}"#,
            "key `x$` has `$` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters (line 1, column 15, in `a/b/c/0`)",
        ),
        (
            "priority",
            r#"{"a/.priority":false}"#,
            "a priority must be a number, a text or a server value, not false (line 1, column 20, in `a`)",
        ),
        (
            "one over the other",
            r#"{"a/b":1,"a":2}"#,
            "`/rooms/a` and `/rooms/a/b` cannot be written together: one is at or above the other",
        ),
        (
            "one over the other",
            r#"{"a":1,"/a/":2}"#,
            "`/rooms/a` and `/rooms/a` cannot be written together: one is at or above the other",
        ),
        (
            "one over the other",
            r#"{"a/.priority":1,"a":null}"#,
            "`/rooms/a/.priority` and `/rooms/a` cannot be written together: one is at or above the other",
        ),
    ] {
        let at = Path::parse("rooms").expect("a path");
        check(id, text, read_update(text.as_bytes(), &at, &ReadOptions::default()), expected);
    }
}

#[test]
fn control_characters_are_refused_where_that_is_asked_for() {
    const REFUSED: &str = "ASCII control characters (U+0000 to U+001F, U+007F) are refused here";
    let options = ReadOptions { control_characters: ControlCharacters::Refuse, ..ReadOptions::default() };
    for (id, text, expected) in [
        (
            "R025",
            r#""ab\u0007""#,
            format!("a string value has control character U+0007 at byte 2; {REFUSED} (line 1, column 1)"),
        ),
        (
            "R025",
            "{\"a\":\n  \"\u{7F}\"}",
            format!(
                "a string value has control character U+007F at byte 0; {REFUSED} (line 2, column 3, in `a`)"
            ),
        ),
        (
            "escape",
            r#"{"a":{".value":"x\n"}}"#,
            format!(
                "a string value has control character U+000A at byte 1; {REFUSED} (line 1, column 16, in `a`)"
            ),
        ),
        (
            "priority",
            r#"{".value":1,".priority":"\t"}"#,
            format!("a string value has control character U+0009 at byte 0; {REFUSED} (line 1, column 25)"),
        ),
    ] {
        check(id, text, read_value(text.as_bytes(), &options), &expected);
        assert!(read_value(text.as_bytes(), &ReadOptions::default()).is_ok(), "{id}: {text}");
    }
    assert!(read_value("\"é \u{80} ~\"".as_bytes(), &options).is_ok(), "only ASCII is meant");
}
