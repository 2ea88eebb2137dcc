//! A manifest: which databases belong to a checkpoint, and which part of the log it stands for.

use super::database::RecordRef;
use super::entry::{self, Slot, VERSION};
use super::load::Damage;
use crate::log::codec::{DecodeError, Source, put_count, put_varint};
use crate::log::{LogId, Position};
use hearth_engine::DatabaseId;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manifest {
    /// Counts the checkpoints.
    pub(super) generation: u64,
    pub(super) log: LogId,
    /// It stands for all groups of the log before here.
    pub(super) position: Position,
    /// How often a server had begun on these data.
    pub(super) starts: u64,
    pub(super) databases: BTreeMap<DatabaseId, RecordRef>,
}

impl Manifest {
    pub(super) fn seal(&self, slot: Slot) -> (Vec<u8>, Vec<u8>) {
        let key = slot.key();
        let mut bytes = vec![VERSION];
        put_varint(&mut bytes, self.generation);
        bytes.extend_from_slice(&self.log.0);
        put_varint(&mut bytes, self.position.sequence);
        bytes.extend_from_slice(&self.position.predecessor.to_le_bytes());
        put_varint(&mut bytes, self.starts);
        put_count(&mut bytes, self.databases.len());
        for (database, record) in &self.databases {
            put_varint(&mut bytes, database.0);
            put_varint(&mut bytes, record.generation);
            bytes.extend_from_slice(&record.crc.to_le_bytes());
        }
        let (value, _) = entry::seal(&key, bytes);
        (key, value)
    }

    pub(super) fn read(slot: Slot, value: &[u8]) -> Result<Self, Damage> {
        let mut source = Source::new(entry::unseal(&slot.key(), value)?.body);
        let generation = source.varint("a generation")?;
        let log = LogId(source.array("the id of a log")?);
        let sequence = source.varint("a sequence")?;
        let predecessor = u64::from_le_bytes(source.array("the hash of a group")?);
        let starts = source.varint("the number of starts")?;
        let databases = (0..source.count("the number of databases")?).map(|_| {
            let database = DatabaseId(source.varint("a database")?);
            let generation = source.varint("a generation")?;
            let crc = u32::from_le_bytes(source.array("the checksum of a database")?);
            Ok((database, RecordRef { generation, crc }))
        });
        let databases = databases.collect::<Result<_, DecodeError>>()?;
        source.end()?;
        Ok(Self { generation, log, position: Position { sequence, predecessor }, starts, databases })
    }
}
