//! Both sides of every limit, and text that is made to break a parser.

use crate::text;
use hearth_tree::{Form, Path, ReadError, ReadOptions, TEXT_BYTES_MAX, read_node, read_update, read_value};

const ANY: ReadOptions = ReadOptions {
    depth_max: 32,
    nodes_max: 1_000_000,
    control_characters: hearth_tree::ControlCharacters::Allow,
};

fn check<T>(id: &str, what: &str, found: &Result<T, ReadError>, refusal: Option<&str>) {
    let found = found.as_ref().err().map(ToString::to_string);
    assert_eq!(found.as_deref(), refusal, "{id}: {what}");
}

/// A text of this many levels, all spelled the same way, around a leaf.
fn nested(open: &str, levels: usize, leaf: &str, close: &str) -> String {
    [open.repeat(levels), leaf.into(), close.repeat(levels)].concat()
}

#[test]
fn keys_are_measured_in_bytes() {
    let (long, emoji) = ("a".repeat(24), "\u{1F600}".repeat(24));
    for (id, key, refusal) in [
        ("R025", "a".repeat(768), None),
        (
            "R025",
            "a".repeat(769),
            Some(format!("key `{long}…` has 769 bytes of UTF-8; at most 768 are allowed (line 1, column 2)")),
        ),
        ("R025", "\u{1F600}".repeat(192), None),
        (
            "R025",
            "\u{1F600}".repeat(193),
            Some(format!(
                "key `{emoji}…` has 772 bytes of UTF-8; at most 768 are allowed (line 1, column 2)"
            )),
        ),
        ("escapes", "\\u0061".repeat(768), None),
        (
            "escapes",
            "\\u0061".repeat(769),
            Some(format!("key `{long}…` has 769 bytes of UTF-8; at most 768 are allowed (line 1, column 2)")),
        ),
        (
            "escapes",
            "\\ud83d\\ude00".repeat(193),
            Some(format!(
                "key `{emoji}…` has 772 bytes of UTF-8; at most 768 are allowed (line 1, column 2)"
            )),
        ),
    ] {
        let read = read_value(format!("{{\"{key}\":1}}").as_bytes(), &ANY);
        check(id, &key, &read, refusal.as_deref());
    }
}

#[test]
fn depth_is_measured_in_keys() {
    let deeper = |levels_max: usize, place: &str, at: &str| {
        Some(format!(
            "the value goes below level {levels_max}; a tree has at most 32 levels, counted from its root ({place}, in `{at}`)"
        ))
    };
    let path = |key: &str, levels: usize| vec![key; levels].join("/");
    for (what, read, depth_max, refusal) in [
        ("objects", nested(r#"{"a":"#, 32, "1", "}"), 32, None),
        ("objects", nested(r#"{"a":"#, 33, "1", "}"), 32, deeper(32, "line 1, column 164", &path("a", 33))),
        ("arrays", nested("[", 32, "1", "]"), 32, None),
        ("arrays", nested("[", 33, "1", "]"), 32, deeper(32, "line 1, column 33", &path("0", 33))),
        ("leaf with priority", nested(r#"{"a":"#, 32, r#"{".value":1,".priority":1}"#, "}"), 32, None),
        (
            "server value",
            nested(
                r#"{"a":"#,
                32,
                r#"{".value":{".sv":{"increment":1}},".priority":{".sv":"timestamp"}}"#,
                "}",
            ),
            32,
            None,
        ),
        ("nothing", nested("[", 32, "[]", "]"), 32, None),
        ("nothing", nested("[", 32, "{}", "]"), 32, None),
        ("null below", nested("[", 32, "[null]", "]"), 32, deeper(32, "line 1, column 33", &path("0", 33))),
        ("arrays, with more asked for", nested("[", 32, "1", "]"), usize::MAX, None),
        (
            "arrays, with more asked for",
            nested("[", 33, "1", "]"),
            usize::MAX,
            deeper(32, "line 1, column 33", &path("0", 33)),
        ),
        ("leaf", "1".into(), 0, None),
        ("leaf", r#"{".value":1,".priority":2}"#.into(), 0, None),
        ("fewer levels", r#"{"a":1}"#.into(), 0, deeper(0, "line 1, column 4", "a")),
        ("fewer levels", r#"{"a":[1]}"#.into(), 2, None),
        ("fewer levels", r#"{"a":[{"b":1}]}"#.into(), 2, deeper(2, "line 1, column 10", "a/0/b")),
    ] {
        let found = read_value(read.as_bytes(), &ReadOptions { depth_max, ..ANY });
        check("R025", what, &found, refusal.as_deref());
    }
}

#[test]
fn depth_of_an_update_counts_from_the_root() {
    for (at, key, refusal) in [
        (vec!["a"; 30], "b", None),
        (vec!["a"; 30], "b/c", None),
        (
            vec!["a"; 31],
            "b/c",
            Some(
                "the value goes below level 1; a tree has at most 32 levels, counted from its root (line 1, column 6, in `b/c`)",
            ),
        ),
        (
            vec!["a"; 32],
            "b",
            Some(
                "the value goes below level 0; a tree has at most 32 levels, counted from its root (line 1, column 4, in `b`)",
            ),
        ),
        (vec!["a"; 32], ".priority", None),
    ] {
        let at = Path::parse(&at.join("/")).expect("a path");
        let found = read_update(format!("{{\"{key}\":1}}").as_bytes(), &at, &ANY);
        check("R025", key, &found, refusal);
    }
    let at = Path::parse("a/b").expect("a path");
    for (levels, fits) in [(29, true), (30, false)] {
        let read = format!("{{\"c\":{}}}", nested(r#"{"d":"#, levels, "1", "}"));
        assert_eq!(read_update(read.as_bytes(), &at, &ANY).is_ok(), fits, "{levels} levels below a/b/c");
    }
}

#[test]
fn texts_hold_ten_megabytes() {
    let fits = format!("\"{}\"", "a".repeat(TEXT_BYTES_MAX));
    let node = read_node(fits.as_bytes(), &ANY).expect("10 MB fit");
    assert_eq!(text(node.as_ref(), Form::SOCKET), fits);
    for (what, read, place) in [
        ("leaf", format!("\"{}\"", "a".repeat(TEXT_BYTES_MAX + 1)), "line 1, column 1"),
        (
            "in a tree",
            format!("{{\"a\":\n\"{}é\"}}", "a".repeat(TEXT_BYTES_MAX - 1)),
            "line 2, column 1, in `a`",
        ),
        (
            "priority",
            format!("{{\".priority\":\"{}\"}}", "a".repeat(TEXT_BYTES_MAX + 1)),
            "line 1, column 14",
        ),
    ] {
        let refusal =
            format!("a string value has 10485761 bytes of UTF-8; at most 10485760 are allowed ({place})");
        check("text", what, &read_node(read.as_bytes(), &ANY), Some(&refusal));
    }
}

#[test]
fn nodes_are_counted_while_they_are_read() {
    for (read, nodes_max, place) in [
        ("1", 0, None),
        ("[1,2,3]", 3, None),
        ("[1,2,3]", 2, Some("line 1, column 7")),
        ("[null,null,{},[],3]", 1, None),
        (r#"{"a":{"b":{"c":1}}}"#, 3, None),
        (r#"{"a":{"b":{"c":1}}}"#, 2, Some("line 1, column 14, in `a/b`")),
        (r#"{"a":null,"b":null}"#, 1, Some("line 1, column 13")),
        (r#"{"a":{".sv":"timestamp"},"b":[{".sv":"timestamp"}]}"#, 3, None),
        (r#"{"a":{".sv":"timestamp"},"b":[{".sv":"timestamp"}]}"#, 2, Some("line 1, column 50, in `b`")),
    ] {
        let refusal = place.map(|place| {
            format!("the value has more than {nodes_max} nodes, leaves and objects together; write it in parts ({place})")
        });
        let found = read_value(read.as_bytes(), &ReadOptions { nodes_max, ..ANY });
        check("nodes", read, &found, refusal.as_deref());
    }
    for (read, nodes_max, fits) in [
        (r#"{"a":1,"b/c":null,"d/.priority":2}"#, 4, true),
        (r#"{"a":1,"b/c":null,"d/.priority":2}"#, 3, false),
        (r#"{"a/b/c/d":1}"#, 4, true),
        (r#"{"a/b/c/d":1}"#, 3, false),
        (r#"{"a":{"b":1},"c":2}"#, 3, true),
        (r#"{"a":{"b":1},"c":2}"#, 2, false),
    ] {
        let found = read_update(read.as_bytes(), &Path::root(), &ReadOptions { nodes_max, ..ANY });
        assert_eq!(found.is_ok(), fits, "{read} with at most {nodes_max} nodes");
    }
}

#[test]
fn nesting_breaks_nothing() {
    for (what, read) in [
        ("arrays", "[".repeat(100_000)),
        ("arrays, closed", nested("[", 100_000, "", "]")),
        ("objects", r#"{"a":"#.repeat(100_000)),
        ("`.value`", r#"{".value":"#.repeat(100_000)),
        ("`.priority`", r#"{".priority":"#.repeat(100_000)),
        ("`.sv`", r#"{".sv":"#.repeat(100_000)),
        ("increments", r#"{".sv":{"increment":"#.repeat(100_000)),
        ("in `.value`", format!("{{\".value\":{}", "[".repeat(100_000))),
        ("in `.priority`", format!("{{\".priority\":{}", "[".repeat(100_000))),
    ] {
        assert!(read_value(read.as_bytes(), &ANY).is_err(), "{what}");
        assert!(read_node(read.as_bytes(), &ANY).is_err(), "{what}");
        assert!(read_update(read.as_bytes(), &Path::root(), &ANY).is_err(), "{what}");
    }
}
