//! Reads values, nodes, priorities and updates.
//!
//! Why one reader for a whole value and not one per object: the children of all objects that are being read share one
//! stack, so that an object costs one allocation, its own node. Why the error waits in the reader: serde knows no
//! errors but texts, and a person needs more than that.

use super::error::{Problem, ReadError};
use super::object::Found;
use super::place::Place;
use super::repair::repair_surrogates;
use super::seeds::{NodeSeed, PrioritySeed, UpdateSeed, ValueSeed};
use crate::draft::{Draft, Pending};
use crate::key::Key;
use crate::limits::DEPTH_MAX;
use crate::node::{Entry, Node};
use crate::path::{Path, RelativePath};
use crate::scalar::{Priority, Text};
use crate::write::Update;
use serde::de::{self, DeserializeSeed};
use std::borrow::Cow;

/// Most nodes of one value, leaves and objects together, unless [`ReadOptions`] say otherwise.
///
/// A bound on memory and not on the data: `[1,1,1…` makes a node of 50 bytes out of two bytes of text, and `{"a":{"a":…`
/// one of 120 out of six. With this bound a value takes at most some 1.5 GB, whatever its text is; ordinary data take
/// three to five times their text, and the largest body that REST takes (256 MB) has about as many nodes.
pub const NODES_MAX: usize = 10_000_000;

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Most levels of keys below the value: [`DEPTH_MAX`] less the depth of the place it is written at. More than
    /// [`DEPTH_MAX`] are never read.
    pub depth_max: usize,
    /// Most nodes, leaves and objects together; null in an object counts as one.
    pub nodes_max: usize,
    /// Whether string values may hold ASCII control characters.
    pub control_characters: ControlCharacters,
}

/// Whether string values may hold ASCII control characters (0-31, 127): the service and its SDKs pass them, its
/// documentation forbids them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlCharacters {
    /// As the service.
    Allow,
    /// As the documentation.
    Refuse,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { depth_max: DEPTH_MAX, nodes_max: NODES_MAX, control_characters: ControlCharacters::Allow }
    }
}

/// Reads a value as a client writes it, server values included; `None` is null or anything else that holds nothing
/// (wire reference 7.1). O(length).
///
/// # Errors
/// [`ReadError`] says what is wrong and where.
pub fn read_value(text: &[u8], options: &ReadOptions) -> Result<Option<Draft>, ReadError> {
    read(text, options, |reader, json| reader.value().deserialize(json))
}

/// Reads a value that is stored already (imports, logs, files): as [`read_value`], but a `.sv` is refused.
///
/// # Errors
/// [`ReadError`] says what is wrong and where.
pub fn read_node(text: &[u8], options: &ReadOptions) -> Result<Option<Node>, ReadError> {
    read(text, options, |reader, json| reader.node().deserialize(json))
}

/// Reads what may stand at a `.priority`: null, a number, a text or a server value.
///
/// # Errors
/// [`ReadError`] says what is wrong and where.
pub fn read_priority(text: &[u8], options: &ReadOptions) -> Result<Option<Pending<Priority>>, ReadError> {
    read(text, options, |reader, json| reader.priority().deserialize(json))
}

/// Reads an update of places at or below `at` (wire reference 4.6): an object whose keys are paths from there, each
/// possibly ending in `.priority`; null deletes. The depth of `at` need not be taken off
/// [`ReadOptions::depth_max`].
///
/// # Errors
/// [`ReadError`] says what is wrong and where.
pub fn read_update(text: &[u8], at: &Path, options: &ReadOptions) -> Result<Update, ReadError> {
    let depth_max = options.depth_max.min(DEPTH_MAX.saturating_sub(at.keys().len()));
    let options = ReadOptions { depth_max, ..*options };
    let parts = read(text, &options, |reader, json| reader.update().deserialize(json))?;
    parts.at(at).map_err(|error| ReadError { problem: error.into(), at: RelativePath::here(), place: None })
}

type Json<'t> = serde_json::Deserializer<serde_json::de::StrRead<'t>>;

fn read<T>(
    text: &[u8],
    options: &ReadOptions,
    read: impl FnOnce(&mut Reader, &mut Json<'_>) -> serde_json::Result<T>,
) -> Result<T, ReadError> {
    let text = readable(text)?;
    let mut reader = Reader::new(*options);
    let mut json = serde_json::Deserializer::from_str(&text);
    let value = read(&mut reader, &mut json).and_then(|value| json.end().map(|()| value));
    value.map_err(|error| reader.error(&error, &text))
}

/// The text as a parser takes it: without the mark of UTF-8, lone surrogates repaired.
fn readable(text: &[u8]) -> Result<Cow<'_, str>, ReadError> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    match std::str::from_utf8(text) {
        Ok(text) => Ok(repair_surrogates(text)),
        Err(error) => Err(ReadError {
            problem: Problem::Syntax { message: "the text is not UTF-8".into() },
            at: RelativePath::here(),
            place: Some(Place::of_offset(text, error.valid_up_to())),
        }),
    }
}

/// Reads values in the midst of a text that is somebody else's, such as an envelope: gives seeds to read with, and
/// afterwards the error that serde could not carry. The text should have been through [`repair_surrogates`].
#[derive(Debug)]
pub struct Reader {
    options: ReadOptions,
    server_values: ServerValues,
    nodes_left: usize,
    /// The children of all objects that are being read; those of the innermost stand last.
    pub(super) nodes: Vec<Entry>,
    /// Likewise, children that hold server values.
    pub(super) drafts: Vec<(Key, Draft)>,
    /// Likewise, keys of children that hold nothing: they may not stand twice either.
    pub(super) absent: Vec<Key>,
    problem: Option<Problem>,
    /// Keys from the place of the problem up, collected on the way out.
    trail: Vec<Key>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerValues {
    Allow,
    Refuse,
}

impl Reader {
    /// A reader with these limits; [`ReadOptions::nodes_max`] is for all values together that it reads.
    pub const fn new(options: ReadOptions) -> Self {
        let depth_max = if options.depth_max < DEPTH_MAX { options.depth_max } else { DEPTH_MAX };
        Self {
            options: ReadOptions { depth_max, ..options },
            server_values: ServerValues::Allow,
            nodes_left: options.nodes_max,
            nodes: Vec::new(),
            drafts: Vec::new(),
            absent: Vec::new(),
            problem: None,
            trail: Vec::new(),
        }
    }

    /// Reads what [`read_value`] reads.
    pub const fn value(&mut self) -> ValueSeed<'_> {
        self.server_values = ServerValues::Allow;
        ValueSeed(self)
    }

    /// Reads what [`read_node`] reads.
    pub const fn node(&mut self) -> NodeSeed<'_> {
        self.server_values = ServerValues::Refuse;
        NodeSeed(self)
    }

    /// Reads what [`read_priority`] reads.
    pub const fn priority(&mut self) -> PrioritySeed<'_> {
        self.server_values = ServerValues::Allow;
        PrioritySeed(self)
    }

    /// Reads what [`read_update`] reads, when it is not known yet where it belongs.
    pub const fn update(&mut self) -> UpdateSeed<'_> {
        self.server_values = ServerValues::Allow;
        UpdateSeed(self)
    }

    /// What is wrong, after reading `text` ended with `error`. What the reader did not refuse itself is
    /// [`Problem::Syntax`], or [`Problem::Shape`] if it was refused by whoever reads around the values. O(length).
    pub fn error(self, error: &serde_json::Error, text: &str) -> ReadError {
        ReadError::new(self.problem, self.trail.into_iter().rev().collect(), error, text)
    }

    /// From now on there may be so many nodes, if there could not be more before.
    pub(super) const fn allow_nodes(&mut self, nodes_max: usize) {
        if self.options.nodes_max < nodes_max {
            self.nodes_left += nodes_max - self.options.nodes_max;
            self.options.nodes_max = nodes_max;
        }
    }

    /// How many nodes were read.
    pub(super) const fn nodes_read(&self) -> usize {
        self.options.nodes_max - self.nodes_left
    }

    /// Keeps what was read as a child of the object that is being read.
    pub(super) fn keep(&mut self, key: Key, found: Found) {
        match found {
            Found::Nothing => self.absent.push(key),
            Found::Node(node) => self.nodes.push((key, node)),
            Found::Draft(draft) => self.drafts.push((key, *draft)),
        }
    }

    pub(super) const fn depth_max(&self) -> usize {
        self.options.depth_max
    }

    /// Keeps the problem, and gives serde an error to unwind with.
    #[cold]
    pub(super) fn refuse<E: de::Error>(&mut self, problem: Problem) -> E {
        self.problem.get_or_insert(problem);
        E::custom("refused")
    }

    /// Notes on the way out that the problem is below this key.
    #[cold]
    pub(super) fn leave(&mut self, key: Key) {
        self.trail.push(key);
    }

    /// Makes room for one more node.
    pub(super) fn count<E: de::Error>(&mut self) -> Result<(), E> {
        match self.nodes_left.checked_sub(1) {
            Some(left) => {
                self.nodes_left = left;
                Ok(())
            }
            None => Err(self.refuse(Problem::TooMany { nodes_max: self.options.nodes_max })),
        }
    }

    pub(super) fn text<E: de::Error>(&mut self, text: &str) -> Result<Text, E> {
        let text = Text::new(text).map_err(|error| self.refuse(error.into()))?;
        match self.options.control_characters {
            ControlCharacters::Allow => Ok(text),
            ControlCharacters::Refuse => match text.first_control() {
                None => Ok(text),
                Some((at, ch)) => Err(self.refuse(Problem::Control { ch, at })),
            },
        }
    }

    pub(super) fn allows_server_values(&self) -> bool {
        self.server_values == ServerValues::Allow
    }
}
