//! Responses, as a server writes and a client reads them (wire reference 3.2, 4, 9).

use hearth_tree::{Node, Number, ReadOptions, Scalar, read_node};
use hearth_wire::{Action, Answer, Failure, Outcome, RequestNumber, Response, ServerMessage, Status};
use serde_json::json;

fn outcome(text: &str, action: Action) -> Outcome {
    let options = ReadOptions::default();
    match ServerMessage::parse(text.as_bytes(), &options) {
        Ok(ServerMessage::Reply(reply)) => reply.outcome(action, &options).expect(text),
        other => panic!("{text}: {other:?}"),
    }
}

fn node(text: &str) -> Option<Node> {
    read_node(text.as_bytes(), &ReadOptions::default()).expect(text)
}

#[test]
fn answers_are_written_and_read() {
    let auth = json!({"provider": "custom", "uid": "ann"});
    for (action, answer, expected) in [
        (Action::Put, Answer::Done, r#"{"s":"ok","d":""}"#),
        (Action::Unlisten, Answer::Done, r#"{"s":"ok","d":""}"#),
        (Action::Listen, Answer::Listening { no_index: false }, r#"{"s":"ok","d":{}}"#),
        (Action::Listen, Answer::Listening { no_index: true }, r#"{"s":"ok","d":{"w":["no_index"]}}"#),
        (Action::Get, Answer::Data(None), r#"{"s":"ok","d":null}"#),
        (
            Action::Get,
            Answer::Data(node(r#"{"bob":{"points":12},"ann":{".value":9.0,".priority":1}}"#)),
            r#"{"s":"ok","d":{"ann":{".value":9,".priority":1},"bob":{"points":12}}}"#,
        ),
        (
            Action::Auth,
            Answer::Authenticated { auth, expires_s: Some(1_764_503_600) },
            r#"{"s":"ok","d":{"auth":{"provider":"custom","uid":"ann"},"expires":1764503600}}"#,
        ),
        (
            Action::GAuth,
            Answer::Authenticated { auth: json!(null), expires_s: None },
            r#"{"s":"ok","d":{"auth":null}}"#,
        ),
        (Action::Unauth, Answer::Unauthenticated, r#"{"s":"ok","d":"unauthenticated"}"#),
    ] {
        let text = Response { number: RequestNumber(7), answer: answer.clone() }.to_text();
        assert_eq!(text, format!(r#"{{"t":"d","d":{{"r":7,"b":{expected}}}}}"#));
        assert_eq!(outcome(&text, action), Outcome::Ok(answer), "{text}");
    }
}

#[test]
fn failures_have_a_status_and_a_text_whatever_failed() {
    for status in Status::ALL {
        assert_eq!(Status::parse(status.as_str()), Some(status));
        let text = Response { number: RequestNumber(0), answer: Answer::Failed(status.into()) }.to_text();
        let expected = Outcome::Failed { status: status.as_str().into(), text: Some(status.text().into()) };
        for action in Action::ALL {
            assert_eq!(outcome(&text, action), expected, "{action} {status}");
        }
    }
    let failure = Failure { status: Status::Invalid, text: "there is no action `k`".into() };
    let response = Response { number: RequestNumber(3), answer: Answer::Failed(failure) };
    assert_eq!(
        response.to_text(),
        r#"{"t":"d","d":{"r":3,"b":{"s":"invalid","d":"there is no action `k`"}}}"#
    );
}

/// What other servers answer.
#[test]
fn a_client_takes_what_any_server_answers() {
    let ok = |d: &str| format!(r#"{{"t":"d","d":{{"b":{{"d":{d},"s":"ok"}},"r":1}}}}"#);
    for (action, d, expected) in [
        (Action::Listen, "\"\"", Answer::Listening { no_index: false }),
        (Action::Listen, r#"{"w":["other"]}"#, Answer::Listening { no_index: false }),
        (Action::Auth, "\"\"", Answer::Authenticated { auth: json!(null), expires_s: None }),
        (Action::Put, "{}", Answer::Done),
        (
            Action::Get,
            "[1,null]",
            Answer::Data(Node::inner([(hearth_tree::Key::from_position(0), number(1))])),
        ),
    ] {
        assert_eq!(outcome(&ok(d), action), Outcome::Ok(expected), "{action} {d}");
    }
    let failed = r#"{"t":"d","d":{"r":1,"b":{"s":"maintenance","d":null}}}"#;
    assert_eq!(outcome(failed, Action::Put), Outcome::Failed { status: "maintenance".into(), text: None });
}

fn number(value: i64) -> Node {
    Scalar::Number(Number::from(value)).into()
}
