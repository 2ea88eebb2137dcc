//! Places in the tree: a path from the root, and a path from somewhere.
//!
//! Why two types: joining a relative path checks the depth once, and neither can be passed for the other.

use crate::key::{Excerpt, Key, KeyError};
use crate::limits::DEPTH_MAX;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A place, from the root of one database: at most 32 keys. The root has none. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(Keys);

/// A place, from some node on: at most 32 keys, and one more only where an error points at what is too deep. Cheap to
/// clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelativePath(Keys);

#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Keys(Arc<[Key]>);

/// Why a text is not a path, or why two paths cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// One segment is not a key.
    #[error("in path `{}`: {error}", Excerpt(.path))]
    Key {
        /// The whole text.
        path: String,
        /// What is wrong with the segment.
        error: KeyError,
    },
    /// More than [`DEPTH_MAX`] segments.
    #[error("path `{}` has {depth} segments; at most {DEPTH_MAX} are allowed", Excerpt(.path))]
    TooDeep {
        /// The whole path.
        path: String,
        /// How many segments it has.
        depth: usize,
    },
}

impl Path {
    /// The root.
    pub fn root() -> Self {
        Self::default()
    }

    /// Splits at `/` and drops empty parts (wire reference 3.1): `/a//b/`, `a/b` and `/a/b` are one place. No decoding.
    ///
    /// # Errors
    /// [`PathError`] names the segment or the depth.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Keys::parse(text).map(Self)
    }

    /// The keys from the root down.
    pub fn keys(&self) -> &[Key] {
        &self.0.0
    }

    /// The place at `below`, seen from here.
    ///
    /// # Errors
    /// [`PathError::TooDeep`] if that is more than 32 keys from the root.
    pub fn join(&self, below: &RelativePath) -> Result<Self, PathError> {
        self.0.join(&below.0).map(Self)
    }

    /// The child of that name.
    ///
    /// # Errors
    /// [`PathError::TooDeep`] below the last level.
    pub fn child(&self, key: &Key) -> Result<Self, PathError> {
        self.0.join(&Keys(Arc::new([key.clone()]))).map(Self)
    }

    /// The node above, or nothing for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, above) = self.keys().split_last()?;
        Some(Self(Keys(above.into())))
    }

    /// The place that the first `depth` keys lead to, at or above this one; nothing if it is not so deep.
    pub fn up_to(&self, depth: usize) -> Option<Self> {
        Some(Self(Keys(self.keys().get(..depth)?.into())))
    }

    /// Where `self` is, seen from `above`; nothing if it is not there or below.
    pub fn strip(&self, above: &Self) -> Option<RelativePath> {
        let below = self.keys().strip_prefix(above.keys())?;
        Some(RelativePath(Keys(below.into())))
    }

    /// Whether `self` is at `other` or above it.
    pub fn covers(&self, other: &Self) -> bool {
        other.keys().starts_with(self.keys())
    }
}

impl RelativePath {
    /// The node itself.
    pub fn here() -> Self {
        Self::default()
    }

    /// As [`Path::parse`].
    ///
    /// # Errors
    /// [`PathError`] names the segment or the depth.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Keys::parse(text).map(Self)
    }

    /// The keys from the node down.
    pub fn keys(&self) -> &[Key] {
        &self.0.0
    }

    /// Whether this is the node itself.
    pub fn is_here(&self) -> bool {
        self.keys().is_empty()
    }
}

/// Collects without checking the depth: an error may point at what is too deep, and joining checks.
impl FromIterator<Key> for RelativePath {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        Self(Keys(keys.into_iter().collect()))
    }
}

/// For keys that were read off an existing path or node; of others, see [`Path::join`].
///
/// # Panics
/// Of more than 32 keys, which lead nowhere.
impl FromIterator<Key> for Path {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        let keys: Arc<[Key]> = keys.into_iter().collect();
        assert!(keys.len() <= DEPTH_MAX, "a path of {} keys leads nowhere", keys.len());
        Self(Keys(keys))
    }
}

impl Keys {
    fn parse(text: &str) -> Result<Self, PathError> {
        let keys: Vec<Key> = text
            .split('/')
            .filter(|part| !part.is_empty())
            .map(Key::parse)
            // One more than allowed is enough to refuse, and bounds the work on hostile text.
            .take(DEPTH_MAX + 1)
            .collect::<Result<_, _>>()
            .map_err(|error| PathError::Key { path: text.into(), error })?;
        if DEPTH_MAX < keys.len() {
            let depth = text.split('/').filter(|part| !part.is_empty()).count();
            return Err(PathError::TooDeep { path: text.into(), depth });
        }
        Ok(Self(keys.into()))
    }

    fn join(&self, below: &Self) -> Result<Self, PathError> {
        let joined = Self(self.0.iter().chain(below.0.iter()).cloned().collect());
        match joined.0.len() {
            0..=DEPTH_MAX => Ok(joined),
            depth => Err(PathError::TooDeep { path: joined.to_string(), depth }),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", self.0)
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, key) in self.0.iter().enumerate() {
            let slash = if depth == 0 { "" } else { "/" };
            write!(f, "{slash}{key}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// Paths in the order in which the SDKs apply the parts of an update: segment by segment, each as a plain text
/// (UTF-16), a path before those below it. Not the order of children: integers are not first here.
pub(crate) fn update_order(a: &[Key], b: &[Key]) -> Ordering {
    let differing = a.iter().zip(b).find(|(x, y)| x != y);
    match differing {
        Some((x, y)) => crate::key::text_order(x.as_str(), y.as_str()),
        None => a.len().cmp(&b.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_up_to_32_keys_however_it_is_written() {
        let deep = |depth: usize| "k/".repeat(depth);
        for (text, shown) in [
            ("", Ok("/")),
            ("/", Ok("/")),
            ("a/b", Ok("/a/b")),
            ("/a//b/", Ok("/a/b")),
            ("/a+b/ä %20", Ok("/a+b/ä %20")),
            (&deep(32), Ok(format!("/{}", deep(32).trim_end_matches('/')).as_str())),
            (
                &deep(33),
                Err(
                    "path `k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/k/…` has 33 segments; at most 32 are allowed",
                ),
            ),
            (
                "a/.info",
                Err(
                    "in path `a/.info`: key `.info` has `.` at byte 0; keys cannot contain . $ # [ ] / or ASCII control characters",
                ),
            ),
        ] {
            let path = Path::parse(text).map(|path| path.to_string()).map_err(|error| error.to_string());
            assert_eq!(path.as_deref().map_err(String::as_str), shown, "{text:?}");
        }
    }

    #[test]
    fn joining_keeps_to_the_depth_and_stripping_undoes_it() {
        for (above, below, joined) in
            [("", "", Some("/")), ("a", "b/c", Some("/a/b/c")), ("", "x", Some("/x"))]
        {
            let (above, below) = (Path::parse(above).unwrap(), RelativePath::parse(below).unwrap());
            let path = above.join(&below).unwrap();
            assert_eq!(Some(path.to_string().as_str()), joined);
            assert_eq!(path.strip(&above), Some(below));
            assert!(above.covers(&path));
        }
        let (above, below) =
            (Path::parse(&"a/".repeat(20)).unwrap(), RelativePath::parse(&"b/".repeat(13)).unwrap());
        assert!(matches!(above.join(&below), Err(PathError::TooDeep { depth: 33, .. })));
        assert!(above.join(&RelativePath::parse(&"b/".repeat(12)).unwrap()).is_ok());
        assert_eq!(Path::parse("ab").unwrap().strip(&Path::parse("a").unwrap()), None);
    }

    #[test]
    fn parents_end_at_the_root() {
        let path = Path::parse("a/b").unwrap();
        assert_eq!(path.parent().and_then(|path| path.parent()), Some(Path::root()));
        assert_eq!(Path::root().parent(), None);
        for (depth, above) in [(0, Some("/")), (1, Some("/a")), (2, Some("/a/b")), (3, None)] {
            assert_eq!(path.up_to(depth).map(|path| path.to_string()).as_deref(), above, "{depth} keys");
        }
    }
}
