//! The trace of a chat client (wire reference 13), whole.

use crate::run;
use hearth_tree::ReadOptions;
use hearth_wire::{Action, Answer, ClientMessage, Ending, Outcome, Response, ServerMessage, Validator};
use serde_json::Value;
use std::collections::HashMap;

const FIRST: &[&str] = &[
    r#"<={"t":"c","d":{"t":"h","d":{"ts":1764500000158,"v":"5","h":"127.0.0.1:9000","s":"sess-1"}}}"#,
    r#">={"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.node.13-2-0":1}}}}"#,
    r#">={"t":"d","d":{"r":2,"a":"auth","b":{"cred":"<JWT of alice>"}}}"#,
    r#">={"t":"d","d":{"r":3,"a":"q","b":{"p":"/rooms/general/messages","q":{"l":2,"vf":"r"},"t":1,"h":""}}}"#,
    r#"<={"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#,
    r#"<={"t":"d","d":{"r":2,"b":{"s":"ok","d":{"auth":{"provider":"custom","uid":"alice"},"expires":1764503600}}}}"#,
    r#"<={"t":"d","d":{"a":"d","b":{"p":"rooms/general/messages","d":{"-Of7aQ9zL2b3c4d5e6f8":{"from":"bob","text":"second","at":1764490001000},"-Of7aRbbM2b3c4d5e6f9":{"from":"carol","text":"third","at":1764490002000}},"t":1}}}"#,
    r#"<={"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}"#,
    r#">={"t":"d","d":{"r":4,"a":"o","b":{"p":"/presence/alice","d":"offline"}}}"#,
    r#"<={"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}"#,
    r#">={"t":"d","d":{"r":5,"a":"p","b":{"p":"/presence/alice","d":"online"}}}"#,
    r#"<={"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}"#,
    r#">={"t":"d","d":{"r":6,"a":"p","b":{"p":"/rooms/general/messages/-OfJOJtHRpRMarWw0KQi","d":{"at":{".sv":"timestamp"},"from":"alice","text":"hello"}}}}"#,
    r#"<={"t":"d","d":{"a":"m","b":{"p":"rooms/general/messages","d":{"-Of7aQ9zL2b3c4d5e6f8":null,"-OfJOJtHRpRMarWw0KQi":{"at":1764500000348,"from":"alice","text":"hello"}},"t":1}}}"#,
    r#"<={"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}"#,
    r#"<={"t":"d","d":{"a":"m","b":{"p":"rooms/general/messages","d":{"-Of7aRbbM2b3c4d5e6f9":null,"-OfJOLAAAAbbbbccccdd":{"at":1764500002000,"from":"bob","text":"hi alice"}},"t":1}}}"#,
    r#"<={"t":"d","d":{"a":"d","b":{"p":"rooms/general/messages/-OfJOLAAAAbbbbccccdd/text","d":"hi Alice!","t":1}}}"#,
    r#">={"t":"d","d":{"r":7,"a":"q","b":{"p":"/rooms/general/likes","h":""}}}"#,
    r#"<={"t":"d","d":{"a":"d","b":{"p":"rooms/general/likes","d":null}}}"#,
    r#"<={"t":"d","d":{"r":7,"b":{"s":"ok","d":{}}}}"#,
    r#">={"t":"d","d":{"r":8,"a":"p","b":{"p":"/rooms/general/likes","d":1,"h":""}}}"#,
    r#"<={"t":"d","d":{"a":"d","b":{"p":"rooms/general/likes","d":1}}}"#,
    r#"<={"t":"d","d":{"r":8,"b":{"s":"ok","d":""}}}"#,
    r#">={"t":"d","d":{"r":9,"a":"n","b":{"p":"/rooms/general/likes"}}}"#,
    r#"<={"t":"d","d":{"r":9,"b":{"s":"ok","d":""}}}"#,
    ">=0",
];

const SECOND: &[&str] = &[
    r#"<={"t":"c","d":{"t":"h","d":{"ts":1764500090210,"v":"5","h":"127.0.0.1:9000","s":"sess-2"}}}"#,
    r#">={"t":"d","d":{"r":10,"a":"auth","b":{"cred":"<JWT of alice>"}}}"#,
    r#">={"t":"d","d":{"r":11,"a":"q","b":{"p":"/rooms/general/messages","q":{"l":2,"vf":"r"},"t":1,"h":"5+UdkPeEXPwRUElrhoK+d/GvXzg="}}}"#,
    r#"<={"t":"d","d":{"r":10,"b":{"s":"ok","d":{"auth":{"provider":"custom","uid":"alice"},"expires":1764503600}}}}"#,
    r#"<={"t":"d","d":{"r":11,"b":{"s":"ok","d":{}}}}"#,
];

#[test]
fn nothing_is_wrong_with_the_chat() {
    for lines in [FIRST, SECOND] {
        assert_eq!(run(Validator::new(), lines), Vec::<String>::new());
    }
}

/// Without one of the server's messages something is wrong, and that is noticed. What is not: a first window or a change
/// of it that nothing else refers to, since the validator does not know what else is in the database.
#[test]
fn a_message_that_is_missing_from_the_chat_is_noticed() {
    for (at, line) in FIRST.iter().enumerate().filter(|(_, line)| line.starts_with('<')) {
        let without: Vec<_> =
            FIRST.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, line)| *line).collect();
        let is_referred_to = line.contains(r#""-OfJOLAAAAbbbbccccdd":{"#);
        let is_optional =
            (!is_referred_to && line.contains(r#""t":1}}}"#)) || line.contains(r#""d":null}}}"#);
        assert_eq!(run(Validator::new(), &without).is_empty(), is_optional, "{line}");
    }
}

#[test]
fn whoever_gets_the_connection_after_the_server_judges_its_types_alone() {
    let mut validator = Validator::without_requests();
    FIRST.iter().filter_map(|line| line.strip_prefix("<=")).for_each(|text| validator.sent(text.as_bytes()));
    assert_eq!(validator.finish(Ending::Settled), Vec::<String>::new());
}

/// What clients and servers write here is what the reference shows, but for the order of keys in data.
#[test]
fn the_chat_is_written_as_it_was_read() {
    let options = ReadOptions::default();
    let mut asked: HashMap<u64, Action> = HashMap::new();
    for line in FIRST.iter().chain(SECOND) {
        let (from, text) = line.split_once('=').expect("a direction");
        let written = match from {
            ">" if text == "0" => continue,
            ">" => match ClientMessage::parse(text.as_bytes(), &options) {
                Ok(ClientMessage::Request(request)) => {
                    asked.insert(request.number.0, request.body.action());
                    let written = request.to_text();
                    assert_eq!(written, text);
                    written
                }
                other => panic!("{text}: {other:?}"),
            },
            _ => match ServerMessage::parse(text.as_bytes(), &options).expect(text) {
                ServerMessage::Control(control) => control.to_text(),
                ServerMessage::Push(push) => push.to_text(),
                ServerMessage::Reply(reply) => {
                    let number = reply.number;
                    let outcome = reply.outcome(asked[&number.0], &options).expect(text);
                    let Outcome::Ok(answer) = outcome else { panic!("{text}") };
                    assert!(!matches!(answer, Answer::Failed(_)));
                    Response { number, answer }.to_text()
                }
            },
        };
        let value = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!((written.len(), value(&written)), (text.len(), value(text)), "{text}");
    }
}
