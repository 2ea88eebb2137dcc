//! Long messages, and how the clients of each kind cut them (wire reference 2.2).

use crate::script::play;
use std::fmt::Write;

/// Most characters of a text that is sent whole (wire reference 2.2).
const WHOLE: usize = 16_384;

#[test]
fn long_messages_come_whole() {
    play(&conversations());
}

pub(crate) fn conversations() -> Vec<(&'static str, String)> {
    vec![
        ("long messages both ways", long()),
        ("one part less than was announced", one_less()),
        ("parts that are cut inside a character", cut()),
    ]
}

/// Up to the last character that is sent whole, the first that is not, and pairs of units where a cut would fall.
fn long() -> String {
    let mut script = String::from("a connects\n");
    let answer = |number: usize, text: &str| {
        format!(r#"{{"t":"d","d":{{"r":{number},"b":{{"s":"ok","d":"{text}"}}}}}}"#)
    };
    for number in 0..3 {
        let around = answer(number, "").len();
        let text = "x".repeat(WHOLE - 1 - around + number);
        step(&mut script, number, &text, &answer(number, &text));
    }
    for number in 3..5 {
        let text = format!("{}{}", "x".repeat(number), "é😀<\u{2028}".repeat(10_000));
        step(&mut script, number, &text, &answer(number, &text));
    }
    script + "a ends\n"
}

fn step(script: &mut String, number: usize, text: &str, answer: &str) {
    let written = number + 10;
    writeln!(
        script,
        r#"a> {{"t":"d","d":{{"r":{written},"a":"p","b":{{"p":"/a","d":"{text}"}}}}}}
a< {{"t":"d","d":{{"r":{written},"b":{{"s":"ok","d":""}}}}}}
a> {{"t":"d","d":{{"r":{number},"a":"g","b":{{"p":"/a","q":{{}}}}}}}}
a< {answer}"#
    )
    .unwrap();
}

/// C++ announces one part too many where the last one is full, and then sends its next message.
fn one_less() -> String {
    let around = r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"a","d":""}}}"#.len();
    let text = "x".repeat(WHOLE - around);
    format!(
        r#"
over a WebSocket
a connects
a> 2
a> {{"t":"d","d":{{"r":1,"a":"p","b":{{"p":"a","d":"{text}"}}}}}}
a< {{"t":"d","d":{{"r":1,"b":{{"s":"ok","d":""}}}}}}
a> {{"t":"d","d":{{"r":2,"a":"g","b":{{"p":"a","q":{{}}}}}}}}
a< {{"t":"d","d":{{"r":2,"b":{{"s":"ok","d":"{text}"}}}}}}
a ends
"#
    )
}

/// C++ cuts between any two bytes, and sends the halves as texts that are none.
fn cut() -> String {
    let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let message = r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"a","d":"é"}}}"#.as_bytes();
    let (first, second) = message.split_at(message.iter().position(|byte| !byte.is_ascii()).unwrap() + 1);
    format!(
        r#"
over a WebSocket
a connects
a> 2
a>bytes {}
a>bytes {}
a< {{"t":"d","d":{{"r":1,"b":{{"s":"ok","d":""}}}}}}
a> {{"t":"d","d":{{"r":2,"a":"g","b":{{"p":"a","q":{{}}}}}}}}
a< {{"t":"d","d":{{"r":2,"b":{{"s":"ok","d":"é"}}}}}}
a ends
"#,
        hex(first),
        hex(second)
    )
}
