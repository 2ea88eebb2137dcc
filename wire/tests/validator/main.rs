//! The judge of what servers send, shown connections that are right and such that are not.

mod chat;
mod hostile;
mod order;
mod pitfalls;
mod typing;

use hearth_wire::{Ending, Validator};

/// What a validator finds in a connection of these lines, which begin with `>` (from the client) or `<` (from the
/// server) and go on with
/// * `=` and a text,
/// * a number, an action or status, and JSON: a request, or the answer to one,
/// * `!`, the name of a push, and JSON: a push.
///
/// The handshake is sent first.
fn findings(lines: &[&str]) -> Vec<String> {
    let mut validator = Validator::new();
    validator.sent(
        br#"{"t":"c","d":{"t":"h","d":{"ts":1764500000158,"v":"5","h":"127.0.0.1:9000","s":"sess-1"}}}"#,
    );
    run(validator, lines)
}

fn run(mut validator: Validator, lines: &[&str]) -> Vec<String> {
    for line in lines {
        let (from, rest) = line.split_at(1);
        let text = text(from, rest);
        match from {
            ">" => validator.received(text.as_bytes()),
            "<" => validator.sent(text.as_bytes()),
            _ => panic!("{line}"),
        }
    }
    // The sentence alone, without the message that it is about.
    let sentence = |finding: String| finding.split("; in `").next().unwrap_or_default().to_owned();
    validator.finish(Ending::Settled).into_iter().map(sentence).collect()
}

fn text(from: &str, rest: &str) -> String {
    if let Some(text) = rest.strip_prefix('=') {
        return text.into();
    }
    let mut words = rest.splitn(3, ' ');
    let [first, second, json] = [(); 3].map(|()| words.next().expect("three words"));
    match (from, first) {
        (_, "!") => format!(r#"{{"t":"d","d":{{"a":"{second}","b":{json}}}}}"#),
        (">", number) => format!(r#"{{"t":"d","d":{{"r":{number},"a":"{second}","b":{json}}}}}"#),
        (_, number) => format!(r#"{{"t":"d","d":{{"r":{number},"b":{{"s":"{second}","d":{json}}}}}}}"#),
    }
}

#[track_caller]
fn check(lines: &[&str], expected: &[&str]) {
    assert_eq!(findings(lines), expected, "{lines:#?}");
}
