//! Texts that come, and texts that go, in pieces: as in one.

use super::properties::{arb_damaged_json, arb_node};
use hearth_tree::{
    Draft, Form, Json, JsonPieces, Key, Node, Path, Problem, ReadError, ReadOptions, Top, Update,
    UpdatePieces, ValuePieces, read_update, read_value,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A text in pieces of these lengths, again and again.
fn pieces<'t>(text: &'t [u8], lengths: &[usize]) -> Vec<&'t [u8]> {
    let (mut left, mut pieces) = (text, Vec::new());
    for &length in lengths.iter().cycle() {
        let (piece, rest) = left.split_at(length.clamp(1, left.len().max(1)).min(left.len()));
        pieces.push(piece);
        left = rest;
        if left.is_empty() {
            break;
        }
    }
    pieces
}

fn value_of(
    text: &[u8],
    lengths: &[usize],
    member_bytes: usize,
    options: &ReadOptions,
) -> Result<Option<Draft>, ReadError> {
    let mut own = ValuePieces::new(*options).waiting_for(member_bytes);
    pieces(text, lengths).iter().try_for_each(|piece| own.feed(piece))?;
    own.end()
}

fn update_of(text: &[u8], lengths: &[usize], member_bytes: usize) -> Result<Update, ReadError> {
    let mut own = UpdatePieces::new(Path::root(), ReadOptions::default()).waiting_for(member_bytes);
    pieces(text, lengths).iter().try_for_each(|piece| own.feed(piece))?;
    own.end()
}

/// Both read the same; or what is wrong is the same, at the same node.
fn check<T: PartialEq + std::fmt::Debug>(
    text: &str,
    found: &Result<T, ReadError>,
    whole: &Result<T, ReadError>,
) {
    match (found, whole) {
        (Ok(found), Ok(whole)) => assert_eq!(found, whole, "{text}"),
        (Err(found), Err(whole)) => {
            // Of a text that is no JSON and has another fault, too, either may be the one that is met first.
            let is_syntax = |error: &ReadError| matches!(error.problem, Problem::Syntax { .. });
            let is_json = serde_json::from_str::<serde_json::Value>(text).is_ok();
            if is_syntax(found) && is_syntax(whole) || !is_json && (is_syntax(found) || is_syntax(whole)) {
                return;
            }
            assert_eq!(found.problem, whole.problem, "{text}");
            assert_eq!(found.at, whole.at, "{text}");
        }
        (found, whole) => panic!("{text}\nin pieces: {found:?}\nin one: {whole:?}"),
    }
}

proptest! {
    #[test]
    fn a_value_in_pieces_is_the_value(
        text in arb_damaged_json(),
        lengths in vec(1_usize..40, 1..4),
        member_bytes in select(&[1_usize, 2, 7, 30, 200][..]),
        nodes_max in 1_usize..40,
        depth_max in 1_usize..6,
    ) {
        for options in [ReadOptions::default(), ReadOptions { depth_max, ..ReadOptions::default() }] {
            let whole = read_value(text.as_bytes(), &options);
            check(&text, &value_of(text.as_bytes(), &lengths, member_bytes, &options), &whole);
        }
        // Elements that are opened are counted when they begin, so nothing is counted less.
        let options = ReadOptions { nodes_max, ..ReadOptions::default() };
        let found = value_of(text.as_bytes(), &lengths, member_bytes, &options);
        prop_assert!(found.is_err() || found == read_value(text.as_bytes(), &options), "{text}");
    }

    #[test]
    fn an_update_in_pieces_is_the_update(
        values in vec((select(&["a", "b/c", "b/d/0", "é", "", ".priority", "x/.priority", "b", "$"][..]), arb_damaged_json()), 0..4),
        lengths in vec(1_usize..40, 1..4),
        member_bytes in select(&[1_usize, 2, 7, 30, 200][..]),
    ) {
        let members: Vec<_> = values.iter().map(|(path, value)| format!("{path:?}: {value}")).collect();
        let text = format!(" {{{}}} ", members.join(","));
        let whole = read_update(text.as_bytes(), &Path::root(), &ReadOptions::default());
        check(&text, &update_of(text.as_bytes(), &lengths, member_bytes), &whole);
    }

    #[test]
    fn a_text_that_goes_in_pieces_is_the_text(node in arb_node(), bytes in 0_usize..50, is_pretty in any::<bool>()) {
        for form in [Form::SOCKET, Form::REST, Form::EXPORT] {
            let mut whole = Vec::new();
            match is_pretty {
                true => Json::new(Some(&node), form).append_pretty_to(&mut whole),
                false => Json::new(Some(&node), form).append_to(&mut whole),
            }
            prop_assert_eq!(joined(Top::Node(Some(node.clone())), form, is_pretty, bytes), String::from_utf8(whole).unwrap());
        }
    }
}

fn joined(top: Top, form: Form, is_pretty: bool, bytes: usize) -> String {
    let mut pieces = JsonPieces::new(top, form, is_pretty);
    let mut text = Vec::new();
    loop {
        let mut piece = Vec::new();
        let is_longer = pieces.append_to(&mut piece, bytes.max(1));
        assert!(!is_longer || bytes.max(1) <= piece.len(), "a piece that is too short");
        text.extend(piece);
        if !is_longer {
            return String::from_utf8(text).expect("JSON is UTF-8");
        }
    }
}

#[test]
fn what_is_around_nodes_is_written_as_well() {
    let node = |text: &str| crate::node(text).unwrap();
    let members = vec![("a/b".to_owned(), Some(node("[1,2]"))), ("c".to_owned(), None)];
    for (top, compact, pretty) in [
        (Top::Node(None), "null", "null"),
        (Top::Children(node("[1,2]")), r#"{"0":1,"1":2}"#, "{\n  \"0\" : 1,\n  \"1\" : 2\n}"),
        (Top::Members(members), r#"{"a/b":[1,2],"c":null}"#, "{\n  \"a/b\" : [ 1, 2 ],\n  \"c\" : null\n}"),
        (Top::Members(Vec::new()), "{}", "{ }"),
        (
            Top::Keys(node(r#"{"a":[1],"b":2,"c":"x"}"#), 0..3),
            r#"{"a":true,"b":true,"c":true}"#,
            "{\n  \"a\" : true,\n  \"b\" : true,\n  \"c\" : true\n}",
        ),
        (Top::Keys(node("[7,8,9]"), 1..2), r#"{"1":true}"#, "{\n  \"1\" : true\n}"),
        (Top::Keys(node("[7,8,9]"), 3..3), "{}", "{ }"),
    ] {
        for bytes in 1..30 {
            assert_eq!(joined(top.clone(), Form::REST, false, bytes), compact);
            assert_eq!(joined(top.clone(), Form::REST, true, bytes), pretty);
        }
    }
}

/// Far behind the first piece, positions are those of the whole text.
#[test]
fn what_is_wrong_in_the_middle_is_pointed_at() {
    let mut wrong = Vec::new();
    let many =
        |count: usize| (0..count).map(|at| format!("\n \"n{at}\": {{\"x\": [1, 2]}},")).collect::<String>();
    for (end, expected) in [
        ("\"a\": tru}}", "not valid JSON: expected ident (line 103, column 9, in `deep/a`)"),
        ("\"a\": 1", "not valid JSON: EOF while parsing an object (line 103, column 6, in `deep`)"),
        ("\"a\": {\"b$\": 1}}}", "(line 103, column 7, in `deep/a`)"),
        ("\"a\": [1, {\".value\": []}, {\".value\": {\"x\": 1}}]}}", "in `deep/a/2`)"),
        ("\"n7\": 1}}", "key `n7` stands twice in one object (line 103, column 8, in `deep`)"),
        ("\"a\": 1},}", "not valid JSON: trailing comma (line 103, column 9)"),
        ("\"a\": 1}} x", "not valid JSON: trailing characters (line 103, column 10)"),
        ("\"a\": 1 \"b\": 2}}", "not valid JSON: expected `,` or `}` (line 103, column 8, in `deep`)"),
        ("\"a\": \"\u{1}\"}}", "(line 103, column 7, in `deep/a`)"),
    ] {
        let text = format!("{{\n \"deep\":{{{}\n{end}", many(100));
        let found = value_of(text.as_bytes(), &[61, 7], 64, &ReadOptions::default()).unwrap_err().to_string();
        if !found.contains(expected) {
            wrong.push(format!("{end}\n{found}\nnot\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Members that are whole are read, however small the pieces are: what is wrong with the first shows before the end.
#[test]
fn what_is_whole_is_not_waited_with() {
    let mut own = ValuePieces::new(ReadOptions::default()).waiting_for(64);
    own.feed(b"{\"a\": {\"b$\": 1}").unwrap();
    let fed = (0..100).find(|_| own.feed(b", \"c\": 1").is_err());
    assert!(fed.is_some_and(|fed| fed < 20), "{fed:?}");
}

/// White space is nothing to wait with.
#[test]
fn gaps_may_be_of_any_length() {
    let gap = vec![b' '; 1 << 20];
    let mut own = ValuePieces::new(ReadOptions::default());
    for text in ["", "{", "\"a\":[", "null,", "{\"b\":1}", "]", "}", ""] {
        own.feed(text.as_bytes()).unwrap();
        (0..80).for_each(|_| own.feed(&gap).unwrap());
    }
    assert_eq!(own.end().unwrap(), crate::node(r#"{"a":[null,{"b":1}]}"#).map(Draft::from));
}

/// One member that is longer than any string may be, escaped in the longest way.
#[test]
fn what_can_never_be_right_is_not_waited_for() {
    let mut own = ValuePieces::new(ReadOptions::default());
    own.feed(b"{\"a\": \"").unwrap();
    let piece = vec![b'x'; 1 << 20];
    let fed = (1..100).find(|_| own.feed(&piece).is_err());
    assert!(fed.is_some_and(|fed| (60..70).contains(&fed)), "{fed:?}");
}

#[test]
fn more_nodes_may_be_allowed_on_the_way() {
    let text = format!("[{}1]", "1,".repeat(99));
    for (more, expected) in [(99, false), (100, true), (1_000, true)] {
        let mut own =
            ValuePieces::new(ReadOptions { nodes_max: 50, ..ReadOptions::default() }).waiting_for(16);
        own.feed(&text.as_bytes()[..40]).unwrap();
        own.allow_nodes(more);
        let read = own.feed(&text.as_bytes()[40..]).and_then(|()| own.end());
        assert_eq!(read.is_ok(), expected, "{more}");
    }
    let key = Key::parse("0").unwrap();
    let one = value_of(b"\xEF\xBB\xBF [1]", &[1], 1, &ReadOptions::default()).unwrap();
    assert_eq!(one, Node::inner([(key, crate::node("1").unwrap())]).map(Draft::from));
}
