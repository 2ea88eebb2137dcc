//! Bounds as every client spells them: by a listen and by a read (wire reference 5.1, 5.2).

use crate::script::play;
use std::fmt::Write;

const DATA: &str = r#"{"c":{"d":{"a":{"b":true},"x":4},"e":{"x":"s"},"k":{"x":5},"p":{"x":5},"q":{"y":1}},"p":{"a":{".value":1,".priority":2},"b":{".value":2,".priority":"m"},"c":3},"v":{"a":1,"b":3,"c":3,"f":false,"kk":3,"o":{"n":1},"t":"x","y":true,"z":5}}"#;

#[test]
fn every_spelling_of_a_bound_is_understood() {
    play(&conversations());
}

pub(crate) fn conversations() -> Vec<(&'static str, String)> {
    // A key below `b`, as Android makes it of `endBefore('b')`: longer than any key.
    let before_b = format!(r#"{{"ep":"a{}","i":".key"}}"#, "z".repeat(785));
    vec![
        (
            "bounds of values and keys",
            conversation(&[
                // What JavaScript sends.
                ("v", r#"{"l":3,"vf":"l"}"#, r#"{"a":1,"b":3,"c":3}"#),
                ("v", r#"{"l":3,"vf":"r"}"#, r#"{"t":"x","y":true,"z":5}"#),
                (
                    "v",
                    r#"{"sp":"b","sin":true,"ep":"f","ein":true,"i":".key"}"#,
                    r#"{"b":3,"c":3,"f":false}"#,
                ),
                ("v", r#"{"sp":"t","sin":false,"i":".key"}"#, r#"{"y":true,"z":5}"#),
                ("v", r#"{"ep":"b","ein":false,"i":".key"}"#, r#"{"a":1}"#),
                ("v", r#"{"sp":5,"sin":true,"i":".value"}"#, r#"{"o":{"n":1},"t":"x","z":5}"#),
                (
                    "v",
                    r#"{"sp":3,"sn":"[MAX_NAME]","sin":false,"i":".value"}"#,
                    r#"{"o":{"n":1},"t":"x","z":5}"#,
                ),
                (
                    "v",
                    r#"{"ep":3,"en":"[MIN_NAME]","ein":false,"i":".value"}"#,
                    r#"{"a":1,"f":false,"y":true}"#,
                ),
                (
                    "v",
                    r#"{"sp":3,"sn":"c","sin":false,"i":".value"}"#,
                    r#"{"kk":3,"o":{"n":1},"t":"x","z":5}"#,
                ),
                ("v", r#"{"l":2,"vf":"l","i":".value"}"#, r#"{"f":false,"y":true}"#),
                ("v", r#"{"l":2,"vf":"r","i":".value"}"#, r#"{"o":{"n":1},"t":"x"}"#),
                // What Android makes of exclusive bounds, its own name of the last key, and numbers with decimals.
                ("v", r#"{"sp":3.0,"sn":"[MAX_KEY]","i":".value"}"#, r#"{"o":{"n":1},"t":"x","z":5}"#),
                ("v", r#"{"ep":3.0,"en":"[MIN_NAME]","i":".value"}"#, r#"{"a":1,"f":false,"y":true}"#),
                ("v", r#"{"sp":3.0,"sn":"c","ep":3.0,"en":"kk","i":".value"}"#, r#"{"c":3,"kk":3}"#),
                ("v", r#"{"sp":"t-","i":".key"}"#, r#"{"y":true,"z":5}"#),
                ("v", &before_b, r#"{"a":1}"#),
                // No side, names that say nothing.
                ("v", r#"{"l":2,"i":".value"}"#, r#"{"o":{"n":1},"t":"x"}"#),
                ("v", r#"{"l":2,"sp":3,"i":".value"}"#, r#"{"b":3,"c":3}"#),
                ("v", r#"{"sp":5,"sn":null,"ep":5,"en":null,"i":".value"}"#, r#"{"z":5}"#),
                // Where there are no children there is nothing to show.
                ("v/a", r#"{"l":1,"vf":"l"}"#, "null"),
                ("none", r#"{"l":1,"vf":"l"}"#, "null"),
            ]),
        ),
        (
            "bounds of children and priorities",
            conversation(&[
                (
                    "c",
                    r#"{"sp":true,"sin":true,"ep":true,"ein":true,"i":"a/b"}"#,
                    r#"{"d":{"a":{"b":true},"x":4}}"#,
                ),
                (
                    "c",
                    r#"{"sp":5,"sn":"k","sin":true,"ep":5,"en":"k","ein":true,"i":"x"}"#,
                    r#"{"k":{"x":5}}"#,
                ),
                ("c", r#"{"sp":null,"sin":true,"ep":null,"ein":true,"i":"x"}"#, r#"{"q":{"y":1}}"#),
                // The cursor behind a child without the value.
                (
                    "c",
                    r#"{"sp":null,"sn":"q","sin":false,"i":"x","l":2,"vf":"l"}"#,
                    r#"{"d":{"a":{"b":true},"x":4},"k":{"x":5}}"#,
                ),
                ("c", r#"{"sp":"a","i":"x"}"#, r#"{"e":{"x":"s"}}"#),
                (
                    "p",
                    r#"{"sp":null,"sin":true}"#,
                    r#"{"a":{".value":1,".priority":2},"b":{".value":2,".priority":"m"},"c":3}"#,
                ),
                ("p", r#"{"l":1,"vf":"l"}"#, r#"{"c":3}"#),
                (
                    "p",
                    r#"{"sp":2,"sin":true}"#,
                    r#"{"a":{".value":1,".priority":2},"b":{".value":2,".priority":"m"}}"#,
                ),
                ("p", r#"{"ep":2,"ein":true,"sp":2}"#, r#"{"a":{".value":1,".priority":2}}"#),
            ]),
        ),
    ]
}

/// Asks each query at its place both ways.
fn conversation(rows: &[(&str, &str, &str)]) -> String {
    let mut script = format!("put / {DATA}\na connects\n");
    for (number, (place, query, shown)) in (1..).zip(rows) {
        let tagged = format!(r#""p":"{place}","q":{query},"t":{number}"#);
        let told = match *shown {
            "null" => String::new(),
            shown => {
                format!(
                    "a< {{\"t\":\"d\",\"d\":{{\"a\":\"d\",\"b\":{{\"p\":\"{place}\",\"d\":{shown},\"t\":{number}}}}}}}\n"
                )
            }
        };
        let read = 3 * number;
        let (begun, ended) = (read + 1, read + 2);
        write!(
            script,
            r#"
a> {{"t":"d","d":{{"r":{read},"a":"g","b":{{"p":"/{place}","q":{query}}}}}}}
a< {{"t":"d","d":{{"r":{read},"b":{{"s":"ok","d":{shown}}}}}}}
a> {{"t":"d","d":{{"r":{begun},"a":"q","b":{{{tagged},"h":""}}}}}}
{told}a< {{"t":"d","d":{{"r":{begun},"b":{{"s":"ok","d":{{}}}}}}}}
a> {{"t":"d","d":{{"r":{ended},"a":"n","b":{{{tagged}}}}}}}
a< {{"t":"d","d":{{"r":{ended},"b":{{"s":"ok","d":""}}}}}}
"#
        )
        .unwrap();
    }
    script + "a ends\n"
}
