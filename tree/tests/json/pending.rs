//! Values, priorities and updates as clients write them: what they come to once the server has filled in the rest.

use crate::{node, text};
use hearth_tree::{
    Assignment, Form, Path, ReadOptions, Snapshot, Write, read_priority, read_update, read_value,
};

/// The time that the server fills in.
const NOW_MS: i64 = 1_764_500_000_348;

#[test]
fn server_values_are_filled_in_where_they_stand() {
    for (id, read, current, expected) in [
        ("value", r#"{".sv":"timestamp"}"#, "null", "1764500000348"),
        ("value", r#"{".sv":{"increment":2}}"#, "40", "42"),
        ("value", r#"{".sv":{"increment":0.5}}"#, "null", "0.5"),
        ("value", r#"{".sv":{"increment":-3}}"#, r#""x""#, "-3"),
        ("R035", r#"{"hits":{".sv":{"increment":1}}}"#, r#"{"hits":996}"#, r#"{"hits":997}"#),
        ("in an array", r#"[1,null,{".sv":"timestamp"}]"#, "null", r#"{"0":1,"2":1764500000348}"#),
        (
            "`.value`",
            r#"{".value":{".sv":"timestamp"},".priority":1}"#,
            "null",
            r#"{".value":1764500000348,".priority":1}"#,
        ),
        (
            "`.value`",
            r#"{".priority":"p",".value":{".sv":{"increment":1}}}"#,
            "1",
            r#"{".value":2,".priority":"p"}"#,
        ),
        ("`.value`", r#"{".value":{".sv":"timestamp"}}"#, "null", "1764500000348"),
        (
            "R037",
            r#"{"a":1,".priority":{".sv":"timestamp"}}"#,
            "null",
            r#"{"a":1,".priority":1764500000348}"#,
        ),
        (
            "both",
            r#"{".value":{".sv":"timestamp"},".priority":{".sv":{"increment":5}}}"#,
            r#"{".value":1,".priority":2}"#,
            r#"{".value":1764500000348,".priority":7}"#,
        ),
        ("lone priority", r#"{".priority":{".sv":"timestamp"}}"#, "1", "null"),
        (
            "among others",
            r#"{"z":{".sv":"timestamp"},"b":1,"10":{"x":{".sv":"timestamp"}},"9":null,"a":[2]}"#,
            "null",
            r#"{"10":{"x":1764500000348},"a":{"0":2},"b":1,"z":1764500000348}"#,
        ),
        ("R037", r#"{"a":{".sv":"timestamp"}}"#, "null", r#"{"a":1764500000348}"#),
    ] {
        let draft = read_value(read.as_bytes(), &ReadOptions::default())
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        let current = node(current);
        let resolved = draft.map(|draft| draft.resolve(NOW_MS, current.as_ref()).expect("small numbers"));
        assert_eq!(text(resolved.as_ref(), Form::SOCKET), expected, "{id}: {read}");
    }
}

#[test]
fn priorities_stand_alone_too() {
    for (read, current, expected) in [
        ("null", "1", "1"),
        ("3", "1", r#"{".value":1,".priority":3}"#),
        ("-0", "1", r#"{".value":1,".priority":0}"#),
        (r#""p""#, r#"{"a":1}"#, r#"{"a":1,".priority":"p"}"#),
        (r#"{".sv":"timestamp"}"#, "1", r#"{".value":1,".priority":1764500000348}"#),
        (r#"{".sv":{"increment":1}}"#, r#"{".value":1,".priority":1}"#, r#"{".value":1,".priority":2}"#),
        (r#"{".sv":"timestamp"}"#, "null", "null"),
    ] {
        let priority =
            read_priority(read.as_bytes(), &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let write = Write::Set(Assignment::priority(Path::root(), priority));
        let before = Snapshot::new(node(current));
        let change = write.resolve(NOW_MS, &before).expect("small numbers");
        assert_eq!(text(before.apply(&change).root(), Form::SOCKET), expected, "{read}");
    }
}

#[test]
fn updates_reach_the_places_they_name() {
    let before = r#"{"rooms":{"a":{"n":1,"title":"old"},"b":1}}"#;
    for (id, read, expected) in [
        ("nothing", "{}", before),
        ("one", r#"{"b":2}"#, r#"{"rooms":{"a":{"n":1,"title":"old"},"b":2}}"#),
        (
            "deep",
            r#"{"a/title":"Hi","c/d/e":{"x":[1,2]}}"#,
            r#"{"rooms":{"a":{"n":1,"title":"Hi"},"b":1,"c":{"d":{"e":{"x":{"0":1,"1":2}}}}}}"#,
        ),
        ("slashes", r#"{"/a//title/":"Hi"}"#, r#"{"rooms":{"a":{"n":1,"title":"Hi"},"b":1}}"#),
        ("delete", r#"{"a/title":null,"b":{}}"#, r#"{"rooms":{"a":{"n":1}}}"#),
        (
            "priority",
            r#"{"b/.priority":3,"a/.priority/":"p"}"#,
            r#"{"rooms":{"a":{"n":1,"title":"old",".priority":"p"},"b":{".value":1,".priority":3}}}"#,
        ),
        (
            "own priority",
            r#"{".priority":3,"b":null}"#,
            r#"{"rooms":{"a":{"n":1,"title":"old"},".priority":3}}"#,
        ),
        (
            "priority in the value",
            r#"{"b":{".value":5,".priority":1}}"#,
            r#"{"rooms":{"a":{"n":1,"title":"old"},"b":{".value":5,".priority":1}}}"#,
        ),
        (
            "R035",
            r#"{"b":{".sv":{"increment":4}},"a/n":{".sv":"timestamp"}}"#,
            r#"{"rooms":{"a":{"n":1764500000348,"title":"old"},"b":5}}"#,
        ),
    ] {
        let at = Path::parse("rooms").expect("a path");
        let update = read_update(read.as_bytes(), &at, &ReadOptions::default())
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!(update.at(), &at, "{id}");
        let before = Snapshot::new(node(before));
        let change = Write::Update(update).resolve(NOW_MS, &before).expect("small numbers");
        assert_eq!(text(before.apply(&change).root(), Form::SOCKET), expected, "{id}: {read}");
    }
}

#[test]
fn drafts_are_written_as_they_were_read() {
    for read in [
        r#"{".sv":"timestamp"}"#,
        r#"{".sv":{"increment":-2.5}}"#,
        r#"{".value":{".sv":"timestamp"},".priority":"p"}"#,
        r#"{".value":1,".priority":{".sv":"timestamp"}}"#,
        r#"{"9":{".sv":{"increment":1}},"10":[{"a":true}],"x":{"y":{".sv":"timestamp"},".priority":1}}"#,
        r#"{"a":1,".priority":{".sv":{"increment":1}}}"#,
        "null",
    ] {
        let draft = read_value(read.as_bytes(), &ReadOptions::default());
        let draft = draft.unwrap_or_else(|error| panic!("{read}: {error}"));
        let written = serde_json::to_string(&draft).expect("every key is a text");
        assert_eq!(written, read.replace(r#"[{"a":true}]"#, r#"{"0":{"a":true}}"#));
        assert_eq!(read_value(written.as_bytes(), &ReadOptions::default()), Ok(draft), "{read}");
    }
}
