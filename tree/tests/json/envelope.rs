//! Values in the midst of somebody else's message, read in one pass.

use crate::text;
use hearth_tree::{
    Compact, Draft, Form, Json, Path, Problem, ReadError, ReadOptions, Reader, repair_surrogates,
};
use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// `{"t":"d","d":{"b":{"p":PATH,"d":VALUE}}}`, as far as it matters here.
struct Envelope<'r>(&'r mut Reader);

#[derive(Default)]
struct Put {
    path: String,
    value: Option<Draft>,
}

impl<'de> DeserializeSeed<'de> for Envelope<'_> {
    type Value = Put;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Put, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Envelope<'_> {
    type Value = Put;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an envelope")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Put, A::Error> {
        let mut put = Put::default();
        while let Some(key) = members.next_key::<String>()? {
            match key.as_str() {
                "b" | "d" if put.path.is_empty() => put = members.next_value_seed(Envelope(&mut *self.0))?,
                "d" => put.value = members.next_value_seed(self.0.value())?,
                "p" => put.path = members.next_value()?,
                "x" => return Err(A::Error::custom("`x` is not allowed")),
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(put)
    }
}

fn read(message: &str) -> Result<Put, ReadError> {
    let message = repair_surrogates(message);
    let mut reader = Reader::new(ReadOptions::default());
    let mut json = serde_json::Deserializer::from_str(&message);
    let put = Envelope(&mut reader).deserialize(&mut json).and_then(|put| json.end().map(|()| put));
    put.map_err(|error| reader.error(&error, &message))
}

#[test]
fn a_value_is_read_where_it_stands() {
    let deep =
        [r#"{"a":"#.repeat(32), r#"{".value":{".sv":{"increment":1}}}"#.into(), "}".repeat(32)].concat();
    let deep_resolved = [r#"{"a":"#.repeat(32), "1".into(), "}".repeat(32)].concat();
    for (value, expected) in
        [(r#"{"a":"\ud800"}"#, "{\"a\":\"\u{FFFD}\"}"), ("null", "null"), (&deep, &deep_resolved)]
    {
        let put = read(&format!(r#"{{"t":"d","d":{{"r":1,"b":{{"p":"/x","d":{value}}}}}}}"#));
        let put = put.unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!(put.path, "/x");
        let node = put.value.map(|draft| draft.resolve(0, None).expect("a small number"));
        assert_eq!(text(node.as_ref(), Form::SOCKET), expected);
    }
}

#[test]
fn errors_come_out_whole() {
    for (value, expected) in [
        (
            r#"{"a":[{"b/c":1}]}"#,
            "key `b/c` has `/` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters (line 1, column 46, in `a/0`)",
        ),
        (r#"{"a":{"b":1,"b":null}}"#, "key `b` stands twice in one object (line 1, column 51, in `a`)"),
        ("1,\"x\":2", "unexpected JSON: `x` is not allowed (line 1, column 43)"),
        ("[1", "not valid JSON: expected `,` or `]` (line 1, column 41, in `1`)"),
    ] {
        let found = read(&format!(r#"{{"t":"d","d":{{"r":1,"b":{{"p":"/x","d":{value}}}}}}}"#));
        assert_eq!(found.err().map(|error| error.to_string()).as_deref(), Some(expected), "{value}");
    }
}

#[test]
fn what_is_wrong_can_be_told_apart() {
    let found = read(r#"{"p":"/x","d":{"a":{"b":{".sv":"now"}}}}"#).err().expect("an unknown server value");
    assert_eq!(found.problem, Problem::ServerValue { found: "`now`".into() });
    assert_eq!(found.at.to_string(), "a/b");
    assert_eq!(found.place.map(|place| (place.line, place.column)), Some((1, 36)));
}

#[test]
fn an_update_can_be_read_before_its_place() {
    let mut reader = Reader::new(ReadOptions::default());
    let mut json = serde_json::Deserializer::from_str(r#"{"b/c":1,"d":null}"#);
    let parts = reader.update().deserialize(&mut json).expect("an update");
    let at = Path::parse("a").expect("a path");
    let update = parts.clone().at(&at).expect("places apart");
    let places: Vec<_> = update.assignments().iter().map(|each| each.at().to_string()).collect();
    assert_eq!(places, ["/a/b/c", "/a/d"]);
    let bottom: Path = Path::parse(&vec!["x"; 31].join("/")).expect("a path");
    assert!(parts.at(&bottom).is_err(), "`b/c` is too deep below level 31");
}

#[test]
fn a_node_is_written_where_it_stands() {
    let node = crate::node(r#"{"a":1e21,".priority":2.5}"#);
    let mut bytes = Vec::new();
    let push = BTreeMap::from([("d", Json::new(node.as_ref(), Form::SOCKET))]);
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Compact);
    push.serialize(&mut serializer).expect("a vector takes all bytes");
    assert_eq!(String::from_utf8_lossy(&bytes), r#"{"d":{"a":1e+21,".priority":2.5}}"#);
}
