//! Settings of a database as bytes.

use super::DecodeError;
use super::bytes::{Source, put_varint};
use hearth_engine::{DefaultWriteSize, Settings, StrictTriggers};

const SMALL: u8 = 1;
const MEDIUM: u8 = 2;
const LARGE: u8 = 3;
const UNLIMITED: u8 = 4;
const STRICT: u8 = 1;
const LAX: u8 = 2;

pub(crate) fn put_settings(
    into: &mut Vec<u8>,
    Settings { version, default_write_size, strict_triggers }: &Settings,
) {
    put_varint(into, *version);
    into.push(match default_write_size {
        DefaultWriteSize::Small => SMALL,
        DefaultWriteSize::Medium => MEDIUM,
        DefaultWriteSize::Large => LARGE,
        DefaultWriteSize::Unlimited => UNLIMITED,
    });
    into.push(match strict_triggers {
        StrictTriggers::On => STRICT,
        StrictTriggers::Off => LAX,
    });
}

pub(crate) fn take_settings(source: &mut Source<'_>) -> Result<Settings, DecodeError> {
    let version = source.varint("a version of settings")?;
    let what = "the size of writes";
    let default_write_size = match source.byte(what)? {
        SMALL => DefaultWriteSize::Small,
        MEDIUM => DefaultWriteSize::Medium,
        LARGE => DefaultWriteSize::Large,
        UNLIMITED => DefaultWriteSize::Unlimited,
        byte => return Err(DecodeError::Kind { what, byte }),
    };
    let what = "what becomes of triggers";
    let strict_triggers = match source.byte(what)? {
        STRICT => StrictTriggers::On,
        LAX => StrictTriggers::Off,
        byte => return Err(DecodeError::Kind { what, byte }),
    };
    Ok(Settings { version, default_write_size, strict_triggers })
}
