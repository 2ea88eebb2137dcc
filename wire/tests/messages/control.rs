//! Control messages and the handshake (wire reference 2.4, 2.5).

use crate::parse;
use hearth_tree::ReadOptions;
use hearth_wire::{
    ClientControl, ClientMessage, HANDSHAKE_TIME_MS_MIN, Handshake, ServerControl, ServerMessage, SessionId,
};

#[test]
fn control_messages_of_clients_are_read_and_written() {
    for (control, text) in [
        (ClientControl::Ping, r#"{"t":"c","d":{"t":"p","d":{}}}"#),
        (ClientControl::Upgraded, r#"{"t":"c","d":{"t":"a","d":{}}}"#),
        (ClientControl::End, r#"{"t":"c","d":{"t":"n","d":{}}}"#),
    ] {
        assert_eq!(control.to_text(), text);
        assert_eq!(parse(text), Ok(ClientMessage::Control(control)), "{text}");
    }
    for text in [r#"{"d":{"d":null,"t":"p"},"t":"c"}"#, r#"{"t":"c","d":{"t":"p"}}"#] {
        assert_eq!(parse(text), Ok(ClientMessage::Control(ClientControl::Ping)), "{text}");
    }
}

fn handshake(now_ms: i64, session: Option<&str>) -> ServerControl {
    let session = session.map(|id| SessionId::parse(id).expect(id));
    ServerControl::Handshake(Handshake { now_ms, host: "db.example.com:9000".into(), session })
}

#[test]
fn control_messages_of_servers_are_read_and_written() {
    for (control, text) in [
        (
            handshake(1_764_500_000_158, Some("Zk3tQ1x0bZ7yV5mWnC8rPaLd2e4UgHs9")),
            r#"{"t":"c","d":{"t":"h","d":{"ts":1764500000158,"v":"5","h":"db.example.com:9000","s":"Zk3tQ1x0bZ7yV5mWnC8rPaLd2e4UgHs9"}}}"#,
        ),
        (
            handshake(1_764_500_000_158, None),
            r#"{"t":"c","d":{"t":"h","d":{"ts":1764500000158,"v":"5","h":"db.example.com:9000","s":""}}}"#,
        ),
        (ServerControl::Pong, r#"{"t":"c","d":{"t":"o","d":{}}}"#),
        (
            ServerControl::Reset { host: "other.example.com:9000".into() },
            r#"{"t":"c","d":{"t":"r","d":"other.example.com:9000"}}"#,
        ),
        (ServerControl::Shutdown { reason: "text".into() }, r#"{"t":"c","d":{"t":"s","d":"text"}}"#),
        (ServerControl::Error { text: "a \"b\"".into() }, r#"{"t":"c","d":{"t":"e","d":"a \"b\""}}"#),
        (ServerControl::Upgraded, r#"{"t":"c","d":{"t":"a","d":{}}}"#),
        (ServerControl::End, r#"{"t":"c","d":{"t":"n","d":{}}}"#),
    ] {
        assert_eq!(control.to_text(), text);
        match ServerMessage::parse(text.as_bytes(), &ReadOptions::default()) {
            Ok(ServerMessage::Control(read)) => assert_eq!(read, control, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Android reads a smaller number as one of 32 bits and never gets past the handshake.
#[test]
fn the_time_of_a_handshake_is_always_one_that_android_reads() {
    for now_ms in [i64::MIN, -1, 0, HANDSHAKE_TIME_MS_MIN] {
        assert!(handshake(now_ms, None).to_text().contains(r#""ts":2147483649,"#), "{now_ms}");
    }
    assert!(handshake(HANDSHAKE_TIME_MS_MIN + 2, None).to_text().contains(r#""ts":2147483650,"#));
}

#[test]
fn a_handshake_that_is_typed_wrongly_is_refused() {
    for data in [
        r#"{"ts":1764500000158.5,"v":"5","h":"x","s":"y"}"#,
        r#"{"ts":"1764500000158","v":"5","h":"x","s":"y"}"#,
        r#"{"ts":1764500000158,"v":"5","s":"y"}"#,
        r#"{"ts":1764500000158,"v":"5","h":"x","s":"a/b"}"#,
    ] {
        let text = format!(r#"{{"t":"c","d":{{"t":"h","d":{data}}}}}"#);
        assert!(ServerMessage::parse(text.as_bytes(), &ReadOptions::default()).is_err(), "{text}");
    }
}
