//! What `auth` can hold: the claims of a token, as JSON.
//!
//! Why not a tree node: claims have lists and empty objects, their names may hold any character, and a missing one is
//! null without an error (rules reference 3).

use hearth_tree::disturbs_lines;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// One claim, or the whole of `auth`. Read it with `serde`; at most [`CLAIM_NESTING_MAX`] levels deep.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// `null`; for the whole of `auth`: nobody is signed in.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A double, as rules know numbers.
    Number(f64),
    /// A text.
    Text(String),
    /// A list; rules can ask for its elements only.
    List(Vec<Self>),
    /// Further claims by name.
    Object(BTreeMap<String, Self>),
}

/// Most lists and objects inside each other.
pub const CLAIM_NESTING_MAX: usize = 32;

impl Claim {
    /// The member of that name, or null.
    pub(crate) fn member(&self, name: &str) -> &Self {
        let found = match self {
            Self::Object(members) => members.get(name),
            // By its position as JavaScript would write it: neither `+1` nor `01`.
            Self::List(elements) => {
                let at = name.parse().ok().filter(|at: &usize| at.to_string() == name);
                at.and_then(|at| elements.get(at))
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => None,
        };
        found.unwrap_or(&Self::Null)
    }
}

impl<'de> Deserialize<'de> for Claim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Seed { levels: CLAIM_NESTING_MAX }.deserialize(deserializer)
    }
}

/// Reads a claim in which that many levels may be nested.
#[derive(Clone, Copy)]
struct Seed {
    levels: usize,
}

impl Seed {
    fn inner<E: Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1);
        let too_deep =
            || E::custom(format_args!("claims are nested more than {CLAIM_NESTING_MAX} levels deep"));
        levels.map(|levels| Self { levels }).ok_or_else(too_deep)
    }
}

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Claim;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Claim, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Claim;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Claim, E> {
        Ok(Claim::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Claim, E> {
        Ok(Claim::Bool(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "rules know doubles only")]
    fn visit_i64<E>(self, value: i64) -> Result<Claim, E> {
        Ok(Claim::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "rules know doubles only")]
    fn visit_u64<E>(self, value: u64) -> Result<Claim, E> {
        Ok(Claim::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Claim, E> {
        Ok(Claim::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Claim, E> {
        Ok(Claim::Text(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Claim, E> {
        Ok(Claim::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Claim, A::Error> {
        let inner = self.inner()?;
        let mut elements = Vec::new();
        while let Some(element) = list.next_element_seed(inner)? {
            elements.push(element);
        }
        Ok(Claim::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Claim, A::Error> {
        let inner = self.inner()?;
        let mut members = BTreeMap::new();
        while let Some(name) = object.next_key()? {
            members.insert(name, object.next_value_seed(inner)?);
        }
        Ok(Claim::Object(members))
    }
}

/// As JSON, in one line.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => f.write_str(ryu_js::Buffer::new().format(*number)),
            Self::Text(text) => write!(f, "{}", JsonText(text)),
            Self::List(elements) => {
                f.write_str("[")?;
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if index == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{}:{value}", if index == 0 { "" } else { "," }, JsonText(name))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A text as JSON spells it.
struct JsonText<'a>(&'a str);

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for ch in self.0.chars() {
            match ch {
                '"' | '\\' => write!(f, "\\{ch}")?,
                _ if disturbs_lines(ch) => write!(f, "\\u{:04x}", u32::from(ch))?,
                _ => write!(f, "{ch}")?,
            }
        }
        f.write_str("\"")
    }
}
