//! `.indexOn`: which orders a place can be queried in without reading all of it (rules reference 6).

use hearth_tree::{PathError, RelativePath};
use std::fmt;

/// One entry of `.indexOn`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IndexOn {
    /// By the children's own values: `.value`.
    Value,
    /// By the value at a place below each child.
    Child(RelativePath),
    /// By key or priority, which need no index: `.key`, `.priority`.
    Inherent,
}

impl IndexOn {
    /// Reads an entry.
    ///
    /// # Errors
    /// [`PathError`] if it is neither a path nor one of the special names.
    pub(crate) fn parse(text: &str) -> Result<Self, PathError> {
        match text {
            ".value" => Ok(Self::Value),
            ".key" | ".priority" => Ok(Self::Inherent),
            _ => RelativePath::parse(text).map(Self::Child),
        }
    }
}

/// As it stands in the rules, as far as that matters.
impl fmt::Display for IndexOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value => f.write_str(".value"),
            Self::Child(path) => path.fmt(f),
            Self::Inherent => f.write_str(".key"),
        }
    }
}
