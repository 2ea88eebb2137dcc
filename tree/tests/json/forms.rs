//! Every form of a value, and what it comes to.

use crate::{node, text};
use hearth_tree::Form;

/// What a text of stored values reads as, written again in the form that loses nothing.
fn check(id: &str, read: &str, expected: &str) {
    let found = text(node(read).as_ref(), Form::SOCKET);
    assert_eq!(found, expected, "{id}: {read}");
}

#[test]
fn stored_values_read_as_what_they_mean() {
    for (id, read, expected) in [
        ("leaf", "true", "true"),
        ("leaf", "false", "false"),
        ("leaf", "3", "3"),
        ("leaf", r#""x""#, r#""x""#),
        ("leaf", r#""""#, r#""""#),
        ("leaf with priority", r#"{".value":3,".priority":"p"}"#, r#"{".value":3,".priority":"p"}"#),
        (
            "leaf with priority",
            r#"{".priority":-2.5,".value":false}"#,
            r#"{".value":false,".priority":-2.5}"#,
        ),
        ("inner with priority", r#"{"a":1,".priority":2}"#, r#"{"a":1,".priority":2}"#),
        ("inner with priority", r#"{".priority":2,"a":1}"#, r#"{"a":1,".priority":2}"#),
        (
            "priority at depth",
            r#"{"a":{"b":{"c":1,".priority":"q"}}}"#,
            r#"{"a":{"b":{"c":1,".priority":"q"}}}"#,
        ),
        ("value alone", r#"{".value":3}"#, "3"),
        ("value alone", r#"{"a":{".value":"x"}}"#, r#"{"a":"x"}"#),
        ("nothing", "null", "null"),
        ("nothing", "{}", "null"),
        ("nothing", "[]", "null"),
        ("nothing", r#"{"a":null}"#, "null"),
        ("nothing", r#"{"a":{}}"#, "null"),
        ("nothing", r#"{"a":{"b":[null,{}]}}"#, "null"),
        ("nothing", r#"{".priority":2}"#, "null"),
        ("nothing", r#"{".value":null}"#, "null"),
        ("nothing", r#"{".value":null,".priority":2}"#, "null"),
        ("nothing", r#"{".value":{},".priority":2}"#, "null"),
        ("nothing", r#"{".value":[],".priority":2}"#, "null"),
        ("nothing", r#"{"a":null,".priority":2}"#, "null"),
        ("nothing below", r#"{"a":{".priority":1},"b":2}"#, r#"{"b":2}"#),
        ("null priority", r#"{".value":3,".priority":null}"#, "3"),
        ("null priority", r#"{"a":1,".priority":null}"#, r#"{"a":1}"#),
        ("null value", r#"{"a":1,".value":null}"#, r#"{"a":1}"#),
        ("null value", r#"{".value":null,"a":1}"#, r#"{"a":1}"#),
        ("value beside nothing", r#"{".value":1,"a":null,"b":{}}"#, "1"),
        (
            "the same key at other places",
            r#"{"b":1,"a":{"b":null},"c":{"b":null,"a":2},"d":[{"b":null},3]}"#,
            r#"{"b":1,"c":{"a":2},"d":{"1":3}}"#,
        ),
        ("array", r#"["x","y"]"#, r#"{"0":"x","1":"y"}"#),
        ("array", r#"["x",null,"z"]"#, r#"{"0":"x","2":"z"}"#),
        ("array", r#"[[],{},null,[1]]"#, r#"{"3":{"0":1}}"#),
        ("array", r#"[{".value":1,".priority":2}]"#, r#"{"0":{".value":1,".priority":2}}"#),
        (
            "array",
            "[0,1,2,3,4,5,6,7,8,9,10]",
            r#"{"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"10":10}"#,
        ),
        ("R031", r#"[null,"x",null,"y"]"#, r#"{"1":"x","3":"y"}"#),
        ("R031", r#"[null,"x",null,"y",null,"z"]"#, r#"{"1":"x","3":"y","5":"z"}"#),
        (
            "R039",
            r#"{"a":{".value":1,".priority":3},"b":{".value":2,".priority":"m"},"c":{".value":9}}"#,
            r#"{"a":{".value":1,".priority":3},"b":{".value":2,".priority":"m"},"c":9}"#,
        ),
        ("key order", r#"{"b":1,"a":2,"10":3,"9":4}"#, r#"{"9":4,"10":3,"a":2,"b":1}"#),
        ("white space", " \t\r\n{ \"a\" :\n[ 1 , 2 ] } \n", r#"{"a":{"0":1,"1":2}}"#),
        ("mark of UTF-8", "\u{FEFF}[1]", r#"{"0":1}"#),
    ] {
        check(id, read, expected);
    }
}
