//! The commands as people run them: arguments and files in, text and exit code out.

use clap::Parser;
use hearth_rules_cli::{Command, Exit, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// Runs a command; `DATA/`, `CASES/` and `CHAT/` stand for the folders of the tests and of the example.
fn hearth_rules(line: &[&str]) -> (Exit, String, String) {
    let folder = env!("CARGO_MANIFEST_DIR");
    let place = |argument: &&str| {
        argument
            .replace("DATA/", &format!("{folder}/tests/data/"))
            .replace("CASES/", &format!("{folder}/../../tests/cases/"))
            .replace("CHAT/", &format!("{folder}/../../examples/chat/"))
    };
    let arguments = std::iter::once("hearth-rules".to_owned()).chain(line.iter().map(place));
    let Arguments { command } =
        Arguments::try_parse_from(arguments).unwrap_or_else(|error| panic!("{error}"));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = run("hearth-rules", &command, &mut out, &mut err);
    let text = |bytes| {
        String::from_utf8(bytes)
            .expect("UTF-8")
            .replace(&format!("{folder}/tests/data/"), "DATA/")
            .replace(&format!("{folder}/../../"), "")
    };
    (exit, text(out), text(err))
}

/// A file of its own, gone with the value.
struct Temporary(PathBuf);

impl Temporary {
    fn new(text: &str) -> Self {
        Self::named("", text)
    }

    fn named(end: &str, text: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let file = std::env::temp_dir().join(format!("hearth-rules-{}-{count}{end}", std::process::id()));
        fs::write(&file, text).expect("a temporary file");
        Self(file)
    }

    fn name(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What is left behind is in the folder for what may be left behind.
        fs::remove_file(&self.0).unwrap_or_default();
    }
}

#[test]
fn the_recorded_cases_pass() {
    for (file, count) in [("rules-conformance", 280), ("rules-compile", 193), ("rules-format", 45)] {
        let (exit, out, err) = hearth_rules(&["test", &format!("CASES/{file}.json")]);
        assert_eq!((exit, err.as_str()), (Exit::Fine, ""), "{file}: {out}");
        assert_eq!(out.lines().last(), Some(format!("{count} passed, 0 failed").as_str()), "{file}");
    }
}

#[test]
fn suites_of_all_shapes_run_against_rules() {
    for (suite, last) in [("chat.yaml", "10 passed, 0 failed"), ("targaryen.json", "5 passed, 0 failed")] {
        let (exit, out, err) = hearth_rules(&["test", "DATA/chat.json", &format!("DATA/{suite}")]);
        assert_eq!((exit, err.as_str(), out.lines().last()), (Exit::Fine, "", Some(last)), "{suite}: {out}");
    }
    let (_, out, _) = hearth_rules(&["test", "DATA/chat.json", "DATA/chat.yaml"]);
    assert!(
        out.contains(r#"warning: Index not defined, add ".indexOn": "topic", for path "/rooms/r1""#),
        "{out}"
    );
}

#[test]
fn the_example_of_the_readme_is_in_order_and_passes() {
    let readme = include_str!("../../../README.md");
    let block = |language: &str| {
        let (_, block) = readme.split_once(&format!("```{language}\n")).expect("the block is there");
        Temporary::new(block.split_once("```").expect("it ends").0)
    };
    let (rules, suite) = (block("json"), block("yaml"));
    let (exit, out, _) = hearth_rules(&["check", "--deny-warnings", rules.name()]);
    assert_eq!(exit, Exit::Fine, "{out}");
    let (exit, out, err) = hearth_rules(&["test", rules.name(), suite.name()]);
    assert_eq!((exit, out.as_str(), err.as_str()), (Exit::Fine, "4 passed, 0 failed\n", ""));
    // What is shown at the end is of this suite with one step turned around.
    let yaml = fs::read_to_string(suite.name()).expect("it was written");
    let turned = Temporary::new(&yaml.replace("bob cannot read", "bob can read"));
    let (_, out, _) = hearth_rules(&["test", rules.name(), turned.name()]);
    let out = out.replace(turned.name(), "rules.test.yaml");
    let (_, shown) = readme.split_once("```\nFAILED").expect("it is shown");
    let shown = format!("FAILED{}", shown.split_once("```").expect("it ends").0);
    for part in shown.split("  …\n") {
        assert!(out.contains(part), "{part}\nis not in\n{out}");
    }
}

#[test]
fn the_rules_of_the_chat_are_in_order_and_their_suite_leaves_no_side_out() {
    let [rules, suite] = ["CHAT/rules.json", "CHAT/rules.test.yaml"];
    assert_eq!(hearth_rules(&["check", "--deny-warnings", rules]).1, "examples/chat/rules.json: in order\n");
    let (exit, tested, err) = hearth_rules(&["test", rules, suite]);
    assert_eq!((exit, err.as_str()), (Exit::Fine, ""), "{tested}");
    let (exit, covered, _) = hearth_rules(&["coverage", rules, suite, "--fail-under", "100"]);
    assert_eq!(exit, Exit::Fine, "{covered}");
    let readme = include_str!("../../../../examples/chat/README.md");
    for said in [tested.as_str(), covered.lines().last().expect("a sum")] {
        assert!(readme.contains(said), "the README of the chat does not show: {said}");
    }
}

#[test]
fn a_failing_step_shows_how_its_verdict_came_about() {
    let suite = Temporary::new(
        "data: {rooms: {r1: {members: {ada: true}}}}\n\
         identities: {ada: ada, bob: bob}\n\
         tests:\n\
         - name: doors\n  steps:\n  - bob can read: /rooms/r1\n    because: he knocked\n  - ada cannot read: /rooms/r1\n",
    );
    let (exit, out, _) = hearth_rules(&["test", "DATA/chat.json", suite.name()]);
    assert_eq!(exit, Exit::Found);
    for expected in [
        "doors: bob can read /rooms/r1\n  no `.read` rule between the root and `/rooms/r1` allows this read (he knocked)\n",
        "data.child('members').child(auth.uid).exists() = false",
        "Read was denied.",
        "doors: ada cannot read /rooms/r1\n  it is allowed\n",
        "Read was allowed.",
        "\n0 passed, 2 failed\n",
    ] {
        assert!(out.contains(expected), "{expected}\nis not in\n{out}");
    }
    let (exit, out, _) = hearth_rules(&["test", "--format", "json", "DATA/chat.json", suite.name()]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (exit, &report["failed"], &report["results"][1]["passed"]),
        (Exit::Found, &2.into(), &false.into())
    );
    let (exit, out, _) = hearth_rules(&["test", "--format", "junit", "DATA/chat.json", suite.name()]);
    assert_eq!(exit, Exit::Found);
    assert!(out.contains("<testsuites tests=\"2\" failures=\"2\">"), "{out}");
    assert!(out.contains("<testcase classname=\"doors\" name=\"bob can read /rooms/r1\">"), "{out}");
    assert!(!out.contains(" && "), "ampersands are escaped: {out}");
}

#[test]
fn a_suite_that_would_test_nothing_is_refused() {
    for (suite, problem) in [
        ("tests: []", "holds no test"),
        ("tests: [{steps: []}]", "holds no test"),
        ("tests: [{steps: [{given: {/a: 1}}]}]", "test 1 (`test 1`): holds no test"),
        ("tests: [{steps: [{nobody cannot read: /}]}, {name: b, steps: []}]", "test 2 (`b`): holds no test"),
        ("{\"tests\": {\"/a\": {\"canRead\": []}, \"/\": {\"cannotRead\": [null]}}}", "`/a`: holds no test"),
        // Of two with one name only one would count.
        (
            "{\"tests\": [{\"steps\": [\n{\"nobody cannot read\": \"/\", \"nobody cannot read\": \"/a\"}]}]}",
            "`nobody cannot read` is already there in this object at line 2 column 48",
        ),
        (
            "{\"tests\": {\"/\": {\"cannotRead\": [null]}, \"/\": {\"canRead\": [null]}}}",
            "`/` is already there in this object at line 1 column",
        ),
        (
            "[{\"rules\": {\"rules\": {\".read\": false, \".read\": true}}, \"op\": {\"kind\": \"read\", \"path\": \"/\"}, \"allow\": true}]",
            "`.read` is already there in this object at line 1 column",
        ),
        ("tests: [{steps: [{nobody cannot read: /, nobody cannot read: /a}]}]", "nobody cannot read"),
        ("tests: [{name: 5, steps: [{nobody cannot read: /}]}]", "`name` is a text"),
        ("tests: [{steps: [{nobody cannot read: /, because: 5}]}]", "`because` is a text"),
        ("[{\"id\": 5, \"op\": {\"kind\": \"read\", \"path\": \"/\"}, \"allow\": true}]", "`id` is a text"),
        (
            "tests: [{steps: [{nobody cannot read: /, query: {orderByKey: true, equalTo: a, startAt: a}}]}]",
            "`equalTo` and `startAt` cannot stand in one query",
        ),
        (
            "tests: [{steps: [{nobody cannot read: /, query: {startAt: a, startAfter: a}}]}]",
            "`startAt` and `startAfter` cannot stand in one query",
        ),
        (
            "tests: [{steps: [{nobody cannot read: /, query: {limitToFirst: 1, limitToLast: 1}}]}]",
            "`limitToFirst` and `limitToLast` cannot stand in one query",
        ),
        (
            "tests: [{steps: [{nobody cannot read: /, query: {orderByKey: yes}}]}]",
            "`orderByKey` is true or false",
        ),
        ("[]", "holds no test"),
        ("tests: {}", "holds no test"),
        ("just a text", "a suite is a mapping"),
        ("a: [", "is not YAML"),
        ("{\"tests\": ", "is not JSON"),
        ("test: []", "`test` is not known here"),
        ("tests: [{steps: [{ada can read: /}]}]", "`ada` is not among the `identities`"),
        ("tests: [{steps: [{nobody may read: /}]}]", "`nobody may read` is no action"),
        ("tests: [{steps: [{nobody can delete: /}]}]", "`nobody can delete` is no action"),
        ("tests: [{steps: [{nobody can write: /}]}]", "a write needs a `value`"),
        ("tests: [{steps: [{nobody can read: /, value: 1}]}]", "a read has no `value`"),
        (
            "tests: [{steps: [{nobody can read: /, query: {orderBy: x}}]}]",
            "`orderBy` is not known in a query",
        ),
        ("tests: [{steps: [{nobody can read: /, query: {limitToFirst: 0}}]}]", "at least 1"),
        ("tests: [{steps: [{nobody can read: /a.b}]}]", "`.`"),
        ("tests: [{steps: [{nobody can write: /, value: {a.b: 1}}]}]", "test 1"),
        ("tests: [{steps: [{nobody can read: /, now: soon}]}]", "milliseconds"),
        ("tests: {/: {canRaed: []}}", "`canRaed` is not known here"),
        ("tests: {/: {canRead: [ann]}}", "`ann` is not among the `users`"),
        ("[{\"id\": \"x\", \"op\": {\"kind\": \"read\", \"path\": \"/\"}}]", "x: `allow` is true or false"),
        ("[{\"id\": \"x\"}]", "x: a case has an `op`"),
    ] {
        let file = Temporary::new(suite);
        let mut line = vec!["test"];
        if !suite.starts_with('[') {
            line.push("DATA/chat.json");
        }
        line.push(file.name());
        let (exit, out, err) = hearth_rules(&line);
        assert_eq!((exit, out.as_str()), (Exit::Trouble, ""), "{suite}");
        assert!(err.contains(problem), "{suite}: {err}");
        assert!(err.contains(file.name()), "{suite}: {err}");
    }
    for line in [["test", "DATA/chat.json"].as_slice(), &["test", "DATA/none.json", "DATA/chat.yaml"]] {
        assert_eq!(hearth_rules(line).0, Exit::Trouble, "{line:?}");
    }
    let (exit, _, err) = hearth_rules(&["test", "DATA/broken.json", "DATA/chat.yaml"]);
    assert_eq!(exit, Exit::Trouble);
    assert!(err.contains("error: DATA/broken.json:3:20"), "{err}");
}

#[test]
fn suites_say_what_they_mean() {
    let case = "{id: x, rules: {rules: {.read: true}}, op: {kind: read, path: /}, allow: true}";
    for list in [
        format!("- {case}"),
        format!("---\n- {case}"),
        format!("\u{feff}- {case}"),
        format!("%YAML 1.2\n--- # cases\n-\n  {case}"),
        "\u{feff}[{\"rules\": {\"rules\": {\".read\": true}}, \"op\": {\"kind\": \"read\", \"path\": \"/\"}, \"allow\": true}]".into(),
    ] {
        let list_file = Temporary::new(&list);
        let (exit, out, err) = hearth_rules(&["test", list_file.name()]);
        assert_eq!((exit, out.as_str(), err.as_str()), (Exit::Fine, "1 passed, 0 failed\n", ""), "{list}");
    }
    let rules = Temporary::new(
        r#"{"rules": {
            "a": {".write": "newData.val() == 'yes' || newData.val() == now"},
            "q": {".read": "query.startAt == 'b' && query.endAt == 'd'"},
            "t": {".read": "data.val() == now"}
        }}"#,
    );
    for suite in [
        // YAML 1.2 knows two booleans.
        "tests: [{steps: [{nobody can write: /a, value: yes}, {nobody cannot write: /a, value: on}]}]",
        "tests: [{steps: [{nobody can read: /q, query: {startAfter: b, endBefore: d}}]}]",
        "tests: [{steps: [{nobody can read: /q, query: {startAt: b, endAt: d}}]}]",
        // The time is that of the suite, of the test, or of the step.
        "{now: 5, tests: [{steps: [{given: {/t: {.sv: timestamp}}}, {nobody can read: /t}]}]}",
        "{now: 5, tests: [{now: 6, steps: [{given: {/t: {.sv: timestamp}}}, {nobody can read: /t, now: 6}]}]}",
        "{tests: [{steps: [{given: {/t: {.sv: timestamp}}, now: 7}, {nobody can read: /t, now: 7}]}]}",
        "{tests: {t: {canRead: [null]}, a: {canWrite: [{data: 7}], cannotWrite: [{data: 8}]}}, root: {t: {.sv: timestamp}}, now: 7}",
    ] {
        // As YAML.
        let file = Temporary::new(&format!("# A suite.\n{suite}"));
        let (exit, out, err) = hearth_rules(&["test", rules.name(), file.name()]);
        assert_eq!((exit, err.as_str()), (Exit::Fine, ""), "{suite}\n{out}");
    }
}

#[test]
fn a_query_that_is_denied_needs_no_index() {
    let rules = Temporary::new(r#"{"rules": {"p": {".read": "auth.uid === 'x'"}}}"#);
    for (step, exit) in [("nobody cannot read", Exit::Fine), ("x can read", Exit::Found)] {
        let suite = Temporary::new(&format!(
            "{{identities: {{x: x}}, tests: [{{steps: [{{{step}: /p, query: {{orderByChild: secret}}}}]}}]}}"
        ).replacen('{', "# A suite.\n{", 1));
        let line = ["check", "--deny-warnings", rules.name(), "--suite", suite.name()];
        let (found, out, err) = hearth_rules(&line);
        assert_eq!((found, err.as_str()), (exit, ""), "{step}: {out}");
    }
}

#[test]
fn check_reports_every_problem_with_a_caret_and_advice() {
    let (exit, out, _) = hearth_rules(&["check", "DATA/broken.json"]);
    assert_eq!(exit, Exit::Found);
    assert_eq!(
        out,
        "error: DATA/broken.json:3:20: Rule expressions may not contain assignments.\n\
         \x20 in /.read\n\
         \x20 3 |     \".read\": \"auth = null\",\n\
         \x20   |                    ^\n\
         \x20 help: write `==` to compare\n\
         error: DATA/broken.json:6:21: ! only operates on booleans.\n\
         \x20 in /rooms/$room/.write\n\
         \x20 6 |         \".write\": \"!data.child('frozen').val()\",\n\
         \x20   |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^\n\
         \x20 help: a missing value is not false here: write `… !== true` or `… == null`\n\
         error: DATA/broken.json:7:47: Illegal regular expression: '^' can only be the first character of the whole pattern.\n\
         \x20 in /rooms/$room/.validate\n\
         \x20 7 |         \".validate\": \"newData.val().matches(/(^a|b)/)\"\n\
         \x20   |                                               ^^^^^^\n\
         \x20 help: put the alternatives in a group between the anchors, as in `/^(a|b)$/`, or escape the character\n\
         DATA/broken.json: 3 errors\n"
    );
    let (exit, out, _) = hearth_rules(&["check", "--format", "json", "DATA/broken.json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (exit, &report["findings"][0]["line"], &report["findings"][0]["column"]),
        (Exit::Found, &3.into(), &20.into())
    );
}

#[test]
fn check_says_to_what_users_stumbled_over_what_they_can_do() {
    for (report, rules, exit, expected) in [
        (
            "R001",
            r#"{"rules": {".validate": "newData.val().matches(/^[a-z]+(\\s[a-z]+)*$/i)"}}"#,
            Exit::Fine,
            "in order",
        ),
        (
            "R003",
            r#"{"rules": {".read": "root.child('teams').child(auth.uid) != null"}}"#,
            Exit::Found,
            ".exists()",
        ),
        (
            "R009",
            r#"{"rules": {".read": "auth.token['firebase']['sign_in_provider'] == 'x'"}}"#,
            Exit::Fine,
            "in order",
        ),
        (
            "R009",
            r#"{"rules": {".write": "newData.val()['kind'] == 'x'"}}"#,
            Exit::Found,
            ":1:37: No such method/property 'kind'.",
        ),
        (
            "R013",
            r#"{"rules": {"$o": {".validate": "newData.hasChildren(['a','b']"}}}"#,
            Exit::Found,
            "add the missing `)`",
        ),
        (
            "R013",
            r#"{"rules": {".read": "true /* x */"}}"#,
            Exit::Found,
            "put the comment outside of the quotes",
        ),
        (
            "R013",
            r#"{"rules": {".read": "true /* x */"}}"#,
            Exit::Found,
            ":1:27: Rule expressions may not contain comments.",
        ),
        (
            "R013",
            r#"{"rules": {".read": "auth == 'a' // it's"}}"#,
            Exit::Found,
            ":1:34: Rule expressions may not contain comments.",
        ),
        (
            "R013",
            r#"{"rules": {".read": "// it's\ntrue"}}"#,
            Exit::Found,
            ":1:22: Rule expressions may not contain comments.",
        ),
        (
            "R013",
            r#"{"rules": {".read": "auth = 'a' // it's"}}"#,
            Exit::Found,
            ":1:27: Rule expressions may not contain assignments.",
        ),
        (
            "R013",
            r#"{"rules": {".read": "auth.uid.matches(/a//*x*/)"}}"#,
            Exit::Found,
            "Rule expressions may not contain comments.",
        ),
        ("R013", r#"{"rules": {".read": ""}}"#, Exit::Found, ":1:22: Expression is empty."),
        ("R013", r#"1"rules": {}"#, Exit::Found, ":1:1: Expected '{'."),
        ("R013", "// a\n{\"rules\": /* b */ {\".read\": false,},}", Exit::Fine, "in order"),
        (
            "R017",
            r#"{"rules": {".write": "!data.child('frozen').val()"}}"#,
            Exit::Found,
            "write `… !== true`",
        ),
        ("R097", r#"{"rules": {".read": true}}"#, Exit::Fine, "[open-root]"),
        ("R097", r#"{"rules": {".read": "now < 1700000000000"}}"#, Exit::Fine, "[open-root-for-a-time]"),
        ("R097", r#"{"rules": {".read": "auth != null"}}"#, Exit::Fine, "[open-root-to-signed-in]"),
        ("R097", r#"{"rules": {"a": {".write": true}}}"#, Exit::Fine, "[public-write]"),
        ("R097", r#"{"rules": {"a": {".write": "auth.uid === 'x'"}}}"#, Exit::Fine, "[unvalidated-write]"),
    ] {
        let file = Temporary::new(rules);
        let (found, out, err) = hearth_rules(&["check", file.name()]);
        assert_eq!((found, err.as_str()), (exit, ""), "{report}: {rules}\n{out}");
        assert!(out.contains(expected), "{report}: {expected}\nis not in\n{out}");
    }
}

#[test]
fn check_looks_for_the_indexes_that_suites_need() {
    let suite = ["--suite", "DATA/chat.yaml"];
    let (exit, out, _) = hearth_rules(&[["check", "DATA/chat.json"], suite].concat());
    assert_eq!(exit, Exit::Fine, "{out}");
    for expected in [
        r#"add ".indexOn": "topic", for path "/rooms/r1", to the rules [missing-index]"#,
        "in order, 1 warning\n",
    ] {
        assert!(out.contains(expected), "{expected}\nis not in\n{out}");
    }
    assert_eq!(
        hearth_rules(&[["check", "DATA/chat.json"], suite, ["--deny-warnings", "--format=sarif"]].concat()).0,
        Exit::Found
    );
    let chat = ["check", "--deny-warnings", "CHAT/rules.json", "--suite", "CHAT/rules.test.yaml"];
    assert_eq!(hearth_rules(&chat).0, Exit::Fine);
}

#[test]
fn sarif_has_what_its_schema_asks_for() {
    let broken = Temporary::named("the rules ü.json", "{\"rules\": {\".read\": \"auth = null\"}}");
    let (_, out, _) = hearth_rules(&["check", "--format", "sarif", broken.name(), "DATA/chat.json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["version"], "2.1.0");
    let run = &report["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "hearth-rules");
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let ids: Vec<&Value> =
        run["tool"]["driver"]["rules"].as_array().expect("a list").iter().map(|rule| &rule["id"]).collect();
    for result in run["results"].as_array().expect("a list") {
        assert!(ids.contains(&&result["ruleId"]) && result["message"]["text"].is_string(), "{result:#}");
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().expect("a text");
        assert!(uri.ends_with("the%20rules%20%C3%BC.json"), "{uri}");
        let at = |name: &str| place["region"][name].as_u64().expect("a number");
        assert!(
            (at("startLine"), at("startColumn")) <= (at("endLine"), at("endColumn"))
                && at("startColumn") != 0
        );
    }
}

#[test]
fn check_warns_without_failing_unless_it_is_told_to() {
    let open = Temporary::new("{\"rules\": {\".read\": true, \".write\": \"auth != null\"}}");
    let (exit, out, _) = hearth_rules(&["check", open.name()]);
    assert_eq!(exit, Exit::Fine);
    for expected in ["[open-root]", "[open-root-to-signed-in]", "[unvalidated-write]", "in order, 3 warnings"]
    {
        assert!(out.contains(expected), "{out}");
    }
    assert_eq!(hearth_rules(&["check", "--deny-warnings", open.name()]).0, Exit::Found);
    let (exit, out, _) = hearth_rules(&["check", "--format", "sarif", open.name()]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let first = &report["runs"][0]["results"][0];
    assert_eq!(
        (exit, &first["ruleId"], &first["level"]),
        (Exit::Fine, &"open-root".into(), &"warning".into())
    );
    assert_eq!(first["locations"][0]["physicalLocation"]["region"]["startColumn"], 21);
    assert_eq!(hearth_rules(&["check", "DATA/chat.json"]).1, "DATA/chat.json: in order\n");
}

#[test]
fn what_a_terminal_would_obey_is_not_shown() {
    for (escape, is_key) in
        [("\\u001b[2J", false), ("\u{85}\u{9b}", true), ("\u{202e}", true), ("\u{200f}\u{2066}", true)]
    {
        let broken = format!(
            "{{\"rules\": {{\".read\": \"data['{escape}'] == 1\", \"${escape}\": {{}}, \"$b\": {{}}}}}}"
        );
        let key = if is_key { escape } else { "k" };
        let valid = format!(
            "{{\"rules\": {{\"{key}\": {{\".read\": \"auth.uid == '{escape}'\", \".write\": true}}}}}}"
        );
        let place = format!("/{key}");
        let suite = json!({"tests": [{"name": key, "steps": [
            {"nobody can read": place, "because": key},
            {"nobody cannot write": place, "value": key},
        ]}]});
        let (broken, valid, suite) =
            (Temporary::new(&broken), Temporary::new(&valid), Temporary::new(&suite.to_string()));
        for line in [
            ["check", broken.name()].as_slice(),
            &["explain", valid.name(), "--as", "ada", "read", &place],
            &["check", valid.name()],
            &["test", valid.name(), suite.name()],
            &["coverage", valid.name(), suite.name()],
        ] {
            let (_, out, err) = hearth_rules(line);
            let obeyed = |ch: char| ch != '\n' && hearth_tree::disturbs_lines(ch);
            assert!(!out.is_empty() && !(out.clone() + &err).contains(obeyed), "{line:?}\n{out:?}\n{err:?}");
        }
    }
}

#[test]
fn explain_shows_the_way_to_a_verdict() {
    for (line, exit, expected) in [
        (
            ["explain", "DATA/chat.json", "--as", "ada", "read", "/users/ada"].as_slice(),
            Exit::Fine,
            "Read was allowed.",
        ),
        (
            &["explain", "DATA/chat.json", "--as", "nobody", "read", "/users/ada"],
            Exit::Found,
            "auth != null = false",
        ),
        (
            &[
                "explain",
                "DATA/chat.json",
                "--as",
                "{\"uid\": \"ada\"}",
                "write",
                "/users/ada",
                "{\"name\": 1}",
            ],
            Exit::Found,
            "newData.child('name').isString()",
        ),
        (
            &["explain", "DATA/chat.json", "--as", "ada", "update", "/", "{\"users/ada/name\": \"Ada\"}"],
            Exit::Fine,
            "Write was allowed.",
        ),
        (
            &[
                "explain",
                "DATA/chat.json",
                "--as",
                "bob",
                "write",
                "/rooms/r1/messages/m",
                "{\"by\": \"bob\"}",
            ],
            Exit::Found,
            "=> false",
        ),
    ] {
        let (found, out, err) = hearth_rules(line);
        assert_eq!((found, err.as_str()), (exit, ""), "{line:?}\n{out}");
        assert!(out.contains(expected), "{line:?}: {expected}\nis not in\n{out}");
    }
    for (line, expected) in [
        (
            ["explain", "DATA/chat.json", "--as", "ada", "write", "/users/ada"].as_slice(),
            "behind the path, as JSON",
        ),
        (
            &["explain", "DATA/chat.json", "--as", "ada", "write", "/users/ada", "hello"],
            "a text stands in quotes, and those in quotes for the shell: '\"hello\"'",
        ),
        (
            &["explain", "DATA/chat.json", "--as", "ada", "write", "/users/ada", "{"],
            "the value is not JSON: EOF",
        ),
        (&["explain", "DATA/chat.json", "--as", "ada", "read", "/a.b"], "has `.` at byte 1"),
        (&["explain", "DATA/chat.json", "--as", "{", "read", "/"], "`--as` is not JSON"),
        (&["explain", "DATA/chat.json", "--as", "ada", "read", "/", "1"], "a read has no value"),
        (
            &["test", "DATA/chat.yaml", "DATA/chat.json"],
            "`DATA/chat.yaml` holds a suite, and the order is: RULES SUITE…",
        ),
        (&["test", "DATA/chat.yaml"], "`DATA/chat.yaml` holds a suite, and the order is"),
        (&["test", "DATA/chat.json", "DATA/chat.json"], "`DATA/chat.json` holds rules, and the order is"),
        (&["coverage", "DATA/targaryen.json", "DATA/chat.json"], "`DATA/targaryen.json` holds a suite"),
        (&["test", "DATA/broken.json", "DATA/chat.yaml"], "error: DATA/broken.json:"),
    ] {
        let (exit, out, err) = hearth_rules(line);
        assert_eq!((exit, out.as_str()), (Exit::Trouble, ""), "{line:?}");
        assert!(err.contains(expected), "{line:?}: {expected}\nis not in\n{err}");
    }
}

#[test]
fn what_is_said_beside_a_report_does_not_spoil_it() {
    let rules = Temporary::new(r#"{"rules": {"a": {".read": "auth != null && auth.uid == 'x'"}}}"#);
    let once = Temporary::new("tests: [{steps: [{nobody can read: /a}]}]");
    let twice = Temporary::new("tests: [{steps: [{nobody can read: /a}, {nobody can read: /a}]}]");
    for (suite, failed) in
        [(&once, "1 test failed; `test` says why\n"), (&twice, "2 tests failed; `test` says why\n")]
    {
        let said = format!("{failed}40.0 % is covered; `--fail-under 100` asks for more\n");
        for format in ["text", "json", "lcov", "html"] {
            let line = ["coverage", "--fail-under=100", "--format", format, rules.name(), suite.name()];
            let (exit, out, err) = hearth_rules(&line);
            let beside = if format == "text" { &out } else { &err };
            assert_eq!(exit, Exit::Found, "{format}");
            assert!(beside.ends_with(&said), "{format}: {out}\n{err}");
            match format {
                "json" => drop(serde_json::from_str::<Value>(&out).expect("nothing but JSON")),
                "lcov" => assert!(out.ends_with("end_of_record\n"), "{out}"),
                "html" => assert!(out.ends_with("</html>\n"), "{out}"),
                _ => assert_eq!(err, ""),
            }
        }
    }
}

#[test]
fn a_page_tells_what_failed_from_what_was_never_evaluated() {
    let rules = Temporary::new(r#"{"rules": {"a": {".write": "newData.val() == data.val() + 1"}}}"#);
    let suite = Temporary::new("tests: [{steps: [{nobody cannot write: /a, value: 1}]}]");
    let (exit, html, _) = hearth_rules(&["coverage", "--format", "html", rules.name(), suite.name()]);
    assert_eq!(exit, Exit::Fine);
    for expected in [
        "<i class=\"part\" title=\"1\u{a0}×\u{a0}1\">.val()</i>",
        "<i class=\"part\" title=\"1\u{a0}×\u{a0}a part of it failed\"> == </i>",
        "title=\"1\u{a0}×\u{a0}failed: `+` adds numbers and joins texts; found null and a number\"> + </i>",
    ] {
        assert!(html.contains(expected), "{expected}\nis not in\n{html}");
    }
    assert!(!html.contains("never evaluated\">"), "{html}");
}

#[test]
fn sides_of_one_rule_are_told_apart() {
    let rules =
        Temporary::new(r#"{"rules": {"a": {".read": "auth != null && auth.a == 1 && auth.b == 1"}}}"#);
    for (suite, expected) in [
        (
            "tests: [{steps: [{nobody cannot read: /a}]}]",
            "false by the right side of &amp;&amp; <small>(1:59)</small>",
        ),
        (
            "{identities: {x: {a: 1}}, tests: [{steps: [{x cannot read: /a}]}]}",
            "decided by the left side of &amp;&amp; <small>(1:28)</small>",
        ),
    ] {
        let suite = Temporary::new(&format!("# A suite.\n{suite}"));
        let (_, html, _) = hearth_rules(&["coverage", "--format", "html", rules.name(), suite.name()]);
        let (_, missed) = html.split_once("<br>never ").expect("something is missed");
        let (missed, _) = missed.split_once("</li>").expect("the row ends");
        let sides: BTreeSet<&str> = missed.split(", ").collect();
        assert_eq!(sides.len(), missed.split(", ").count(), "{missed}");
        assert!(sides.contains(expected), "{missed}");
    }
}

#[test]
fn coverage_names_what_a_suite_forgets_and_can_fail_for_it() {
    let files = ["DATA/chat.json", "DATA/chat.yaml"];
    let (exit, out, _) = hearth_rules(&["coverage", files[0], files[1]]);
    assert_eq!(exit, Exit::Fine, "{out}");
    for expected in [
        "/rooms/$room/.read: 1 true, 2 false, 0 failed\n",
        "  never: true by the second branch of ?: (18:142 newData.hasChild('image'))\n",
        "  never: false by the right side of && (7:36 auth.uid === $uid)\n",
        "sides, ",
    ] {
        assert!(out.contains(expected), "{expected}\nis not in\n{out}");
    }
    // Counted by hand: Ada reads once, Bob and nobody are refused.
    for (report, rule, counts) in [
        ("R095", "13:18 /rooms/$room/.read", "1 true, 2 false, 0 failed"),
        ("R095", "17:23 /rooms/$room/messages/$message/.write", "2 true, 2 false, 0 failed"),
        ("R095", "18:26 /rooms/$room/messages/$message/.validate", "1 true, 1 false, 0 failed"),
        ("R095", "7:19 /users/$uid/.write", "1 true, 1 false, 0 failed"),
        ("R095", "6:18 /users/$uid/.read", "0 true, 0 false, 0 failed"),
    ] {
        assert!(out.contains(&format!("{rule}: {counts}\n")), "{report}: {rule}: {counts}\nis not in\n{out}");
    }
    for percent in ["101", "-1", "NaN", "all"] {
        let line = ["hearth-rules", "coverage", &format!("--fail-under={percent}"), files[0], files[1]];
        assert!(Arguments::try_parse_from(line).is_err(), "{percent}");
    }
    for (id, percent, exit) in [
        ("R095", "10", Exit::Fine),
        ("R095", "61.1", Exit::Fine),
        ("R095", "61.2", Exit::Found),
        ("R095", "100", Exit::Found),
    ] {
        let (found, out, _) = hearth_rules(&["coverage", "--fail-under", percent, files[0], files[1]]);
        assert_eq!(found, exit, "{id} {percent}: {out}");
        let asks = format!("% is covered; `--fail-under {percent}` asks for more\n");
        assert_eq!(out.ends_with(&asks), exit == Exit::Found, "{out}");
    }
    let (_, out, _) = hearth_rules(&["coverage", "--format", "json", files[0], files[1]]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let read = report["rules"].as_array().expect("a list").iter().find(|rule| rule["path"] == "/rooms/$room");
    let counts = &read.expect("it is there")["counts"];
    assert_eq!((&counts["true"], &counts["false"], &counts["error"]), (&1.into(), &2.into(), &0.into()));
    assert_eq!(report["file"], files[0]);
    let whole = &read.expect("it is there")["expressions"][0];
    assert_eq!(whole["expression"], "auth != null && data.child('members').child(auth.uid).exists()");
    assert_eq!(whole["values"], json!([{"value": true, "count": 1}, {"value": false, "count": 2}]));
    assert_eq!(whole["children"][0]["expression"], "auth != null");
    let (_, out, _) = hearth_rules(&["coverage", "--format", "lcov", files[0], files[1]]);
    for expected in ["SF:DATA/chat.json\n", "DA:13,3\n", "BRDA:13,", "end_of_record\n"] {
        assert!(out.contains(expected), "{expected}\nis not in\n{out}");
    }
    let page = Temporary::new("");
    let line = ["coverage", "--format", "html", "--output", page.name(), files[0], files[1]];
    assert_eq!(hearth_rules(&line), (Exit::Fine, String::new(), String::new()));
    let html = fs::read_to_string(&page.0).expect("the page");
    for expected in [
        "<i class=\"ok\"",
        "<i class=\"part\"",
        "<i class=\"miss\"",
        "Never exercised",
        "// Nobody enumerates",
    ] {
        assert!(html.contains(expected), "{expected}\nis not in\n{html}");
    }
    assert_eq!(hearth_rules(&["coverage", "CASES/rules-conformance.json"]).0, Exit::Trouble);
}
