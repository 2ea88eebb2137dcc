//! Rules of a database as bytes.

use super::DecodeError;
use super::bytes::{Source, put_integer, put_text, put_varint};
use hearth_engine::OwnRules;

const TAKEN_BACK: u8 = 1;
const STORED: u8 = 2;

pub(crate) fn put_own_rules(into: &mut Vec<u8>, OwnRules { version, at_ms, text }: &OwnRules) {
    put_varint(into, *version);
    put_integer(into, *at_ms);
    match text {
        None => into.push(TAKEN_BACK),
        Some(text) => {
            into.push(STORED);
            put_text(into, text);
        }
    }
}

/// Any text: whether it is rules is not for whoever reads the log to say.
pub(crate) fn take_own_rules(source: &mut Source<'_>) -> Result<OwnRules, DecodeError> {
    let version = source.varint("a version of rules")?;
    let at_ms = source.integer("the time of rules")?;
    let text = match source.byte("rules")? {
        TAKEN_BACK => None,
        STORED => Some(source.text("the text of rules", |text| Ok(text.into()))?),
        byte => return Err(DecodeError::Kind { what: "rules", byte }),
    };
    Ok(OwnRules { version, at_ms, text })
}
