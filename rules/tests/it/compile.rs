//! What compiles, and what is said about what does not.

use hearth_rules::{Diagnostic, Ruleset};
use proptest::prelude::*;
use serde_json::Value;

fn rows(cases: &str) -> Vec<Value> {
    serde_json::from_str(cases).expect("the cases are a list of rows")
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_default()
}

/// What is wrong with a row, if anything.
fn mismatch(row: &Value, source: &str) -> Option<String> {
    let compiled = Ruleset::compile(source);
    let problem = match (&compiled, row["valid"] == true) {
        (Ok(_), true) => return None,
        (Ok(_), false) => "compiles".into(),
        (Err(rejected), true) => format!("is rejected: {rejected}"),
        (Err(rejected), false) => {
            // The service names one problem; where both operands are wrong, we name both.
            let found = rejected.diagnostics();
            match row["error"].as_str() {
                _ if 2 < found.len() => format!("gives too many problems: {rejected}"),
                Some(expected) if found[0].problem.to_string() != expected => format!("says `{rejected}`"),
                _ => return None,
            }
        }
    };
    Some(format!("{}: {source} {problem}", text(row, "id")))
}

fn assert_all(rows: &[Value], expected: usize, source: impl Fn(&Value) -> String) {
    assert_eq!(rows.len(), expected, "rows were lost");
    let wrong: Vec<String> = rows.iter().filter_map(|row| mismatch(row, &source(row))).collect();
    assert!(wrong.is_empty(), "{} of {expected} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_recorded_expressions_compile_or_are_rejected_in_the_words_of_the_service() {
    assert_all(&rows(include_str!("../../../tests/cases/rules-compile.json")), 193, |row| {
        let rule = format!(".{}", text(row, "location"));
        serde_json::json!({"rules": {"probe": {"$id": {rule: row["expr"]}}}}).to_string()
    });
}

#[test]
fn the_recorded_documents_compile_or_are_rejected_in_the_words_of_the_service() {
    assert_all(&rows(include_str!("../../../tests/cases/rules-format.json")), 45, |row| {
        text(row, "source").to_owned()
    });
}

/// `line:column` and what the message contains, then what the advice contains.
type Expected<'a> = (&'a str, &'a str, &'a str);

fn check(source: &str, expected: &[Expected<'_>]) {
    let rejected = Ruleset::compile(source).expect_err(source);
    let found = rejected.diagnostics();
    let agrees = |(found, expected): (&Diagnostic, &Expected<'_>)| {
        let (at, message, advice) = *expected;
        let shown = found.to_string();
        shown.starts_with(&format!("{at}: "))
            && shown.contains(message)
            && found.advice().unwrap_or_default().contains(advice)
    };
    let all = found.len() == expected.len() && found.iter().zip(expected).all(agrees);
    let advice: Vec<_> = found.iter().map(Diagnostic::advice).collect();
    assert!(all, "{source}\nfound:\n{rejected}\n{advice:?}\nexpected: {expected:?}");
}

#[test]
fn every_problem_is_reported_where_it_is() {
    for (source, expected) in [
        ("{}", [("1:2", "Expected 'rules' property.", "")].as_slice()),
        ("{\n  \"rule\": {}\n}", &[("2:3", "Expected 'rules' property.", "")]),
        (
            "{\"rules\": {\n\".read\": \"auth\",\n\".write\": \"foo == 1\", \"a\": 5}}",
            &[
                ("2:11", "must evaluate to a boolean", "auth != null"),
                ("3:12", "Unknown variable 'foo'", ""),
                ("3:28", "Expected '{'.", ""),
            ],
        ),
        // Each operand has its own mistake; the operator above says nothing more.
        (
            r#"{"rules": {".read": "foo == 1 && !data"}}"#,
            &[("1:22", "Unknown variable 'foo'", ""), ("1:35", "! only operates", "exists()")],
        ),
        (
            r#"{"rules": {".read": "(true ? /a/ : data.val) == 1"}}"#,
            &[("1:30", "a branch of ? cannot be a regular", ""), ("1:36", "cannot be a method", "")],
        ),
        // An escape in the text moves what stands behind it.
        (r#"{"rules": {".read": "\"\u0061\" == bar"}}"#, &[("1:36", "Unknown variable 'bar'", "")]),
        ("{\"rules\": {\".read\": \"true &&\n   baz\"}}", &[("2:4", "Unknown variable 'baz'", "")]),
        // Mistakes of the JSON do not hide each other.
        (
            "{\"rules\": {\"a\": {'.read': true}, b: {}, \"c\": nope, \"c\": 1 2}}",
            &[
                ("1:18", "double quotes", ""),
                ("1:34", "`b`", ""),
                ("1:46", "`nope`", ""),
                ("1:52", "`c` is already", ""),
                ("1:59", "`2`", ""),
            ],
        ),
        ("{\"rules\": {\"a\": {\".read\": true}", &[("1:11", "never closed", "")]),
        ("{\"rules\": {\"a\": [1}}", &[("1:19", "found `}`", ""), ("1:17", "Expected '{'.", "")]),
        ("{\"rules\": {,}}", &[("1:12", "found `,`", "")]),
        ("{\"rules\": {\".read\": true,, \"a\": {}}}", &[("1:25", "two commas", "")]),
        ("{\"rules\": {}} x", &[("1:15", "found `x`", "")]),
        ("{\"rules\": {}, \"more\": 1}", &[("1:15", "'more'", "")]),
        ("{\"rules\": {}} /* open", &[("1:15", "comment is never closed", "")]),
        (r#"{"rules": {".read": "true}}"#, &[("1:21", "text is never closed", "")]),
        (r#"{"rules": {"$a": {"$a": {}}}}"#, &[("1:19", "'$a' is already declared", "")]),
        (r#"{"rules": {"read": true}}"#, &[("1:20", "Expected '{'.", "`.read`")]),
        (r#"{"rules": {".indexOn": ["a.b"]}}"#, &[("1:25", "`a.b`", ".value")]),
        (r#"{"rules": {"a\u0007": {}}}"#, &[("1:12", "control character U+0007", "")]),
        (r#"{"rules": {".read": "a\ud800"}}"#, &[("1:23", "surrogate", "")]),
    ] {
        check(source, expected);
    }
}

#[test]
fn what_users_stumbled_over_is_said_briefly_with_advice() {
    for (report, expression, at, message, advice) in [
        ("R003", "root.child('teams') != null", "1:22", "left operand", ".exists()"),
        (
            "R009",
            "data.val()['kind'] == 'a'",
            "1:33",
            "No such method/property 'kind'.",
            ".child('kind').val()",
        ),
        ("R013", "data.hasChildren(['a','b']", "1:38", "'(' is never closed", "`)`"),
        ("R013", "", "1:22", "empty", "`false`"),
        ("R017", "!data.child('frozen').val()", "1:23", "! only operates on booleans.", "!== true"),
    ] {
        let source = format!("{{\"rules\": {{\".read\": \"{expression}\"}}}}");
        let rejected = Ruleset::compile(&source).expect_err(report);
        assert_eq!(rejected.diagnostics().len(), 1, "{report}: {rejected}");
        check(&source, &[(at, message, advice)]);
    }
    check("1\"rules\": {}", &[("1:1", "Expected '{'.", "")]);
    for (report, source) in [
        ("R001", r#"{"rules": {".validate": "newData.val().matches(/^[a-z]+(\\s[a-z]+)*$/i)"}}"#),
        ("R009", r#"{"rules": {".read": "auth.token[\"firebase\"][\"sign_in_provider\"] == 'x'"}}"#),
        ("R013", "// a\n{\"rules\": /* b */ {\".read\": true,},}"),
        ("R017", r#"{"rules": {".write": "auth != null && data.child('frozen').val() !== true"}}"#),
    ] {
        assert!(Ruleset::compile(source).is_ok(), "{report}: {source}");
    }
}

#[test]
fn patterns_have_the_grammar_of_the_reference() {
    for (pattern, valid) in [
        ("a", true),
        ("^$", true),
        ("^a|b$", true),
        (r"\b\/\-", true),
        ("[a-]", true),
        ("[-a]", true),
        ("[^/]", true),
        (r"[\d\-x]", true),
        ("a{3}b{3,}c{3,5}", true),
        ("a}", true),
        ("a+?", true),
        ("(a(b|c))*", true),
        ("a|", false),
        ("|a", false),
        ("()", false),
        ("(a", false),
        ("a)", false),
        ("(?:a)", false),
        ("*a", false),
        ("a|*", false),
        ("a{", false),
        ("a{,3}", false),
        ("a{3,2}", false),
        ("a{1001}", false),
        ("[]", false),
        ("[z-a]", false),
        (r"[\d-z]", false),
        ("a^b", false),
        ("a$b", false),
        ("a*****", false),
        ("(a{1000}){1000}", false),
    ] {
        let rule = format!("'x'.matches(/{pattern}/)");
        let source = serde_json::json!({"rules": {".read": rule}}).to_string();
        let compiled = Ruleset::compile(&source).map(|_| ()).map_err(|rejected| rejected.to_string());
        assert_eq!(compiled.is_ok(), valid, "/{pattern}/: {compiled:?}");
    }
}

fn nested(open: &str, close: &str, times: usize) -> String {
    format!("{}true{}", open.repeat(times), close.repeat(times))
}

#[test]
fn depth_is_bounded_on_both_sides_of_the_edge() {
    let expression = |text: &str| serde_json::json!({"rules": {".read": text}}).to_string();
    for (source, valid) in [
        (expression(&nested("(", ")", 255)), true),
        (expression(&nested("(", ")", 256)), false),
        (expression(&nested("true ? true : ", "", 255)), true),
        (expression(&nested("true ? true : ", "", 256)), false),
        (expression(&nested("!", "", 100_000)), true),
        (expression(&nested("true && ", "", 50_000)), true),
        (expression(&nested("(", ")", 400_000)), false),
        (expression(&"auth['a'".repeat(100_000)), false),
        (expression(&format!("auth{} == 1", ".a".repeat(100_000))), true),
        (format!("{{\"rules\": {}}}", "{\"a\":".repeat(100_000)), false),
        ("[".repeat(1_000_000), false),
        ("{\"a\":".repeat(200_000), false),
        (format!("{{\"rules\": {{\"a\": {}}}}}", "[".repeat(500_000)), false),
        (format!("{{\"rules\": {{{}}}}}", "\"a\":1,".repeat(150_000)), false),
        (format!("{{\"rules\": {{{}}}}}", "x".repeat(1_000_000)), false),
        (" ".repeat(1024 * 1024 + 1), false),
    ] {
        let compiled = Ruleset::compile(&source);
        assert_eq!(compiled.is_ok(), valid, "{}…", &source[..60]);
    }
}

/// Pieces that documents and expressions are made of, so that random texts get somewhere.
fn arb_rough_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"",
            "'",
            "\\",
            "/",
            "//",
            "/*",
            "*/",
            "\n",
            "\"rules\"",
            "\".read\"",
            "\".indexOn\"",
            "\"$a\"",
            "true",
            "null",
            "auth",
            "data",
            "newData",
            ".val()",
            ".child(",
            "(",
            ")",
            "&&",
            "||",
            "?",
            "==",
            "=",
            "!",
            "-",
            "+",
            "%",
            "<",
            ".matches(/",
            "/i",
            "^",
            "$",
            "{2,3}",
            "|",
            "*",
            "[a-",
            "\\u12",
            "\\ud83d",
            "1",
            ".5",
            "1e",
            "é",
            "\u{1F600}",
            "\u{7f}",
            "\0",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_makes_the_compiler_panic_and_every_place_is_in_it(text in arb_rough_text(), frame in 0..3) {
        let source = match frame {
            0 => text,
            1 => format!("{{\"rules\": {{{text}}}}}"),
            _ => serde_json::json!({"rules": {"$k": {".write": text}}}).to_string(),
        };
        if let Err(rejected) = Ruleset::compile(&source) {
            prop_assert!(!rejected.diagnostics().is_empty());
            for found in rejected.diagnostics() {
                prop_assert!(found.span.start <= found.span.end, "{found}");
                prop_assert!(source.get(found.span.range()).is_some(), "{} {:?} in {:?}", found, found.span, source);
            }
        }
    }
}
