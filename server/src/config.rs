//! The configuration file.
//!
//! Why unknown keys are looked for before anything else: a misspelt option that is passed over is an option that the
//! operator believes to be in force. All of them are told at once, each with its line.

use crate::auth::Origin;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, Unexpected, Visitor};
use std::fmt::{self, Write};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// What may stand in the file of one mode.
pub(crate) trait Config: Default + DeserializeOwned {
    /// The keys, sorted.
    const KEYS: &'static [&'static str];
    /// The command that reads it.
    const MODE: &'static str;

    /// The files that it names: relative to itself.
    fn paths(&mut self) -> Vec<&mut PathBuf>;
}

/// Why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not there, or not text.
    #[error("cannot read `{}`: {error}", .file.display())]
    Unreadable {
        /// Its name.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Keys that mean nothing.
    #[error("`{}` has keys that `{mode}` does not know: {unknown}; it knows {known}", .file.display())]
    Unknown {
        /// Its name.
        file: PathBuf,
        /// The command.
        mode: &'static str,
        /// The keys, each with its line.
        unknown: String,
        /// All that there are.
        known: String,
    },
    /// Not TOML, or a value of the wrong kind.
    #[error("`{}`, line {line}: {problem}", .file.display())]
    Broken {
        /// Its name.
        file: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

/// Reads it; without a file nothing stands in it.
///
/// # Errors
/// [`ConfigError`] names every unknown key, or the first other problem.
pub(crate) fn read<C: Config>(file: Option<&Path>) -> Result<C, ConfigError> {
    let Some(file) = file else { return Ok(C::default()) };
    let text =
        fs::read_to_string(file).map_err(|error| ConfigError::Unreadable { file: file.into(), error })?;
    let mut config = parse::<C>(file, &text)?;
    for path in config.paths() {
        *path = file.parent().map_or_else(|| path.clone(), |folder| folder.join(&path));
    }
    Ok(config)
}

fn parse<C: Config>(file: &Path, text: &str) -> Result<C, ConfigError> {
    let broken = |error: toml::de::Error| ConfigError::Broken {
        file: file.into(),
        line: line(text, error.span()),
        problem: error.message().replace('\n', ", "),
    };
    let table = DeTable::parse(text).map_err(broken)?;
    let unknown = table.get_ref().keys().filter(|key| !C::KEYS.contains(&key.get_ref().as_ref()));
    let mut unknown: Vec<_> = unknown.map(|key| (line(text, Some(key.span())), key.get_ref())).collect();
    unknown.sort();
    if unknown.is_empty() {
        return toml::from_str(text).map_err(broken);
    }
    let mut shown = String::new();
    for (line, key) in unknown {
        let comma = if shown.is_empty() { "" } else { ", " };
        write!(shown, "{comma}`{key}` (line {line})").expect("a string takes whatever is written to it");
    }
    let known = C::KEYS.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    Err(ConfigError::Unknown { file: file.into(), mode: C::MODE, unknown: shown, known })
}

fn line(text: &str, span: Option<Range<usize>>) -> usize {
    let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
    1 + before.matches('\n').count()
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

/// A port; says so if something else stands there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Port(pub(crate) u16);

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(PortVisitor)
    }
}

struct PortVisitor;

impl Visitor<'_> for PortVisitor {
    type Value = Port;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a port, a number from 0 to 65535")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Port, E> {
        let port = u16::try_from(number).map(Port);
        port.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }
}
