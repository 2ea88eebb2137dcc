//! What a checkpoint says of one database: everything but its tree, and where the chunks of that are.

use super::chunk::ChunkRef;
use super::entry::{self, Unsealed, VERSION};
use super::load::Damage;
use super::writer::Captured;
use crate::log::codec::{
    DecodeError, Source, put_count, put_identity, put_own_rules, put_path, put_settings, put_text,
    put_varint, put_write, take_identity, take_own_rules, take_path, take_settings, take_write,
};
use hearth_engine::{Armed, DatabaseId, Identity, OwnRules, Revision, SessionId, Settings};
use hearth_tree::Write;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, PartialEq)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) revision: Revision,
    pub(super) armed: BTreeMap<SessionId, Arc<Armed>>,
    pub(super) own_rules: OwnRules,
    pub(super) settings: Settings,
    /// In the order of their places.
    pub(super) chunks: Vec<ChunkRef>,
}

/// Where a record is, and what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordRef {
    pub(super) generation: u64,
    pub(super) crc: u32,
}

/// The entry, and the reference to it.
pub(super) fn seal(
    database: DatabaseId,
    generation: u64,
    captured: &Captured,
    chunks: &[ChunkRef],
) -> (Vec<u8>, Vec<u8>, RecordRef) {
    let Captured { name, revision, tree: _, armed, own_rules, settings } = captured;
    let key = entry::database_key(database, generation);
    let mut bytes = vec![VERSION];
    put_text(&mut bytes, name);
    put_varint(&mut bytes, revision.get());
    let armed = still_armed(armed);
    put_count(&mut bytes, armed.len());
    for (session, armed) in &armed {
        put_armed(&mut bytes, *session, armed);
    }
    put_count(&mut bytes, chunks.len());
    for chunk in chunks {
        put_path(&mut bytes, &chunk.first);
        put_varint(&mut bytes, chunk.generation);
        put_varint(&mut bytes, chunk.bytes);
        bytes.extend_from_slice(&chunk.crc.to_le_bytes());
    }
    put_own_rules(&mut bytes, own_rules);
    put_settings(&mut bytes, settings);
    let (value, crc) = entry::seal(&key, bytes);
    (key, value, RecordRef { generation, crc })
}

/// Reads the entry that a reference leads to.
pub(super) fn read(key: &[u8], value: &[u8], reference: RecordRef) -> Result<Record, Damage> {
    let Unsealed { version, body, crc } = entry::unseal(key, value)?;
    if crc != reference.crc {
        return Err(Damage::Other);
    }
    let mut source = Source::new(body);
    let name = source.text("the name of a database", |name| Ok(name.to_owned()))?;
    let revision = Revision::new(source.varint("a revision")?);
    let armed = (0..source.count("the number of sessions")?).map(|_| take_armed(&mut source));
    let armed = armed.collect::<Result<_, DecodeError>>()?;
    let chunks = (0..source.count("the number of chunks")?).map(|_| take_chunk(&mut source));
    let chunks = chunks.collect::<Result<Vec<_>, DecodeError>>()?;
    if !chunks.is_sorted_by(|a, b| a.first < b.first) {
        return Err(Damage::Unordered);
    }
    // Until version 2 there were none.
    let own_rules = if version < 2 { OwnRules::default() } else { take_own_rules(&mut source)? };
    // And until version 3 nothing else was set.
    let settings = if version < 3 { Settings::default() } else { take_settings(&mut source)? };
    source.end()?;
    Ok(Record { name, revision, armed, own_rules, settings, chunks })
}

/// Who has nothing armed any more leaves nothing to remember.
pub(crate) fn still_armed(armed: &BTreeMap<SessionId, Arc<Armed>>) -> Vec<(SessionId, ArmedUpdate)> {
    let still = armed.iter().filter_map(|(&session, armed)| {
        let update = Armed::clone(armed).into_update()?;
        Some((session, (armed.identity().clone(), Write::Update(update))))
    });
    still.collect()
}

/// Whose it is, and what is to be written.
pub(crate) type ArmedUpdate = (Identity, Write);

pub(crate) fn put_armed(into: &mut Vec<u8>, session: SessionId, (identity, update): &ArmedUpdate) {
    put_varint(into, session.0);
    put_identity(into, identity);
    put_write(into, update);
}

pub(crate) fn take_armed(source: &mut Source<'_>) -> Result<(SessionId, Arc<Armed>), DecodeError> {
    let session = SessionId(source.varint("a session")?);
    let identity = take_identity(source)?;
    let mut armed = Armed::new(identity.clone());
    armed.arm(&identity, &take_write(source)?);
    Ok((session, Arc::new(armed)))
}

fn take_chunk(source: &mut Source<'_>) -> Result<ChunkRef, DecodeError> {
    Ok(ChunkRef {
        first: take_path(source)?,
        generation: source.varint("a generation")?,
        bytes: source.varint("the length of a chunk")?,
        crc: u32::from_le_bytes(source.array("the checksum of a chunk")?),
    })
}
