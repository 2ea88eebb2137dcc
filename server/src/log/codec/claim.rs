//! Who armed a write, as bytes.

use super::DecodeError;
use super::bytes::{Source, put_count, put_text};
use hearth_engine::Identity;
use hearth_rules::{CLAIM_NESTING_MAX, Claim};
use std::collections::BTreeMap;
use std::sync::Arc;

const ADMIN: u8 = 1;
const USER: u8 = 2;

const NULL: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const NUMBER: u8 = 4;
const TEXT: u8 = 5;
const LIST: u8 = 6;
const OBJECT: u8 = 7;

pub(crate) fn put_identity(into: &mut Vec<u8>, identity: &Identity) {
    match identity {
        Identity::Admin => into.push(ADMIN),
        Identity::User(claim) => {
            into.push(USER);
            put_claim(into, claim);
        }
    }
}

pub(crate) fn take_identity(source: &mut Source<'_>) -> Result<Identity, DecodeError> {
    match source.byte("an identity")? {
        ADMIN => Ok(Identity::Admin),
        USER => Ok(Identity::User(Arc::new(take_claim(source, CLAIM_NESTING_MAX)?))),
        byte => Err(DecodeError::Kind { what: "an identity", byte }),
    }
}

fn put_claim(into: &mut Vec<u8>, claim: &Claim) {
    match claim {
        Claim::Null => into.push(NULL),
        Claim::Bool(false) => into.push(FALSE),
        Claim::Bool(true) => into.push(TRUE),
        Claim::Number(number) => {
            into.push(NUMBER);
            into.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        Claim::Text(text) => {
            into.push(TEXT);
            put_text(into, text);
        }
        Claim::List(elements) => {
            into.push(LIST);
            put_count(into, elements.len());
            for element in elements {
                put_claim(into, element);
            }
        }
        Claim::Object(members) => {
            into.push(OBJECT);
            put_count(into, members.len());
            for (name, member) in members {
                put_text(into, name);
                put_claim(into, member);
            }
        }
    }
}

fn take_claim(source: &mut Source<'_>, levels: usize) -> Result<Claim, DecodeError> {
    let inner = || levels.checked_sub(1).ok_or(DecodeError::ClaimTooDeep);
    match source.byte("a claim")? {
        NULL => Ok(Claim::Null),
        FALSE => Ok(Claim::Bool(false)),
        TRUE => Ok(Claim::Bool(true)),
        NUMBER => Ok(Claim::Number(f64::from_bits(u64::from_le_bytes(source.array("a claim")?)))),
        TEXT => source.text("a claim", |text| Ok(Claim::Text(text.into()))),
        LIST => {
            let (levels, count) = (inner()?, source.count("the length of a list")?);
            (0..count).map(|_| take_claim(source, levels)).collect::<Result<_, _>>().map(Claim::List)
        }
        OBJECT => {
            let (levels, count) = (inner()?, source.count("the number of claims")?);
            let mut members = BTreeMap::new();
            for _ in 0..count {
                let name = source.text("the name of a claim", |text| Ok(text.to_owned()))?;
                if members.last_key_value().is_some_and(|(last, _)| name <= *last) {
                    return Err(DecodeError::Unordered);
                }
                members.insert(name, take_claim(source, levels)?);
            }
            Ok(Claim::Object(members))
        }
        byte => Err(DecodeError::Kind { what: "a claim", byte }),
    }
}
