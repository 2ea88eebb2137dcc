use super::{QueryFields, QueryObject, query_of};
use crate::text::encode;

/// What a query object says again when it has been read.
fn read_and_write(text: &str) -> Result<String, String> {
    let fields: QueryFields = serde_json::from_str(text).map_err(|error| error.to_string())?;
    query_of(fields).map(|query| encode(&QueryObject(&query))).map_err(|error| error.to_string())
}

/// The table of wire reference 5.1, and combinations of its rows.
#[test]
fn what_javascript_sends_is_written_as_it_was_read() {
    for text in [
        "{}",
        r#"{"l":3,"vf":"l"}"#,
        r#"{"l":3,"vf":"r"}"#,
        r#"{"sp":"a","sin":true,"ep":"b","ein":true,"i":".key"}"#,
        r#"{"sp":"a","sin":false,"i":".key"}"#,
        r#"{"ep":"b","ein":false,"i":".key"}"#,
        r#"{"sp":3,"sin":true,"i":".value"}"#,
        r#"{"sp":3,"sn":"[MAX_NAME]","sin":false,"i":".value"}"#,
        r#"{"ep":3,"en":"[MIN_NAME]","ein":false,"i":".value"}"#,
        r#"{"sp":3,"sn":"kk","sin":false,"i":".value"}"#,
        r#"{"sp":true,"sin":true,"ep":true,"ein":true,"i":"a/b"}"#,
        r#"{"sp":5,"sn":"k","sin":true,"ep":5,"en":"k","ein":true,"i":"x"}"#,
        r#"{"sp":null,"sin":true,"ep":null,"ein":true,"i":"x"}"#,
        r#"{"sp":null,"sin":true}"#,
        r#"{"i":".key"}"#,
        r#"{"i":".value"}"#,
        r#"{"i":"meta/at"}"#,
        r#"{"sp":"x","sin":true,"l":1,"vf":"r"}"#,
        r#"{"sp":1.5,"sn":"k","sin":true,"ep":"z","en":"[MAX_NAME]","ein":true,"l":4294967295,"vf":"l","i":"points"}"#,
        r#"{"sp":9007199254740993,"sin":true,"i":".value"}"#,
    ] {
        assert_eq!(read_and_write(text).as_deref(), Ok(text));
    }
}

#[test]
fn other_spellings_mean_the_same() {
    let long = "z".repeat(2_000);
    let long_bound = format!(r#"{{"ep":"a{long}","i":".key"}}"#);
    let long_bound_in_full = format!(r#"{{"ep":"a{long}","ein":true,"i":".key"}}"#);
    for (text, expected) in [
        // Android: no `sin` and `ein`, its own sentinel, bounds longer than any key, doubles.
        (r#"{"sp":"abc-","i":".key"}"#, r#"{"sp":"abc-","sin":true,"i":".key"}"#),
        (r#"{"sp":3.0,"sn":"[MAX_KEY]","i":"x"}"#, r#"{"sp":3,"sn":"[MAX_NAME]","sin":true,"i":"x"}"#),
        (&long_bound, &long_bound_in_full),
        (r#"{"l":2.0,"vf":"l"}"#, r#"{"l":2,"vf":"l"}"#),
        // A limit without a side counts from the start if there is one.
        (r#"{"l":2}"#, r#"{"l":2,"vf":"r"}"#),
        (r#"{"l":2,"sp":null}"#, r#"{"sp":null,"sin":true,"l":2,"vf":"l"}"#),
        (r#"{"l":2,"ep":1}"#, r#"{"ep":1,"ein":true,"l":2,"vf":"r"}"#),
        (r#"{"vf":"l"}"#, "{}"),
        // Names that say nothing.
        (r#"{"sp":1,"sn":null}"#, r#"{"sp":1,"sin":true}"#),
        (r#"{"sn":null,"en":null}"#, "{}"),
        (r#"{"sp":"a","sn":"b","i":".key"}"#, r#"{"sp":"a","sin":true,"i":".key"}"#),
        (r#"{"sn":"b","i":".key"}"#, r#"{"i":".key"}"#),
        (r#"{"sin":false}"#, "{}"),
        (r#"{"sp":"[MIN_NAME]","i":".key"}"#, r#"{"sp":"[MIN_NAME]","sin":true,"i":".key"}"#),
        (r#"{"i":".priority","l":1,"vf":"l"}"#, r#"{"l":1,"vf":"l"}"#),
        (r#"{"i":"/a//b/","l":1,"vf":"l"}"#, r#"{"l":1,"vf":"l","i":"a/b"}"#),
        (r#"{"unknown":[{}]}"#, "{}"),
    ] {
        assert_eq!(read_and_write(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    for (text, expected) in [
        (r#"{"l":0}"#, "in the query, `l` must be from 1 to 4294967295, not 0"),
        (r#"{"l":4294967296}"#, "in the query, `l` must be from 1 to 4294967295, not 4294967296"),
        (r#"{"l":-1}"#, "invalid value: integer `-1`, expected a whole number, at least 0"),
        (r#"{"l":1.5}"#, "invalid value: floating point `1.5`, expected a whole number, at least 0"),
        (r#"{"l":"2"}"#, "invalid type: string \"2\", expected a whole number, at least 0"),
        (r#"{"l":1,"vf":"x"}"#, "in the query, `vf` must be \"l\" or \"r\", not `x`"),
        (r#"{"sp":1,"i":".key"}"#, "in the query, `sp` must be a text, for the order is by key"),
        (r#"{"ep":null,"i":".key"}"#, "in the query, `ep` must be a text, for the order is by key"),
        (
            r#"{"sp":true}"#,
            "in the query, `sp` must be null, a number or a text, for the order is by priority",
        ),
        (r#"{"sn":"k"}"#, "in the query, `sn` says which key among those of value `sp`, which is missing"),
        (
            r#"{"sp":1,"en":"k","i":"x"}"#,
            "in the query, `en` says which key among those of value `ep`, which is missing",
        ),
        (r#"{"sp":{}}"#, "invalid type: map, expected null, true, false, a number or a text"),
        (r#"{"sp":[1]}"#, "invalid type: sequence, expected null, true, false, a number or a text"),
        (r#"{"sin":1,"sp":1}"#, "invalid type: integer `1`, expected a boolean"),
        (r#"{"i":""}"#, "in the query, `i`: a path to order by needs at least one key"),
        (
            r#"{"i":"a.b"}"#,
            "in the query, `i`: in path `a.b`: key `a.b` has `.` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters",
        ),
        (r#"{"i":1}"#, "invalid type: integer `1`, expected a string"),
        (r#"{"l":1,"l":1}"#, "duplicate field `l`"),
    ] {
        let error = read_and_write(text).expect_err(text);
        assert_eq!(error.split(" at line").next(), Some(expected), "{text}");
    }
}
