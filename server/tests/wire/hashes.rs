//! The vectors of the wire reference, section 17, through a server: what it compares with, and in what order it has keys.

use crate::script::play;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

#[test]
fn the_vectors_of_the_reference_hold() {
    play(&conversations());
}

pub(crate) fn conversations() -> Vec<(&'static str, String)> {
    let [hashes, twofold, keys] = vectors().try_into().expect("section 17 has three lists");
    vec![
        ("a hash for each value", of_hashes(&hashes)),
        ("two hashes for one number", of_twofold(&twofold)),
        ("keys in their order", of_keys(&keys)),
    ]
}

/// The lists of section 17.
fn vectors() -> Vec<Vec<Value>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/wire-protocol.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("\n## 17.").unwrap();
    let blocks = section.split("```json\n").skip(1);
    blocks.map(|block| serde_json::from_str(block.split_once("```").unwrap().0).unwrap()).collect()
}

/// Each value is written, listened to with its hash, and replaced by who says that hash.
fn of_hashes(rows: &[Value]) -> String {
    assert!(30 < rows.len());
    let mut script = String::from("a connects\n");
    for (index, row) in rows.iter().enumerate() {
        let (value, hash) = (&row[0], row[1].as_str().unwrap());
        transact(&mut script, index, value, hash);
    }
    script + "a ends\n"
}

/// JavaScript is wrong about some numbers, and its hash counts as well.
fn of_twofold(rows: &[Value]) -> String {
    let mut script = String::from("a connects\n");
    for (index, row) in rows.iter().enumerate() {
        for (side, name) in ["js", "true"].into_iter().enumerate() {
            transact(&mut script, 2 * index + side, &row[0], row[1][name].as_str().unwrap());
        }
    }
    script + "a ends\n"
}

fn transact(script: &mut String, index: usize, value: &Value, hash: &str) {
    let r = 10 * index;
    let [set, begun, ended, stale, done] = [r, r + 1, r + 2, r + 3, r + 4];
    write!(
        script,
        r#"
a> {{"t":"d","d":{{"r":{set},"a":"p","b":{{"p":"/v{index}","d":{value}}}}}}}
a< {{"t":"d","d":{{"r":{set},"b":{{"s":"ok","d":""}}}}}}
a> {{"t":"d","d":{{"r":{begun},"a":"q","b":{{"p":"/v{index}","h":"{hash}"}}}}}}
a< {{"t":"d","d":{{"r":{begun},"b":{{"s":"ok","d":{{}}}}}}}}
a> {{"t":"d","d":{{"r":{ended},"a":"n","b":{{"p":"/v{index}"}}}}}}
a< {{"t":"d","d":{{"r":{ended},"b":{{"s":"ok","d":""}}}}}}
a> {{"t":"d","d":{{"r":{stale},"a":"p","b":{{"p":"/v{index}","d":"x","h":"zzzzzzzzzzzzzzzzzzzzzzzzzzo="}}}}}}
a< {{"t":"d","d":{{"r":{stale},"b":{{"s":"datastale","d":"Transaction hash does not match"}}}}}}
a> {{"t":"d","d":{{"r":{done},"a":"p","b":{{"p":"/v{index}","d":"x","h":"{hash}"}}}}}}
a< {{"t":"d","d":{{"r":{done},"b":{{"s":"ok","d":""}}}}}}
"#
    )
    .unwrap();
}

/// Behind each key comes the next one, and before it the one before.
fn of_keys(keys: &[Value]) -> String {
    assert!(25 < keys.len());
    let mut script = String::from("a connects\n");
    for (number, key) in keys.iter().enumerate() {
        let path = format!("/k/{}", key.as_str().unwrap());
        let path = serde_json::to_string(&path).unwrap();
        writeln!(script, r#"a> {{"t":"d","d":{{"r":{number},"a":"p","b":{{"p":{path},"d":1}}}}}}"#).unwrap();
        writeln!(script, r#"a< {{"t":"d","d":{{"r":{number},"b":{{"s":"ok","d":""}}}}}}"#).unwrap();
    }
    for (number, pair) in (100..).step_by(2).zip(keys.windows(2)) {
        let [one, next] = pair else { continue };
        for (number, query, shown) in [
            (number, format!(r#"{{"sp":{one},"sin":false,"l":1,"vf":"l","i":".key"}}"#), next),
            (number + 1, format!(r#"{{"ep":{next},"ein":false,"l":1,"vf":"r","i":".key"}}"#), one),
        ] {
            let body = format!(r#"{{"p":"/k","q":{query}}}"#);
            writeln!(script, r#"a> {{"t":"d","d":{{"r":{number},"a":"g","b":{body}}}}}"#).unwrap();
            let shown = format!(r#"{{"s":"ok","d":{{{shown}:1}}}}"#);
            writeln!(script, r#"a< {{"t":"d","d":{{"r":{number},"b":{shown}}}}}"#).unwrap();
        }
    }
    script + "a ends\n"
}
