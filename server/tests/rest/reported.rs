//! What clients of such servers have reported of REST, as rows: the report, what is asked, and what a good server answers.

use crate::client::Ask;
use crate::server::Running;
use serde_json::{Value, json};

fn ask(method: &str, path: &str) -> Ask {
    Ask::new(method, path).with_query("ns", "reported")
}

fn put(path: &str, body: &Value) -> Ask {
    ask("PUT", path).with_body(body)
}

fn with_text(mut ask: Ask, text: &str) -> Ask {
    ask.body = Some(text.into());
    ask
}

/// A read with these parameters, which are not encoded yet.
fn get(path: &str, params: &[(&str, &str)]) -> Ask {
    params.iter().fold(ask("GET", path), |ask, (name, value)| ask.with_query(name, value))
}

/// Asks row by row. The body is compared as text, or its start if it is an error.
fn check(server: &Running, rows: Vec<(&str, Ask, u16, &str)>) {
    for (report, ask, status, body) in rows {
        let answer = ask.send(&server.address).expect("the server answers");
        let found = answer.status;
        let text = answer.text().expect("the body is text");
        assert_eq!(found, status, "{report} {ask:?}: {text}");
        let is_right = if status < 400 { text == body } else { text.contains(body) };
        assert!(is_right, "{report} {ask:?}: {text} instead of {body}");
    }
}

#[test]
fn keys_are_reached_as_they_are_spelled() {
    let server = Running::start();
    check(
        &server,
        vec![
            (
                "R023",
                put("/grades.json", &json!({"a+b": 1, "a b": 2, "c%d": 3})),
                200,
                r#"{"a b":2,"a+b":1,"c%d":3}"#,
            ),
            ("R023", get("/grades/a+b.json", &[]), 200, "1"),
            ("R023", get("/grades/a%2Bb.json", &[]), 200, "1"),
            ("R023", get("/grades/a%2bb.json", &[]), 200, "1"),
            ("R023", get("/grades/a%20b.json", &[]), 200, "2"),
            ("R023", get("/grades/c%25d.json", &[]), 200, "3"),
            ("R023", get("/grades/a%252Bb.json", &[]), 200, "null"),
            (
                "R023",
                get("/grades.json", &[("orderBy", "\"$key\""), ("equalTo", "\"a+b\"")]),
                200,
                r#"{"a+b":1}"#,
            ),
            (
                "R023",
                get("/grades.json", &[("orderBy", "\"$key\""), ("equalTo", "\"a b\"")]),
                200,
                r#"{"a b":2}"#,
            ),
            // In a query, and nowhere else, a plus is a space.
            (
                "R023",
                Ask::new("GET", "/grades.json?ns=reported&orderBy=%22$key%22&equalTo=%22a+b%22&x=1"),
                200,
                r#"{"a b":2}"#,
            ),
            (
                "R027",
                put("/n.json", &json!({"-Nab": 1, "-Nab\\": 2, "-Nac": 3})),
                200,
                r#"{"-Nab":1,"-Nab\\":2,"-Nac":3}"#,
            ),
            (
                "R027",
                get("/n.json", &[("orderBy", "\"$key\""), ("startAt", "\"-Nab\\\\\"")]),
                200,
                r#"{"-Nab\\":2,"-Nac":3}"#,
            ),
            ("R027", get("/n/-Nab%5C.json", &[]), 200, "2"),
            (
                "R027",
                get("/n.json", &[("orderBy", "\"$key\""), ("startAt", "\"-Nab\\\"")]),
                400,
                "Constraint index field must be a JSON primitive",
            ),
            ("R027", get("/n.json", &[("orderBy", "\"$key\""), ("startAt", "5")]), 400, "\"error\""),
        ],
    );
}

#[test]
fn children_are_a_list_where_most_of_it_is_there() {
    let server = Running::start();
    let both = |written: Value, read: &'static str| (written, read);
    for (number, (written, read)) in [
        both(json!({"0": "a", "1": "b"}), r#"["a","b"]"#),
        both(json!({"1": "a", "2": "b"}), r#"[null,"a","b"]"#),
        both(json!({"0": "a", "4": "b"}), r#"{"0":"a","4":"b"}"#),
        both(json!({"1": "a", "5": "b", "9": "c"}), r#"{"1":"a","5":"b","9":"c"}"#),
        both(json!({"01": "a", "1": "b"}), r#"{"1":"b","01":"a"}"#),
        both(json!({"0": "a", "x": "b"}), r#"{"0":"a","x":"b"}"#),
        both(json!({"0": "a"}), r#"["a"]"#),
        both(json!({"1": "a"}), r#"[null,"a"]"#),
        both(json!({"2": "a"}), r#"{"2":"a"}"#),
        both(json!({"0": 0, "1": 1, "5": 5}), r#"[0,1,null,null,null,5]"#),
        both(json!({"0": 0, "1": 1, "6": 6}), r#"{"0":0,"1":1,"6":6}"#),
        both(json!({"2147483647": "a"}), r#"{"2147483647":"a"}"#),
        both(json!({"-1": "a", "0": "b"}), r#"{"-1":"a","0":"b"}"#),
        both(json!([null, "x", null, "y"]), r#"[null,"x",null,"y"]"#),
    ]
    .into_iter()
    .enumerate()
    {
        let at = format!("/r{number}.json");
        put(&at, &written).send(&server.address).expect("the server answers");
        check(
            &server,
            vec![("R029", get(&at, &[]), 200, read), ("R029", get(&at, &[("format", "export")]), 200, read)],
        );
        let mut stream = ask("GET", &at);
        stream.headers.push(("Accept".into(), "text/event-stream".into()));
        let event = stream.send(&server.address).and_then(|mut stream| stream.next_event());
        let shown: Value = serde_json::from_str(read).expect("a row has JSON");
        assert_eq!(event.expect("it is streamed").data["data"], shown, "R029 {written}");
    }
}

#[test]
fn a_list_and_its_children_are_one_state() {
    let server = Running::start();
    let etag = |written: &Value| {
        let mut ask = put("/seats.json", written);
        ask.headers.push(("X-Firebase-ETag".into(), "true".into()));
        let answer = ask.send(&server.address).expect("the server answers");
        answer.headers.get("etag").cloned().expect("it was asked for")
    };
    for (report, list, children) in [
        ("R031", json!([null, "x", null, "y"]), json!({"1": "x", "3": "y"})),
        ("R031", json!(["a", "b"]), json!({"0": "a", "1": "b"})),
        ("R031", json!([null, null]), json!(null)),
        ("R033", json!({"n": 9_007_199_254_740_991_i64}), json!({"n": 9_007_199_254_740_991.0})),
        ("R033", json!(1e21), json!(1_000_000_000_000_000_000_000.0)),
        ("R033", json!(-0.0), json!(0)),
    ] {
        assert_eq!(etag(&list), etag(&children), "{report} {list} and {children}");
    }
}

#[test]
fn numbers_are_read_as_they_were_written() {
    let server = Running::start();
    for (report, written, read) in [
        ("R033", "9007199254740991", "9007199254740991"),
        ("R033", "9007199254740994", "9007199254740994"),
        ("R033", "1e21", "1e+21"),
        ("R033", "1e-7", "1e-7"),
        ("R033", "0.30000000000000004", "0.30000000000000004"),
        ("R033", "1E308", "1e+308"),
        ("R033", "5e-324", "5e-324"),
        ("R033", "4503599627370495.5", "4503599627370495.5"),
        // No double has this half.
        ("R033", "4503599627370497.5", "4503599627370498"),
        ("R033", "-0", "0"),
        ("R033", "-0.0", "0"),
        ("R033", "1.0", "1"),
    ] {
        check(
            &server,
            vec![
                (report, with_text(ask("PUT", "/n.json"), written), 200, read),
                (report, get("/n.json", &[]), 200, read),
            ],
        );
    }
}

#[test]
fn parameters_that_do_not_go_together_are_refused() {
    let server = Running::start();
    let year = ("orderBy", "\"year\"");
    check(
        &server,
        vec![
            ("R047", get("/b.json", &[("shallow", "true"), ("orderBy", "\"$key\"")]), 400, "shallow"),
            ("R047", get("/b.json", &[("limitToFirst", "3")]), 400, "orderBy must be defined"),
            ("R047", get("/b.json", &[("orderBy", "year")]), 400, "orderBy"),
            (
                "R047",
                get("/b.json", &[year, ("startAt", "abc")]),
                400,
                "Constraint index field must be a JSON primitive",
            ),
            (
                "R047",
                get("/b.json", &[year, ("limitToFirst", "2"), ("limitToLast", "2")]),
                400,
                "limitToFirst",
            ),
            ("R047", get("/b.json", &[year, ("limitToFirst", "0")]), 400, "limit"),
            ("R047", get("/b.json", &[year, ("limitToFirst", "-1")]), 400, "limit"),
            ("R047", get("/b.json", &[year, ("limitToFirst", "2"), ("unheard-of", "1")]), 200, "null"),
        ],
    );
}

#[test]
fn libraries_find_what_they_rely_on() {
    let server = Running::start();
    let overridden = |mut ask: Ask, method: &str| {
        ask.headers.push(("X-HTTP-Method-Override".into(), method.into()));
        ask
    };
    let shallow = [("shallow", "true")];
    check(
        &server,
        vec![
            (
                "R079",
                put("/a.json", &json!({"o": {"x": 1, "y": {"z": 2}}, "s": "t", "n": 5})),
                200,
                r#"{"n":5,"o":{"x":1,"y":{"z":2}},"s":"t"}"#,
            ),
            ("R079", get("/a", &[]), 404, "append .json"),
            ("R079", get("//a///o.json", &[]), 200, r#"{"x":1,"y":{"z":2}}"#),
            ("R079", get("/a/o/.json", &[]), 200, r#"{"x":1,"y":{"z":2}}"#),
            ("R079", get("/a.json", &shallow), 200, r#"{"n":true,"o":true,"s":true}"#),
            ("R079", get("/a/s.json", &shallow), 200, "\"t\""),
            ("R079", get("/a/n.json", &shallow), 200, "5"),
            ("R079", get("/a/none.json", &shallow), 200, "null"),
            ("R079", with_text(put("/a/o.json", &json!(1)).with_query("print", "silent"), "1"), 204, ""),
            ("R079", get("/a/o.json", &[("print", "pretty")]), 200, "1"),
            (
                "R079",
                overridden(ask("POST", "/a.json").with_body(&json!({"o": 2})), "PATCH"),
                200,
                r#"{"o":2}"#,
            ),
            (
                "R079",
                with_text(ask("PATCH", "/a.json"), "[1]"),
                400,
                "Invalid data; couldn't parse JSON object",
            ),
            (
                "R079",
                with_text(ask("PATCH", "/a.json"), "1"),
                400,
                "Invalid data; couldn't parse JSON object",
            ),
            ("R079", with_text(ask("PUT", "/a.json"), ""), 400, "\"error\""),
            ("R079", ask("HEAD", "/a.json"), 200, ""),
            ("R079", get("/a.json", &[("unheard-of", "1")]), 200, r#"{"n":5,"o":2,"s":"t"}"#),
        ],
    );
    let pushed = ask("POST", "/list.json").with_body(&json!({"a": 1})).send(&server.address);
    let pushed = pushed.and_then(crate::client::Answer::text).expect("the server answers");
    let name = serde_json::from_str::<Value>(&pushed).expect("it is JSON")["name"].clone();
    assert!(name.as_str().is_some_and(|name| name.starts_with('-') && name.len() == 20), "R079 {pushed}");
}
