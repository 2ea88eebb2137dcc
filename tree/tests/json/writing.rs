//! Nodes as text: arrays or objects, priorities or not, compact or for people.

use crate::{node, text};
use hearth_tree::{Form, Json};

#[test]
fn dense_positions_become_arrays_where_that_is_asked_for() {
    for (id, read, expected) in [
        ("size 1", r#"{"0":1}"#, "[1]"),
        ("size 1", r#"{"1":1}"#, "[null,1]"),
        ("size 1", r#"{"2":1}"#, r#"{"2":1}"#),
        ("size 2", r#"{"0":1,"3":2}"#, "[1,null,null,2]"),
        ("size 2", r#"{"0":1,"5":2}"#, r#"{"0":1,"5":2}"#),
        ("size 3", r#"{"1":1,"2":2,"5":3}"#, "[null,1,2,null,null,3]"),
        ("size 3", r#"{"1":1,"2":2,"6":3}"#, r#"{"1":1,"2":2,"6":3}"#),
        (
            "size 10",
            r#"{"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9}"#,
            "[0,1,2,3,4,5,6,7,8,9]",
        ),
        (
            "size 10",
            r#"{"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"19":9}"#,
            "[0,1,2,3,4,5,6,7,8,null,null,null,null,null,null,null,null,null,null,9]",
        ),
        (
            "size 10",
            r#"{"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"20":9}"#,
            r#"{"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"20":9}"#,
        ),
        ("R029", r#"{"0":"a","1":"b"}"#, r#"["a","b"]"#),
        ("R029", r#"{"1":"a","2":"b"}"#, r#"[null,"a","b"]"#),
        ("R029", r#"{"0":"a","4":"b"}"#, r#"{"0":"a","4":"b"}"#),
        ("R029", r#"{"1":"a","5":"b","9":"c"}"#, r#"{"1":"a","5":"b","9":"c"}"#),
        ("R029", r#"{"01":"a","1":"b"}"#, r#"{"1":"b","01":"a"}"#),
        ("R029", r#"{"0":"a","x":"b"}"#, r#"{"0":"a","x":"b"}"#),
        ("R031", r#"{"1":"x","3":"y"}"#, r#"[null,"x",null,"y"]"#),
        ("R031", r#"{"1":"x","3":"y","5":"z"}"#, r#"[null,"x",null,"y",null,"z"]"#),
        ("no position", r#"{"0":1,"00":2}"#, r#"{"0":1,"00":2}"#),
        ("no position", r#"{"0":1,"1":2,"-1":3}"#, r#"{"-1":3,"0":1,"1":2}"#),
        ("no position", r#"{"0":1,"+1":3}"#, r#"{"0":1,"+1":3}"#),
        ("no position", r#"{"0":1,"-0":3}"#, r#"{"0":1,"-0":3}"#),
        ("no position", r#"{"0":1,"1":1,"1e0":3}"#, r#"{"0":1,"1":1,"1e0":3}"#),
        ("highest", r#"{"2147483647":1}"#, r#"{"2147483647":1}"#),
        ("highest", r#"{"0":0,"2147483648":1}"#, r#"{"0":0,"2147483648":1}"#),
        ("highest", r#"{"0":0,"99999999999999999999999":1}"#, r#"{"0":0,"99999999999999999999999":1}"#),
        (
            "each level for itself",
            r#"{"a":{"0":{"1":1,"2":2}},"5":{"7":true}}"#,
            r#"{"5":{"7":true},"a":[[null,1,2]]}"#,
        ),
        ("nothing", "null", "null"),
        ("leaf", "1", "1"),
    ] {
        assert_eq!(text(node(read).as_ref(), Form::REST), expected, "{id}: {read}");
        assert_eq!(text(node(read).as_ref(), Form::EXPORT), expected, "{id}: {read}");
        assert_eq!(node(expected), node(read), "{id}: {read}: both forms read alike");
        let plain = text(node(read).as_ref(), Form::SOCKET);
        assert!(!plain.contains('['), "{id}: {read}: {plain}");
    }
}

#[test]
fn many_positions_become_one_array() {
    let read = format!("[{}]", vec!["0"; 1000].join(","));
    assert_eq!(text(node(&read).as_ref(), Form::REST), read);
}

#[test]
fn priorities_show_where_that_is_asked_for() {
    for (id, read, socket, rest, export) in [
        (
            "leaf",
            r#"{".value":1,".priority":2}"#,
            r#"{".value":1,".priority":2}"#,
            "1",
            r#"{".value":1,".priority":2}"#,
        ),
        (
            "inner",
            r#"{".priority":"p","b":1,"a":2}"#,
            r#"{"a":2,"b":1,".priority":"p"}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":2,"b":1,".priority":"p"}"#,
        ),
        (
            "R039",
            r#"{"a":{".value":1,".priority":3},"b":{".value":2,".priority":"m"},"c":{".value":9}}"#,
            r#"{"a":{".value":1,".priority":3},"b":{".value":2,".priority":"m"},"c":9}"#,
            r#"{"a":1,"b":2,"c":9}"#,
            r#"{"a":{".value":1,".priority":3},"b":{".value":2,".priority":"m"},"c":9}"#,
        ),
        (
            "array with a priority",
            r#"{"0":1,"1":2,".priority":3}"#,
            r#"{"0":1,"1":2,".priority":3}"#,
            "[1,2]",
            r#"{"0":1,"1":2,".priority":3}"#,
        ),
        (
            "array of priorities",
            r#"[1,{".value":2,".priority":3}]"#,
            r#"{"0":1,"1":{".value":2,".priority":3}}"#,
            "[1,2]",
            r#"{"0":1,"1":{".value":2,".priority":3}}"#,
        ),
        (
            "priority further below",
            r#"[{"a":{".value":2,".priority":3}}]"#,
            r#"{"0":{"a":{".value":2,".priority":3}}}"#,
            r#"[{"a":2}]"#,
            r#"[{"a":{".value":2,".priority":3}}]"#,
        ),
        (
            "array below a priority",
            r#"{"a":[1],".priority":3}"#,
            r#"{"a":{"0":1},".priority":3}"#,
            r#"{"a":[1]}"#,
            r#"{"a":[1],".priority":3}"#,
        ),
    ] {
        let node = node(read);
        assert_eq!(text(node.as_ref(), Form::SOCKET), socket, "{id}: {read}");
        assert_eq!(text(node.as_ref(), Form::REST), rest, "{id}: {read}");
        assert_eq!(text(node.as_ref(), Form::EXPORT), export, "{id}: {read}");
    }
}

#[test]
fn texts_are_escaped_where_they_must_be() {
    for (read, expected) in [
        (r#""é ☃ 😀 / \u00e9 \ud83d\ude00""#, r#""é ☃ 😀 / é 😀""#),
        (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\b\f\n\r\t""#),
        (r#""\u0000\u001f\u007f\u2028""#, "\"\\u0000\\u001f\u{7F}\u{2028}\""),
        (r#"{"\"\\":1,"é":2}"#, r#"{"\"\\":1,"é":2}"#),
    ] {
        assert_eq!(text(node(read).as_ref(), Form::SOCKET), expected, "{read}");
    }
}

#[test]
fn people_get_lines() {
    for (read, expected) in [
        ("null", "null"),
        ("1.5", "1.5"),
        ("[8,9]", "[ 8, 9 ]"),
        (r#"{"kids":[8,9],"by":"ada"}"#, "{\n  \"by\" : \"ada\",\n  \"kids\" : [ 8, 9 ]\n}"),
        (
            r#"{"a":{"b":{"c":1},"d":[[1],null,2]}}"#,
            "{\n  \"a\" : {\n    \"b\" : {\n      \"c\" : 1\n    },\n    \"d\" : [ [ 1 ], null, 2 ]\n  }\n}",
        ),
        (
            r#"{"a":[{"b":1,"c":2},{"b":3}]}"#,
            "{\n  \"a\" : [ {\n    \"b\" : 1,\n    \"c\" : 2\n  }, {\n    \"b\" : 3\n  } ]\n}",
        ),
    ] {
        let mut pretty = b"kept:".to_vec();
        Json::new(node(read).as_ref(), Form::REST).append_pretty_to(&mut pretty);
        assert_eq!(String::from_utf8_lossy(&pretty), format!("kept:{expected}"), "{read}");
    }
}

#[test]
fn the_pretty_form_of_what_is_empty() {
    let mut pretty = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut pretty, hearth_tree::Pretty::default());
    let value = serde_json::json!({"a": {}, "b": [], "c": {"d": {}}});
    serde::Serialize::serialize(&value, &mut serializer).expect("a vector takes all bytes");
    let expected = "{\n  \"a\" : { },\n  \"b\" : [ ],\n  \"c\" : {\n    \"d\" : { }\n  }\n}";
    assert_eq!(String::from_utf8_lossy(&pretty), expected);
}
