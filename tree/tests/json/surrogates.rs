//! Half characters from JavaScript.

use crate::{node, text};
use hearth_tree::{Form, repair_surrogates};
use std::borrow::Cow;

#[test]
fn lone_surrogates_become_the_replacement_character() {
    for (read, repaired) in [
        (r#""\ud800""#, r#""\ufffd""#),
        (r#""\uDBFF""#, r#""\ufffd""#),
        (r#""\udc00""#, r#""\ufffd""#),
        (r#""\uDFFFx""#, r#""\ufffdx""#),
        (r#""\ud800\ud800""#, r#""\ufffd\ufffd""#),
        (r#""\udc00\ud800""#, r#""\ufffd\ufffd""#),
        (r#""\ud800\ud83d\ude00\ude00""#, r#""\ufffd\ud83d\ude00\ufffd""#),
        (r#""\ud800\n""#, r#""\ufffd\n""#),
        (r#""\ud800\\udc00""#, r#""\ufffd\\udc00""#),
        (r#""a\\\ud800b""#, r#""a\\\ufffdb""#),
        (r#"{"\ud800":["\udc00"]}"#, r#"{"\ufffd":["\ufffd"]}"#),
    ] {
        assert_eq!(repair_surrogates(read), repaired, "{read}");
        let direct: serde_json::Result<serde_json::Value> = serde_json::from_str(read);
        assert!(direct.is_err(), "{read}: the repair is needed");
        assert_eq!(node(read), node(repaired), "{read}");
    }
}

#[test]
fn everything_else_stays_and_is_not_copied() {
    for read in [
        "",
        "\\",
        r#""\ud83d\ude00""#,
        r#""\uD83D\uDE00""#,
        r#""\\ud800""#,
        r#""\\\\ud800""#,
        r#""\ud7ff\ue000""#,
        r#""\u0041\n\"""#,
        r#""\ud8"#,
        r#""\ud8zz""#,
        r#""\u+d800""#,
        "\"é\\u00e9\"",
    ] {
        assert!(matches!(repair_surrogates(read), Cow::Borrowed(same) if same == read), "{read}");
    }
    assert_eq!(text(node(r#""\\ud800""#).as_ref(), Form::SOCKET), r#""\\ud800""#);
}
