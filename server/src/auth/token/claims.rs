//! The JSON of a token, read once and one way.
//!
//! Why no name may stand twice (RFC 7519, 4): of two values each reader takes the one that it likes, so that what was checked
//! here could differ from what rules, or whoever has signed it, went by.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// What a token says, by names.
pub(super) type Claims = Map<String, Value>;

/// An object. Nothing, if it is none, or if a name stands twice in it or in what is in it.
pub(super) fn read(json: &[u8]) -> Option<Claims> {
    match serde_json::from_slice(json) {
        Ok(Single(Value::Object(claims))) => Some(claims),
        Ok(Single(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)))
        | Err(_) => None,
    }
}

/// A value in which no name stands twice.
struct Single(Value);

impl<'de> Deserialize<'de> for Single {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading).map(Self)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that is none"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.into()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Single(value)) = array.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((name, Single(value))) = object.next_entry()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a name stands twice"));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_once() {
        for (text, is_read) in [
            ("{}", true),
            (r#"{"a": null, "b": [true, -1, 1, 0.5, "x", {"a": 1}], "c": {"a": 1}}"#, true),
            (r#"{"a": 1, "a": 1}"#, false),
            (r#"{"a": 1, "\u0061": 1}"#, false),
            (r#"{"b": {"a": 1, "a": 2}}"#, false),
            (r#"{"b": [{"a": 1, "a": 2}]}"#, false),
            (r#"{"a": 1} "#, true),
            (r#"{"a": 1} x"#, false),
            (r#"{"a": 1e999}"#, false),
            ("[]", false),
            ("1", false),
            ("", false),
            ("{", false),
        ] {
            let read = read(text.as_bytes());
            assert_eq!(read.is_some(), is_read, "{text}");
            // What is read is what it says.
            assert_eq!(
                read.map(Value::Object),
                is_read.then(|| serde_json::from_str(text).unwrap()),
                "{text}"
            );
        }
        let deep = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        assert!(read(deep(100).as_bytes()).is_some());
        assert!(read(deep(100_000).as_bytes()).is_none());
    }
}
