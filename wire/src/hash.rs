//! What a client says it holds (wire reference 6).

use crate::text::{Post, Shown};
use hearth_tree::{Hash, HashError, Node, PathError, RelativePath};
use serde::{Deserialize, Serialize, Serializer};

/// What a client holds of a place, or believes to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing; the empty text on the wire.
    Nothing,
    /// What has this hash.
    Hash(Hash),
}

impl Held {
    /// Reads the text of `h`.
    ///
    /// # Errors
    /// [`HashError`] if it is neither empty nor a hash.
    pub fn parse(text: &str) -> Result<Self, HashError> {
        if text.is_empty() { Ok(Self::Nothing) } else { Hash::parse(text).map(Self::Hash) }
    }

    /// Whether it is this node, whichever client computed the hash (wire reference 6.3).
    pub fn is(self, node: Option<&Node>) -> bool {
        match (self, node) {
            (Self::Nothing, None) => true,
            (Self::Hash(hash), Some(node)) => node.has_hash(hash),
            (Self::Nothing, Some(_)) | (Self::Hash(_), None) => false,
        }
    }
}

impl Serialize for Held {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_str(""),
            Self::Hash(hash) => serializer.collect_str(hash),
        }
    }
}

/// What a client holds of a place, range by range of its leaves (wire reference 6.5). Android and Apple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompoundHash {
    /// Strictly ascending.
    posts: Vec<RelativePath>,
    /// As many as posts.
    hashes: Vec<Hash>,
}

/// Why a compound hash is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompoundHashError {
    /// The numbers do not fit.
    #[error("a compound hash has one hash more than paths, not {hashes} hashes and {posts} paths")]
    Lengths {
        /// How many hashes.
        hashes: usize,
        /// How many paths.
        posts: usize,
    },
    /// A hash is none.
    #[error("in the compound hash: {0}")]
    Hash(#[from] HashError),
    /// A path is none.
    #[error("in the compound hash: {0}")]
    Path(#[from] PathError),
    /// The paths do not ascend.
    #[error("the paths of a compound hash must ascend; `{post}` does not come after the one before it")]
    Order {
        /// The later path.
        post: RelativePath,
    },
    /// Something is said of what comes after the last path, where the client holds nothing.
    #[error("the last hash of a compound hash must be empty")]
    Last,
}

impl CompoundHash {
    /// The ranges, in leaf order: where each ends (inclusively, where the next begins) and the hash of what the client
    /// holds in it. After the last one the client holds nothing.
    pub fn ranges(&self) -> impl Iterator<Item = (&RelativePath, Hash)> {
        self.posts.iter().zip(self.hashes.iter().copied())
    }

    /// The compound hash of these ranges.
    ///
    /// # Errors
    /// [`CompoundHashError::Order`] if they do not ascend.
    pub fn new(ranges: impl IntoIterator<Item = (RelativePath, Hash)>) -> Result<Self, CompoundHashError> {
        let (posts, hashes): (Vec<_>, Vec<_>) = ranges.into_iter().unzip();
        match posts.windows(2).find(|pair| pair[1] <= pair[0]) {
            Some(pair) => Err(CompoundHashError::Order { post: pair[1].clone() }),
            None => Ok(Self { posts, hashes }),
        }
    }
}

/// The object that a compound hash is.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct CompoundFields {
    hs: Vec<String>,
    ps: Vec<String>,
}

impl TryFrom<CompoundFields> for CompoundHash {
    type Error = CompoundHashError;

    fn try_from(fields: CompoundFields) -> Result<Self, CompoundHashError> {
        let CompoundFields { hs, ps } = fields;
        let (last, hashes) = match hs.split_last() {
            Some((last, hashes)) if hashes.len() == ps.len() => (last, hashes),
            Some(_) | None => {
                return Err(CompoundHashError::Lengths { hashes: hs.len(), posts: ps.len() });
            }
        };
        if !last.is_empty() {
            return Err(CompoundHashError::Last);
        }
        let ranges =
            ps.iter().zip(hashes).map(|(post, hash)| Ok((RelativePath::parse(post)?, Hash::parse(hash)?)));
        Self::new(ranges.collect::<Result<Vec<_>, CompoundHashError>>()?)
    }
}

impl Serialize for CompoundHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            hs: Vec<Shown<&'a dyn std::fmt::Display>>,
            ps: Vec<Shown<Post<'a>>>,
        }
        let hashes = self.hashes.iter().map(|hash| Shown(hash as &dyn std::fmt::Display));
        let hs = hashes.chain([Shown(&"" as &dyn std::fmt::Display)]).collect();
        Fields { hs, ps: self.posts.iter().map(|post| Shown(Post(post))).collect() }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::encode;

    const ONE: &str = "VzY3K/KprOmpGGrk0qFm5kfIo0I=";
    const TWO: &str = "LmKmJmXugtGlEGoulMbz86myDNw=";

    fn read(text: &str) -> Result<CompoundHash, String> {
        let fields: CompoundFields = serde_json::from_str(text).map_err(|error| error.to_string())?;
        CompoundHash::try_from(fields).map_err(|error| error.to_string())
    }

    #[test]
    fn a_compound_hash_is_written_as_it_was_read() {
        for text in [
            r#"{"hs":[""],"ps":[]}"#.into(),
            format!(r#"{{"hs":["{ONE}",""],"ps":["/"]}}"#),
            format!(r#"{{"hs":["{ONE}","{TWO}",""],"ps":["k07/t","k14/x"]}}"#),
            // A prefix comes first, integers before names.
            format!(r#"{{"hs":["{ONE}","{TWO}","{ONE}",""],"ps":["9","10","10/a"]}}"#),
        ] {
            assert_eq!(read(&text).map(|hash| encode(&hash)), Ok(text));
        }
    }

    #[test]
    fn a_compound_hash_of_the_wrong_shape_is_refused() {
        for (text, expected) in [
            (
                r#"{"hs":[],"ps":[]}"#.into(),
                "a compound hash has one hash more than paths, not 0 hashes and 0 paths",
            ),
            (
                r#"{"hs":["",""],"ps":["a","b"]}"#.into(),
                "a compound hash has one hash more than paths, not 2 hashes and 2 paths",
            ),
            (
                format!(r#"{{"hs":["{ONE}","{TWO}"],"ps":["a"]}}"#),
                "the last hash of a compound hash must be empty",
            ),
            (
                format!(r#"{{"hs":["{ONE}","{TWO}",""],"ps":["b","a"]}}"#),
                "the paths of a compound hash must ascend; `a` does not come after the one before it",
            ),
            (
                format!(r#"{{"hs":["{ONE}","{TWO}",""],"ps":["a","/a/"]}}"#),
                "the paths of a compound hash must ascend; `a` does not come after the one before it",
            ),
            (
                r#"{"hs":["",""],"ps":["a"]}"#.into(),
                "in the compound hash: a hash is 28 characters of padded Base64 (20 bytes of SHA-1), not 0 characters",
            ),
            (
                format!(r#"{{"hs":["{ONE}",""],"ps":["a#"]}}"#),
                "in the compound hash: in path `a#`: key `a#` has `#` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters",
            ),
        ] {
            assert_eq!(read(&text).map_err(|error| error.to_string()), Err(expected.into()), "{text}");
        }
    }
}
