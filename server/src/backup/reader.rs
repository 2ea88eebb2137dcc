//! Reads a backup part by part, and believes nothing that it has not checked.

use super::part::{Kind, PartMistake, chain_of, take_part};
use super::{BEGIN, VERSION, first_line};
use crate::checkpoint::{Captured, Damage, Order, Read as ReadItem, read_items, take_armed};
use crate::log::codec::{DecodeError, Source, take_own_rules, take_settings};
use hearth_engine::{DatabaseId, Revision};
use hearth_tree::{Excerpt, Key, Snapshot};
use hearth_wire::Namespace;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

/// Why a file is no whole backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// It is something else.
    #[error("it is no backup of hearth, which begins with `hearth backup`")]
    Foreign,
    /// It was made by another version of this program.
    #[error("it is of version `{}` of the format, and this program reads version {VERSION}", Excerpt(.found))]
    Version {
        /// What it says.
        found: String,
    },
    /// Its end is missing.
    #[error("it is cut: part {part}, at byte {at}, is not there as a whole")]
    Cut {
        /// Counted from 1.
        part: u64,
        /// Where it begins.
        at: u64,
    },
    /// Its bytes are not those that were written.
    #[error("it is damaged: part {part}, at byte {at}, is not what was written")]
    Damaged {
        /// Counted from 1.
        part: u64,
        /// Where it begins.
        at: u64,
    },
    /// Something follows its end.
    #[error("it is damaged: something follows its end, at byte {at}")]
    Behind {
        /// Where.
        at: u64,
    },
    /// The checksum is right, and what it is of cannot be.
    #[error("part {part}, at byte {at}, cannot be: {what}")]
    Content {
        /// Counted from 1.
        part: u64,
        /// Where it begins.
        at: u64,
        /// What is wrong.
        what: String,
    },
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// What a backup says, in this order: for each database its items, then the database.
pub(crate) enum Seen<'a> {
    Item(DatabaseId, &'a [Key], ReadItem),
    /// Without its tree.
    Database(DatabaseId, Captured),
}

/// What a backup was found to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) at_ms: i64,
    pub(crate) starts: u64,
    pub(crate) databases: usize,
    pub(crate) items: u64,
    pub(crate) bytes: u64,
}

/// Reads from anything, from its beginning.
pub(crate) struct BackupReader<R> {
    from: R,
    chain: u32,
    parts: u64,
    /// Where the next part begins, and where the last one has.
    bytes: u64,
    at: u64,
}

/// A database whose items come.
struct Coming {
    id: DatabaseId,
    captured: Captured,
    order: Order,
}

impl<R: Read> BackupReader<R> {
    pub(crate) const fn new(from: R) -> Self {
        Self { from, chain: 0, parts: 0, bytes: 0, at: 0 }
    }

    /// Reads all of it, and hands on what it says. Only when it returns it is known to be whole.
    ///
    /// # Errors
    /// `E`, of whoever is told; and what is wrong with the file, as that.
    pub(crate) fn read<E: From<BackupError>>(
        mut self,
        mut see: impl FnMut(Seen<'_>) -> Result<(), E>,
    ) -> Result<Counted, E> {
        self.first_line()?;
        let (kind, head) = self.part()?;
        let (at_ms, starts, expected) = if kind == Kind::Head {
            head_of(&head).map_err(|error| self.content(error))?
        } else {
            Err(self.content("it is not the head"))?
        };
        let (mut names, mut last_id) = (BTreeSet::new(), None);
        let (mut coming, mut items): (Option<Coming>, u64) = (None, 0);
        loop {
            let (kind, plain) = self.part()?;
            let mut source = Source::new(&plain);
            coming = match (kind, coming.take()) {
                (Kind::Database, None) => {
                    let (id, captured) = database_of(&mut source).map_err(|error| self.content(error))?;
                    if Namespace::parse(&captured.name).is_err() {
                        Err(self.content("the name of a database is none"))?;
                    }
                    if last_id.replace(id).is_some_and(|last| id <= last)
                        || !names.insert(captured.name.clone())
                    {
                        Err(self.content("databases are not in order, or one stands there twice"))?;
                    }
                    Some(Coming { id, captured, order: Order::default() })
                }
                (Kind::Armed, Some(mut own)) if own.order.is_empty() => {
                    let armed = take_armed(&mut source).and_then(|armed| source.end().map(|()| armed));
                    let (session, armed) = armed.map_err(|error| self.content(error))?;
                    own.captured.armed.insert(session, armed);
                    Some(own)
                }
                (Kind::Items, Some(mut own)) => {
                    let mut failed = None;
                    let read = read_items(source, |keys, read| {
                        own.order.see(keys, &read)?;
                        if failed.is_none() {
                            failed = see(Seen::Item(own.id, keys, read)).err();
                        }
                        Ok::<_, Damage>(())
                    });
                    if let Some(error) = failed {
                        return Err(error);
                    }
                    read.map_err(|error| self.content(error))?;
                    Some(own)
                }
                (Kind::DatabaseEnd, Some(own)) => {
                    let said =
                        source.varint("the number of items").and_then(|said| source.end().map(|()| said));
                    let said = said.map_err(|error| self.content(error))?;
                    let found = own.order.end().map_err(|error| self.content(error))?;
                    if said != found {
                        Err(self.content(format!("a database has {found} items and says {said}")))?;
                    }
                    items += found;
                    see(Seen::Database(own.id, own.captured))?;
                    None
                }
                (Kind::End, None) => {
                    let said =
                        source.varint("the number of parts").and_then(|said| source.end().map(|()| said));
                    let said = said.map_err(|error| self.content(error))?;
                    if said != self.parts - 1 || names.len() != expected {
                        Err(self.content("parts are missing"))?;
                    }
                    break;
                }
                (
                    Kind::Head | Kind::Database | Kind::Armed | Kind::Items | Kind::DatabaseEnd | Kind::End,
                    _,
                ) => Err(self.content("it cannot follow the one before"))?,
            };
        }
        if self.from.read(&mut [0]).map_err(BackupError::Io)? != 0 {
            Err(BackupError::Behind { at: self.bytes })?;
        }
        Ok(Counted { at_ms, starts, databases: names.len(), items, bytes: self.bytes })
    }

    fn first_line(&mut self) -> Result<(), BackupError> {
        let mut line = Vec::new();
        let most = BEGIN.len() + 12;
        while line.len() < most && !line.ends_with(b"\n") {
            if self.from.by_ref().take(1).read_to_end(&mut line)? == 0 {
                break;
            }
        }
        let line = String::from_utf8(line).map_err(|_| BackupError::Foreign)?;
        if line != first_line() {
            let Some(found) = line.strip_prefix(BEGIN) else { return Err(BackupError::Foreign) };
            let Some(found) = found.strip_suffix('\n') else {
                return Err(BackupError::Damaged { part: 0, at: 0 });
            };
            return Err(BackupError::Version { found: found.into() });
        }
        self.chain = chain_of(&line);
        self.bytes = line.len() as u64;
        Ok(())
    }

    fn part(&mut self) -> Result<(Kind, Vec<u8>), BackupError> {
        self.at = self.bytes;
        self.parts += 1;
        let (part, at) = (self.parts, self.at);
        take_part(&mut self.from, &mut self.chain, &mut self.bytes).map_err(|mistake| match mistake {
            PartMistake::Cut => BackupError::Cut { part, at },
            PartMistake::Changed => BackupError::Damaged { part, at },
            PartMistake::Io(error) => BackupError::Io(error),
        })
    }

    fn content(&self, what: impl ToString) -> BackupError {
        BackupError::Content { part: self.parts, at: self.at, what: what.to_string() }
    }
}

fn head_of(plain: &[u8]) -> Result<(i64, u64, usize), DecodeError> {
    let mut source = Source::new(plain);
    let at_ms = source.integer("the time")?;
    let starts = source.varint("the number of starts")?;
    let databases = source.varint("the number of databases")?;
    source.text("the version of hearth", |_| Ok(()))?;
    source.end()?;
    Ok((at_ms, starts, usize::try_from(databases).unwrap_or(usize::MAX)))
}

fn database_of(source: &mut Source<'_>) -> Result<(DatabaseId, Captured), DecodeError> {
    let id = DatabaseId(source.varint("a database")?);
    let name = source.text("the name of a database", |name| Ok(name.to_owned()))?;
    let revision = Revision::new(source.varint("a revision")?);
    let own_rules = take_own_rules(source)?;
    let settings = take_settings(source)?;
    source.end()?;
    let (tree, armed) = (Snapshot::default(), BTreeMap::new());
    Ok((id, Captured { name, revision, tree, armed, own_rules, settings }))
}
