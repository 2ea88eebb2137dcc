//! Round trips, hostile bytes, and agreement with a second reader that shares no code with ours.

use crate::{node, text};
use hearth_tree::{
    Form, Json, Key, Node, Number, Path, Priority, Problem, ReadOptions, Scalar, Text, read_node,
    read_priority, read_update, read_value, repair_surrogates,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

/// Few, so that they collide; some are positions.
const KEYS: [&str; 9] = ["0", "1", "2", "3", "01", "-O1", "a", "é", "\""];

fn arb_number() -> impl Strategy<Value = Number> {
    let double = any::<f64>().prop_filter_map("finite", |double| Number::from_f64(double).ok());
    prop_oneof![any::<i64>().prop_map(Number::from), (-3_i64..3).prop_map(Number::from), double]
}

fn arb_text() -> impl Strategy<Value = Text> {
    any::<String>().prop_map(|text| Text::new(&text).expect("a short text"))
}

fn arb_priority() -> impl Strategy<Value = Option<Priority>> {
    prop_oneof![
        3 => Just(None),
        1 => arb_number().prop_map(|number| Some(Priority::Number(number))),
        1 => arb_text().prop_map(|text| Some(Priority::Text(text))),
    ]
}

pub(super) fn arb_node() -> impl Strategy<Value = Node> {
    let scalar = prop_oneof![
        any::<bool>().prop_map(Scalar::Bool),
        arb_number().prop_map(Scalar::Number),
        arb_text().prop_map(Scalar::Text),
    ];
    let leaf =
        (scalar, arb_priority()).prop_map(|(value, priority)| Node::from(value).with_priority(priority));
    leaf.prop_recursive(4, 60, 6, |child| {
        let key = select(&KEYS[..]).prop_map(|key| Key::parse(key).expect("a key"));
        (vec((key, child), 1..7), arb_priority())
            .prop_map(|(children, priority)| Node::inner(children).expect("a child").with_priority(priority))
    })
}

/// JSON text that says nothing about priorities: objects, arrays, null at any place, all kinds of numbers.
fn arb_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(
            &["null", "true", "false", "0", "-0", "-0.0", "1e3", "12", "1.5e-7", "18446744073709551615"][..]
        )
        .prop_map(String::from),
        any::<f64>().prop_filter_map("finite", |double| serde_json::to_string(&double).ok()),
        any::<i64>().prop_map(|integer| integer.to_string()),
        any::<String>().prop_map(|text| serde_json::to_string(&text).expect("a text")),
        select(&[r#""\u00e9\ud83d\ude00""#, r#""\ud800""#, r#""\\ud800\n\/""#][..]).prop_map(String::from),
    ];
    leaf.prop_recursive(5, 60, 6, |child| {
        let key = select(&KEYS[..]).prop_map(|key| serde_json::to_string(key).expect("a text"));
        let member = (key, child.clone()).prop_map(|(key, value)| format!("{key} : {value}"));
        prop_oneof![
            vec(child, 0..5).prop_map(|elements| format!("[{}]", elements.join(" ,\n"))),
            vec(member, 0..4).prop_map(|members| format!("{{ {} }}", members.join(","))),
        ]
    })
}

/// A text with some bytes exchanged for such as matter to JSON.
pub(super) fn arb_damaged_json() -> impl Strategy<Value = String> {
    let damage = (any::<prop::sample::Index>(), select(&b"{}[],:\"\\ud8c0-+.e1 ntf/'\0"[..]));
    (arb_json(), vec(damage, 0..3)).prop_map(|(text, damages)| {
        let mut bytes = text.into_bytes();
        for (at, byte) in damages {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// What a generic value means: no nulls, no empty objects, no arrays, and every number a double.
fn naive(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Bool(_) | Value::String(_) => Some(value),
        // Whole doubles are integers, and zero has no sign.
        Value::Number(number) => Some(Value::from(number.as_f64()? + 0.0)),
        Value::Array(elements) => {
            naive_object(elements.into_iter().enumerate().map(|(at, value)| (at.to_string(), value)))
        }
        Value::Object(members) => naive_object(members.into_iter()),
    }
}

fn naive_object(members: impl Iterator<Item = (String, Value)>) -> Option<Value> {
    let members: Map<_, _> = members.filter_map(|(key, value)| Some((key, naive(value)?))).collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

fn without_priorities(node: &Node) -> Node {
    match node.value() {
        Some(value) => value.clone().into(),
        None => {
            Node::inner(node.children().iter().map(|(key, child)| (key.clone(), without_priorities(child))))
                .expect("a child")
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(written in arb_node()) {
        for form in [Form::SOCKET, Form::EXPORT] {
            let compact = text(Some(&written), form);
            prop_assert_eq!(node(&compact), Some(written.clone()), "{}", compact);
            let mut pretty = Vec::new();
            Json::new(Some(&written), form).append_pretty_to(&mut pretty);
            let read = read_node(&pretty, &ReadOptions::default());
            prop_assert_eq!(read, Ok(Some(written.clone())), "{}", compact);
        }
        let rest = text(Some(&written), Form::REST);
        prop_assert_eq!(node(&rest), Some(without_priorities(&written)), "{}", rest);
        let draft = read_value(text(Some(&written), Form::SOCKET).as_bytes(), &ReadOptions::default());
        prop_assert_eq!(draft, Ok(Some(written.into())));
    }

    #[test]
    fn a_second_reader_agrees(text in arb_damaged_json()) {
        let repaired = repair_surrogates(&text);
        let second: Option<Value> = serde_json::from_str(&repaired).ok();
        match read_node(text.as_bytes(), &ReadOptions::default()) {
            Ok(node) => {
                let expected = naive(second.expect("what was read is JSON"));
                let written: Value = serde_json::from_slice(&Json::new(node.as_ref(), Form::SOCKET).to_bytes())
                    .expect("what was written is JSON");
                prop_assert_eq!(naive(written), expected);
            }
            Err(error) => {
                let is_syntax = matches!(error.problem, Problem::Syntax { .. });
                // Rules of the tree, which JSON does not have.
                let is_rule =
                    matches!(error.problem, Problem::Key(_) | Problem::DottedKey { .. } | Problem::Duplicate { .. });
                prop_assert!(is_rule || (is_syntax && second.is_none()), "{}: {}", text, error);
            }
        }
    }

    #[test]
    fn a_refused_key_is_where_the_message_says(text in arb_damaged_json()) {
        let Err(error) = read_node(text.as_bytes(), &ReadOptions::default()) else { return Ok(()) };
        let place = error.place.expect("every error of reading has a place");
        let line = text.split('\n').nth(place.line - 1).expect("the line is in the text");
        prop_assert!(place.column <= line.len().max(1), "{}: {}", text, error);
        if let Problem::Key(_) | Problem::DottedKey { .. } | Problem::Duplicate { .. } = error.problem {
            prop_assert_eq!(line.as_bytes()[place.column - 1], b'"', "{}: {}", text, error);
        }
    }

    #[test]
    fn hostile_bytes_break_nothing(bytes in prop_oneof![
        vec(any::<u8>(), 0..200),
        vec(select(&b"{}[],:\"\".valuepriotysv\\ud800 123-e"[..]), 0..200),
        "(\\{|\\[|\\}|\\]|,|:|\"\\.value\":|\"\\.priority\":|\"\\.sv\":|\"a\":|\"a/b\":|\"timestamp\"|\"increment\":|1|null|true){0,30}"
            .prop_map(String::into_bytes),
    ]) {
        let options = ReadOptions::default();
        let results = [
            read_value(&bytes, &options).err(),
            read_node(&bytes, &options).err(),
            read_priority(&bytes, &options).err(),
            read_update(&bytes, &Path::root(), &options).err(),
        ];
        for error in results.into_iter().flatten() {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
