//! Whatever is sent and received, the validator says what it thinks, and it thinks well of what is written here.

use hearth_tree::{Change, Edit, Path, ReadOptions, Snapshot, To, read_node};
use hearth_wire::{Answer, Body, Ending, RequestNumber, Response, Tag, Validator, split};
use proptest::prelude::*;

/// Values as clients write them: arrays, nulls, empty objects, doubles that are whole, priorities.
fn arb_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<i16>().prop_map(|number| format!("{number}.0")),
        (-1e300..1e300).prop_map(|number: f64| format!("{number:e}")),
        "[a😀é\\u{1}]{0,3}".prop_map(|text| serde_json::Value::from(text).to_string()),
        Just(r#"{".value":2.0,".priority":"p"}"#.to_owned()),
        Just(r#"{".value":"x",".priority":null}"#.to_owned()),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let member = ("[a-d1]|10|😀", inner.clone()).prop_map(|(key, value)| format!(r#""{key}":{value}"#));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|elements| format!("[{}]", elements.join(","))),
            prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// A validator that saw the handshake, and whatever it finds in these messages.
fn findings<'m>(messages: impl IntoIterator<Item = &'m str>) -> Vec<String> {
    let mut validator = Validator::without_requests();
    validator.sent(br#"{"t":"c","d":{"t":"h","d":{"ts":1764500000158,"v":"5","h":"x","s":"y"}}}"#);
    for message in messages {
        split(message).expect("small enough").for_each(|text| validator.sent(text.as_bytes()));
    }
    validator.finish(Ending::Settled)
}

proptest! {
    /// Data of any kind, and the changes from one to another, at any place and with any tag.
    #[test]
    fn what_is_written_here_is_right(
        before in arb_json(),
        after in arb_json(),
        place in "(/[ab]){0,3}",
        tag in prop::option::of(any::<u64>().prop_map(Tag)),
    ) {
        // A key that stands twice is no value.
        let read = |text: &str| read_node(text.as_bytes(), &ReadOptions::default());
        let (Ok(before), Ok(after)) = (read(&before), read(&after)) else { return Ok(()) };
        let at = Path::parse(&place).expect("a path");
        let set = |node| Change::new(vec![Edit { at: at.clone(), to: To::Node(node) }]).expect("one edit");
        let (before, after) = (Snapshot::default().apply(&set(before)), Snapshot::default().apply(&set(after)));
        let change = Change::between(before.root(), after.root());
        let mut messages = vec![
            Body::set(&Edit { at: at.clone(), to: To::Node(after.get(&at).cloned()) }).into_text(tag),
            Response { number: RequestNumber(0), answer: Answer::Data(after.get(&at).cloned()) }.to_text(),
        ];
        match change.edits() {
            [] => {}
            [Edit { at, to: To::Node(_) }] if *at == Path::root() => {}
            edits => messages.push(Body::merge(&Path::root(), edits).into_text(tag)),
        }
        prop_assert_eq!(findings(messages.iter().map(String::as_str)), Vec::<String>::new());
    }

    #[test]
    fn bytes_never_panic(
        texts in prop::collection::vec(
            (any::<bool>(), prop_oneof![
                prop::collection::vec(any::<u8>(), 0..30),
                "[0-9{}\":,tdrabq\\[\\]]{0,30}".prop_map(String::into_bytes),
            ]),
            0..20,
        ),
    ) {
        let mut validator = Validator::new();
        for (from_server, text) in &texts {
            if *from_server { validator.sent(text) } else { validator.received(text) }
        }
        drop(validator.finish(Ending::Settled));
    }

    /// Requests and pushes about few places and tags, in any order.
    #[test]
    fn any_order_of_messages_is_followed(
        lines in prop::collection::vec((0..12_usize, 0..3_u64, "/|a|a/b|b", 0..3_u64), 0..40),
    ) {
        let mut validator = Validator::new();
        for (kind, number, path, tag) in lines {
            let (from_server, payload) = match kind {
                0 => (false, format!(r#""r":{number},"a":"q","b":{{"p":"{path}","h":""}}"#)),
                1 => (false, format!(r#""r":{number},"a":"q","b":{{"p":"{path}","q":{{"l":1}},"t":{tag}}}"#)),
                2 => (false, format!(r#""r":{number},"a":"n","b":{{"p":"{path}","q":{{"l":1}},"t":{tag}}}"#)),
                3 => (false, format!(r#""r":{number},"a":"n","b":{{"p":"{path}"}}"#)),
                4 => (false, format!(r#""r":{number},"a":"p","b":{{"p":"{path}","d":{{"b":1}},"h":""}}"#)),
                5 => (true, format!(r#""r":{number},"b":{{"s":"ok","d":""}}"#)),
                6 => (true, format!(r#""r":{number},"b":{{"s":"datastale","d":null}}"#)),
                7 => (true, format!(r#""a":"d","b":{{"p":"{path}","d":{tag}}}"#)),
                8 => (true, format!(r#""a":"m","b":{{"p":"{path}","d":{{"b":{tag}}},"t":{tag}}}"#)),
                9 => (true, format!(r#""a":"c","b":{{"p":"{path}"}}"#)),
                10 => (true, format!(r#""a":"c","b":{{"p":"{path}","q":[{{"l":1}}]}}"#)),
                _ => (true, format!(r#""a":"rm","b":{{"p":"{path}","d":[]}}"#)),
            };
            let text = format!(r#"{{"t":"d","d":{{{payload}}}}}"#);
            if from_server { validator.sent(text.as_bytes()) } else { validator.received(text.as_bytes()) }
        }
        drop(validator.finish(Ending::Cut));
    }
}
