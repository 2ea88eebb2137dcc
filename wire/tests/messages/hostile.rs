//! Whatever arrives, it is answered, passed over or refused.

use crate::{message, parse};
use hearth_tree::ReadOptions;
use hearth_wire::{Action, ClientMessage, ConnectParams, Refused, ServerMessage};
use proptest::prelude::*;

/// Bodies of every kind, to be damaged.
const BODIES: &[(&str, &str)] = &[
    ("s", r#"{"c":{"sdk.js.13-2-0":1}}"#),
    ("gauth", r#"{"cred":"owner","authvar":{"uid":"x"}}"#),
    ("appcheck", r#"{"token":"AC"}"#),
    ("q", r#"{"p":"/rooms","q":{"sp":1,"sn":"k","sin":false,"l":2,"vf":"r","i":"a/b"},"t":1,"h":""}"#),
    (
        "q",
        r#"{"p":"a","h":"Y7tOxA3Paj8SlGkUEHokmImJul4=","ch":{"hs":["BJEEsXix5+fOIIf4PEvdO+yD0mo=",""],"ps":["k/t"]}}"#,
    ),
    ("n", r#"{"p":"/a"}"#),
    ("g", r#"{"p":"/scores","q":{"l":3,"vf":"r","i":".key"}}"#),
    ("p", r#"{"p":"/a","d":{"at":{".sv":"timestamp"},"s":"\ud83d\ude00",".priority":2},"h":""}"#),
    ("p", r#"{"d":{".sv":{"increment":1}},"p":"/a/.priority"}"#),
    ("m", r#"{"p":"/","d":{"a/b":null,"c":[1,{"x":false}],"d/.priority":"p"}}"#),
    ("om", r#"{"p":"/a","d":{"b":1}}"#),
    ("oc", r#"{"p":"/a","d":null}"#),
];

fn arb_message() -> impl Strategy<Value = String> {
    (0..BODIES.len(), any::<u64>())
        .prop_map(|(index, number)| message(number, BODIES[index].0, BODIES[index].1))
}

proptest! {
    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let options = ReadOptions::default();
        let client = ClientMessage::parse(&bytes, &options);
        prop_assert!(client.is_err());
        prop_assert!(ServerMessage::parse(&bytes, &options).is_err());
    }

    /// One byte is exchanged, removed or doubled, or the end is cut off.
    #[test]
    fn damaged_messages_never_panic(
        text in arb_message(),
        at in any::<prop::sample::Index>(),
        damage in 0..4_u8,
        byte in prop_oneof![any::<u8>(), prop::sample::select(&b"\"{}[]:,\\0-.e"[..])],
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        match damage {
            0 => bytes[at] = byte,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, byte),
            _ => bytes.truncate(at),
        }
        let options = ReadOptions::default();
        match ClientMessage::parse(&bytes, &options) {
            // What was understood is said again and understood again.
            Ok(ClientMessage::Request(request)) => {
                let again = ClientMessage::parse(request.to_text().as_bytes(), &options);
                prop_assert_eq!(again, Ok(ClientMessage::Request(request)));
            }
            Ok(ClientMessage::Control(_)) => {}
            Err(Refused::Request { error, .. } | Refused::Broken { error }) => {
                prop_assert!(!error.to_string().is_empty());
            }
            Err(Refused::Unknown { .. }) => {}
        }
        drop(ServerMessage::parse(&bytes, &options));
    }

    #[test]
    fn query_strings_never_panic(query in "[a-z0-9=&%+:éF]{0,60}") {
        drop(ConnectParams::parse(&query));
        drop(ConnectParams::parse(&format!("v=5&{query}")));
    }
}

/// Nesting far beyond any stack, at every place where a message can nest.
#[test]
fn deep_nesting_never_panics() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deep = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        let texts = [
            deep.clone(),
            open.repeat(50_000),
            format!(r#"{{"t":"d","d":{deep}}}"#),
            format!(r#"{{"d":{deep},"t":"x"}}"#),
            format!(r#"{{"t":"c","d":{{"t":"p","d":{deep}}}}}"#),
            format!(r#"{{"t":"d","d":{{"r":{deep}}}}}"#),
            format!(r#"{{"t":"d","d":{{"b":{deep},"a":"p","r":1}}}}"#),
        ];
        let bodies = ["p", "d", "h", "q", "ch", "cred", "authvar", "c", "z"];
        let messages = Action::ALL.into_iter().flat_map(|action| {
            let deep = &deep;
            bodies.iter().map(move |field| {
                message(1, action.as_str(), &format!(r#"{{"cred":"","p":"a","{field}":{deep}}}"#))
            })
        });
        for text in texts.into_iter().chain(messages) {
            // Nothing deep is understood, but a field that nobody knows is passed over.
            if let Err(error) = parse(&text) {
                assert!(error.to_string().len() < 1_000, "{error}");
            }
            drop(ServerMessage::parse(text.as_bytes(), &ReadOptions::default()));
        }
    }
}
